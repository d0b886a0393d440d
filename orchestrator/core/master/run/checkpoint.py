"""Checkpoints of a run: everything that it needs to go on bit for bit, and what they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import channel_of
from orchestrator.core.diagnostics import (
    CapabilityError,
    LoadError,
    SoftdockError,
    StepError,
    counted,
)
from orchestrator.core.master.run.recorder import RecordedRows, RowRecorder
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.structs import Struct
from orchestrator.core.system import Connection, seconds
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.engine import EngineState

if TYPE_CHECKING:
    from orchestrator.core.master.run.run_state import RunState
    from orchestrator.core.master.run.tuning import Log, Tuning


class StoredCheckpoint(Struct, eq=False):
    """A checkpoint as plain data, for a file and for other processes.

    facts: What the run was made from, as text by topic; a checkpoint fits runs with the same.
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


class Checkpoint(Struct, eq=False):
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

    def __repr__(self) -> str:
        return f"Checkpoint at {self.time:.9g} s of {counted(len(self.units), 'component')}"

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
                f" {', '.join(map(repr, mute))} cannot be turned into bytes (canSerializeFMUstate"
                " is not true); continue in this process, or export these FMUs with that"
                " capability"
            )
        states = {
            unit.name: unit.serialize(state)
            for unit, state in zip(self.units, self.states, strict=True)
        }
        engine, rows = self.engine, self.rows.joined()[:2]
        past = engine.done, engine.signals, engine.samples, engine.marks, engine.memory
        return StoredCheckpoint(self.facts, self.time_ns, *past, *rows, states, self.log)


def _facts(state: RunState) -> dict[str, str]:
    """Say what a run is made from, topic by topic: a checkpoint fits runs that say the same."""
    schedule, settings = state.schedule, state.settings
    options = ", ".join(f"{k} = {v!r}" for k, v in sorted(settings.algorithm_options.items()))
    options = options if settings.early_return else f"{options}; no early return"
    facts = {
        "communication step": f"{schedule.step_ns} ns",
        "algorithm": schedule.algorithm,
        "algorithm options": options or "none",
        "rates": ", ".join(f"{m.name} {m.ticks}" for m in schedule.members if m.ticks > 1),
        "delay mode": str(schedule.mode),
        "start time": f"{state.start_ns} ns",
        "stop time": "none" if state.stop_ns is None else f"{state.stop_ns} ns",
        "recording": f"every {settings.every}. step of {', '.join(state.outputs) or 'nothing'}",
        "components": ", ".join(unit.name for unit in state.units),
    }
    for unit in state.units:
        details = unit.description.details
        component = state.system.components[unit.name]
        values = component.values
        parts = [details.get(key, "") for key in ("kind", "guid", "class")]
        parts += [f"{name} = {values[name]!r}" for name in sorted(values)]
        parts += [f"{option} {value}" for option, value in component.options.numerical().items()]
        facts[f"component '{unit.name}'"] = "; ".join(filter(None, parts))
    for line in state.system.connections:
        facts[f"connection {line}"] = _line(line)
    for number, fault in enumerate(settings.faults, start=1):
        facts[f"fault {number}"] = ", ".join(
            f"{name} {value}"
            for name, value in asdict(fault).items()
            if name != "label" and value is not None
        )
    return facts


def _line(line: Connection) -> str:
    delay = f"delay {line.delay.nominal_ns} ns" if line.delay else "no delay"
    texts = [delay]
    channel = channel_of(line)
    if channel is not None:  # too much to be read: recorded delays may be thousands
        texts.append(
            f"varying {blake2b(repr(astuple(channel)).encode(), digest_size=16).hexdigest()}"
        )
    texts += [
        f"{attribute.name} {attribute.text(value)}"
        for attribute, value in attributes_on(line)
        if attribute.name != "delay"  # where its figure comes from does not change a run
    ]
    return ", ".join(texts)


class Checkpointer:
    """Saves everything that moves in a run, and restores it.

    state, recorder: What moves.
    """

    def __init__(self, state: RunState, recorder: RowRecorder) -> None:
        self._units, self._engine = tuple(state.units), state.engine
        self._recorder = recorder
        self._facts = _facts(state)

    def save(self, tuning: Tuning | None) -> Checkpoint:
        """Save the run between two steps; see :meth:`Execution.save`."""
        fixed = [u.name for u in self._units if not u.description.capabilities.can_roll_back]
        if fixed:
            raise CapabilityError(
                f"cannot save the run: {', '.join(map(repr, fixed))} cannot save their states"
                " (canGetAndSetFMUstate is not true); replace them, or run again from the start"
            )
        states = tuple(unit.get_state() for unit in self._units)
        rows = self._recorder.save()
        saved = self._engine.time_ns, self._engine.save(), rows, self._units, states
        return Checkpoint(self._state_from(tuning), *saved, None if tuning is None else tuning.log)

    def _state_from(self, tuning: Tuning | None) -> Mapping[str, str]:
        """Return what the run is made from, with the delays that were changed since."""
        if tuning is None or not tuning.delays:
            return self._facts
        return {**self._facts, **{f"tuned delay of {k}": v for k, v in tuning.delays.items()}}

    def states_for(
        self, checkpoint: Checkpoint | StoredCheckpoint, tuning: Tuning | None
    ) -> tuple[object, ...]:
        """Return a checkpoint's states in a form that the units take; changes nothing."""
        facts_before, here = checkpoint.facts, self._state_from(tuning)
        problems = [
            f"{topic}: the checkpoint has '{facts_before.get(topic, 'none')}',"
            f" this run '{here.get(topic, 'none')}'"
            for topic in dict.fromkeys((*here, *facts_before))
            if facts_before.get(topic) != here.get(topic)
        ]
        if problems:
            raise LoadError("the checkpoint is of another run:\n" + "\n".join(problems))
        if isinstance(checkpoint, StoredCheckpoint):
            self._check(checkpoint)
            return tuple(unit.deserialize(checkpoint.states[unit.name]) for unit in self._units)
        if any(
            saved is not present
            for saved, present in zip(checkpoint.units, self._units, strict=True)
        ):
            raise SoftdockError(
                "the checkpoint was saved by another execution, whose units it needs; restore"
                " the independent copy that its method stored() returns"
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
            raise StepError("a unit does not return its texts after it restored a state")
        if isinstance(checkpoint, Checkpoint):
            rows = checkpoint.rows
        else:
            rows = RecordedRows(None, checkpoint.rows, checkpoint.times_ns)
        self._recorder.restore(rows)
