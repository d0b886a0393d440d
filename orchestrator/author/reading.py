"""Systems read from files of any kind, and values from texts as they stand on a command line."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, SspError
from orchestrator.core.ssp import read_system as read_ssp_system
from orchestrator.core.ssp.archive.sources import system_path
from orchestrator.core.ssp.common.names import integer, real
from orchestrator.core.system import Component, Connector, DataType, System, Value
from orchestrator.core.system.checks import value_misfit
from orchestrator.core.system.values import target_of


def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: str | Path | None = None
) -> System:
    """Read a system from a .toml, .ssd or .ssp file, or from a folder with one.

    Parameters
    ----------
    path
        File or folder.
    variant
        Name of another .ssd next to the main one, in an archive or a folder.
    unpack_to
        Where an archive is unpacked, a new or empty folder. By default a temporary folder that
        lives as long as the process.

    Raises
    ------
    LoadError
        If there is no such file or variant, or it is damaged or unsafe.
    DescriptionError
        If a .toml file is described wrongly.
    """
    path = system_path(Path(path), variant)
    if path.suffix == ".toml":
        from orchestrator.author.toml_read import read_toml

        return read_toml(path)
    return read_ssp_system(path, variant, unpack_to=unpack_to)


_WORDS = {"true": True, "false": False}


def assigned(system: System, *texts: str) -> System:
    """Set values from texts such as ``"arm/motor.k=3.5"``."""
    for text in texts:
        path, equals, value = text.partition("=")
        if not (path and equals):
            raise DescriptionError(f"'{text}': expected component.parameter=value")
        holder, connector = target_of(system, path)
        if not isinstance(holder, Component):
            connector = system.nested(path.rpartition(".")[0]).connectors[connector.name]
        system = system.set(path, value_of(value, connector, path))
    return system


def value_of(text: str, connector: Connector, path: str) -> Value:
    """Read a text as the type of a connector.

    Elements of arrays stand between commas, row by row, with or without brackets around them:
    ``"1, 2"`` or ``"[1, 2]"``. Items of enumerations are named.
    """
    if not connector.shape:
        return _element(text, connector, path)
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
    parts = [part.strip() for part in inner.split(",")] if inner.strip() else []
    if len(parts) != connector.size:
        raise DescriptionError(
            f"{path}: expected {connector.size} elements of {connector.type} between commas, such"
            f" as 1,2; found {len(parts)}: '{text}'"
        )
    elements = [_element(part, connector, path) for part in parts]
    return tuple(elements)  # type: ignore[return-value] # all of one type


def plain_value(text: str) -> bool | int | float | str:
    """Read a text whose type nobody declares: true or false, a finite number, else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (integer, _finite):
        with suppress(SspError):
            return read(text)
    return text


def _finite(text: str) -> float:
    value = real(text)
    if not isfinite(value):
        raise SspError(f"expected a finite number, found '{text}'")
    return value


def _element(text: str, connector: Connector, path: str) -> bool | int | float | str | bytes:
    enumeration = connector.enumeration
    if enumeration is not None and text in enumeration.items:
        return enumeration.items[text]
    try:
        match connector.type:
            case DataType.STRING:
                return text
            case DataType.BINARY:
                return bytes.fromhex(text)
            case DataType.BOOLEAN | DataType.CLOCK:
                return _WORDS[text.lower()]
            case DataType.INTEGER:
                return integer(text)
        return _finite(text)
    except (ValueError, KeyError, SspError):
        raise DescriptionError(f"{path}: {value_misfit(connector, text)}") from None
