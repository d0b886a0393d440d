"""Checkpoints of a run: everything that it needs to go on bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.run.recorder import Rows
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.engine import EngineState

if TYPE_CHECKING:
    from orchestrator.core.master.run.tuning import Log


@dataclass(frozen=True, slots=True, eq=False)
class StoredCheckpoint:
    """A checkpoint as plain data, for a file and for other processes.

    Parameters
    ----------
    facts
        What the run was made from, as text by topic: see :mod:`.facts`.
    time_ns
        When it was saved.
    steps
        Communication steps that were done.
    signals
        The engine's buffer, float64 array of shape (signals,).
    samples, marks
        The past of the delays, one after the other, as the engine keeps it: samples (float64);
        counts and times (int64).
    memory
        What loops and the control of the step keep from step to step (float64).
    rows, times_ns
        float64 array of shape (rows, columns): what was recorded until then; and int64 array of
        shape (rows,): the time of each.
    states
        State of every unit as bytes, by component.
    log
        What was changed while it ran, and marked: see :mod:`.tuning`.
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

    Parameters
    ----------
    facts, time_ns
        See :class:`StoredCheckpoint`.
    engine
        Clock, signals and the past of all delays.
    rows
        What was recorded until then, shared with the execution.
    units, states
        The units in order of the schedule, and the state of each.
    log
        See :class:`StoredCheckpoint`.
    """

    facts: Mapping[str, str]
    time_ns: int
    engine: EngineState
    rows: Rows
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
