"""The faults that a rig is tried with."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.rig.devices.conformance import bench_of

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
    "malformed:0.3",
    "wrong-status",
    "saturated",
    "clock-jump:5",
)

#: Of a device that follows commands: two cycles of the robot later.
_SLOWER = "slower:8"

#: At once: its counters, its clock and its state begin anew.
_RESTART = "restart-after:0.001"

#: So long after it began: a rig has begun by then.
_WRAP_S = 15.0

FULL_DISK = "disk is full"

#: How long processes are stopped (SIGSTOP, then SIGCONT), s.
_STOPS = (0.2, 1.0, 5.0)

Target = Literal["emulator", "device", "engine", "supervisor", "operator"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault.

    name: As it is called in the table.
    component: The device that it befalls; empty: none in particular.
    wire: A fault of the emulator that begins while the rig is active; empty: none.
    target: Which process is killed or stopped: the emulator, that of the device, of the simulation,
        of the supervisor, or the operator's terminal.
    stop_s: For how long it is stopped; 0: it is sent `signal`.
    signal: What the process is sent, and its whole group if it is not SIGKILL, as a terminal does.
    full_disk: Whether nothing can be written any more to where the run keeps what it records.
    second_client: Whether a second device, or a second adapter, comes to the same wire.
    after_s: How long after the emulator began a fault comes that it has from its begin on; 0: it is
        told to have it.
    """

    name: str
    component: str = ""
    wire: str = ""
    target: Target | None = None
    stop_s: float = 0.0
    signal: signal.Signals = signal.SIGKILL
    full_disk: bool = False
    second_client: bool = False
    after_s: float = 0.0


def trials_of(devices: Mapping[str, str], *, supervised: bool = True) -> Iterator[Trial]:
    """Yield all trials of a rig."""
    yield Trial("none")
    for component, kind in devices.items():
        bench = bench_of(kind)
        for wire in (*_ON_THE_WIRE, *((_SLOWER,) if bench.follows else ())):
            if wire.partition(":")[0] not in bench.without:
                yield Trial(f"{component}: {wire}", component, wire=wire)
        if "restart-after" not in bench.without:
            yield Trial(f"{component}: restart", component, wire=_RESTART)
        if bench.wraps:
            wire = f"wrap-after:{_WRAP_S:g}"
            yield Trial(f"{component}: count or clock runs over", component, wire, after_s=_WRAP_S)
        yield Trial(f"{component}: second client", component, second_client=True)
        yield from _ended("the emulator", "emulator", component)
        yield from _ended("its process", "device", component)
    yield from _ended("the simulation", "engine")
    yield Trial("Ctrl-C", target="engine", signal=signal.SIGINT)
    yield Trial("terminal is closed (SIGHUP)", target="engine", signal=signal.SIGHUP)
    yield Trial(FULL_DISK, target="engine", full_disk=True)
    if supervised:
        yield from _ended("the supervisor", "supervisor")
        yield Trial("kill -9 of the operator's terminal", target="operator")


def _ended(what: str, target: Target, component: str = "") -> Iterator[Trial]:
    """Yield what can become of a process: it is killed, or stopped for a while."""
    whose = f"{component}: " if component else ""
    yield Trial(f"{whose}kill -9 of {what}", component, target=target)
    for stop_s in _STOPS:
        yield Trial(f"{whose}stop of {what}, {stop_s:g} s", component, target=target, stop_s=stop_s)


def chosen(trials: Iterable[Trial], only: Iterable[str]) -> list[Trial]:
    """Return the trials whose names have one of some texts in them; all if there is none."""
    wanted = list(only)
    return [one for one in trials if not wanted or any(text in one.name for text in wanted)]
