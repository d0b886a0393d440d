"""The loop that lets the engine step, in pieces, until a goal is reached or a run has ended."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from orchestrator.core.diagnostics import (
    CapabilityError,
    ConvergenceError,
    DescriptionError,
    LoadError,
    RunEndedError,
    StepError,
    StepSizeUnderflowError,
    counted,
)
from orchestrator.core.master.run.recorder import RowRecorder
from orchestrator.core.master.run.run_state import MOST_STEPS, RunState
from orchestrator.core.master.run.step_failure import (
    FATAL,
    loop_message,
    message,
    reason_of,
    refusal,
    status_hint,
    underflow_message,
    unsettled_message,
)
from orchestrator.core.master.schedule.compile import expect_in_reach
from orchestrator.core.simunits import SimulationUnit, changed_note, left_note, put_back
from orchestrator.core.system import REACH_NS, seconds
from orchestrator.core.system.naming import is_whole
from orchestrator.core.system.time import end_of_steps, whole_steps
from orchestrator.engine import FailureKind, Outcome, Surroundings

if TYPE_CHECKING:
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.master.run.tuning import Tuning


_LOG = logging.getLogger(__name__)
#: The engine runs so many steps, or about so long, at a time; in between progress is reported, and
#: the interpreter sees signals such as Ctrl-C.
_CHUNK = 20_000
_CHUNK_SECONDS = 0.2
#: Receives the time in s after each piece.
Progress = Callable[[float], None]
#: Is called after a piece, and may wait; a number is how many steps the next one has at most.
Steer = Callable[[], int | None]


class RunLoop:
    """Steps initialised units, and knows how the run ended.

    state, recorder: What runs.
    pacing: Keeps the steps to real time; ``None``: they follow each other at once.
    wall_seconds: Time that the stepping took so far.
    notes: What units of this process left changed in their steps, in sentences.
    ended: Why the run cannot go on; empty while it can.
    unrecoverable: Whether no checkpoint can be restored any more.
    broken: Whether a step failed half-way: the signals belong to no one time.
    """

    def __init__(self, state: RunState, recorder: RowRecorder, pacing: Pacing | None) -> None:
        self._schedule, self._engine = state.schedule, state.engine
        self._units = tuple(state.units)
        self._recorder = recorder
        self._pacing = pacing
        self._stop_ns = state.stop_ns
        self._end = state.end  # that an event at the start asked for, in place of the first step
        #: Changes values between two steps, once they are requested.
        self.tuning: Tuning | None = None
        self.wall_seconds = 0.0
        self.notes: list[str] = []
        self.ended = ""
        self.unrecoverable = False
        self.broken = False

    def expect_going(self) -> None:
        """Raise StepError if the run has ended."""
        if self.ended:
            back = "" if self.unrecoverable else "restore a checkpoint, or "
            raise StepError(
                f"this run ended at t = {seconds(self._engine.time_ns):.9g} s: {self.ended};"
                f" its results are kept, {back}make a new Execution to run again"
            )

    def step(self, count: int) -> None:
        """Do one communication step, or a number of them."""
        if not is_whole(count) or count < 1:
            raise DescriptionError(f"count: expected a whole number of steps >= 1, found {count!r}")
        varies = self._schedule.varies
        end_ns = self._engine.time_ns + (1 if varies else self._lasts_ns(count))
        expect_in_reach({"end of the steps": end_ns})
        self._expect_before_stop(end_ns, f"do {counted(count, 'step')}")
        self.run(count, REACH_NS if self._stop_ns is None else self._stop_ns, None)
        if varies and self._engine.time_ns >= REACH_NS:
            expect_in_reach({"end of a further step": REACH_NS + 1})

    def advance(
        self,
        goal_ns: int,
        progress: Progress | None,
        begin: Callable[[], None] = lambda: None,
        steer: Steer | None = None,
    ) -> None:
        """Run to a time, which lies on the grid of steps if there is one."""
        expect_in_reach({"time to advance to": goal_ns})
        step_ns, now_ns, done = self._schedule.step_ns, self._engine.time_ns, self._engine.done
        start_ns = now_ns - end_of_steps(done, step_ns)
        steps, remainder_ns = whole_steps(goal_ns - start_ns, step_ns)
        steps -= done
        if self._schedule.varies:
            steps, remainder_ns = MOST_STEPS, 0
        if goal_ns < now_ns or remainder_ns:
            raise CapabilityError(
                f"cannot advance to {seconds(goal_ns):.9g} s: expected a time not before"
                f" {seconds(now_ns):.9g} s that is a whole number of steps of"
                f" {step_ns / 1e6:g} ms away (back in time lead only checkpoints)"
            )
        self._expect_before_stop(goal_ns, f"advance to {seconds(goal_ns):.9g} s")
        self.run(steps, goal_ns, progress, begin, steer)

    def _lasts_ns(self, count: int) -> int:
        """Duration of the next steps, of equal length."""
        done, step_ns = self._engine.done, self._schedule.step_ns
        return end_of_steps(done + count, step_ns) - end_of_steps(done, step_ns)

    def _expect_before_stop(self, end_ns: int, what: str) -> None:
        """Raise CapabilityError if the units learned an earlier stop time."""
        self.expect_going()
        if self._stop_ns is not None and end_ns > self._stop_ns:
            raise CapabilityError(
                f"cannot {what} at t = {seconds(self._engine.time_ns):.9g} s: the units learned"
                f" {seconds(self._stop_ns):.9g} s as their stop time (stop); make the Execution"
                " with a later stop, or without one"
            )

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Let a checkpoint be restored: the run continues from it, or has ended in part of it."""
        before, self.ended = self.ended, "a checkpoint was restored in part only"
        try:
            yield
            self.broken = False
        except LoadError:  # the engine refused before anything was changed
            self.ended = before
            raise
        self.ended = ""

    def run(
        self,
        steps: int,
        goal_ns: int,
        progress: Progress | None,
        begin: Callable[[], None] = lambda: None,
        steer: Steer | None = None,
    ) -> None:
        """Do some steps, in pieces between which signals such as Ctrl-C are seen.

        steps: Most communication steps.
        goal_ns: Time to go no further than.
        progress: Called with the time in seconds after every piece.
        begin: Called when all is ready for the first step.
        steer: Called after every piece; one in real time ends when somebody asks for it.
        """
        if self._pacing is not None:
            self._run_paced(self._pacing, steps, goal_ns, progress, begin, steer)
            return
        begin()
        chunk = 1  # nobody knows yet how long a step takes
        while steps > 0 and self._engine.time_ns < goal_ns:
            count = min(steps, chunk)
            if self.tuning is not None:
                count = min(count, self.tuning.apply_due_changes())
            taken = self._run(count, goal_ns, self._engine.run)
            steps -= count
            chunk = min(_CHUNK, 10 * chunk, max(1, int(count * _CHUNK_SECONDS / taken)))
            if progress is not None:
                progress(seconds(self._engine.time_ns))
            if steer is not None and (limit := steer()):
                chunk = min(chunk, limit)

    def _run_paced(
        self,
        pacing: Pacing,
        steps: int,
        goal_ns: int,
        progress: Progress | None,
        begin: Callable[[], None],
        steer: Steer | None,
    ) -> None:
        """Do some steps in real time, in one piece: nothing of the interpreter is between them.

        Steps of varying length, whose number nobody knows, come in pieces. A signal ends a piece,
        and so does who asks for something; what is tuned is changed in front of one.
        """
        engine, first = self._engine, self._engine.done
        end = first + steps
        if not self._schedule.varies:
            self._recorder.reserve(steps // self._recorder.every + 1)
        with pacing.running(engine, begin):
            while engine.done < end and engine.time_ns < goal_ns:
                count = end - engine.done
                if self._schedule.varies:
                    count = min(count, _CHUNK)
                if self.tuning is not None:
                    count = min(count, self.tuning.apply_due_changes())
                self._run(count, goal_ns, partial(pacing.run, engine))
                pacing.expect_going(engine)
                if steer is not None:
                    steer()
        if progress is not None:
            progress(seconds(engine.time_ns))

    def _run(self, steps: int, goal_ns: int, run: Callable[[int, int], Outcome]) -> float:
        """Do some steps, no further than the goal, and return the seconds that they took."""
        self.expect_going()
        self._recorder.reserve(steps // self._recorder.every + 1)
        before = Surroundings()
        began = time.perf_counter()
        try:
            at_start = self._engine.done == 0
            outcome = self._end if self._end and at_start else run(steps, goal_ns)
        finally:  # a signal may end it
            taken = max(time.perf_counter() - began, 1e-9)
            self.wall_seconds += taken
        if any(changed := put_back(before)):
            self._note_changes(*changed)
        for unit in self._units:
            unit.forward_log()
        if outcome.failed:
            self._fail(outcome)
        return taken

    def _note_changes(self, changed: Sequence[str], kept_changed: Sequence[str]) -> None:
        """Note what one of the units in this process, or another thread, changed in its steps."""
        here = "' or '".join(unit.name for unit in self._units if unit.shares_process)
        if not here:
            return  # it was none of the units
        notes = [changed_note(here, change, "stepping") for change in changed]
        for note in (
            *notes,
            *(left_note(change, "the run was stepping") for change in kept_changed),
        ):
            if note not in self.notes:
                self.notes.append(note)
                _LOG.warning("%s", note)

    def _fail(self, outcome: Outcome) -> NoReturn:
        """End the run by a failure, in words of its units and connectors."""
        schedule, failure = self._schedule, outcome.failure
        time = seconds(self._engine.time_ns)
        self.broken = True
        error: BaseException
        if outcome.loop >= 0:
            _, _, iterations, residual = self._engine.loops[outcome.loop]
            table, when = schedule.loops[outcome.loop], f"in the step from t = {time:.9g} s"
            refused = ""
            if outcome.unit >= 0:
                refused = refusal(
                    self._units[outcome.unit], schedule.members[outcome.unit], failure
                )
            text = loop_message(table, residual, iterations, when, refused)
            self.ended, error = "a loop did not converge", ConvergenceError(text)
        elif failure.kind is FailureKind.UNSETTLED:
            text = unsettled_message(schedule, failure, time)
            self.ended, error = "its events did not come to an end", StepError(text)
        elif failure.kind is FailureKind.UNREAD:
            self.ended = f"input '{schedule.input_of(outcome.read)}' failed ({failure.text})"
            error = StepError(f"t = {time:.9g} s: {self.ended}")
        elif failure.kind is FailureKind.TOO_LONG:
            text = underflow_message(failure, schedule, time)
            self.ended, error = "no step was short enough", StepSizeUnderflowError(text)
        else:
            self._fail_by_unit(outcome, self._units[outcome.unit], time)
        raise error from None

    def _fail_by_unit(self, outcome: Outcome, unit: SimulationUnit, time: float) -> NoReturn:
        failure, events = outcome.failure, self._schedule.events
        if failure.kind is FailureKind.RUN_ENDED:
            at, last_message = seconds(failure.time_ns), unit.last_message()
            text = f"component '{unit.name}' ended the run at t = {at:.9g} s"
            text += f": {last_message}" if last_message else ""
            self.broken = at != time
            if self.broken:
                text += f"; the last row is that of t = {time:.9g} s, the step that it ended in is"
                text += " left out"
            self.ended = text
            raise RunEndedError(text) from None
        reason = reason_of(unit, self._schedule.members[outcome.unit], failure)
        if events is not None and failure.kind is FailureKind.EARLY_RETURN:
            reason += f" because {', '.join(events.refusals)}"
        self.ended = f"component '{unit.name}' failed ({reason})"
        cause = unit.exception()
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None  # Ctrl-C while a block had the word; an exit is a failure
        reason += unit.location_of(cause) + status_hint(unit, outcome.status, round(time * 1e9))
        self.unrecoverable = outcome.status == FATAL
        raise StepError(message(unit, outcome.status, time, reason)) from cause
