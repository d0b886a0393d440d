"""Conversion of values between the units of two connectors."""

from __future__ import annotations

from orchestrator.errors import UnitMismatchError
from orchestrator.system.connector import Connector, Value
from orchestrator.system.units import BaseUnit, base_unit, conversion


def conversion_between(source: Connector, target: Connector) -> tuple[float, float]:
    """Factor and offset that convert a value from the unit of one connector to that of another.

    ``target_value = factor * source_value + offset``. What a file defines a unit to be wins over
    what its name says; a unit that is not declared converts to anything unchanged.

    Raises
    ------
    UnitMismatchError
        If the units are of different dimensions, or one is not known and not defined.
    """
    if source.unit_definition is None and target.unit_definition is None:
        return conversion(source.unit, target.unit)
    if source.unit is None or target.unit is None:
        return 1.0, 0.0
    one, other = source.unit_definition, target.unit_definition
    if source.unit == target.unit and (one is None or other is None or one == other):
        return 1.0, 0.0
    one = one or base_unit(source.unit)
    other = other or base_unit(target.unit)
    if _dimension(one) != _dimension(other):
        raise UnitMismatchError(
            f"unit '{source.unit}' ({_text(one)}) does not convert to"
            f" '{target.unit}' ({_text(other)})"
        )
    return one.factor / other.factor, (one.offset - other.offset) / other.factor


def converted(value: Value, source: Connector, target: Connector) -> Value:
    """Carry a value from the unit of one connector to that of another."""
    factor, offset = conversion_between(source, target)
    if (factor, offset) == (1.0, 0.0) or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, tuple):
        return tuple(factor * float(element) + offset for element in value)
    return factor * float(value) + offset


def _dimension(unit: BaseUnit) -> dict[str, int]:
    """Exponents without rad, which tools count or not, and without those that are zero."""
    return {symbol: power for symbol, power in unit.exponents.items() if power and symbol != "rad"}


def _text(unit: BaseUnit) -> str:
    powers = (f"{symbol}{'' if power == 1 else power}" for symbol, power in unit.exponents.items())
    return ".".join(powers) or "1"
