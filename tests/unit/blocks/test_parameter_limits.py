"""Parameters of blocks beyond the range that they have by their nature."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fmpy import read_model_description

from orchestrator import Execution, build_block
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Parameter, block, block_class, block_names
from orchestrator.core.system import Causality, Connector, DataType, System

#: Parameters that take any number: places, angles, signs, first estimates and least values of
#: them, and virtual stiffness and damping, which take energy away or give it.
_ANY = {
    *("effector", "control", "captured", "rest", "position0", "q0", "base_half", "platform_half"),
    *("sense", "stiffness0", "damping0", "stiffness_minimum", "damping_minimum"),
    *("k1", "b1", "k2", "b2", "b"),
    "zero",  # an angle
    "c",  # of a polynomial
    *("angle0", "gravity", "tool", "velocity0"),
    *("axis", "offset", "center", "link_axis", "link_offset", "link_attitude", "link_centre"),
    # Of a chain, which judges its links together and names the one that is wrong.
    *("free", "m", "inertia", "link_parent", "link_mass", "link_inertia"),
}


def _parameters() -> Iterator[tuple[str, Connector]]:
    for name in block_names():
        for connector in block_class(name).connectors.values():
            numbers = connector.type in {DataType.REAL, DataType.INTEGER}
            if connector.causality is Causality.PARAMETER and numbers:
                yield name, connector


_LIMITED = [(name, c) for name, c in _parameters() if c.limits is not None]


def test_every_number_has_a_range_or_takes_any() -> None:
    without = {(name, c.name) for name, c in _parameters() if c.limits is None}
    # A rest is a place to CapturePoint, and a share to the phase leads.
    assert {re.sub(r"_\d$", "", parameter) for _, parameter in without} == _ANY
    assert {("capture_point", "rest")} == {pair for pair in without if pair[1] == "rest"}


@pytest.mark.parametrize(("name", "connector"), _LIMITED, ids=lambda x: getattr(x, "name", x))
def test_values_beyond_are_refused_and_those_at_the_end_taken(
    name: str, connector: Connector
) -> None:
    limits, kind = connector.limits, block_class(name)
    assert limits is not None
    wrong = [limits.least - 1] if math.isfinite(limits.least) else []
    wrong += [limits.most + 1] if math.isfinite(limits.most) else []
    wrong += [limits.least] if limits.open_below else []
    number = int if connector.type is DataType.INTEGER else float
    for value in map(number, wrong):
        with pytest.raises(DescriptionError, match=f"{kind.__name__}: {connector.name}: expected "):
            kind(**{connector.name: value})
        part = block(name)
        system = System("s").add("part", part, **{connector.name: value})
        expected = f"component 'part' \\(block:{name}\\): parameter '{connector.name}': expected "
        with pytest.raises(DescriptionError, match=expected):
            system.check()
    if not limits.open_below:
        kind(**{connector.name: number(limits.least)})


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("identifier", "noise", -1.0, "expected >= 0 N, found -1.0"),
        ("identifier", "window", 0.0, "expected > 0 s, found 0.0"),
        ("identifier", "outliers_to_reset", 0, "expected >= 1, found 0"),
        ("triple_identifier", "stiffness_spread", -1e5, "expected > 0 N/m, found -100000.0"),
        ("phase_lead", "rest", 1.5, "expected > 0 and <= 1, found 1.5"),
        ("wrench_phase_lead", "lag", 0.0, "expected > 0 s, found 0.0"),
        ("force_compensation", "limit", -1.0, "expected >= 0 N, found -1.0"),
        ("smith_predictor", "delay", -1e-3, "expected >= 0 s, found -0.001"),
        ("first_order_delay", "delay", -1e-3, "expected >= 0 s, found -0.001"),
    ],
)
def test_one_message_names_component_parameter_range_and_value(
    name: str, parameter: str, value: float, message: str
) -> None:
    part = block(name)
    fed = {c.name: c.start for c in part.of(Causality.INPUT)}
    system = System("s").add("part", part, **{**fed, parameter: value})
    with pytest.raises(DescriptionError) as raised:
        Execution(system, step="1 ms", stop="1 ms")
    assert list(raised.value.problems) == [
        f"component 'part' (block:{name}): parameter '{parameter}': {message}"
    ]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(DescriptionError) as raised:
        block_class("identifier")(noise=-1.0, gate=0.0)
    assert len(raised.value.problems) == 2


def test_a_default_beyond_its_own_range_is_an_error_of_the_class(wording) -> None:
    with wording.raises(DescriptionError):

        class Wrong(Block):
            share: float = Parameter(start=2.0, maximum=1.0)


def test_the_model_description_has_the_range(tmp_path: Path) -> None:
    path = build_block("phase_lead", tmp_path / "lead.fmu").path
    variables = {v.name: v for v in read_model_description(str(path)).modelVariables}
    found = {name: (variables[name].min, variables[name].max) for name in ("rest", "lag")}
    assert found == {"rest": ("0.0", "1.0"), "lag": ("0.0", None)}
