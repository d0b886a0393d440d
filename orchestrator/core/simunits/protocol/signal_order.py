"""The order in which the engine keeps the signals of a unit."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.system import Connector, DataType

#: The engine keeps a unit's signals in this order of types, declared order within a type.
_ORDER = (DataType.REAL, DataType.INTEGER, DataType.BOOLEAN, DataType.CLOCK)
#: And its texts, in a buffer of their own, in this order.
_TEXT_ORDER = (DataType.STRING, DataType.BINARY)


def signal_order(connectors: Iterable[Connector]) -> tuple[Connector, ...]:
    """Sort the numeric ones of connectors as the engine keeps them."""
    numbers = (c for c in connectors if not c.type.is_text)
    return tuple(sorted(numbers, key=lambda c: _ORDER.index(c.type)))


def text_order(connectors: Iterable[Connector]) -> tuple[Connector, ...]:
    """Sort the String and Binary ones of connectors as the engine keeps them."""
    texts = (c for c in connectors if c.type.is_text)
    return tuple(sorted(texts, key=lambda c: _TEXT_ORDER.index(c.type)))
