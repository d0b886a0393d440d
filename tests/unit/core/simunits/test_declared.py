"""What a system's file declares of a connector, against what its source has."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from orchestrator.core.simunits import fmu, resolve
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    System,
)

ROOT = Path(__file__).parents[4]
CHASER = Source(SourceKind.FMU, str(ROOT / "fmus" / "build" / "Chaser.fmu"))


def declared(connector: Connector) -> System:
    return System("s", {"c": Component("c", CHASER, {connector.name: connector})})


@pytest.fixture(autouse=True)
def _built(plants: object) -> None:
    """The FMUs of the plants are built."""


def test_a_declared_unit_wins_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    system = declared(Connector("position", Causality.OUTPUT, unit="mm"))
    with caplog.at_level(logging.WARNING):
        found = resolve(system).component("c").connectors["position"]
    assert (found.unit, found.type) == ("mm", DataType.REAL)
    assert "'position' is declared in 'mm', but the source has 'm'" in caplog.text


def test_another_name_for_the_same_unit_is_fine(caplog: pytest.LogCaptureFixture) -> None:
    metre = BaseUnit({"m": 1})
    connector = Connector("position", Causality.OUTPUT, unit="metre", unit_definition=metre)
    with caplog.at_level(logging.WARNING):
        assert resolve(declared(connector)).component("c").connectors["position"].unit == "metre"
    assert not caplog.records


def test_what_is_not_declared_comes_from_the_source() -> None:
    found = resolve(declared(Connector("position", Causality.OUTPUT))).component("c")
    assert found.connectors["position"].unit == "m"
    assert "force" in found.connectors


@pytest.mark.parametrize(
    "connector",
    [
        Connector("position", Causality.OUTPUT, unit="kg"),
        Connector("position", Causality.INPUT, unit="m"),
        Connector("position", Causality.OUTPUT, DataType.INTEGER),
    ],
)
def test_other_dimensions_kinds_and_types_are_refused(connector: Connector, wording) -> None:
    with wording.raises(DescriptionError, code="FMU106", key="c.position"):
        resolve(declared(connector))


def test_a_device_that_nobody_knows_is_refused(wording) -> None:
    system = System("s", {"d": Component("d", Source(SourceKind.DEVICE, "atti"))})
    with wording.raises(UnknownNameError):
        resolve(system)


def test_the_system_itself_is_not_run(wording) -> None:
    system = System("s", {"d": Component("d", Source(SourceKind.SYSTEM, "s"))})
    with wording.raises(CapabilityError):
        resolve(system)


def test_a_resolved_system_is_written_in_the_old_version(tmp_path: Path) -> None:
    from orchestrator.core.ssp import read_ssd, write_ssd

    system = System("s").add("c", fmu(CHASER.location))
    write_ssd(system, tmp_path / "s.ssd")
    back = read_ssd(tmp_path / "s.ssd").component("c").connectors
    assert {c.causality for c in back.values()} <= {
        Causality.INPUT,
        Causality.OUTPUT,
        Causality.PARAMETER,
        Causality.CALCULATED_PARAMETER,
    }
    assert resolve(read_ssd(tmp_path / "s.ssd")).component("c").connectors.keys() == (
        system.component("c").connectors.keys()
    )
