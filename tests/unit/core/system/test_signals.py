"""What the name of a signal means: brackets may be an element's, or the connector's own."""

import pytest

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    Endpoint,
    Source,
    SourceKind,
    System,
    signal_of,
)


def system(**shapes):
    """A component ``leg[1]`` with outputs of these shapes; ``_`` stands for a bracket."""
    names = {name.replace("_1_", "[1]").replace("_2_", "[2]"): s for name, s in shapes.items()}
    ports = {name: Connector(name, Causality.OUTPUT, shape=s) for name, s in names.items()}
    source = Source(SourceKind.BLOCK, "leg")
    return System("s", {"leg[1]": Component("leg[1]", source, ports)})


@pytest.mark.parametrize(
    ("name", "connector", "index"),
    [
        ("leg[1].x", "x", None),
        ("leg[1].x[2]", "x", 2),
        ("leg[1].phi[1]", "phi[1]", None),
        ("leg[1].phi[2]", "phi[2]", None),
        ("leg[1].phi[2][0]", "phi[2]", 0),
    ],
)
def test_a_name_of_its_own_wins_over_an_element(name, connector, index):
    shapes = {"x": (3,), "phi": (3,), "phi_1_": (), "phi_2_": (2,)}
    signal = signal_of(system(**shapes), name)
    assert (signal.end, signal.index) == (Endpoint("leg[1]", connector), index)
    assert signal.connector.name == connector


def test_of_hundreds_of_connectors_the_nearest_are_listed():
    """An FMU of FMI 2.0 has one for each element of an array."""
    names = {f"r[{i},{j}]": () for i in range(1, 41) for j in (1, 2, 3)}
    with pytest.raises(UnknownNameError) as caught:
        signal_of(system(**names), "leg[1].r[41]")
    listed = str(caught.value).lower().partition("nearest of 120 connectors are ")[2]
    assert listed.count("r[") == 8
    assert "'r[4,1]'" in listed


@pytest.mark.parametrize(
    "name",
    [
        "leg[1].x[3]",
        "leg[1].y[0]",
        "leg[1].phi[1][0]",
        "leg.x",
    ],
)
def test_what_is_not_there_is_said(name, wording):
    with wording.raises(UnknownNameError):
        signal_of(system(x=(3,), phi_1_=()), name)
