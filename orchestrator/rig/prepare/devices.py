"""Putting a device in the place of a component, as a table of an experiment says."""

from __future__ import annotations

from typing import Any

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Source, SourceKind, System
from orchestrator.rig.devices.address import read_address, write_address
from orchestrator.study import swap_component
from orchestrator.study.file.device_table import DeviceTable


def with_device(system: System, name: str, table: DeviceTable) -> System:
    """Put a device in the place of a component, or give the device that is there other settings."""
    old = system.component(name).source
    device = table.device
    settings: dict[str, Any] = {}
    if device is None:
        if old.kind is not SourceKind.DEVICE:
            raise DescriptionError(
                f"devices.{name}: missing key 'device', since component '{name}' ({old.short}) is"
                " none yet"
            )
        device, settings = read_address(old.location)
    try:
        location = write_address(device, {**settings, **table.settings})
    except TypeError as error:
        raise DescriptionError(
            f"devices.{name}: expected numbers, texts, truth values, and lists and tables of them:"
            f" {error}"
        ) from None
    return swap_component(system, name, Source(SourceKind.DEVICE, location))
