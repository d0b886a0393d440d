"""Where adapters are found, how a source names a device, and how its settings are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import valid
from orchestrator.core.plugins import PluginGroup
from orchestrator.core.system import Source, SourceKind
from orchestrator.core.system.source import expect_opened
from orchestrator.rig.devices.device import Device, DeviceSettings

DEVICES = PluginGroup("softdock.devices", "device", lambda: Device)


def device_names() -> list[str]:
    """Return the names of all adapters (entry points ``softdock.devices``)."""
    return DEVICES.names


def device_class(name: str) -> type[Device]:
    """Return the adapter of a name, or of ``MODULE:CLASS``, which is imported.

    Raises
    ------
    UnknownNameError, PluginError
        If there is none of that name, or it cannot be imported.
    """
    expect_opened(Source(SourceKind.DEVICE, name))
    return DEVICES.class_of(name)


def read_settings(kind: type[Device], values: Mapping[str, Any], location: str) -> DeviceSettings:
    """Return the validated settings of an adapter.

    Parameters
    ----------
    kind
        The adapter.
    values
        As they are written, by key.
    place
        Where they stand, for messages.

    Raises
    ------
    DescriptionError
        All that is wrong with them: a key that is not known, a value of another type or beyond its
        limits.
    """
    try:
        return valid(kind.Settings, dict(values))
    except DescriptionError as error:
        raise DescriptionError(*error.within(location)) from None


#: What may stand in a value as it is: what JSON is made of, but for ``&``, ``#``, ``%`` and ``+``.
_SAFE = "[]{}:,\"'./ -_=?@"


def read_address(location: str) -> tuple[str, dict[str, Any]]:
    """Take name and settings of a device apart.

    A value is JSON where it can be read as such (``49152``, ``true``, ``[1, 2]``), else a text.
    """
    name, _, query = location.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise DescriptionError(
            f"device '{location}': expected NAME?key=value&key=value, found '?{query}'"
        ) from None
    settings: dict[str, Any] = {}
    for key, text in pairs:
        if key in settings:
            raise DescriptionError(f"device '{name}': setting '{key}' is there twice")
        settings[key] = _value(text)
    return name, settings


def write_address(name: str, settings: Mapping[str, Any]) -> str:
    """Return the location of a device with settings, which :func:`read_address` reads back."""
    if not settings:
        return name
    pairs = (f"{quote(key)}={quote(_text(value), safe=_SAFE)}" for key, value in settings.items())
    return f"{name}?{'&'.join(pairs)}"


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no number, list or the like: a text
        return text


def _text(value: Any) -> str:
    if isinstance(value, str) and _value(value) == value:
        return value
    return json.dumps(value)
