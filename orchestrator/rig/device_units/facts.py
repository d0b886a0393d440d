"""What is known of a device before it is opened: its adapter, settings, ports and counts."""

from __future__ import annotations

from orchestrator.core.diagnostics import DescriptionError, PluginError, SoftdockError
from orchestrator.core.structs import Struct
from orchestrator.rig.devices import (
    Device,
    DeviceConnectors,
    DeviceSettings,
    SteppedDevice,
    device_class,
    read_settings,
)
from orchestrator.rig.devices.registry import read_address

#: What is known of the samples of every device, as the engine has it: name, unit, description.
HEALTH = (
    ("sample_age", "s", "Age of the sample that the outputs show"),
    ("lost", "1", "Samples that the device counted but that did not arrive"),
    ("late", "1", "Samples that arrived after a newer one, or more than half a period late"),
    ("repeated", "1", "Samples that arrived more than once"),
    ("malformed", "1", "Datagrams that were not valid samples"),
    ("restarts", "1", "Restarts of the device's sample counter"),
    ("clamped", "1", "Commands outside their range"),
    ("valid", "1", "1 if the device reports valid outputs and they are not stale"),
    ("samples", "1", "Samples received so far; plus the lost ones, this is the device's own count"),
    (
        "command_taken",
        "1",
        "Number of the newest command that the device took; -1: unknown",
    ),
    ("commands_missed", "1", "Commands that the device skipped: lost, late or overtaken"),
)


class DeviceFacts(Struct):
    """An adapter with its settings, before anything is opened.

    name: Of the adapter.
    kind, settings: Its class, and the validated settings.
    ports: What it takes and gives with them.
    """

    name: str
    kind: type[Device]
    settings: DeviceSettings
    ports: DeviceConnectors


def stepped_device(location: str) -> SteppedDevice | None:
    """Return what a run steps, if the device that a source names has no clock of its own."""
    name, kind, settings = _adapter(location)
    try:
        return kind.stepped(settings)
    except SoftdockError as error:
        raise DescriptionError(*error.within(f"device '{name}'")) from None


def _adapter(location: str) -> tuple[str, type[Device], DeviceSettings]:
    name, values = read_address(location)
    kind = device_class(name)
    return name, kind, read_settings(kind, values, f"device '{name}'")


def device_facts(location: str) -> DeviceFacts:
    """Find the adapter that a source names and validate the settings; nothing is opened."""
    name, kind, settings = _adapter(location)
    try:
        ports = kind.connectors(settings)
    except SoftdockError as error:
        raise DescriptionError(*error.within(f"device '{name}'")) from None
    taken = {health for health, _, _ in HEALTH} & {c.name for c in (*ports.inputs, *ports.outputs)}
    if taken:
        raise PluginError(
            f"device '{name}' has connectors {', '.join(map(repr, sorted(taken)))}: every device"
            " has outputs of these names; rename the connectors"
        )
    return DeviceFacts(name, kind, settings, ports)
