"""Values and delays that are changed while a run goes on: checked, ramped, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from orchestrator.core.coupling import DelayPlan, Mark, ShiftRamp, Tuned, channel_of
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.run.ports import Ports
from orchestrator.core.master.run.run_state import MOST_STEPS, RunState
from orchestrator.core.master.schedule.compile import schedule_for
from orchestrator.core.master.schedule.rows import ReadRow
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Connection,
    DataType,
    SourceKind,
    Value,
    communication_step_ns,
    nanoseconds,
    seconds,
)
from orchestrator.core.system.experiment import limits_of
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.ports import Limits

Event = Tuned | Mark
#: What was done so far, the newest behind all before it: saving a run shares it.
Log = tuple[Any, Event] | None
ARROW = "->"
#: Letters of a mark.
_LONGEST = 500
#: What a delay may change of a schedule: where the past is read, and how much of it is kept.
_SAME = ("copies", "mixes", "operations", "channels", "compensations", "faults", "loops", "slots")


def events_of(log: Log) -> tuple[Event, ...]:
    """Return what a log has, in the order of time."""
    events: list[Event] = []
    while log is not None:
        log, event = log
        events.append(event)
    return tuple(reversed(events))


def log_of(events: Iterable[Event]) -> Log:
    """Return the log of events."""
    log: Log = None
    for event in events:
        log = log, event
    return log


class Tunable(Struct):
    """What can be changed while a run goes on.

    name, unit, type: Of the connector, or ``source -> target``, ``"s"`` and a Real of a
        connection's delay.
    value: What it is now.
    limits: What it may be set to, in words.
    """

    name: str
    unit: str
    type: str
    value: Value
    limits: str


class Tuning:
    """Changes a run between two steps, and remembers what it changed.

    state, ports: What runs; limits of its settings hold beside those of the system, as ranges, of
        delays in nanoseconds; or as their two ends, of delays in seconds.
    log: What was changed and marked so far.
    listeners: Receive each event before the next step.
    """

    def __init__(self, state: RunState, ports: Ports) -> None:
        self._state, self._ports, self._engine = state, ports, state.engine
        self._lines = LineDelays(state)
        self.log: Log = None
        self.listeners: list[Callable[[Event], None]] = []
        self._moving: dict[str, tuple[Tuned, int]] = {}  # and the last step that it was set for
        self._plan: tuple[Tuned, ...] = ()
        self._planned: list[Tuned] = []
        components = state.system.components.items()
        self._devices = [n for n, item in components if item.source.kind is SourceKind.DEVICE]
        limits_by_name = dict(state.system.experiment.tuning)
        for name, item in _mapping(state.settings.limits).items():
            limits = limits_of(name, item)
            try:
                limits_by_name[name] = limits.within(limits_by_name.get(name, Limits()))
            except DescriptionError as error:
                raise DescriptionError(f"limits of '{name}': {error}") from None
        tunable_names = (
            [*ports.tunable(), *map(str, state.system.connections)] if limits_by_name else []
        )
        for name in limits_by_name:
            if name not in tunable_names:
                raise unknown_name_error(
                    "the run", "input or tunable parameter", name, tunable_names
                )
        self._limits = ports.given = limits_by_name
        for name in limits_by_name:
            if ARROW not in name:
                self._expect_range(name)

    def _expect_range(self, name: str) -> None:
        """Expect that limits leave values of a connector that its unit takes."""
        kind = self._ports.connector(name).type
        if kind.is_text or kind is DataType.CLOCK:
            raise DescriptionError(f"limits of '{name}': expected a number, it is a {kind}")
        try:
            self._ports.limits(name)
        except DescriptionError as error:
            raise DescriptionError(f"limits of '{name}': {error}") from None

    @property
    def events(self) -> tuple[Event, ...]:
        """What was changed and marked so far, in the order of time."""
        return events_of(self.log)

    @property
    def delays(self) -> dict[str, str]:
        """The delays that are not those of the system any more, in words by connection."""
        return self._lines.changed

    @property
    def plans(self) -> tuple[DelayPlan, ...]:
        """How connections are read, with the delays that were changed so far."""
        return self._lines.plans

    def set(
        self, name: str, value: Any, ramp: str | float | None, by: str = "", granted: str = ""
    ) -> None:
        """Change a value or a delay; see :meth:`Execution.set`."""
        self._change(*self.accepted(name, value, ramp), by, granted)

    def accepted(self, name: str, value: Any, ramp: str | float | None) -> tuple[str, Value, int]:
        """Return name, value and steps of a ramp as they are meant, or say what is wrong."""
        if is_delay := ARROW in name:
            name = str(self._lines.line(name))
            plain: Value = (delay_ns := nanoseconds(value, f"the delay of {name}"))
            limits = self._limits.get(name)
            if limits is not None and not limits.admits(delay_ns):
                raise DescriptionError(
                    f"the delay of {name}: expected {_delay_range(limits, 1e6, 'ms')}, found"
                    f" {delay_ns / 1e6:g} ms"
                )
        else:
            name, plain = self._ports.full_name(name), self._ports.accepted(name, value)
        steps = self._steps(name, ramp)
        if steps and not is_delay:
            self._ports.expect_real(name)
        return name, plain, steps

    def expect_granted(self, name: str, granted: str) -> None:
        """Expect, where devices are in the loop, that it is known what a change does to them."""
        if not self._devices:
            return
        reason = self._barred(name)
        if not reason and not granted:
            reason = (
                f"devices are in the run ({', '.join(self._devices)}), and devices are tuned only"
                " through their supervisor, which checks the margins with the new value: use"
                " softdock tune in a run with --live, [supervisor] and arming"
            )
        if reason:
            raise CapabilityError(f"cannot set '{name}': {reason}")

    def _barred(self, name: str) -> str:
        """Say why nobody may change a value while devices are in the run; empty: one may."""
        if ARROW not in name and name.partition(".")[0] in self._devices:
            return "it belongs to a device, which only the simulation commands"
        if ARROW in name:
            limits = self._limits.get(name)
            if limits is not None:  # no delay is below zero
                limits = limits.within(Limits(least=0.0))
        else:
            limits = self._ports.limits(name)
        if limits is not None and limits.is_bounded:
            return ""
        has = f"one limit only ({limits})" if limits else "no limits"
        return (
            f"it has {has}, and devices are in the run: expected a minimum and a maximum, of"
            f' its variable or of a table [tuning."{name}"] of the experiment or system file'
        )

    def proposed(self, name: str, value: Any, ramp: str | float | None) -> Tuned:
        """Return what would be changed where devices are in the loop, once that is granted."""
        name, plain, steps = self.accepted(name, value, ramp)
        self.expect_granted(name, "not asked yet")
        if self._moving:
            raise CapabilityError(
                f"cannot set '{name}': {next(iter(self._moving))} is still changing, and margins"
                " are checked for one change at a time: ask again when it has ended"
            )
        return Tuned(
            self._engine.done, self._engine.time_ns, name, self._before(name), plain, steps
        )

    def _before(self, name: str) -> Value:
        return self._lines.present(name) if ARROW in name else self._ports.plain(name)

    def _steps(self, name: str, ramp: str | float | None) -> int:
        """Return the communication steps of a ramp."""
        ramp_ns = 0 if ramp is None else nanoseconds(ramp, f"{name}: ramp")
        if ramp_ns < 0:
            raise DescriptionError(f"{name}: ramp: expected a time >= 0 s, found {ramp!r}")
        if ramp_ns and self._state.schedule.varies:
            raise CapabilityError(
                f"{name}: a ramp needs a fixed step, and algorithm"
                f" '{self._state.schedule.algorithm}' chooses its steps: set the value without a"
                " ramp"
            )
        return -(-ramp_ns // int(self._state.schedule.step_ns)) if ramp_ns else 0

    def _change(self, name: str, value: Value, steps: int, by: str, granted: str = "") -> None:
        is_delay = ARROW in name
        is_signal = not is_delay and self._ports.is_input(name)
        if is_signal and not (steps or by or name in self._moving):
            self._ports.put(name, value)  # as a script feeds it: no change, but a signal
            return
        self.expect_granted(name, granted)
        engine = self._engine
        who = ", ".join(filter(None, (by, granted)))
        tuned = Tuned(engine.done, engine.time_ns, name, self._before(name), value, steps, who)
        if is_delay:
            if others := [moving for moving in self._moving if ARROW in moving]:
                raise CapabilityError(f"cannot set '{name}': the delay of {others[0]} still moves")
            self._lines.aim(tuned, int(self._state.schedule.step_ns))
        self._put(tuned)
        self._note(tuned)

    def _put(self, tuned: Tuned) -> None:
        """Let a value be what it is to be in the step that comes next."""
        step, name = self._engine.done, tuned.name
        if ARROW in name:
            self._lines.put(step)
        else:
            self._ports.put(name, tuned.at(step))
        if step - tuned.step + 1 < tuned.ramp:
            self._moving[name] = tuned, step
        else:
            self._moving.pop(name, None)

    def _note(self, event: Event) -> None:
        self.log = self.log, event
        for listener in self.listeners:
            listener(event)

    def mark(self, text: str, by: str = "") -> None:
        """Remember what somebody marks now, in words."""
        text = text.strip()
        if not text or len(text) > _LONGEST:
            raise DescriptionError(
                f"mark: expected a text of 1 to {_LONGEST} letters, found {len(text)}"
            )
        self._note(Mark(self._engine.done, self._engine.time_ns, text, by))

    def plan(self, tuned: Sequence[Tuned]) -> None:
        """Do the same again, each in front of the step that it stood in front of."""
        if self._devices and tuned:
            raise CapabilityError(
                f"recorded tuning can only be replayed without devices, found {self._devices[0]}:"
                " replace them by recordings or models"
            )
        for change in tuned:
            if ARROW in change.name:
                self._lines.line(change.name)
            else:
                self._ports.accepted(change.name, change.value)
        self._plan = tuple(sorted(tuned, key=lambda change: change.step))
        self._planned = [change for change in self._plan if change.step >= self._engine.done]

    def apply_due_changes(self) -> int:
        """Do what is due in front of the next step; return the steps until more is."""
        done = self._engine.done
        while self._planned and self._planned[0].step <= done:
            tuned = self._planned.pop(0)
            name, value = tuned.name, tuned.value
            if ARROW not in name:
                value = self._ports.accepted(name, value)
            self._change(name, value, tuned.ramp, tuned.by)
        for tuned, last in list(self._moving.values()):
            if last < done:
                self._put(tuned)
        if self._moving:
            return 1
        return self._planned[0].step - done if self._planned else MOST_STEPS

    def restore(self, log: Log) -> None:
        """Go on as when this was the log: with the ramps that were under way."""
        done = self._engine.done
        self.log, self._moving = log, {}
        for event in events_of(log):
            if isinstance(event, Tuned):
                self._moving.pop(event.name, None)
                if done - event.step < event.ramp:
                    self._moving[event.name] = event, max(event.step, done - 1)
        self._planned = [change for change in self._plan if change.step >= done]

    def options(self) -> list[Tunable]:
        """Return what can be changed, with what it is now; with devices only what has limits."""
        rows = []
        for name in self._ports.tunable():
            if self._devices and self._barred(name):
                continue
            connector = self._ports.connector(name)
            if not connector.type.is_text and connector.type is not DataType.CLOCK:
                limits, value = str(self._ports.limits(name) or ""), self._ports.plain(name)
                rows.append(Tunable(name, connector.unit or "", connector.type, value, limits))
        for line in self._state.system.connections if not self._state.schedule.varies else ():
            barred = self._devices and self._barred(str(line))
            if line.delay is not None and channel_of(line) is None and not barred:
                ends = self._limits.get(str(line))
                limits = "" if ends is None else _delay_range(ends, 1e9, "s")
                delay = seconds(self._lines.present(str(line)))
                rows.append(Tunable(str(line), "s", DataType.REAL, delay, limits))
        return rows


def _delay_range(limits: Limits, unit_ns: float, unit: str) -> str:
    """Write limits of a delay: ``2 to 12 ms``, ``at most 12 ms``."""
    low, high = f"{limits.least / unit_ns:g}", f"{limits.most / unit_ns:g} {unit}"
    if limits.most == inf:
        return f"at least {low} {unit}"
    return f"at most {high}" if limits.least == -inf else f"{low} to {high}"


def _mapping(limits: object) -> Mapping[str, object]:
    if not isinstance(limits, Mapping | None):
        raise DescriptionError(
            f"limits: expected ranges by name, such as {{'unit.k': (0.0, 5.0)}}, found {limits!r}"
        )
    return limits or {}


class LineDelays:
    """Delays of the lines of a run, which a ramp leads from one to the next.

    A line with another delay is read elsewhere in its past. Where that is, the schedule says that
    would be compiled with it; so the delay of each loop stays what is declared. What the schedule
    has beside must be the same.

    state: What runs.
    """

    def __init__(self, state: RunState) -> None:
        self._state, self._system = state, state.system
        self.changed: dict[str, str] = {}
        self._shifts = [row.shift_ns for row in state.schedule.reads]
        self._ramps: list[tuple[ShiftRamp, ...]] = []  # of all readings, in the order of time

    def line(self, name: str) -> Connection:
        """Return a connection whose delay can be changed."""
        source, _, target = (part.strip() for part in name.partition("->"))
        connection = next(
            (
                candidate
                for candidate in self._system.connections
                if str(candidate.target) == target
            ),
            None,
        )
        if connection is None or str(connection.source) != source:
            names = [str(candidate) for candidate in self._system.connections]
            raise unknown_name_error(f"system '{self._system.name}'", "connection", name, names)
        reason = ""
        if connection.delay is None:
            reason = "it has no delay, so no past values are stored"
        elif channel_of(connection) is not None:
            reason = "it varies from sample to sample"
        elif self._state.schedule.varies:
            reason = f"algorithm '{self._state.schedule.algorithm}' chooses its steps"
        if reason:
            raise CapabilityError(
                f"cannot change the delay of {connection} while it runs: {reason}"
            )
        return connection

    def present(self, name: str) -> int:
        """Return the delay that was requested last, in nanoseconds."""
        delay = self.line(name).delay
        return 0 if delay is None else delay.nominal_ns

    def aim(self, tuned: Tuned, step_ns: int) -> None:
        """Work out where a line is to be read at the end of a ramp, and keep enough of its past."""
        line, value, before = self.line(tuned.name), int(tuned.value), int(tuned.before)  # type: ignore[arg-type]
        if value < 0:
            raise DescriptionError(
                f"the delay of {line}: expected >= 0 s, found {value / 1e6:g} ms"
            )
        grows = value - before
        if grows > tuned.ramp * step_ns:
            raise CapabilityError(
                f"the delay of {line} grows by {grows / 1e6:g} ms: expected a ramp of at least as"
                f" long, found {tuned.ramp * step_ns / 1e6:g} ms: a shorter ramp would repeat"
                " samples"
            )
        assert line.delay is not None  # noqa: S101 - `line` has seen to it
        ends = str(line.source), str(line.target)
        system = self._system.with_delay(*ends, replace(line.delay, nominal_ns=value))
        settings, here = self._state.settings, self._state.schedule
        step = communication_step_ns(system, settings.step)
        recompiled = schedule_for(system, settings, step, self._state.outputs)
        same = all(getattr(recompiled, name) == getattr(here, name) for name in _SAME)
        if not same or list(map(_unmoved, recompiled.reads)) != list(map(_unmoved, here.reads)):
            raise CapabilityError(
                f"cannot change the delay of {line} to {value / 1e6:g} ms while it runs: this"
                " would change how the values are exchanged; run again with this delay"
            )
        for number, row in enumerate(recompiled.histories):
            self._state.engine.deepen(number, row.depth)
        before_ns, self._shifts = self._shifts, [row.shift_ns for row in recompiled.reads]
        shifts = zip(before_ns, self._shifts, strict=True)
        self._ramps.append(tuple(ShiftRamp(tuned.step, a, b, tuned.ramp) for a, b in shifts))
        self._system = system
        self.changed[str(line)] = f"{value / 1e6:g} ms from step {tuned.step}, ramp {tuned.ramp}"

    def put(self, step: int) -> None:
        """Read the lines where they are read in a step of the ramp."""
        rows = zip(self._ramps[-1], self._state.schedule.reads, strict=True)
        self._state.engine.redelay([(ramp.at(step), row.span_ns) for ramp, row in rows])

    @property
    def plans(self) -> tuple[DelayPlan, ...]:
        """How connections are read, with their ramps so far."""
        schedule = self._state.schedule
        if not self._ramps:
            return schedule.plans
        number_of = {row.target: number for number, row in enumerate(schedule.reads)}
        slots = [schedule.slots.get(str(p.connection.target), (-1, 0)) for p in schedule.plans]
        numbers = [number_of.get(first) for first, _ in slots]
        return tuple(map(self._with_ramps, schedule.plans, numbers))

    def _with_ramps(self, plan: DelayPlan, number: int | None) -> DelayPlan:
        if number is None:
            return plan
        row = self._state.schedule.reads[number]
        ahead_ns = plan.shift_ns - row.shift_ns  # of what a row reads: it is the same for all
        ramps = (ramps[number] for ramps in self._ramps)
        moved = (
            replace(r, from_ns=r.from_ns + ahead_ns, to_ns=r.to_ns + ahead_ns)
            for r in ramps
            if r.from_ns != r.to_ns
        )
        return replace(plan, ramps=tuple(moved))


def _unmoved(row: ReadRow) -> ReadRow:
    """Return a row of the readings without where in the past it reads."""
    return row._replace(shift_ns=0)
