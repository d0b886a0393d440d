"""Units that an FMU defines for itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.core.simunits import component_of, read_fmu
from orchestrator.core.simunits.registry import as_declared
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Connector,
    Source,
    SourceKind,
    conversion_between,
)

_FORCE = '<Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit>'


_RELATIVE = (
    '</UnitDefinitions><TypeDefinitions><SimpleType name="Difference">'
    '<Real unit="degC" relativeQuantity="true"/></SimpleType></TypeDefinitions>'
)


def _input(make: Callable[..., Path], unit: str, definition: str, attributes: str) -> Connector:
    """Input 'u' of the probe, in another unit."""

    def change(text: str) -> str:
        defined = f'<Unit name="{unit}">{definition}</Unit>'
        text = text.replace(_FORCE, _FORCE + defined)
        if "declaredType" in attributes:
            text = text.replace("</UnitDefinitions>", _RELATIVE)
        return text.replace('<Real unit="N" start="0"/>', f'<Real unit="{unit}" {attributes}/>', 1)

    return read_fmu(make(change)).description.connectors["u"]


def _plain(unit: str) -> Connector:
    return Connector("x", Causality.OUTPUT, unit=unit)


def test_an_unknown_name_is_what_the_fmu_defines(make_fmu: Callable[..., Path]) -> None:
    found = _input(make_fmu, "kgps", '<BaseUnit kg="1" s="-1" factor="2"/>', 'start="0"')
    assert found.unit_definition == BaseUnit({"kg": 1, "s": -1}, 2.0)
    assert conversion_between(found, _plain("g/s")) == (2000.0, 0.0)


@pytest.mark.parametrize(
    ("unit", "definition"),
    [
        ("Nm", '<BaseUnit kg="1" m="2" s="-2"/>'),
        ("rad/s", '<BaseUnit s="-1"/>'),
        ("deg", '<BaseUnit rad="1" factor="0.0174533"/>'),
        ("rpm", '<BaseUnit s="-1" factor="0.0166667"/>'),
        ("rpm", '<BaseUnit rad="1" s="-1" factor="0.104719755"/>'),
        ("dB", "<BaseUnit/>"),
        ("degC", '<BaseUnit K="1" offset="273.15"/>'),
        ("kN", '<BaseUnit kg="1" m="1" s="-2" factor="NaN"/>'),
        ("kN", '<BaseUnit kg="1" m="1" s="-2" factor="0"/>'),
    ],
)
def test_a_name_that_says_the_same_is_enough(
    make_fmu: Callable[..., Path], unit: str, definition: str
) -> None:
    assert _input(make_fmu, unit, definition, 'start="0"').unit_definition is None


def test_a_definition_that_contradicts_its_name_is_used_and_told(
    make_fmu: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = _input(make_fmu, "C", '<BaseUnit K="1" offset="273.15"/>', 'start="0"')
    assert conversion_between(found, _plain("K")) == (1.0, 273.15)
    assert "defines unit 'C' as 1 K + 273.15, which is used; its name says 1 s.A" in caplog.text


@pytest.mark.parametrize("unit", ["bit/s", "byte", "baud"])
def test_a_unit_that_si_has_no_product_for_is_what_the_fmu_defines(
    make_fmu: Callable[..., Path], unit: str
) -> None:
    found = _input(make_fmu, unit, '<BaseUnit s="-1"/>', 'start="0"')
    assert found.unit_definition == BaseUnit({"s": -1})


def test_a_difference_of_temperatures_has_no_offset(make_fmu: Callable[..., Path]) -> None:
    definition = '<BaseUnit K="1" offset="273.15"/>'
    absolute = _input(make_fmu, "degC", definition, 'start="0"')
    difference = _input(make_fmu, "degC", definition, 'start="0" declaredType="Difference"')
    assert conversion_between(absolute, _plain("K")) == (1.0, 273.15)
    assert conversion_between(difference, _plain("K")) == (1.0, 0.0)
    source = component_of(Source(SourceKind.BLOCK, "first_order_delay"))
    assert as_declared(difference, _plain("degC"), source).unit_definition == BaseUnit({"K": 1})
