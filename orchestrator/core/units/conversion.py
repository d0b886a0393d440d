"""Physical units in the notation of Modelica and FMI (``N.s/m``), and factors between them.

All that reads, writes or converts units does it here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import isclose, log10, pi

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.structs import Struct, field
from orchestrator.core.units.notation import Notation, NotationError, read_notation, spelled
from orchestrator.core.units.tables import (
    BASE_UNITS,
    LEVEL,
    Meaning,
    is_logarithmic,
    number,
    si_factor,
    symbol_meaning,
    without_angle,
)


def factor_and_offset(
    source: str, meaning: Meaning, target: str, target_meaning: Meaning
) -> tuple[float, float]:
    """Return what converts a value from one unit to another."""
    if without_angle(meaning.exponents) != without_angle(target_meaning.exponents):
        logarithmic = LEVEL in meaning.exponents or LEVEL in target_meaning.exponents
        law = "; one is logarithmic, so no factor converts it" if logarithmic else ""
        raise UnitMismatchError(
            f"unit '{source}' ({_text(meaning)}) does not convert to '{target}'"
            f" ({_text(target_meaning)}){law}"
        )
    if may_lack_two_pi(meaning, target_meaning):
        raise UnitMismatchError(
            f"unit '{source}' does not convert to '{target}': one counts angles or turns, the other"
            " does not say so, and between them may be 2 pi; use 'rad' for angles (rad/s), and"
            " 'rev' or 'Hz' for cycles (rev/min, Hz), at both ends"
        )
    turns = 0 if meaning.cycles or target_meaning.cycles else meaning.turns - target_meaning.turns
    factor = meaning.factor / target_meaning.factor
    try:
        ratio = number(factor, meaning.pi - target_meaning.pi) * (2.0 * pi) ** turns
        return ratio, float((meaning.offset - target_meaning.offset) / target_meaning.factor)
    except OverflowError as error:
        raise UnitMismatchError(
            f"unit '{source}' does not convert to '{target}': the factor is {error}"
        ) from None


def may_lack_two_pi(first: Meaning, second: Meaning) -> bool:
    """Whether one of two units of a dimension counts angles or turns, and the other does not say.

    ``rev/min`` and ``1/min`` do, as ``Hz`` and ``rad/s`` do; ``rad/s`` and ``1/s`` do not.
    """
    angles = first.exponents.get("rad", 0), second.exponents.get("rad", 0)
    if not (first.cycles or second.cycles):
        counted = first.turns != second.turns or first.clock or second.clock
        return angles[0] != angles[1] and bool(counted)
    bare = not (first.turns or second.turns) and angles[0] == angles[1]
    alike = first.turns + first.cycles == second.turns + second.cycles
    plain = angles[0] - first.turns == angles[1] - second.turns
    return not bare and not (alike and plain)


def _text(meaning: Meaning) -> str:
    return spelled(tuple(meaning.exponents.items()))


_LOGGER = logging.getLogger(__name__)
#: Tools write pi/180 with as few as six digits; conversions use the exact figure.
_RELATIVE = 1e-5


class BaseUnit(Struct):
    """A unit in terms of SI base units: ``si_value = factor * value + offset``.

    exponents: Exponent by base unit: kg, m, s, A, K, mol, cd, rad; zero exponents are left
        out.
    factor, offset: To the SI value.
    """

    exponents: Mapping[str, int] = field(default_factory=dict)
    factor: float = 1.0
    offset: float = 0.0

    def __str__(self) -> str:
        powers = spelled(tuple(self.exponents.items()))
        return f"{self.factor:g} {powers}" + (f" + {self.offset:g}" if self.offset else "")

    def attributes(self) -> dict[str, str]:
        """Return the attributes of an element ``BaseUnit`` of FMI and SSP."""
        attributes_found = {symbol: str(power) for symbol, power in self.exponents.items() if power}
        if self.factor != 1.0:
            attributes_found["factor"] = repr(self.factor)
        if self.offset != 0.0:
            attributes_found["offset"] = repr(self.offset)
        return attributes_found


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
        If the units are of different dimensions, one is not a unit, or logarithmic, or it is not
        said whether angles or cycles are counted.
    """
    return defined_conversion(source, None, target, None)


def defined_conversion(
    source: str | None,
    definition_of_source: BaseUnit | None,
    target: str | None,
    definition_of_target: BaseUnit | None,
) -> tuple[float, float]:
    """Do the same with units that a file defines, which wins over what their names say."""
    if source is None or target is None:
        return 1.0, 0.0
    if source == target and (
        definition_of_source is None
        or definition_of_target is None
        or definition_of_source == definition_of_target
    ):
        return 1.0, 0.0
    first, second = (meant(source, definition_of_source), meant(target, definition_of_target))
    for name, definition in ((source, definition_of_source), (target, definition_of_target)):
        if definition is None and (text := other_spelling(name)) is not None:
            _warn(name, text)
    return factor_and_offset(source, first, target, second)


@cache
def base_unit(unit: str) -> BaseUnit:
    """Express a unit in SI base units, as FMI 2.0 and SSP 1.0 define units."""
    meaning = _meaning(unit)
    if any(name not in BASE_UNITS for name in meaning.exponents):
        raise UnitMismatchError(f"unit '{unit}' is not made of whole powers of SI base units")
    exponents = {name: meaning.exponents[name] for name in BASE_UNITS if name in meaning.exponents}
    return BaseUnit(exponents, si_factor(meaning), float(meaning.offset))


def base_said(unit: str) -> BaseUnit | None:
    """Return what a name says in SI base units; ``None`` if it says nothing of that."""
    try:
        return base_unit(unit)
    except UnitMismatchError:  # a file may call a unit what it likes, or it is none of SI
        return None


def file_unit(unit: str) -> BaseUnit:
    """Do the same for SSP, where even a level has to have a base unit; it says nothing there."""
    return BaseUnit() if is_level(unit) else base_unit(unit)


@cache
def is_unit(unit: str) -> bool:
    """Whether a text is a unit, of SI or not: a level in dB is one, too."""
    try:
        _meaning(unit)
    except UnitMismatchError:
        return is_level(unit)
    return True


def is_expressible(unit: str) -> bool:
    """Whether a unit is a product of whole powers of SI base units, as FMI defines units."""
    return not is_level(unit) and all(name in BASE_UNITS for name in _meaning(unit).exponents)


def has_offset(unit: str) -> bool:
    """Whether the zero of a unit is not that of SI, as that of ``degC``."""
    try:
        return bool(_meaning(unit).offset)
    except UnitMismatchError:
        return False


@cache
def is_level(unit: str) -> bool:
    """Whether a unit is on a logarithmic scale, such as ``dB``: it has no factor to SI."""
    try:
        return any(is_logarithmic(symbol) for symbol, _ in read_notation(unit).powers)
    except NotationError:
        return False


@cache
def other_spelling(unit: str) -> str | None:
    """Return how Modelica and FMI write a unit, if that is not how it is written: ``N.m``."""
    try:
        notation = read_notation(unit)
    except NotationError:
        return None
    return None if notation.exact else notation.spelled


def definition_beyond(unit: str, defined: BaseUnit) -> BaseUnit | None:
    """Return what a file defines a unit to be, if its name does not say the same.

    unit: Its name.
    defined: The definition, whose factor may be rounded, and which may count rad or not.
    """
    if is_level(unit):
        return None  # its base unit is written for want of a better one
    try:
        meaning = _meaning(unit)
    except UnitMismatchError:
        return defined
    same = without_angle(meaning.exponents) == without_angle(defined.exponents) and isclose(
        float(meaning.offset), defined.offset, rel_tol=_RELATIVE
    )
    angles = "rad" in defined.exponents or not meaning.turns
    factors = (
        {si_factor(meaning)} if angles else {si_factor(meaning), number(meaning.factor, meaning.pi)}
    )
    if same and any(isclose(factor, defined.factor, rel_tol=_RELATIVE) for factor in factors):
        return None
    return defined


def meant(name: str, definition: BaseUnit | None) -> Meaning:
    """Return what a unit means: as a file defines it, or else as its name says."""
    if definition is None or is_level(name):
        return _meaning(name)
    exponents = {symbol: power for symbol, power in definition.exponents.items() if power}
    factor, offset = Fraction(definition.factor), Fraction(definition.offset)
    # A plain rate of other than SI seconds: of what it counts, the definition does not say.
    rate = exponents == {"s": -1} and not _is_decimal(definition.factor)
    return Meaning(exponents, factor, offset=offset, clock=-1 if rate else 0)


def per_second(unit: str) -> str:
    """Unit of a time derivative: ``m/s`` for ``m``, ``m/s2`` for ``m/s``, ``K/s`` for ``degC``."""
    powers = _read("K" if unit == "degC" else unit).powers  # the offset falls away
    return spelled([*powers, ("s", -1)])


def _read(unit: str) -> Notation:
    try:
        return read_notation(unit)
    except NotationError as error:
        raise UnitMismatchError(
            f"'{unit}' is not a unit: it {error}; expected Modelica notation such as 'N.s/m',"
            " 'kg.m2' or '1'"
        ) from error


@cache
def _meaning(unit: str) -> Meaning:
    powers = _read(unit).powers
    if len(powers) == 1 and powers[0][1] == 1:
        return _symbol(powers[0][0], unit)
    product = Meaning()
    for symbol, power in powers:
        product = product.times(_symbol(symbol, unit).power(power))
    try:
        si_factor(product)
    except OverflowError as error:
        raise UnitMismatchError(f"'{unit}' is not a unit: its factor is {error}") from None
    return product


def _symbol(symbol: str, unit: str) -> Meaning:
    meaning = symbol_meaning(symbol)
    if meaning is not None:
        return meaning
    if is_logarithmic(symbol):
        raise UnitMismatchError(
            f"unit '{unit}' is logarithmic, and to what '{symbol}' refers is not said: it converts"
            " to nothing by a factor; put a block between that takes the power of ten"
        )
    raise UnitMismatchError(f"'{unit}' is not a unit: it has the unknown symbol '{symbol}'")


def _is_decimal(factor: float) -> bool:
    """Whether a factor is a power of ten."""
    return repr(factor) == repr(float(f"1e{round(log10(factor))}")) if factor > 0.0 else False


@cache
def _warn(unit: str, text: str) -> None:
    """Tell once that a unit is read as another text says."""
    _LOGGER.warning("unit '%s' is read as '%s'; write it so", unit, text)
