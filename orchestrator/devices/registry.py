"""Where adapters are found, and their settings read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from orchestrator.devices.device import Device
from orchestrator.devices.settings import DeviceSettings
from orchestrator.diagnostics import DescriptionError, PluginError, UnknownNameError, nearest
from orchestrator.diagnostics.validation import format_validation_error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group="softdock.devices")}


def device_names() -> list[str]:
    """Return the names of all adapters (entry points ``softdock.devices``)."""
    return sorted(_entry_points())


@cache
def device_class(name: str) -> type[Device]:
    """Return the adapter of a name, or of ``MODULE:CLASS``, which is imported.

    Raises
    ------
    UnknownNameError, PluginError
        If there is none of that name, or it cannot be imported.
    """
    entry = _entry_point(name)
    try:
        kind = entry.load()
    except Exception as error:
        raise PluginError(f"device '{name}' ({entry.value}) cannot be imported: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Device)):
        raise PluginError(f"device '{name}' ({entry.value}): expected a subclass of Device")
    return kind


def _entry_point(name: str) -> EntryPoint:
    if ":" in name:
        from importlib.metadata import EntryPoint

        return EntryPoint(name, name, "softdock.devices")
    entry = _entry_points().get(name)
    if entry is None:
        raise UnknownNameError(
            f"no device '{name}' is registered{nearest(name, device_names())};"
            f" registered: {', '.join(device_names()) or 'none'}"
        )
    return entry


def read_settings(kind: type[Device], values: Mapping[str, Any], place: str) -> DeviceSettings:
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
        return kind.Settings.model_validate(dict(values))
    except ValidationError as error:
        found = DescriptionError(*format_validation_error(error, kind.Settings))
        raise DescriptionError(*found.within(place)) from None
