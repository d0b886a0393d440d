"""Where adapters are found, and their settings read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.plugin_group import PluginGroup
from orchestrator.core.system import Source, SourceKind
from orchestrator.core.system.packed_code import expect_opened
from orchestrator.rig.devices.device import Device
from orchestrator.rig.devices.settings import DeviceSettings

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
