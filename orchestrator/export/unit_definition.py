"""Units in Modelica's notation, as exponents of the SI base units that FMI asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.errors import ModelicaError

if TYPE_CHECKING:
    import pint

_FACTOR = re.compile(r"(?P<symbol>[A-Za-zΩµ°%']+)(?P<exponent>[-+]?\d+)?")
_BASE = {
    "kilogram": "kg",
    "meter": "m",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "mole": "mol",
    "candela": "cd",
}
# Plane angles are dimensionless for pint but a base unit for FMI; pint knows some names otherwise.
_ANGLES = {"rad": 1.0, "deg": math.pi / 180, "rev": 2 * math.pi}
_RENAMED = {"Ohm": "ohm", "Ω": "ohm", "degC": "degC", "%": "percent"}


@dataclass(frozen=True, slots=True)
class BaseUnit:
    """``value in base units = factor * value + offset``."""

    exponents: dict[str, int] = field(default_factory=dict)
    factor: float = 1.0
    offset: float = 0.0


@cache
def base_unit(unit: str) -> BaseUnit:
    """Resolve a unit such as ``N.s/m``, ``kg.m2``, ``rad/s`` or ``1``.

    Raises
    ------
    ModelicaError
        If the text does not follow Modelica's unit grammar or names an unknown unit.
    """
    if unit in {"", "1"}:
        return BaseUnit()
    if unit == "degC":
        return BaseUnit({"K": 1}, 1.0, 273.15)
    exponents: dict[str, int] = {}
    factor = 1.0
    for symbol, power in _factors(unit):
        scale, dimensions = _resolve(symbol, unit)
        factor *= scale**power
        for base, exponent in dimensions.items():
            exponents[base] = exponents.get(base, 0) + exponent * power
    return BaseUnit({base: power for base, power in exponents.items() if power}, factor)


def per_second(unit: str) -> str:
    """Unit of a time derivative: ``m/s`` for ``m``, ``m/s2`` for ``m/s``, ``W`` stays ``W/s``."""
    powers: dict[str, int] = {}
    for symbol, power in _factors("K" if unit == "degC" else unit):  # the offset falls away
        powers[symbol] = powers.get(symbol, 0) + power
    powers["s"] = powers.get("s", 0) - 1
    above = [_power(symbol, power) for symbol, power in powers.items() if power > 0]
    below = [_power(symbol, -power) for symbol, power in powers.items() if power < 0]
    text = ".".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'.'.join(below)})"


def display_conversion(unit: str, display: str) -> tuple[float, float]:
    """Factor and offset of ``value in display = factor * value in unit + offset``.

    Raises
    ------
    ModelicaError
        If one of them is no unit or they measure different things.
    """
    own, shown = base_unit(unit), base_unit(display)
    if own.exponents != shown.exponents:
        raise ModelicaError(f"displayUnit '{display}' does not measure what unit '{unit}' does")
    return own.factor / shown.factor, (own.offset - shown.offset) / shown.factor


def _power(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}{power}"


def _factors(unit: str) -> Iterator[tuple[str, int]]:
    """Symbols with their exponents; Modelica allows one division, its right side is a whole."""
    parts = unit.split("/")
    if len(parts) > 2:
        raise _error(unit, "has more than one '/'; write N/(m.s)")
    for sign, part in zip((1, -1), parts, strict=False):
        for text in part.strip("()").split("."):
            if text == "1":
                continue
            match = _FACTOR.fullmatch(text)
            if match is None:
                raise _error(unit, f"has the factor '{text}'")
            yield match["symbol"], sign * int(match["exponent"] or 1)


def _resolve(symbol: str, unit: str) -> tuple[float, dict[str, int]]:
    if symbol in _ANGLES:
        return _ANGLES[symbol], {"rad": 1}
    try:
        quantity = _registry().Quantity(1.0, _RENAMED.get(symbol, symbol)).to_base_units()
    except Exception as error:  # pint raises tokenize, syntax, offset and its own errors
        raise _error(unit, f"has the unknown symbol '{symbol}'") from error
    dimensions: dict[str, int] = {}
    for name, power in quantity.unit_items():
        if name == "radian":
            continue
        if name not in _BASE or power != int(power):
            raise _error(unit, f"has '{symbol}', which is no product of SI base units ({name})")
        dimensions[_BASE[name]] = int(power)
    return float(quantity.magnitude), dimensions


@cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint  # imported on first use: it is slow

    return pint.UnitRegistry(cache_folder=None)


def _error(unit: str, problem: str) -> ModelicaError:
    return ModelicaError(
        f"unit '{unit}' {problem}; expected Modelica notation such as 'N.s/m', 'kg.m2' or '1'"
    )
