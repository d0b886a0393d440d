"""What a run is made from, as text: a checkpoint fits runs that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from hashlib import blake2b

from orchestrator.core.coupling import channel_of
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import Connection, Fault, System


def facts(
    system: System,
    schedule: Schedule,
    units: Sequence[SimulationUnit],
    times: tuple[int, int | None],
    recorded: Sequence[str],
    every: int,
    options: str = "",
    faults: Sequence[Fault] = (),
) -> dict[str, str]:
    """Say what a run is made from, topic by topic: a checkpoint fits runs that say the same.

    Parameters
    ----------
    system, schedule, units
        What runs.
    times
        Start and stop in nanoseconds.
    recorded, every
        Recorded outputs, every n-th step.
    options
        Of the algorithm.
    faults
        What goes wrong.
    """
    stop = "none" if times[1] is None else f"{times[1]} ns"
    said = {
        "communication step": f"{schedule.step_ns} ns",
        "algorithm": schedule.algorithm,
        "algorithm options": options or "none",
        "rates": ", ".join(f"{m.name} {m.ticks}" for m in schedule.members if m.ticks > 1),
        "delay mode": str(schedule.mode),
        "start time": f"{times[0]} ns",
        "stop time": stop,
        "recording": f"every {every}. step of {', '.join(recorded) or 'nothing'}",
        "components": ", ".join(unit.name for unit in units),
    }
    for unit in units:
        details = unit.description.details
        component = system.components[unit.name]
        values = component.values
        made = [details.get(key, "") for key in ("kind", "guid", "class")]
        made += [f"{name} = {values[name]!r}" for name in sorted(values)]
        made += [f"{option} {value}" for option, value in component.options.numerical().items()]
        said[f"component '{unit.name}'"] = "; ".join(filter(None, made))
    for line in system.connections:
        said[f"connection {line}"] = _line(line)
    for number, fault in enumerate(faults, start=1):
        said[f"fault {number}"] = repr(replace(fault, label=""))
    return said


def _line(line: Connection) -> str:
    delay = f"delay {line.delay.nominal_ns} ns" if line.delay else "no delay"
    said = [delay, str(line.transformation or "not transformed")]
    channel = channel_of(line)
    if channel is not None:  # too much to be read: recorded delays may be thousands
        said.append(
            f"varying {blake2b(repr(astuple(channel)).encode(), digest_size=16).hexdigest()}"
        )
    if line.interpolation is not None:
        said.append(f"interpolation {line.interpolation}")
    if line.extrapolation is not None:
        said.append(f"extrapolation {line.extrapolation}")
    if line.compensation is not None:
        said.append(f"compensation {line.compensation}")
    return ", ".join(said)


def differences(found: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """List the topics in which a checkpoint and a run differ."""
    topics = [*here, *(topic for topic in found if topic not in here)]
    return [
        f"{topic}: the checkpoint has '{found.get(topic, 'none')}',"
        f" this run '{here.get(topic, 'none')}'"
        for topic in topics
        if found.get(topic) != here.get(topic)
    ]
