"""Conversion of values between the units of two connectors."""

from __future__ import annotations

from orchestrator.core.system.ports.connector import Connector, Value
from orchestrator.core.system.units.unit import conversion, defined_conversion


def conversion_between(source: Connector, target: Connector) -> tuple[float, float]:
    """Factor and offset that convert a value from the unit of one connector to that of another.

    ``target_value = factor * source_value + offset``. What a file defines a unit to be wins over
    what its name says; a unit that is not declared converts to anything unchanged.
    """
    if source.unit_definition is None and target.unit_definition is None:
        return conversion(source.unit, target.unit)
    return defined_conversion(
        source.unit, source.unit_definition, target.unit, target.unit_definition
    )


def converted(value: Value, source: Connector, target: Connector) -> Value:
    """Carry a value from the unit of one connector to that of another."""
    factor, offset = conversion_between(source, target)
    if (factor, offset) == (1.0, 0.0) or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, tuple):
        return tuple(factor * float(element) + offset for element in value)
    return factor * float(value) + offset
