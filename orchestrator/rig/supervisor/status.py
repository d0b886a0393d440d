"""What an operator is told of a rig."""

from __future__ import annotations

import math
from typing import Any

from orchestrator.rig.supervisor.device_watch import DeviceWatch
from orchestrator.rig.supervisor.limits import SignalLimits
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import Supervisor

_NS = 1e-9


def status_of(supervisor: Supervisor, now_ns: int) -> dict[str, Any]:
    """Return what is so now, as plain data; times in s, signals in their units.

    Parameters
    ----------
    supervisor
        Of the rig.
    now_ns
        CLOCK_MONOTONIC.
    """
    machine, tracking = supervisor.machine, supervisor.tracking
    left, wished = machine.armed_left(now_ns), supervisor.wished
    begun = next((one.time_ns for one in machine.changes if one.after is State.BLEND), None)
    signals: dict[str, dict[str, Any]] = {}
    for watch in supervisor.watches.values():
        signals |= _signals(watch, supervisor.settings.signals)
    responses = dict(tracking.responses) if tracking is not None else {}
    margins = {name: one.left for name, one in responses.items() if one.left is not None}
    return {
        "rig": supervisor.settings.rig,
        "state": machine.state.name,
        "in_state_s": (now_ns - machine.since_ns) * _NS if machine.changes else None,
        "engaged_s": None if begun is None else (now_ns - begun) * _NS,
        "missing": list(supervisor.missing) if machine.state is State.OFF else [],
        "armed": {"by": machine.armed_by, "left_s": left * _NS} if left else None,
        "wished": wished and {"wish": wished[0], "by": wished[1], "time_s": wished[2] * _NS},
        "latched": [str(fault) for fault in machine.latched],
        "alarms": [str(fault) for fault in machine.alarms],
        "present": [str(fault) for fault in machine.present.values()],
        "signals": signals,
        "margins": {name: {"delay_s": one[0], "gain": one[1]} for name, one in margins.items()},
        "tracking": {name: response.figures for name, response in responses.items()},
        "devices": {
            name: {"pid": watch.facts.pid, "engine": watch.facts.engine, "gone": watch.gone}
            for name, watch in supervisor.watches.items()
        },
    }


def _signals(watch: DeviceWatch, limits: dict[str, SignalLimits]) -> dict[str, dict[str, Any]]:
    """Return the newest values of a device's signals that have a table, with what is left."""
    found = {}
    for name, column, facts in watch.facts.places():
        if name in limits and watch.newest is not None:
            value = watch.newest[column]
            left = _left(value, limits[name])
            known = value if math.isfinite(value) else None
            found[name] = {"value": known, "unit": facts.unit, "margin": left}
    return found


def _left(value: float, limits: SignalLimits) -> float | None:
    """How far a value is from the nearer end of its range, below 0 beyond it."""
    ends = []
    if limits.minimum is not None:
        ends.append(value - limits.minimum)
    if limits.maximum is not None:
        ends.append(limits.maximum - value)
    return min(ends) if ends and math.isfinite(value) else None
