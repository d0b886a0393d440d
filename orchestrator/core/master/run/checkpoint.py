"""Checkpoints of a run: everything that it needs to go on bit for bit, and what they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import channel_of
from orchestrator.core.diagnostics import CapabilityError, LoadError, SoftdockError, StepError
from orchestrator.core.master.run.recorder import RecordedRows, RowRecorder
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import Connection, Fault, System, seconds
from orchestrator.engine import Engine, EngineState

if TYPE_CHECKING:
    from orchestrator.core.master.run.tuning import Log, Tuning


@dataclass(frozen=True, slots=True, eq=False)
class StoredCheckpoint:
    """A checkpoint as plain data, for a file and for other processes.

    facts: What the run was made from, as text by topic: see :func:`facts`.
    time_ns: When it was saved.
    steps: Communication steps that were done.
    signals: The engine's buffer, float64 array of shape (signals,).
    samples, marks: The past of the delays, one after the other, as the engine keeps it: samples
        (float64); counts and times (int64).
    memory: What loops and the control of the step keep from step to step (float64).
    rows, times_ns: float64 array of shape (rows, columns): what was recorded until then; and int64
        array of shape (rows,): the time of each.
    states: State of every unit as bytes, by component.
    log: What was changed while it ran, and marked: see :mod:`.tuning`.
    """

    facts: Mapping[str, str]
    time_ns: int
    steps: int
    signals: NDArray[np.float64]
    samples: NDArray[np.float64]
    marks: NDArray[np.int64]
    memory: NDArray[np.float64]
    rows: NDArray[np.float64]
    times_ns: NDArray[np.int64]
    states: Mapping[str, bytes]
    log: Log = None

    @property
    def time(self) -> float:
        """When it was saved, in seconds."""
        return seconds(self.time_ns)

    @property
    def engine(self) -> EngineState:
        """What the engine takes."""
        return EngineState(
            self.steps, self.time_ns, self.signals, self.samples, self.marks, self.memory
        )


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What :meth:`Execution.save` returns; the execution can go back to it any number of times.

    It belongs to the units of its execution. :meth:`stored` makes it independent of them.

    facts, time_ns: See :class:`StoredCheckpoint`.
    engine: Clock, signals and the past of all delays.
    rows: What was recorded until then, shared with the execution.
    units, states: The units in order of the schedule, and the state of each.
    log: See :class:`StoredCheckpoint`.
    """

    facts: Mapping[str, str]
    time_ns: int
    engine: EngineState
    rows: RecordedRows
    units: tuple[SimulationUnit, ...]
    states: tuple[object, ...]
    log: Log = None

    @property
    def time(self) -> float:
        """When it was saved, in seconds."""
        return seconds(self.time_ns)

    def stored(self) -> StoredCheckpoint:
        """Return the checkpoint as plain data."""
        mute = [u.name for u in self.units if not u.description.capabilities.can_serialize]
        if mute:
            raise CapabilityError(
                "the checkpoint cannot leave this process: the states of"
                f" {', '.join(map(repr, mute))} cannot be turned into bytes"
                " (canSerializeFMUstate is not true); go on in this process, or export these FMUs"
                " with that capability"
            )
        states = {
            unit.name: unit.serialize(state)
            for unit, state in zip(self.units, self.states, strict=True)
        }
        engine = self.engine
        return StoredCheckpoint(
            self.facts,
            self.time_ns,
            engine.done,
            engine.signals,
            engine.samples,
            engine.marks,
            engine.memory,
            *self.rows.joined()[:2],
            states,
            self.log,
        )


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

    system, schedule, units: What runs.
    times: Start and stop in nanoseconds.
    recorded, every: Recorded outputs, every n-th step.
    options: Of the algorithm.
    faults: What goes wrong.
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


class Checkpointer:
    """Saves everything that moves in a run, and restores it.

    units, engine, recorder: What moves; units in order of the schedule.
    facts: What the run is made from.
    """

    def __init__(
        self,
        units: Sequence[SimulationUnit],
        engine: Engine,
        recorder: RowRecorder,
        facts: Mapping[str, str],
    ) -> None:
        self._units = tuple(units)
        self._engine = engine
        self._recorder = recorder
        self._facts = facts

    def save(self, tuning: Tuning | None) -> Checkpoint:
        """Save the run between two steps; see :meth:`Execution.save`."""
        states = _saved(self._units)
        rows = self._recorder.save(self._engine)
        saved = self._engine.time_ns, self._engine.save(), rows, self._units, states
        return Checkpoint(self._made_from(tuning), *saved, None if tuning is None else tuning.log)

    def _made_from(self, tuning: Tuning | None) -> Mapping[str, str]:
        """Return what the run is made from, with the delays that were changed since."""
        if tuning is None or not tuning.delays:
            return self._facts
        return {**self._facts, **{f"tuned delay of {k}": v for k, v in tuning.delays.items()}}

    def states_for(
        self, checkpoint: Checkpoint | StoredCheckpoint, tuning: Tuning | None
    ) -> tuple[object, ...]:
        """Return a checkpoint's states in a form that the units take; changes nothing."""
        if problems := differences(checkpoint.facts, self._made_from(tuning)):
            raise LoadError("the checkpoint is of another run:\n" + "\n".join(problems))
        if isinstance(checkpoint, StoredCheckpoint):
            self._check(checkpoint)
            return tuple(unit.deserialize(checkpoint.states[unit.name]) for unit in self._units)
        if any(one is not other for one, other in zip(checkpoint.units, self._units, strict=True)):
            raise SoftdockError(
                "the checkpoint was saved by another execution, whose units it needs;"
                " give the independent copy that its method stored() makes"
            )
        return checkpoint.states

    def _check(self, checkpoint: StoredCheckpoint) -> None:
        if missing := [unit.name for unit in self._units if unit.name not in checkpoint.states]:
            raise LoadError(f"the checkpoint is damaged: no states of {', '.join(missing)}")
        expected = checkpoint.steps // self._recorder.every + 1, self._recorder.columns
        if checkpoint.rows.shape != expected or checkpoint.times_ns.shape != expected[:1]:
            raise LoadError(
                "the checkpoint is damaged: expected recorded rows of shape"
                f" {expected}, found {checkpoint.rows.shape}"
            )

    def restore(self, checkpoint: Checkpoint | StoredCheckpoint, states: Sequence[object]) -> None:
        """Restore engine, units and recording, with the states of :meth:`states_for`."""
        try:
            self._engine.restore(checkpoint.engine)
        except (ValueError, TypeError) as error:
            raise LoadError(f"the checkpoint is damaged: {error}") from None
        for unit, state in zip(self._units, states, strict=True):
            unit.set_state(state)
        if self._engine.read_texts() > 1:
            raise StepError("a unit does not tell its texts after it went back to a state")
        if isinstance(checkpoint, Checkpoint):
            rows = checkpoint.rows
        else:
            rows = RecordedRows(None, checkpoint.rows, checkpoint.times_ns)
        self._recorder.restore(self._engine, rows)


def _saved(units: Sequence[SimulationUnit]) -> tuple[object, ...]:
    fixed = [unit.name for unit in units if not unit.description.capabilities.can_roll_back]
    if fixed:
        raise CapabilityError(
            f"cannot save the run: {', '.join(map(repr, fixed))} cannot save their states"
            " (canGetAndSetFMUstate is not true); replace them, or run again from the start"
        )
    return tuple(unit.get_state() for unit in units)
