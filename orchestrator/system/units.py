"""Physical units in the notation of Modelica and FMI (``N.s/m``, ``kg.m2``, ``rad/s``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UnitMismatchError
from orchestrator.system.si import si_unit

if TYPE_CHECKING:
    import pint

_FACTOR = re.compile(r"(?P<symbol>[A-Za-zΩµ°%']+)(?P<exponent>[-+]?\d+)?")
_SYMBOL = r"[A-Za-zΩµ°%']+(?:[-+]?\d+)?"
_GRAMMAR = re.compile(rf"(?:1|{_SYMBOL})(?:[./]{_SYMBOL})*")
_ANGLE = re.compile(r"\b(?:rad|deg|rev)\b")
_CYCLES = re.compile(r"\b[kMG]?Hz\b")
_RENAMED = {"Ohm": "ohm", "degC": "degC", "deg": "degree", "rev": "turn", "%": "percent"}


@cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint  # imported on first use: most connections have equal units and never get here

    return pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=True)


def _expression(unit: str) -> str:
    """Translate Modelica's unit grammar (operators ``.`` and ``/``, exponent as suffix)."""
    if unit in {"", "1"}:
        return "dimensionless"

    def factor(match: re.Match[str]) -> str:
        symbol = _RENAMED.get(match["symbol"], match["symbol"])
        return f"{symbol}**({match['exponent']})" if match["exponent"] else symbol

    # Modelica: at most one division, its right side is a whole ("N/m.s" means N/(m.s)).
    numerator, *denominator = unit.replace("(", "").replace(")", "").split("/")
    parts = [numerator or "1", *denominator]
    return "/".join(f"({_FACTOR.sub(factor, part).replace('.', '*')})" for part in parts)


def _parse(unit: str) -> pint.Unit:
    try:
        if unit and not _GRAMMAR.fullmatch(unit.replace("(", "").replace(")", "")):
            raise ValueError(unit)  # pint would take "a b" for year times barn
        return _registry().Unit(_expression(unit))
    except Exception as error:  # pint raises tokenize, syntax and its own errors
        raise UnitMismatchError(
            f"'{unit}' is not a unit (Modelica notation, such as 'N.s/m')"
        ) from error


@cache
def conversion(source: str | None, target: str | None) -> tuple[float, float]:
    """Factor and offset that convert a value from one unit to another.

    ``target_value = factor * source_value + offset``.

    Parameters
    ----------
    source, target
        Units in Modelica notation; ``None`` means not declared and converts to anything unchanged.

    Raises
    ------
    UnitMismatchError
        If the units are of different dimensions or one is not a unit.
    """
    if source == target or source is None or target is None:
        return 1.0, 0.0
    registry = _registry()
    quantities = [_parse(unit) for unit in (source, target)]
    ends = ((source, target), (target, source))
    if any(_ANGLE.search(a) and _CYCLES.search(b) for a, b in ends):
        raise UnitMismatchError(
            f"unit '{source}' does not convert to '{target}': whether a hertz is 1 or 2 pi rad/s is"
            " not said; use 'rev/s' for cycles or '1/s' for a plain rate"
        )
    if not quantities[0].is_compatible_with(quantities[1]):
        raise UnitMismatchError(
            f"unit '{source}' ({quantities[0].dimensionality}) does not convert to"
            f" '{target}' ({quantities[1].dimensionality})"
        )
    zero = registry.Quantity(0.0, quantities[0]).to(quantities[1]).magnitude
    one = registry.Quantity(1.0, quantities[0]).to(quantities[1]).magnitude
    return float(one - zero), float(zero)


@cache
def is_power(one: str | None, other: str | None) -> bool:
    """Whether the product of two units is a power, as that of an effort and a flow is."""
    return product_in("W", one, other) is not None


@cache
def product_in(wanted: str, *units: str | None) -> float | None:
    """Return how much the product of some units is in another; ``None`` if it is none of that."""
    product = _registry().Quantity(1.0)
    for unit in units:
        if unit is None:
            return None
        try:
            product = product * _registry().Quantity(1.0, _parse(unit))
        except UnitMismatchError:
            return None
    if not product.is_compatible_with(_parse(wanted)):
        return None
    return float(product.to(_parse(wanted)).magnitude)


@dataclass(frozen=True, slots=True)
class BaseUnit:
    """A unit in terms of SI base units: ``si_value = factor * value + offset``.

    Parameters
    ----------
    exponents
        Exponent by base unit: kg, m, s, A, K, mol, cd, rad; those that are zero are left out.
    factor, offset
        To the SI value.
    """

    exponents: Mapping[str, int]
    factor: float = 1.0
    offset: float = 0.0


_SI = {
    "kilogram": "kg",
    "meter": "m",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "mole": "mol",
    "candela": "cd",
    "radian": "rad",
}
#: Symbols of the SI base units that a :class:`BaseUnit` has exponents of.
BASE_UNITS = tuple(_SI.values())


@cache
def base_unit(unit: str) -> BaseUnit:
    """Express a unit in SI base units, as FMI 2.0 and SSP 1.0 define units.

    Raises
    ------
    UnitMismatchError
        If it is not a unit, or is not made of whole powers of SI base units.
    """
    known = si_unit(unit)
    if known is not None:
        return BaseUnit(*known)
    parsed = _parse(unit)
    zero = _registry().Quantity(0.0, parsed).to_base_units()
    one = _registry().Quantity(1.0, parsed).to_base_units()
    powers = dict(one.unit_items())
    if any(name not in _SI or int(power) != power for name, power in powers.items()):
        raise UnitMismatchError(f"unit '{unit}' is not made of whole powers of SI base units")
    offset = float(zero.magnitude)
    factor = float(one.magnitude)
    if offset:  # a difference of two rounded numbers: temperatures only
        factor = float(f"{factor - offset:.12g}")
    exponents = {symbol: int(powers[name]) for name, symbol in _SI.items() if powers.get(name)}
    return BaseUnit(exponents, factor, offset)
