"""The start of a run: units are set up, and values are exchanged until all are consistent.

The exchange itself is the engine's (engine/src/run/initial_exchange.cpp), for runs and for exported
systems. Here the units take part in it, and what it could not do becomes an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from orchestrator.core.diagnostics import ConvergenceError, StepError
from orchestrator.core.master.run.step_failure import (
    AT_START,
    loop_message,
    reason_of,
    unsettled_message,
)
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.engine import Engine, FailureKind, InitialResult, Outcome


def initialise(
    schedule: Schedule,
    units: Sequence[SimulationUnit],
    engine: Engine,
    start_ns: int,
    stop_ns: int | None,
) -> Outcome | None:
    """Set the units up and exchange initial values until all are consistent.

    Before the start a delayed signal has the value that it has at the start. Units that others read
    before their turn first give what they have by their own start values. The exchange is repeated
    until it changes nothing; each pass settles at least one more unit, or one more loop,
    and as many passes as there are units suffice. What the initial events of a unit lead to is
    exchanged the same way: those that an FMU handles as it exits its initialisation, then those
    that units handle together. Returned is the end of the run that one of these asked for.
    """
    for unit in units:
        unit.setup(start_ns, stop_ns)
    exchange = _Exchange(schedule, units, engine, start_ns)
    exchange.settle()
    for unit in units:
        unit.begin_events()
    exchange.settle(follows=True)
    end = None if schedule.events is None else exchange.begin_events()
    engine.start(start_ns, schedule.step_ns)
    engine.begin_faults()
    return end


class _Units:
    """Moves values between the buffers and the units: the engine calls it during the exchange.

    Each call returns whether the unit did it; ``refusal`` is the error of the last that did not.
    """

    def __init__(
        self, schedule: Schedule, units: Sequence[SimulationUnit], engine: Engine, start_ns: int
    ) -> None:
        self._rows = list(zip(schedule.members, units, strict=True))
        self._engine = engine
        self._start_ns = start_ns
        self.refusal: StepError | None = None

    def evaluate(self, row: int) -> bool:
        """Set the inputs of a unit, and read the outputs that follow from them."""
        return self._is_done(row, self._set, self._initialise, self._get)

    def initialise(self, row: int) -> bool:
        """Read the outputs that follow from the inputs that a unit has now."""
        return self._is_done(row, self._initialise, self._get)

    def read(self, row: int) -> bool:
        """Read the outputs of a unit as they are."""
        return self._is_done(row, self._get)

    def _is_done(self, row: int, *calls: Callable[[int], None]) -> bool:
        try:
            for call in calls:
                call(row)
        except StepError as error:
            self.refusal = error
            return False
        return True

    def _set(self, row: int) -> None:
        member, unit = self._rows[row]
        unit.set(self._engine.signals[member.input_offset :][: member.input_size])
        if member.text_inputs:
            texts = self._engine.texts[member.text_input_offset : member.text_output_offset]
            unit.set_texts(texts)

    def _initialise(self, row: int) -> None:
        self._rows[row][1].initialise_outputs(self._start_ns)

    def _get(self, row: int) -> None:
        member, unit = self._rows[row]
        unit.get(self._engine.signals[member.output_offset :][: member.output_size])
        if member.text_outputs:
            self._engine.put_texts(member.text_output_offset, unit.get_texts())


class _Exchange:
    """Lets the engine exchange values at the start time, and raises what keeps it from an end."""

    def __init__(
        self, schedule: Schedule, units: Sequence[SimulationUnit], engine: Engine, start_ns: int
    ) -> None:
        self._schedule = schedule
        self._units = units
        self._engine = engine
        self._start_ns = start_ns
        self._transfer = _Units(schedule, units, engine, start_ns)
        held_back = (0, 0) if schedule.events is None else schedule.events.held_back
        self._table = (schedule.initial_passes, schedule.read_early, *held_back)

    def settle(self, *, follows: bool = False, before: Sequence[float] | None = None) -> None:
        """Exchange until nothing changes, and refuse what cannot be read or is not finite.

        follows: From what units have as outputs now that they have exited their initialisation.
        before: The signals before events of the start changed them: what changes at events only
            stays where it is.
        """
        schedule, start_ns = self._schedule, self._start_ns
        result = self._engine.exchange_initially(
            self._transfer, self._table, start_ns, schedule.step_ns, follows, before
        )
        if not result.settled:
            raise self._error(result)
        if not result.exchanged:
            return
        moment = f"at the start, t = {start_ns / 1e9:.9g} s"
        if result.unread >= 0:
            line = schedule.input_of(result.unread)
            raise StepError(f"input '{line}' {moment}: {self._engine.read_error}")
        signals = self._engine.signals
        for name, (slot, size) in schedule.slots.items():
            if not all(map(isfinite, signals[slot : slot + size])):
                raise StepError(f"'{name}' is not finite (NaN or infinite) {moment}")

    def _error(self, result: InitialResult) -> StepError:
        refusal = self._transfer.refusal
        if result.loop < 0 and refusal is not None:
            return refusal
        loop = self._schedule.loops[result.loop]
        return ConvergenceError(loop_message(loop, result.residual, result.iterations, AT_START))

    def begin_events(self) -> Outcome | None:
        """Let units handle the events at the start together, and exchange what these changed.

        Returned is the end of the run that one of them asked for.
        """
        before = self._engine.signals.tolist()
        outcome = self._engine.begin_events(self._start_ns)
        has_ended = outcome.failure.kind is FailureKind.RUN_ENDED
        if outcome.failure.kind is FailureKind.UNSETTLED:
            raise StepError(
                unsettled_message(self._schedule, outcome.failure, self._start_ns / 1e9)
            )
        if outcome.failed and not has_ended:
            unit = self._units[outcome.unit]
            reason = reason_of(unit, self._schedule.members[outcome.unit], outcome.failure)
            raise StepError(
                f"component '{unit.name}' failed in the event mode of the start: {reason}"
            )
        self.settle(before=before)
        return outcome if has_ended else None
