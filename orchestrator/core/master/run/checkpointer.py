"""Saving and restoring of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, LoadError, SoftdockError, StepError
from orchestrator.core.master.run.checkpoint import Checkpoint, StoredCheckpoint
from orchestrator.core.master.run.facts import differences
from orchestrator.core.master.run.recorder import Recorder, Rows
from orchestrator.core.simunits import SimulationUnit
from orchestrator.engine import Engine

if TYPE_CHECKING:
    from orchestrator.core.master.run.tuning import Tuning


class Checkpointer:
    """Saves everything that moves in a run, and restores it.

    Parameters
    ----------
    units, engine, recorder
        What moves; units in order of the schedule.
    facts
        What the run is made from.
    """

    def __init__(
        self,
        units: Sequence[SimulationUnit],
        engine: Engine,
        recorder: Recorder,
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
            rows = Rows(None, checkpoint.rows, checkpoint.times_ns)
        self._recorder.restore(self._engine, rows)


def _saved(units: Sequence[SimulationUnit]) -> tuple[object, ...]:
    fixed = [unit.name for unit in units if not unit.description.capabilities.can_roll_back]
    if fixed:
        raise CapabilityError(
            f"cannot save the run: {', '.join(map(repr, fixed))} cannot save their states"
            " (canGetAndSetFMUstate is not true); replace them, or run again from the start"
        )
    return tuple(unit.get_state() for unit in units)
