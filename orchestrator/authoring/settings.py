"""Values as they stand on a command line."""

from __future__ import annotations

from orchestrator.errors import DescriptionError
from orchestrator.system import Component, Connector, DataType, System, Value
from orchestrator.system.checks import expected_value
from orchestrator.system.values import target_of

_WORDS = {"true": True, "false": False}


def assigned(system: System, text: str) -> System:
    """Set a value from a text such as ``"arm/motor.k=3.5"``.

    Raises
    ------
    DescriptionError
        If it is no assignment, there is no such connector, or the value does not fit.
    """
    path, equals, value = text.partition("=")
    if not (path and equals):
        raise DescriptionError(f"'{text}': expected component.parameter=value")
    holder, connector = target_of(system, path)
    if not isinstance(holder, Component):
        connector = system.nested(path.rpartition(".")[0]).connectors[connector.name]
    return system.set(path, value_of(value, connector, path))


def value_of(text: str, connector: Connector, path: str) -> Value:
    """Read a text as the type of a connector; elements of arrays stand between commas.

    Raises
    ------
    DescriptionError
        If it is no such value.
    """
    if not connector.shape:
        return _element(text, connector, path)
    elements = [_element(part.strip(), connector, path) for part in text.split(",")]
    return tuple(elements)  # type: ignore[return-value] # all of one type


def _element(text: str, connector: Connector, path: str) -> bool | int | float | str | bytes:
    named = connector.enumeration
    if named is not None and text in named.items:
        return named.items[text]
    try:
        match connector.type:
            case DataType.STRING:
                return text
            case DataType.BINARY:
                return bytes.fromhex(text)
            case DataType.BOOLEAN | DataType.CLOCK:
                return _WORDS[text.lower()]
            case DataType.INTEGER:
                return int(text)
        return float(text)
    except (ValueError, KeyError):
        words = f" (or one of {', '.join(named.items)})" if named is not None else ""
        raise DescriptionError(
            f"{path}: expected {expected_value(connector)}{words}, found '{text}'"
        ) from None
