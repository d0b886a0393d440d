"""Units of a schedule, made and initialised: consistent signals at the start time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master.run.step_failure import (
    reason_of,
    unsettled_message,
)
from orchestrator.core.master.schedule.events import with_abilities
from orchestrator.core.master.schedule.schedule import OperationCode, Schedule
from orchestrator.core.simunits import SimulationUnit, capabilities_of, make_unit
from orchestrator.core.system import System
from orchestrator.engine import Engine, FailureKind, Outcome

if TYPE_CHECKING:
    from orchestrator.core.simunits import WorkerProcess


#: What only steps do: the past is what the signals are, and faults are still to come.
_LATER = (
    OperationCode.PUSH,
    OperationCode.PROPOSE,
    OperationCode.FIRST_HALF,
    OperationCode.INJECT_FAULT,
    OperationCode.INJECT_SAMPLE_FAULT,
    OperationCode.COMPENSATE,
    OperationCode.CORRECT,
)


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
    for row in schedule.read_early:
        exchange.read_outputs(row)
    exchange.settle()
    for unit in units:
        unit.begin_events()
    exchange.follow()
    end = None
    if schedule.events is not None:
        before = engine.signals.tolist()
        end = _begin_events(schedule, units, engine, start_ns)
        exchange.follow_events(before)
    engine.start(start_ns, schedule.step_ns)
    engine.begin_faults()
    return end


def _begin_events(
    schedule: Schedule, units: Sequence[SimulationUnit], engine: Engine, start_ns: int
) -> Outcome | None:
    """Let units handle the events at the start together; the past is what they lead to."""
    outcome = engine.begin_events(start_ns)
    if outcome.failure.kind is FailureKind.RUN_ENDED:
        return outcome
    if outcome.failure.kind is FailureKind.UNSETTLED:
        raise StepError(unsettled_message(schedule, outcome.failure, start_ns / 1e9))
    if outcome.failed:
        unit = units[outcome.unit]
        why = reason_of(unit, schedule.members[outcome.unit], outcome.failure)
        raise StepError(f"component '{unit.name}' failed in the event mode of the start: {why}")
    return None


class _Exchange:
    """Executes a schedule's operations at the start time: units are evaluated, not stepped."""

    def __init__(
        self,
        schedule: Schedule,
        units: Sequence[SimulationUnit],
        engine: Engine,
        start_ns: int,
    ) -> None:
        self._schedule = schedule
        self._units = units
        self._engine = engine
        self._start_ns = start_ns
        self._unread = -1  # row of a line that could not be read in the last pass

    @property
    def _values(self) -> tuple[Sequence[float], object]:
        return self._engine.signals.tolist(), self._engine.texts

    def settle(self, *, past_events: bool = False) -> None:
        """Exchange until nothing changes, and refuse what cannot be read or is not finite.

        Past the events of the start, what changes at events only stays where it is.
        """
        events = None if past_events else self._schedule.events
        for _ in range(self._schedule.initial_passes):
            before = self._values
            if events is not None and events.held_back[1]:
                self._engine.lines(OperationCode.COPY, *events.held_back)
            self._unread = -1
            self.execute(0, len(self._schedule.operations))
            if before == self._values:
                break
        self._expect_sound()
        self._engine.start(self._start_ns, self._schedule.step_ns)

    def follow(self) -> None:
        """Exchange what units have as outputs now that they have exited their initialisation."""
        before = self._values
        shared = () if self._schedule.events is None else self._schedule.events.members
        for row in range(len(self._units)):
            if row not in shared:
                self._get(row)
        if before != self._values:
            self.settle()

    def follow_events(self, before: Sequence[float]) -> None:
        """Exchange what events of several units changed; that clocks tick is of the event only."""
        signals, events = self._engine.signals, self._schedule.events
        assert events is not None  # noqa: S101 - they have happened
        ticks = {slot: signals[slot] for slot, _ in events.clocks}
        if all(a == b or i in ticks for i, (a, b) in enumerate(zip(before, signals, strict=True))):
            return
        self.settle(past_events=True)
        for slot, tick in ticks.items():
            signals[slot] = tick

    def _expect_sound(self) -> None:
        """Refuse signals that are not finite, and a line that the last pass could not read."""
        at = f"at the start, t = {self._start_ns / 1e9:.9g} s"
        if self._unread >= 0:
            line = self._schedule.input_of(self._unread)
            raise StepError(f"input '{line}' {at}: {self._engine.read_error}")
        signals = self._engine.signals
        for name, (slot, size) in self._schedule.slots.items():
            if not all(map(isfinite, signals[slot : slot + size])):
                raise StepError(f"'{name}' is not finite (NaN or infinite) {at}")

    def execute(self, begin: int, end: int) -> None:
        """Do the operations ``begin`` to ``end - 1``."""
        number = begin
        while number < end:
            code, first, count, _, _ = self._schedule.operations[number]
            number += 1
            if code in (OperationCode.STEP, OperationCode.SECOND_HALF):
                for row in range(first, first + count):
                    self._evaluate(row)
            elif code == OperationCode.SOLVE:
                self._solve(first, partial(self.execute, number, number + count))
                number += count
            elif code not in _LATER:
                # the past is what the signals are now
                self._engine.start(self._start_ns, self._schedule.step_ns)
                self._unread = max(self._unread, self._engine.lines(code, first, count))

    def _solve(self, loop: int, body: Callable[[], None]) -> None:
        import numpy as np

        from orchestrator.core.master.run.initial_loop import solve_at_start

        signals = np.asarray(self._engine.signals)
        solve_at_start(self._schedule.loops[loop], body, signals, lambda: self._engine.texts)

    def _evaluate(self, row: int) -> None:
        member, unit = self._schedule.members[row], self._units[row]
        signals = self._engine.signals
        unit.set(signals[member.input_offset :][: member.input_size])
        if member.text_inputs:
            texts = self._engine.texts[member.text_input_offset : member.text_output_offset]
            unit.set_texts(texts)
        self.read_outputs(row)

    def read_outputs(self, row: int) -> None:
        """Read the outputs that a unit has by the inputs that it has now."""
        self._units[row].initialise_outputs(self._start_ns)
        self._get(row)

    def _get(self, row: int) -> None:
        member, unit = self._schedule.members[row], self._units[row]
        unit.get(self._engine.signals[member.output_offset :][: member.output_size])
        if member.text_outputs:
            self._engine.put_texts(member.text_output_offset, unit.get_texts())


def make_units(
    system: System, schedule: Schedule, *, early_return: bool
) -> tuple[Schedule, list[SimulationUnit]]:
    """Instantiate all units and bind their connectors.

    Units with event mode are told when they are made whether they may return early, which the
    abilities of all others decide: so those are made first.
    """
    components = [system.components[member.name] for member in schedule.members]
    made: dict[str, SimulationUnit] = {}
    processes: dict[str, WorkerProcess] = {}
    try:
        for component in components:
            if not component.shares_events:
                made[component.name] = make_unit(component, processes=processes)
        abilities = [
            made[c.name].description.capabilities if c.name in made else capabilities_of(c)
            for c in components
        ]
        schedule = with_abilities(system, schedule, abilities, early_return=early_return)
        early = schedule.events is not None and schedule.events.early_return
        for component in components:
            if component.shares_events:
                made[component.name] = make_unit(component, early_return=early)
        units = [made[member.name] for member in schedule.members]
        for member, unit in zip(schedule.members, units, strict=True):
            unit.bind(
                (*member.inputs, *member.text_inputs), (*member.outputs, *member.text_outputs)
            )
    except BaseException:
        for unit in made.values():
            unit.terminate()
        raise
    return schedule, units
