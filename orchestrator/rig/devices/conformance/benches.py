"""Where benches are found."""

from __future__ import annotations

from orchestrator.core.diagnostics import PluginError
from orchestrator.rig.devices.conformance.bench import Bench
from orchestrator.rig.devices.registry import device_class


def bench_of(name: str) -> Bench:
    """Return the bench of an adapter (entry point ``softdock.device_benches``).

    Raises
    ------
    UnknownNameError, PluginError
        If there is no adapter of that name, it brings none, or it cannot be imported.
    """
    from importlib.metadata import entry_points

    device_class(name)
    for entry in entry_points(group="softdock.device_benches", name=name):
        try:
            bench = entry.load()
        except Exception as error:
            raise PluginError(
                f"the bench of device '{name}' ({entry.value}) cannot be imported: {error}"
            ) from error
        if not isinstance(bench, Bench):
            raise PluginError(f"the bench of device '{name}' ({entry.value}): expected a Bench")
        return bench
    raise PluginError(
        f"device '{name}' brings no bench, so that it has no emulator and cannot be checked:"
        " register one, entry point softdock.device_benches"
    )
