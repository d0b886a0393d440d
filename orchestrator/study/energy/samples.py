"""Recorded signals of a run as an energy ledger reads them: rows, and courses within steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import lcm
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayPlan, Tuned, channel_of
from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError
from orchestrator.core.master.run.followed_input import followed_input
from orchestrator.core.recording import Result
from orchestrator.core.system import (
    Causality,
    Compensation,
    Connection,
    Connector,
    Endpoint,
    SourceKind,
    System,
    product_of,
    signal_of,
)
from orchestrator.study.energy.course import Course

Floats = NDArray[np.float64]
_CORRECTOR = Compensation.CORRECTOR
#: Rows between two jumps of an output, which curves of four rows need.
_APART = 4


class Signals(Protocol):
    """A run: what :class:`~orchestrator.core.recording.Result` is."""

    @property
    def time(self) -> Floats:
        """Times of the rows, s, shape (n,)."""

    @property
    def plans(self) -> tuple[DelayPlan, ...]:
        """How delayed, predicted and followed connections are read."""

    def __getitem__(self, name: str) -> Floats:
        """One signal, shape (n,)."""


def problem_of(run: Signals, system: System) -> str:
    """Return why the samples of a run do not show how its inputs moved; empty if they do."""
    if not isinstance(run, Result):
        return ""
    if run.every != 1:
        return (
            f"result '{run.name}' has one row for every {run.every} steps: expected every step,"
            " since work is summed over all steps"
        )
    moves = run.delay_mode == "waveform" or run.algorithm == "waveform"
    predicted = any(line.extrapolation is not None for line in system.connections)
    corrected = [line for line in system.connections if line.compensation is _CORRECTOR]
    if corrected:
        line = corrected[0]
        return (
            f"connection {line} has the compensation 'corrector', which changes outputs of"
            f" '{line.target.component}' after each step, but not the energy that the component"
            " reports: choose 'nepce', or another algorithm"
        )
    if run.system is None and (moves or predicted):
        return (
            f"result '{run.name}' was read from a file, which does not hold how inputs moved within"
            " the steps: make the ledger in the run that made the file"
        )
    return ""


class Samples:
    """The connectors of a run, by name.

    run: Every step of it.
    system: What was run, flat.
    ticks: Communication steps from one row to the next one: those of the steps of a component.
    """

    def __init__(self, run: Signals, system: System, ticks: int = 1) -> None:
        self._run = run
        self._system = system
        self._ticks = ticks
        self._rates = run.rates if isinstance(run, Result) else {}
        self._fed = {line.target for line in system.connections}
        self._followed: dict[Endpoint, Course | None] = {}
        self.time = run.time[::ticks]

    def ticks(self, *names: str) -> int:
        """Return communication steps after which the components of all names have stepped."""
        return lcm(*(self._rates.get(signal_of(self._system, n).end.component, 1) for n in names))

    def pace(self, *names: str) -> int:
        """Return the communication steps between two changes of the outputs of components.

        If a component holds all its inputs, and their sources have longer steps, its outputs change
        with these sources only.
        """
        ticks = self.ticks(*names)
        if not self._rates:
            return ticks
        read = {plan.connection.target for plan in self._run.plans}
        components = {signal_of(self._system, name).end.component for name in names}
        lines = [line for line in self._system.connections if line.target.component in components]
        if not lines or any(line.delay or line.target in read for line in lines):
            return ticks
        slowest = min(self._rates.get(line.source.component, 1) for line in lines)
        return slowest if slowest % ticks == 0 else ticks

    def at_steps(self, ticks: int) -> Samples:
        """Return the samples at the ends of a component's steps, ``ticks`` communication steps."""
        return self if ticks == self._ticks else Samples(self._run, self._system, ticks)

    def has_fault(self, line: Connection) -> bool:
        """Whether a fault acted on a connection in the run."""
        faults = self._run.faults if isinstance(self._run, Result) else ()
        return any(str(line) in fault.lines for fault in faults)

    @property
    def _changes(self) -> tuple[Tuned, ...]:
        """What was changed while the run went on."""
        return self._run.tuned if isinstance(self._run, Result) else ()

    @property
    def _signals(self) -> list[str]:
        """Inputs that a program set as signals, which only their rows show."""
        names = self._run.inputs_set if isinstance(self._run, Result) else ()
        tuned = {change.name for change in self._changes}
        return [name for name in names if name not in tuned]

    def longest_ns(self, line: Connection) -> int:
        """Return the longest delay that a connection had in the run."""
        channel = channel_of(line)
        if channel is not None:
            return channel.longest_ns
        declared_ns = line.delay.nominal_ns if line.delay else 0
        tuned_ns = (int(change.value) for change in self._changes if change.name == str(line))  # type: ignore[arg-type]
        return max([declared_ns, *tuned_ns])

    def _jumps(self, name: str) -> list[int]:
        """Return the steps at whose begin an output jumps, because a value of its component does.

        Ramps are left out: the output jumps little in each of their steps.
        """
        component = signal_of(self._system, name).end.component
        steps = np.zeros(len(self._run.time) - 1, np.bool_)
        for changed in {*(change.name for change in self._changes), *self._signals}:
            if "->" not in changed and changed.partition(".")[0] == component:
                steps |= self._steps_of(changed)
        rows = -(-np.flatnonzero(steps) // self._ticks)
        ends = np.concatenate([[-_APART], rows, [len(self.time) + _APART]])
        alone = (np.diff(ends)[:-1] >= _APART) & (np.diff(ends)[1:] >= _APART)
        return [int(row) for row in rows[alone] if row < len(self.time) - 1]

    def of_kinds(self, kinds: Collection[SourceKind], names: Iterable[str]) -> tuple[str, ...]:
        """Return the components of connectors that are of some kinds."""
        owners = dict.fromkeys(signal_of(self._system, name).end.component for name in names)
        components = self._system.components
        return tuple(name for name in owners if components[name].source.kind in kinds)

    def changed(
        self, names: Collection[str], connectors: Collection[str]
    ) -> dict[str, NDArray[np.bool_]]:
        """Return in which steps a program or tuning changed values of the connectors' components.

        known: Connectors to leave out, because the ledger has their work.
        Returns: Communication steps by changed connector, each of shape (rows of the run - 1,).
        """
        owners = {signal_of(self._system, name).end.component for name in names}
        steps_by_name: dict[str, NDArray[np.bool_]] = {}
        for name in dict.fromkeys([*(change.name for change in self._changes), *self._signals]):
            component = name.partition(".")[0]
            if component not in owners or "->" in name or name in connectors:
                continue
            steps = self._steps_of(name)
            ticks = self._rates.get(component, 1)
            if ticks > 1:  # it acts from the component's next own step on
                changes = np.logical_or.reduceat(steps, np.arange(0, len(steps), ticks))
                changes[1:] |= changes[:-1]
                steps = np.repeat(changes, ticks)[: len(steps)]
            if steps.any():
                steps_by_name[name] = steps
        return steps_by_name

    def _steps_of(self, name: str) -> NDArray[np.bool_]:
        """Return the communication steps in which a value was changed."""
        if name in self._signals:
            rows = Samples(self._run, self._system).at(name)
            return np.asarray((np.diff(rows, axis=0) != 0.0).any(axis=1))
        steps = np.zeros(len(self._run.time) - 1, np.bool_)
        for change in self._changes:
            if change.name == name:
                steps[change.step : change.step + max(change.ramp, 1)] = True
        return steps

    def spread(self, rows: Floats) -> Floats:
        """Hold rows at the ends of a component's steps until its next one; shape (rows of run,)."""
        return np.repeat(rows, self._ticks)[: len(self._run.time)]

    @property
    def is_long(self) -> bool:
        """Whether these steps take several communication steps, and there are enough of them."""
        return self._ticks > 1 and len(self.time) > 4

    def smooth(self, name: str) -> Course:
        """Return a connector on curves through its rows at the ends of these steps."""
        return Course.through(self.time, self.at(name), 4, self._jumps(name))

    def corrected(self, energy: Floats, better: Floats) -> Floats:
        """Correct an energy in all rows of the run by a better one at the ends of these steps."""
        return energy + self.spread(better - energy[:: self._ticks])

    def within(self, missed: Floats) -> Floats:
        """Return the share of each step that a device missed, from that of communication steps."""
        begins = np.arange(0, self._ticks * (len(self.time) - 1), self._ticks)
        lengths = np.diff(self._run.time)
        sums = np.add.reduceat(missed * lengths, begins) if len(begins) else np.zeros(0)
        return np.asarray(sums / np.add.reduceat(lengths, begins)) if len(begins) else sums

    def connector(self, name: str) -> Connector:
        """Return what a name with or without an index means; raise UnknownNameError."""
        return signal_of(self._system, name).connector

    def is_input(self, name: str) -> bool:
        """Whether a connector is an input, of which a row holds the value over the step before."""
        return self.connector(name).causality is Causality.INPUT

    def at(self, name: str) -> Floats:
        """Rows of a connector, shape (n, size); of an input that follows, what it has reached."""
        signal = signal_of(self._system, name)
        connector, end, index = signal.connector, signal.end, signal.index
        size = connector.size if index is None and connector.shape else 1
        if connector.causality.is_settable and end not in self._fed and not self._shows(name, size):
            rows = self._set_values(end, connector)
            return rows[:: self._ticks] if index is None else rows[:: self._ticks, [index]]
        rows = self.recorded(name, size)
        if (course := self.followed(name)) is not None:
            rows = np.vstack([rows[:1], course.at(1.0)])
        bad_rows = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad_rows):
            raise DescriptionError(
                f"'{name}' is not a number at {self.time[bad_rows[0]]:.9g} s: its energy cannot be"
                " computed"
            )
        return rows

    def _shows(self, name: str, size: int) -> bool:
        """Whether a run recorded a connector that nothing feeds, such as an input of a script."""
        return isinstance(self._run, Result) and (name if size == 1 else f"{name}[0]") in self._run

    def _set_values(self, end: Endpoint, connector: Connector) -> Floats:
        """Return the value of a connector that nothing feeds, with what was tuned; all rows."""
        if str(end) in self._signals:
            raise DescriptionError(
                f"'{end}' was set by a program during the run and was not recorded, so its energy"
                f" is unknown: add it to 'record'"
            )
        values = self._system.components[end.component].values.get(end.connector)
        value = connector.start if values is None else values
        row = np.ravel(np.asarray(value, dtype=np.float64))
        rows = np.tile(row, (len(self._run.time), 1))
        for change in self._changes:
            if change.name == str(end):
                for step in range(change.step, change.step + max(change.ramp, 1)):
                    rows[step + 1 :] = np.ravel(change.at(step))
        return rows

    def over(self, name: str) -> tuple[Floats, Floats]:
        """Values at begin and end of every step, shape (n - 1, size) each: held, or straight."""
        rows = self.at(name)
        if not self.is_input(name):
            begins = rows[:-1]
            if jumps := self._jumps(name):
                begins = begins.copy()
                begins[jumps] = Course.through(self.time, rows, 4, jumps).at(0.0)[jumps]
            return begins, rows[1:]
        course = self.followed(name)
        return (rows[1:], rows[1:]) if course is None else (course.at(0.0), course.at(1.0))

    def course(self, name: str, count: int) -> Course:
        """What a connector is within the steps, an output on curves through a number of rows."""
        if self.ticks(name) > self._ticks:  # its own steps are longer
            step_course = self.at_steps(self.ticks(name)).course(name, count)
            return step_course.divided(self.ticks(name), np.diff(self.time))
        course = self.followed(name)
        if course is not None:
            return course
        steps, rows = np.diff(self.time), self.at(name)
        if self.is_input(name):
            return Course.held(steps, rows[1:])
        return Course.through(self.time, rows, count, self._jumps(name))

    def followed(self, name: str) -> Course | None:
        """What an input that follows its signal is within the steps; ``None``: it is held.

        Raises DescriptionError: if what was recorded does not say how it followed.
        """
        signal = signal_of(self._system, name)
        end = signal.end
        if signal.connector.causality is not Causality.INPUT:
            return None
        if (ticks := self.ticks(name)) > self._ticks:  # its own steps are longer
            step_course = self.at_steps(ticks).followed(name)
            return None if step_course is None else step_course.divided(ticks, np.diff(self.time))
        if end not in self._followed:
            plans = (p for p in self._run.plans if p.connection.target == end and p.span_ns)
            plan = next(plans, None)
            self._followed[end] = None if plan is None else self._follow(plan, signal.connector)
        course = self._followed[end]
        if course is None or signal.index is None:
            return course
        return Course(course.steps, course.powers[..., [signal.index]])

    def _follow(self, plan: DelayPlan, connector: Connector) -> Course:
        line, size = plan.connection, connector.size if connector.shape else 1
        ticks = self.ticks(str(line.source))
        source = Samples(self._run, self._system, ticks).recorded(str(line.source), size)
        target = self.recorded(str(line.target), size)
        times_ns = np.rint(self._run.time * 1e9).astype(np.int64)
        rates = ticks, self._ticks
        rows = followed_input(self._system, plan, times_ns, source, target, rates)
        if rows is None:
            components = self._system.components.items()
            events = [name for name, item in components if item.shares_events]
            if events:
                raise DescriptionError(
                    f"'{line.target}' moves within each step, and its samples do not show how it"
                    f" does in steps with an event of {' or '.join(map(repr, events))}: choose"
                    ' delay = "mean" or "plain", with which inputs are held'
                )
            raise DescriptionError(
                f"'{line.target}' moves within each step in a way that its samples do not show"
                " (as with a fault on its connection, or steps in two halves): expected an input"
                f" that is held, or its source, '{line.source}'"
            )
        return Course.followed(np.diff(self.time), rows)

    def recorded(self, name: str, size: int) -> Floats:
        """Rows of a connector as they were recorded, shape (n, size)."""
        names = [name] if size == 1 else [f"{name}[{i}]" for i in range(size)]
        return np.column_stack([self._run[signal][:: self._ticks] for signal in names])

    def scale(self, unit: str, *names: str) -> float:
        """Return what the product of connectors is in J or W, or raise UnitMismatchError."""
        connectors = [self.connector(name) for name in names]
        product = product_of(unit, *connectors)
        if product is None:
            units = " times ".join(
                f"'{name}' in {connector.unit or 'no unit'}"
                for name, connector in zip(names, connectors, strict=True)
            )
            quantity = "energy" if unit == "J" else "power"
            raise UnitMismatchError(
                f"{units} is no {quantity}; expected units whose product is {unit}"
            )
        return product
