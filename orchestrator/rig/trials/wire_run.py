"""The run of a device behind a relay: ``python -m orchestrator.rig.trials.wire_run``.

Its last argument is one line of JSON, as :class:`WireRun`. It prints ``begun`` with the first step.
At the end the folder has ``outcome.json``, as :class:`WireOutcome`, and ``rows.npz``.
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.master import Execution
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Component, Connection, Endpoint, Source, SourceKind, System
from orchestrator.rig.device_units.facts import HEALTH, device_facts
from orchestrator.rig.devices import DeviceConnectors

#: Of the speed of a command, and of its range, what is used.
_OF_SPEED, _OF_RANGE = 0.1, 0.6
#: When the command begins to move, s.
_REST_S = 0.3
#: Steps are no shorter, s.
_LEAST_STEP_S = 0.004
#: Of SCHED_FIFO, where it is granted: what the emulator stands for has a processor of its own.
PRIORITY = 40
#: Recorded outputs besides the judged one.
FACTS = tuple(name for name, _, _ in HEALTH)


class WireRun(Struct):
    """What is run.

    location: Of the device's source.
    measured: Scalar output that is judged, ``name[i]`` of an array.
    stop: s.
    folder: That gets what it leaves.
    """

    location: str
    measured: str
    stop: float
    folder: str


class WireOutcome(Struct):
    """What came of it.

    error: Of the run; empty: none.
    ended_s: When it ended with that error, CLOCK_MONOTONIC; NaN: it did not.
    notes: Of the run.
    speed: Of the command, per s.
    """

    error: str
    ended_s: float
    notes: tuple[str, ...]
    speed: float


def ramp_speed(ports: DeviceConnectors, stop: float) -> float:
    """Return how fast the first command moves, per s; 0 without commands."""
    if not ports.inputs:
        return 0.0
    first = ports.inputs[0]
    room = first.maximum - first.start
    return min(_OF_RANGE * room / stop, _OF_SPEED * first.speed)


def leader(ports: DeviceConnectors, speed: float) -> type[Block]:
    """Return a block that moves the first scalar command by a ramp, and holds all others."""

    def give(self: Block, t: float, h: float) -> None:
        for index, port in enumerate(ports.inputs):
            value = np.full(port.shape, port.start)
            if index == 0:
                value.flat[0] += speed * max(t + h - _REST_S, 0.0)
            if port.shape:
                np.copyto(getattr(self, port.name), value)
            else:
                setattr(self, port.name, float(value))

    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": "Commands of a device.",
        "__annotations__": {p.name: np.ndarray if p.shape else float for p in ports.inputs},
        "initialise": lambda self, t: give(self, t, 0.0),
        "step": give,
    }
    for port in ports.inputs:
        start = np.full(port.shape, port.start) if port.shape else port.start
        members[port.name] = Output(unit=port.unit, shape=port.shape, depends_on=(), start=start)
    return type("Leader", (Block,), members)


def recorder(ports: DeviceConnectors, measured: str, rows: list[tuple[float, ...]]) -> type[Block]:
    """Return a block that keeps one measurement and the facts of its sample, as they come."""
    name, _, index = measured.partition("[")
    port = next(output for output in ports.outputs if output.name == name)
    at = int(index.rstrip("]")) if index else 0

    def keep(self: Any, t: float, h: float) -> None:
        del t, h
        if not rows:
            sys.stdout.write("begun\n")
            sys.stdout.flush()
        value = float(np.ravel(self.judged)[at])
        rows.append((time.monotonic(), value, *(float(getattr(self, fact)) for fact in FACTS)))

    units = {name: unit for name, unit, _ in HEALTH}
    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": "Keeps what arrives.",
        "__annotations__": dict.fromkeys(FACTS, float)
        | {"judged": np.ndarray if port.shape else float},
        "judged": Input(unit=port.unit, shape=port.shape),
        "step": keep,
        **{fact: Input(unit=units[fact]) for fact in FACTS},
    }
    return type("Recorder", (Block,), members)


def run(order: WireRun, rows: list[tuple[float, ...]]) -> WireOutcome:
    """Run the device alone, led by a ramp, in real time."""
    facts = device_facts(order.location)
    ports, period = facts.ports, 1.0 / facts.ports.rate
    step = round(period * math.ceil(_LEAST_STEP_S / period - 1e-9), 9)
    stop = round(step * math.ceil(order.stop / step), 9)
    speed = ramp_speed(ports, stop)
    name = order.measured.partition("[")[0]
    leads = [(Endpoint("lead", p.name), Endpoint("rig", p.name)) for p in ports.inputs]
    keeps = [(Endpoint("rig", name), Endpoint("keep", "judged"))]
    keeps += [(Endpoint("rig", fact), Endpoint("keep", fact)) for fact in FACTS]
    components = {
        "lead": replace(block(leader(ports, speed)), name="lead"),
        "rig": Component("rig", Source(SourceKind.DEVICE, order.location)),
        "keep": replace(block(recorder(ports, order.measured, rows)), name="keep"),
    }
    system = System(
        "device behind a relay",
        components,
        tuple(Connection(start, end) for start, end in (*leads, *keeps)),
    )
    realtime = RealTime(policy="slip", clock="rig", priority=PRIORITY, lock_memory=False)
    error, ended_s, notes = "", math.nan, tuple[str, ...]()
    try:
        with Execution(
            system, step=step, stop=stop, algorithm="gauss-seidel", realtime=realtime
        ) as execution:
            try:
                execution.advance(stop)
            except SoftdockError as raised:
                error, ended_s = str(raised), time.monotonic()
        notes = tuple(map(str, execution.notes))
    except SoftdockError as raised:
        error, ended_s = error or str(raised), ended_s if error else time.monotonic()
    return WireOutcome(error, ended_s, notes, speed)


def main() -> int:
    """Run it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = WireRun(**json.loads(sys.argv[-1]))
    rows: list[tuple[float, ...]] = []
    outcome = run(order, rows)
    folder = Path(order.folder)
    np.savez(folder / "rows.npz", rows=np.array(rows).reshape(-1, 2 + len(FACTS)))
    (folder / "outcome.json").write_text(
        json.dumps(asdict(outcome)), encoding="utf-8", newline="\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
