"""Values in the types of numpy, as lists and as words, made plain values of connectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.core.system.ports.connector import Connector, Value


def plain_value(given: Any, connector: Connector | None = None) -> Value:
    """Return scalars, arrays and lists as numbers and tuples of them, row by row.

    Parameters
    ----------
    given
        Number, text, scalar or array of numpy, list or tuple. What is none of these, or of another
        shape, passes unchanged.
    connector
        What it is for: its shape is that of nested lists, and names of its enumeration's items are
        taken for their numbers. ``None``: not known.
    """
    value: Value = _of_python(given)
    if not isinstance(value, tuple):
        named: Value = _named(value, connector)
        return named
    shape = _shape(value)
    if len(shape) != 1 and connector is not None and shape != connector.shape:
        return value
    return tuple(_named(each, connector) for each in _flat(value))


def _of_python(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a scalar or an array of numpy
        value = value.tolist()
    return tuple(map(_of_python, value)) if isinstance(value, (list, tuple)) else value


def _named(value: Any, connector: Connector | None) -> Any:
    known = connector.enumeration if connector is not None else None
    return value if known is None or not isinstance(value, str) else known.items.get(value, value)


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, tuple):
        return ()
    inner = {_shape(each) for each in value}
    return (len(value), *inner.pop()) if len(inner) == 1 else (len(value), -1) if inner else (0,)


def _flat(value: object) -> Iterator[Any]:
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    else:
        yield value
