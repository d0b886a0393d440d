"""Every unit of SI, of the Modelica Standard Library and of public FMUs, both ways."""

from __future__ import annotations

import math
import re

import pint
import pytest
from scipy import constants

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.units.conversion import (
    BaseUnit,
    base_unit,
    conversion,
    definition_beyond,
    is_expressible,
    is_unit,
    other_spelling,
)
from orchestrator.core.units.tables import BASE_UNITS
from tests.unit.core.units.unit_lists import (
    MODELICA,
    MODELICA_MODELS,
    PREFIXES,
    PUBLIC,
    PUBLIC_DISPLAYS,
    PUBLIC_FAULTS,
    SI,
)

_ORDER = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def _powers(row: tuple[int, ...]) -> dict[str, int]:
    return {name: power for name, power in zip(_ORDER, row, strict=True) if power}


def _in_base(row: tuple[int, ...]) -> str:
    return ".".join(f"{name}{power}" for name, power in _powers(row).items()) or "1"


@pytest.mark.parametrize("name", SI)
def test_units_of_si_with_every_prefix(name: str) -> None:
    base = _in_base(SI[name])
    for prefix, word in {"": "", **PREFIXES}.items():
        size = getattr(constants, word) if word else 1.0
        unit = prefix + name
        if unit in {"min", "Grad"}:
            continue  # a minute, and what could be a degree
        found = base_unit(unit)
        assert (dict(found.exponents), found.offset) == (_powers(SI[name]), 0.0), unit
        assert found.factor == pytest.approx(size, rel=1e-15), unit
        assert other_spelling(unit) is None
        if name in {"Hz", "Bq"}:
            base = "1/s"
        assert conversion(unit, base) == pytest.approx((size, 0.0), rel=1e-15)
        assert conversion(base, unit) == pytest.approx((1 / size, 0.0), rel=1e-15)
        assert conversion(f"{unit}2", f"{name}2")[0] == pytest.approx(size**2, rel=1e-15)


def test_gram_and_the_units_beside_si() -> None:
    expected = {
        "g": 1e-3,
        "kg": 1.0,
        "mg": 1e-6,
        "t": 1e3,
        "l": constants.liter,
        "L": constants.liter,
        "ml": 1e-6,
        "min": constants.minute,
        "h": constants.hour,
        "d": constants.day,
        "deg": constants.degree,
        "eV": constants.eV,
        "u": constants.atomic_mass,
        "bar": constants.bar,
        "mbar": 100.0,
        "kvar": 1e3,
        "ppm": 1e-6,
        "Wh": 3600.0,
        "µm": 1e-6,  # the micro sign
        "\N{GREEK SMALL LETTER MU}m": 1e-6,
    }
    for unit, factor in expected.items():
        assert base_unit(unit).factor == pytest.approx(factor, rel=1e-7), unit


@pytest.fixture(scope="module")
def pints() -> pint.UnitRegistry:
    return pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=True)


def _with_pint(registry: pint.UnitRegistry, unit: str) -> pint.Quantity:
    """Base units of a unit by pint alone; Modelica's symbols become words that it knows."""
    words = {
        "Ohm": "ohm",
        "deg": "degree",
        "rev": "turn",
        "degRk": "degR",
        "degC": "delta_degC",
        "degF": "delta_degF",
        "var": "watt",
        "Bq": "hertz",  # pint counts decays
    }

    def factor(match: re.Match[str]) -> str:
        return f"{words.get(match[1], match[1])}**({match[2] or 1})"

    return registry.Quantity(
        1.0, re.sub(r"([A-Za-z]+)([-+]?\d+)?", factor, unit).replace(".", "*")
    ).to_base_units()


@pytest.mark.parametrize("unit", [*MODELICA, *MODELICA_MODELS])
def test_units_of_the_modelica_standard_library(unit: str, pints: pint.UnitRegistry) -> None:
    found, expected = base_unit(unit), _with_pint(pints, unit)
    assert found.factor == pytest.approx(expected.magnitude, rel=1e-14)
    assert found.offset == pytest.approx({"degC": 273.15, "degF": 255.372222222}.get(unit, 0.0))
    names = {"kg": "kilogram", "m": "meter", "s": "second", "A": "ampere", "K": "kelvin"}
    names |= {"mol": "mole", "cd": "candela", "rad": "radian"}
    powers = {names[name]: power for name, power in found.exponents.items()}
    assert powers == dict(expected.unit_items())
    assert other_spelling(unit) is None
    base = ".".join(f"{name}{power}" for name, power in found.exponents.items()) or "1"
    factor, offset = conversion(unit, base)
    assert (factor, offset) == pytest.approx((found.factor, found.offset), rel=1e-15)
    back = conversion(base, unit)
    assert back == pytest.approx((1 / factor, -offset / factor), rel=1e-15)


@pytest.mark.parametrize("unit", ["dB", "Np", "phon", "sone", "bit"])
def test_units_that_si_has_no_product_for(unit: str) -> None:
    assert is_unit(unit)
    assert not is_expressible(unit)
    assert conversion(unit, unit) == (1.0, 0.0)
    with pytest.raises(UnitMismatchError):
        base_unit(unit)


@pytest.mark.parametrize(("name", "row", "factor", "offset"), PUBLIC)
def test_units_of_public_fmus(
    name: str, row: tuple[int, ...], factor: float, offset: float
) -> None:
    assert definition_beyond(name, BaseUnit(_powers(row), factor, offset)) is None
    unit = base_unit(name)
    assert unit.factor == pytest.approx(factor, rel=1e-13)
    without = {symbol: power for symbol, power in unit.exponents.items() if symbol != "rad"}
    assert without == {symbol: p for symbol, p in _powers(row).items() if symbol != "rad"}


@pytest.mark.parametrize(("name", "row", "factor", "offset"), PUBLIC_FAULTS)
def test_definitions_that_the_name_contradicts(
    name: str, row: tuple[int, ...], factor: float, offset: float
) -> None:
    defined = BaseUnit(_powers(row), factor, offset)
    assert definition_beyond(name, defined) == defined


@pytest.mark.parametrize(("unit", "display", "factor", "offset"), PUBLIC_DISPLAYS)
def test_display_units_of_public_fmus(
    unit: str, display: str, factor: float, offset: float
) -> None:
    assert conversion(unit, display) == pytest.approx((factor, offset), rel=1e-9)


def test_turns_are_defined_as_angles_or_as_cycles() -> None:
    angles = BaseUnit({"rad": 1, "s": -1}, math.pi / 30)
    cycles = BaseUnit({"s": -1}, 1 / 60)
    assert definition_beyond("rpm", angles) is None
    assert definition_beyond("rev/min", BaseUnit({"s": -1}, math.pi / 30)) is None
    assert definition_beyond("rpm", cycles) is None
    assert definition_beyond("rpm", BaseUnit({"rad": 1, "s": -1}, 1 / 60)) is not None


def test_what_a_level_is_defined_as_is_not_believed() -> None:
    assert definition_beyond("dB", BaseUnit()) is None


def test_base_units_are_those_of_fmi() -> None:
    assert BASE_UNITS == _ORDER
