"""The faults that a rig is tried with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.devices.conformance import bench_of

#: Faults of the wire as emulators know them, for every device.
_ON_THE_WIRE = (
    "drop:0.3",
    "drop:1",
    "duplicate:0.5",
    "reorder:0.5",
    "late:30",
    "burst:20",
    "freeze",
    "nan",
    "wrong-status",
    "saturated",
    "clock-jump:5",
)

#: Of a device that follows commands: two cycles of the robot later.
_SLOWER = "slower:8"

Target = Literal["emulator", "device", "engine", "supervisor", "operator"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault.

    Parameters
    ----------
    name
        As it is called in the table.
    component
        The device that it befalls; empty: none in particular.
    wire
        A fault of the emulator that begins while the rig is active; empty: none.
    kill
        Which process is killed (SIGKILL): the emulator, that of the device, of the simulation, of
        the supervisor, or the operator's terminal.
    second_client
        Whether a second device, or a second adapter, comes to the same wire.
    """

    name: str
    component: str = ""
    wire: str = ""
    kill: Target | None = None
    second_client: bool = False


def trials_of(devices: Mapping[str, str]) -> Iterator[Trial]:
    """Yield all trials of a rig.

    Parameters
    ----------
    devices
        Adapters by component, of those that have an emulator.
    """
    yield Trial("none")
    for component, kind in devices.items():
        bench = bench_of(kind)
        for wire in (*_ON_THE_WIRE, *((_SLOWER,) if bench.follows else ())):
            if wire.partition(":")[0] not in bench.without:
                yield Trial(f"{component}: {wire}", component, wire=wire)
        yield Trial(f"{component}: second client", component, second_client=True)
        yield Trial(f"{component}: kill -9 of the emulator", component, kill="emulator")
        yield Trial(f"{component}: kill -9 of its process", component, kill="device")
    yield Trial("kill -9 of the simulation", kill="engine")
    yield Trial("kill -9 of the supervisor", kill="supervisor")
    yield Trial("kill -9 of the operator's terminal", kill="operator")


def chosen(trials: Iterable[Trial], only: Iterable[str]) -> list[Trial]:
    """Return the trials whose names have one of some texts in them; all if there is none."""
    wanted = list(only)
    return [one for one in trials if not wanted or any(text in one.name for text in wanted)]
