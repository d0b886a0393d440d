"""What a run is made of: a system with its tables, its units and the engine, initialised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from math import isfinite
from typing import TYPE_CHECKING

from orchestrator.core.coupling import DelayMode, FaultRecord, fault_records, unsolved
from orchestrator.core.diagnostics import ConvergenceError, DescriptionError, StepError
from orchestrator.core.master.run.recorder import recordable
from orchestrator.core.master.run.run_loop import MOST_STEPS
from orchestrator.core.master.run.step_failure import (
    AT_START,
    expect_capabilities,
    loop_message,
    reason_of,
    unsettled_message,
    verify_rollback,
)
from orchestrator.core.master.schedule.compile import expect_in_reach, schedule_for
from orchestrator.core.master.schedule.events import with_abilities
from orchestrator.core.master.schedule.schedule import LoopTable, OperationCode, Schedule
from orchestrator.core.master.settings import ExecutionSettings
from orchestrator.core.simunits import (
    SimulationUnit,
    capabilities_of,
    expect_flawless,
    flaw_notes,
    isolate,
    make_unit,
    resolve,
    under_wine,
)
from orchestrator.core.simunits.value_rules import value_notes
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Connector,
    System,
    Value,
    communication_step_ns,
    kept_notes,
    nanoseconds,
    seconds,
    with_starts,
)
from orchestrator.core.system.naming import is_whole
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import Engine, FailureKind, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.simunits import WorkerProcess

    Floats = NDArray[np.float64]


def make_engine(schedule: Schedule, units: Sequence[SimulationUnit], threads: int | None) -> Engine:
    """Make the engine that executes a schedule."""
    members = [
        (unit.native, member.input_offset, member.output_offset, member.ticks)
        for unit, member in zip(units, schedule.members, strict=True)
    ]
    engine = Engine(
        schedule.signals,
        members,
        schedule.histories,
        [astuple(channel) for channel in schedule.channels],
        schedule.copies,
        schedule.reads,
        schedule.mixes,
        [astuple(loop)[:8] for loop in schedule.loops],
        schedule.operations,
        astuple(schedule.rule),
        0 if threads is None else threads,
        [astuple(row) for row in schedule.faults],
        [astuple(row) for row in schedule.compensations],
    )
    if not schedule.varies:
        rest = exact_ns(schedule.step_ns) - int(schedule.step_ns)
        engine.set_rest(rest.numerator, rest.denominator)
    if schedule.texts:
        places = [(m.text_input_offset, m.text_output_offset) for m in schedule.members]
        engine.set_texts(schedule.texts, schedule.text_copies, places)
    if schedule.tables:
        engine.set_value_tables(schedule.tables, schedule.table_entries)
    if (events := schedule.events) is not None:
        table = events.members, events.lines, events.clocks
        engine.handle_events(*table, events.splits, events.early_return)
    return engine


def prepared(system: System, mode: DelayMode, *, strict: bool) -> tuple[System, list[str]]:
    """Return a system as it is run, checked, and what was chosen for it, in sentences."""
    if strict:
        expect_flawless(system)
    flat, kept = with_starts(resolve(system).flat())
    closed = flat.closed()
    if mode is DelayMode.PLAIN:
        closed = closed.without_zero_delays()  # nothing to take a step's own delay off
    apart, isolated = isolate(closed.check(algebraic_loops=True))
    prepared, windows = under_wine(apart)
    return prepared, [*flaw_notes(prepared), *kept_notes(kept), *isolated, *windows]


#: A row of the engine's watch: slot, least, most, whether each is open, items.
_WatchRow = tuple[int, float, float, bool, bool, list[float]]


class FedRanges:
    """Watches what the engine feeds to inputs that have a range or an enumeration.

    engine: Initialised; what its inputs are by then counts, too.
    """

    def __init__(self, engine: Engine, schedule: Schedule, units: Sequence[SimulationUnit]) -> None:
        self._engine = engine
        self._inputs: list[tuple[str, Connector, Limits | None]] = []
        rows: list[_WatchRow] = []
        for member, unit in zip(schedule.members, units, strict=True):
            slot = member.input_offset
            for connector in unit.inputs:
                limits = unit.description.ranges.get(connector.name)
                items = connector.enumeration.items.values() if connector.enumeration else ()
                if limits is not None or items:
                    ends = limits or Limits()
                    row = ends.least, ends.most, ends.open_below, ends.open_above
                    for element in range(connector.size):
                        index = f"[{element}]" if connector.shape else ""
                        label = f"{unit.name}.{connector.name}{index}"
                        self._inputs.append((label, connector, limits))
                        rows.append((slot + element, *row, [float(item) for item in items]))
                slot += connector.size
        if rows:
            engine.watch(rows)

    @property
    def notes(self) -> Iterator[str]:
        """Say which inputs were fed something else, when first, and what."""
        for number, time_ns, value in self._engine.beyond if self._inputs else ():
            label, connector, limits = self._inputs[number]
            scalar = replace(connector, shape=(), limits=limits)
            plain: Value = int(value) if scalar.enumeration is not None else value
            if (why := scalar.refusal(plain)) is not None:
                yield (
                    f"input '{label}' is fed what it does not take, first at"
                    f" t = {seconds(time_ns):.9g} s: {why}"
                )


class Assembly(Struct, eq=False):
    """A system that is ready for its first step.

    given, system, notes: As it was given, as it is run, and what was chosen for it, in sentences.
    settings: Completed by the system's own.
    start_ns, stop_ns, outputs: Of the settings, in nanoseconds and by their names.
    schedule, faults, units, engine: Units in order of the schedule.
    fed: What inputs were fed that they do not take.
    end: The end of the run that an event at the start asked for.
    """

    given: System
    system: System
    notes: list[str]
    settings: ExecutionSettings
    start_ns: int
    stop_ns: int | None
    outputs: Sequence[str]
    schedule: Schedule
    faults: tuple[FaultRecord, ...]
    units: list[SimulationUnit]
    engine: Engine
    fed: FedRanges
    end: Outcome | None


def assemble(system: System, options: ExecutionSettings) -> Assembly:
    """Check a system, compile its schedule, make its units and initialise them."""
    given, mode, step_ns = system, options.mode, communication_step_ns(system, options.step)
    every, threads = options.every, options.threads
    if not is_whole(every) or not 1 <= every <= MOST_STEPS:
        raise DescriptionError(f"every: expected a whole number, 1 to 2**62, found {every!r}")
    if threads is not None and threads < 1:
        raise DescriptionError(f"threads: expected >= 1, found {threads!r}")
    system, notes = prepared(given, mode, strict=options.strict)
    start_ns = nanoseconds(options.start, "start time")
    stop_ns = None if options.stop is None else nanoseconds(options.stop, "stop time")
    expect_in_reach({"start time": start_ns, "stop time": stop_ns})
    outputs = recordable(system, options.record)
    schedule = schedule_for(system, options, step_ns, outputs)
    if not schedule.loops:
        notes += unsolved(schedule.loop_delays)
    fixed_ns = None if schedule.varies else schedule.step_ns
    faults = fault_records(options.faults, system, start_ns, stop_ns, fixed_ns)
    if options.realtime is not None and not options.realtime.wine:
        from orchestrator.core.master.run.pacing import expect_no_wine

        expect_no_wine(system, step_ns)
    schedule, units = _make_units(system, schedule, early_return=options.early_return)
    for unit in units:
        notes += value_notes(system.components[unit.name], unit.description.ranges)
    try:
        expect_capabilities(schedule, [unit.description.capabilities for unit in units])
        engine = make_engine(schedule, units, threads)
        end = _initialise(schedule, units, engine, start_ns, stop_ns)
        fed = FedRanges(engine, schedule, units)
        verify_rollback(schedule, units, engine.signals, start_ns)
    except BaseException:
        for unit in units:
            unit.terminate()
        raise
    times = start_ns, stop_ns
    return Assembly(
        given, system, notes, options, *times, outputs, schedule, faults, units, engine, fed, end
    )


def _make_units(
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


def _initialise(
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
    end = None if schedule.events is None else exchange.begin_events()
    engine.start(start_ns, schedule.step_ns)
    engine.begin_faults()
    return end


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
#: Of Newton's method for loops; the perturbation as engine/src/algorithms/newton.cpp has it.
_MOST_ITERATIONS, _MOST_HALVINGS, _PERTURBATION = 50, 30, 1e-6
#: As ``least_pivot`` (engine/src/algorithms/elimination.hpp).
_LEAST_EIGENVALUE = 1e-8


class _Exchange:
    """Executes a schedule's operations at the start time: units are evaluated, not stepped."""

    def __init__(
        self, schedule: Schedule, units: Sequence[SimulationUnit], engine: Engine, start_ns: int
    ) -> None:
        self._schedule = schedule
        self._units = units
        self._engine = engine
        self._start_ns = start_ns
        self._unread = -1  # row of a line that could not be read in the last pass

    @property
    def _values(self) -> tuple[bytes, object]:
        """All values to the bit: 0.0 and -0.0 are two."""
        return self._engine.signals.tobytes(), self._engine.texts

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
            self._execute(0, len(self._schedule.operations))
            if before == self._values:
                break
        at = f"at the start, t = {self._start_ns / 1e9:.9g} s"
        if self._unread >= 0:
            line = self._schedule.input_of(self._unread)
            raise StepError(f"input '{line}' {at}: {self._engine.read_error}")
        signals = self._engine.signals
        for name, (slot, size) in self._schedule.slots.items():
            if not all(map(isfinite, signals[slot : slot + size])):
                raise StepError(f"'{name}' is not finite (NaN or infinite) {at}")
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

    def begin_events(self) -> Outcome | None:
        """Let units handle the events at the start together, and exchange what these changed.

        Returned is the end of the run that one of them asked for.
        """
        signals, events = self._engine.signals, self._schedule.events
        assert events is not None  # noqa: S101 - the caller asks for none otherwise
        before = signals.tolist()
        outcome = self._engine.begin_events(self._start_ns)
        has_ended = outcome.failure.kind is FailureKind.RUN_ENDED
        if outcome.failure.kind is FailureKind.UNSETTLED:
            raise StepError(
                unsettled_message(self._schedule, outcome.failure, self._start_ns / 1e9)
            )
        if outcome.failed and not has_ended:
            unit = self._units[outcome.unit]
            why = reason_of(unit, self._schedule.members[outcome.unit], outcome.failure)
            raise StepError(f"component '{unit.name}' failed in the event mode of the start: {why}")
        ticks = {slot: signals[slot] for slot, _ in events.clocks}  # they are of the event only
        pairs = enumerate(zip(before, signals, strict=True))
        if any(a != b for slot, (a, b) in pairs if slot not in ticks):
            self.settle(past_events=True)
            for slot, tick in ticks.items():
                signals[slot] = tick
        return outcome if has_ended else None

    def _execute(self, begin: int, end: int) -> None:
        """Do the operations ``begin`` to ``end - 1``."""
        number = begin
        while number < end:
            code, first, count, _, _ = self._schedule.operations[number]
            number += 1
            if code in (OperationCode.STEP, OperationCode.SECOND_HALF):
                for row in range(first, first + count):
                    self._evaluate(row)
            elif code == OperationCode.SOLVE:
                self._solve(first, number, number + count)
                number += count
            elif code not in _LATER:
                # the past is what the signals are now
                self._engine.start(self._start_ns, self._schedule.step_ns)
                self._unread = max(self._unread, self._engine.lines(code, first, count))

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

    def _discrete(self, loop: LoopTable) -> tuple[list[float], list[bytes]]:
        """Read what must come out of a pass through a loop as it went in."""
        signals, texts = self._engine.signals, self._engine.texts if loop.texts else ()
        return [signals[slot] for slot in loop.discrete], [texts[row] for row in loop.texts]

    def _solve(self, number: int, begin: int, end: int) -> None:
        """Find outputs that a pass through a loop does not change, by Newton's method."""
        import numpy as np

        loop, signals = self._schedule.loops[number], np.asarray(self._engine.signals)
        slots = list(loop.unknowns)

        def pass_from(x: Floats) -> Floats:
            signals[slots] = x
            self._execute(begin, end)
            found: Floats = signals[slots].copy()
            return found

        def tried(x: Floats) -> Floats:
            try:
                return pass_from(x)
            except StepError:  # a unit is not defined there: no number, and so no step to there
                return np.full_like(x, np.nan)

        x = signals[slots].copy()
        image = pass_from(x)
        for _ in range(_MOST_ITERATIONS):
            residual = image - x
            before = self._discrete(loop)
            if (np.abs(residual) <= loop.tolerance * np.maximum(1.0, np.abs(image))).all():
                image = pass_from(x)
                if before == self._discrete(loop):
                    return
                continue
            if not np.isfinite(residual).all():
                break
            if np.array_equal(tried(image), image):
                return  # it closes through states only: what stands at the start is all there is
            following = _newton_step(tried, x, residual)
            if following is None:
                break
            x, image = following
        raise ConvergenceError(loop_message(loop, residual.tolist(), _MOST_ITERATIONS, AT_START))


def _newton_step(
    tried: Callable[[Floats], Floats], x: Floats, residual: Floats
) -> tuple[Floats, Floats] | None:
    """Step to where the residual is zero, half as far while it grows or a unit refuses the point.

    Returned is where that leads, and its image; ``None`` if there is no such step.
    """
    import numpy as np

    jacobian = np.empty((len(x), len(x)))
    for column in range(len(x)):
        moved = x.copy()
        moved[column] += _PERTURBATION * max(1.0, abs(x[column]))
        change = tried(moved) - moved - residual
        jacobian[:, column] = change / (moved[column] - x[column])
    if not np.isfinite(jacobian).all():
        return None
    if np.abs(np.linalg.eigvals(jacobian)).min() <= _LEAST_EIGENVALUE:
        return None
    step = np.asarray(np.linalg.solve(jacobian, -residual), dtype=np.float64)
    for halving in range(_MOST_HALVINGS):
        there: Floats = x + 0.5**halving * step
        image = tried(there)
        if np.abs(image - there).max() <= 1.5 * np.abs(residual).max():
            break
    return there, image
