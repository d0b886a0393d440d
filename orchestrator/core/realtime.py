"""Real time: how a run is kept to a clock, and what it says of how that went."""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

import numpy as np

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import (
    DescriptionError,
    UnknownNameError,
    choices_for,
    counted,
    suggestion,
)
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.core.system.naming import is_whole

#: Priorities of SCHED_FIFO in Linux; the kernel's own threads that must not wait have 99.
HIGHEST_PRIORITY = 98
#: Overruns that are kept with all their figures; the latest ones.
KEPT_OVERRUNS = 1000


class OverrunPolicy(StrEnum):
    """Reaction to a step that ended after its deadline.

    ``catch_up``: deadlines stay, and the next steps begin at once until they are met again.
    ``slip``: all later deadlines move by what the step was late. ``stop``: as ``catch_up``, and so
    many overruns in a row end the run. No step is ever left out.
    """

    CATCH_UP = "catch_up"
    SLIP = "slip"
    STOP = "stop"


class RealTime(Struct):
    """Settings of a run in real time.

    Parameters
    ----------
    factor
        Simulated seconds per second on the wall, > 0.
    clock
        Name of the component, a device, whose samples are the clock: a step begins with each, and
        simulated time is that of the device. ``None``: the computer's clock.
    policy
        What follows an overrun: ``"catch_up"``, ``"slip"`` or ``"stop"``; see
        :class:`OverrunPolicy`.
    overruns
        With ``"stop"``: how many in a row end the run, >= 1.
    budget
        Computing time of a step from which on it counts as an overrun though it met its deadline;
        seconds or text such as ``"300 us"``; ``None``: no such limit.
    budgets
        The same for components, by name, all their calls within a step together.
    priority
        Of SCHED_FIFO, 1 to 98; 0: the policy of the process stays.
    cpus
        Numbers of the processors that the run keeps to; empty: all that the process may use.
    lock_memory
        Whether memory that is in use when the run begins is kept from being paged out.
    collect_garbage
        Whether the interpreter may collect garbage while the run continues.
    wine
        Whether components may run under Wine (``platform = "win64"``), which guarantees no timing.

    Raises
    ------
    DescriptionError
        If a value is out of its range; all problems together.
    """

    factor: float = 1.0
    clock: str | None = None
    policy: OverrunPolicy | str = OverrunPolicy.CATCH_UP
    overruns: int = 1
    budget: str | float | None = None
    budgets: Mapping[str, str | float] = field(default_factory=dict)
    priority: int = 80
    cpus: Collection[int] = ()
    lock_memory: bool = True
    collect_garbage: bool = False
    wine: bool = False

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise DescriptionError.collect(problems)

    def _problems(self) -> Iterator[DescriptionError]:
        if not _is_number(self.factor) or not (0 < self.factor < math.inf):
            yield _key_error("factor", "a finite number > 0", self.factor)
        elif self.clock is not None and self.factor != 1:
            expectation = f"1 beside clock '{self.clock}', which nobody can hurry"
            yield _key_error("factor", expectation, self.factor)
        policies = [str(policy) for policy in OverrunPolicy]
        if self.policy not in policies:
            expected = f"{', '.join(policies[:-1])} or {policies[-1]}"
            near = suggestion(str(self.policy), policies)
            yield _key_error("policy", expected, self.policy, near)
        if not is_whole(self.overruns) or not 1 <= self.overruns < 2**62:
            yield _key_error("overruns", "a whole number >= 1", self.overruns)
        elif self.overruns != 1 and self.policy != OverrunPolicy.STOP:
            yield _key_error("overruns", "it only with policy 'stop'", self.overruns)
        if not is_whole(self.priority) or not 0 <= self.priority <= HIGHEST_PRIORITY:
            yield _key_error("priority", f"a whole number, 0 to {HIGHEST_PRIORITY}", self.priority)
        yield from _wrong_budgets({"budget": self.budget} if self.budget is not None else {})
        yield from _wrong_budgets({f"budgets.{k}": v for k, v in self.budgets.items()})

    def expect_cpus(self) -> None:
        """Expect that this process may use the processors.

        Raises
        ------
        DescriptionError
            If it may not; the message lists the allowed ones.
        """
        there = sorted(operating_system.processors())
        absent = [cpu for cpu in self.cpus if not is_whole(cpu) or cpu not in there]
        if absent:
            listed = ", ".join(map(str, there))
            raise _key_error("cpus", f"processors that this process may use ({listed})", absent)

    @property
    def budget_ns(self) -> int:
        """Budget of a step in nanoseconds; 0: none."""
        return 0 if self.budget is None else nanoseconds(self.budget, "realtime.budget")

    def unit_budgets_ns(self, components: Collection[str]) -> dict[str, int]:
        """Return the budgets of components in nanoseconds, 0 for those without one.

        Raises
        ------
        UnknownNameError
            If there is no such component.
        """
        for name in self.budgets:
            if name not in components:
                raise UnknownNameError(
                    f"realtime.budgets: no component"
                    f" '{name}'{choices_for(name, components, 'component')}"
                )
        return {
            name: nanoseconds(self.budgets[name], f"realtime.budgets.{name}")
            if name in self.budgets
            else 0
            for name in components
        }


def _is_number(value: object) -> bool:
    return is_whole(value) or isinstance(value, float)


def _key_error(key: str, expected: str, found: object, near: str = "") -> DescriptionError:
    return DescriptionError(f"realtime.{key}: expected {expected}, found {found!r}{near}")


def _wrong_budgets(budgets: Mapping[str, str | float]) -> Iterator[DescriptionError]:
    for key, budget in budgets.items():
        try:
            ns = nanoseconds(budget, f"realtime.{key}")
        except DescriptionError as error:
            yield error
            continue
        if ns <= 0:
            yield _key_error(key, "a time > 0 s", budget)


#: Shares, in percent, that a table of durations has.
PERCENTILES = (50.0, 99.0, 99.9, 99.99)


class Durations(Struct):
    """Durations of one kind in a run.

    count: How many there were.
    minimum_ns, maximum_ns, total_ns: The least, the longest and all together, exactly; 0 without
        any.
    buckets: ``(lowest, end, count)`` in nanoseconds, in their order: ``count`` from ``lowest`` up
        to below ``end``. A bucket is at most 1/32 of its least duration wide, and 1 ns below 64 ns.
        Those without any are left out.
    """

    count: int
    minimum_ns: int
    maximum_ns: int
    total_ns: int
    buckets: tuple[tuple[int, int, int], ...]

    @property
    def mean_ns(self) -> float:
        """The mean, nan without any."""
        return self.total_ns / self.count if self.count else float("nan")

    def percentile_ns(self, percent: float) -> int | None:
        """Return the duration that a percentage does not exceed, ``None`` without any.

        It is the last whole nanosecond of the bucket in which that share is reached, as it is
        with HdrHistogram, but never more than the longest: at most 1/32 too long.
        """
        # Rounding must not ask for one more: 99.9 % of 5000 are 4995.
        reached, rank = 0, self.count * percent / 100.0 * (1.0 - 1e-12)
        for lowest, end, count in self.buckets:
            reached += count
            if reached >= rank:
                return min(max(end - 1, lowest), self.maximum_ns)
        return None

    def as_json(self) -> dict[str, Any]:
        """Return plain data, times in nanoseconds."""
        return {
            "count": self.count,
            "minimum_ns": self.minimum_ns,
            "maximum_ns": self.maximum_ns,
            "mean_ns": self.mean_ns if self.count else None,
            "percentiles_ns": {f"{p:g}": self.percentile_ns(p) for p in PERCENTILES},
            "buckets": [list(bucket) for bucket in self.buckets],
        }


class Overrun(Struct):
    """One step that ended after its deadline, or took more than a budget.

    step: Its number, from 1 on.
    time_ns: Simulated time at which it begins.
    late_ns: How long after its deadline it ended; below 0: before it.
    woken_ns: How long after its moment it began.
    computed_ns: Computing time of the step.
    unit, unit_ns: The component that was most over its budget, else that with the longest computing
        time in the step, and this; empty where the step had none.
    late, over_budget, unit_over_budget: What it broke: its deadline, the budget of a step, that of
        a component.
    """

    step: int
    time_ns: int
    late_ns: int
    woken_ns: int
    computed_ns: int
    unit: str
    unit_ns: int
    late: bool
    over_budget: bool
    unit_over_budget: bool

    def __str__(self) -> str:
        parts = [f"step {self.step} at {seconds(self.time_ns):.9g} s"]
        if self.late:
            parts.append(f"ended {self.late_ns / 1e3:.4g} us after its deadline")
        if self.over_budget or self.unit_over_budget:
            whose = f"the budget of '{self.unit}'" if self.unit_over_budget else "its budget"
            parts.append(f"took more than {whose}")
        began = f"began {self.woken_ns / 1e3:.4g} us late"
        parts.append(f"({began}, computed {self.computed_ns / 1e3:.4g} us")
        longest = f", of it '{self.unit}' {self.unit_ns / 1e3:.4g} us" if self.unit else ""
        return f"{' '.join(parts)}{longest})"


class Drift(Struct):
    """By how much a device's clock runs apart from the computer's.

    ppm: How much longer the device's second is, in millionths.
    sigma_ppm: Standard deviation of that.
    samples: Ticks of which it was estimated.
    silences, silent: How often the device said nothing for longer than ``stale_after``, and for how
        many seconds in all: nothing of the clock's pace follows from those, and no simulated time
        went by.
    """

    ppm: float
    sigma_ppm: float
    samples: int
    silences: int = 0
    silent: float = 0.0

    def of_device(self, here: float) -> float:
        """Convert a time span in seconds from the computer's clock to the device's."""
        return here / (1.0 + self.ppm * 1e-6)

    def of_computer(self, device: float) -> float:
        """Convert a time span in seconds from the device's clock to the computer's."""
        return device * (1.0 + self.ppm * 1e-6)


class RealTimeRecord(Struct):
    """The timing of a run in real time.

    Parameters
    ----------
    factor, policy, priority, cpus
        As requested.
    granted
        What the system granted: ``"priority"``, ``"cpus"``, ``"memory"``, ``"no garbage"``.
    refused
        What it did not, in sentences.
    kernel
        Name and release of the kernel, and whether it is one for real time (PREEMPT_RT).
    wake, computing, slack, lateness
        How late steps began; their computing time; what was left until their deadlines, of those
        that met them, and by how much the others missed them.
    units
        Computing time in a step by component.
    overruns
        How many steps broke their deadline or a budget.
    longest_row
        How many of them followed each other at most.
    slipped_ns
        By how much deadlines moved altogether.
    listed
        The latest overruns.
    drift
        Of the clock that steps waited for, if it was a device's.
    clock
        The component whose samples were the clock; empty: it was the computer's.
    """

    factor: float
    policy: str
    priority: int
    cpus: tuple[int, ...]
    granted: tuple[str, ...]
    refused: tuple[str, ...]
    kernel: str
    wake: Durations
    computing: Durations
    slack: Durations
    lateness: Durations
    units: dict[str, Durations] = field(default_factory=dict)
    overruns: int = 0
    longest_row: int = 0
    slipped_ns: int = 0
    listed: tuple[Overrun, ...] = ()
    drift: Drift | None = None
    clock: str = ""

    @property
    def rows(self) -> Iterator[tuple[str, Durations]]:
        """All durations with what they are, in words."""
        yield "wake-up latency", self.wake
        yield "computing time", self.computing
        yield "slack", self.slack
        yield "lateness", self.lateness
        yield from self.units.items()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the timing, in sentences."""
        steps = self.computing.count
        notes = [f"in real time: {counted(self.overruns, 'overrun')} in {counted(steps, 'step')}"]
        if self.overruns:
            notes[0] += f", at most {self.longest_row} in a row"
        if self.slipped_ns:
            notes.append(f"deadlines slipped by {seconds(self.slipped_ns):.9g} s")
        if self.drift is not None and self.drift.samples > 2:
            whose = f"'{self.clock}' was the clock: its" if self.clock else "the device's"
            notes.append(
                f"{whose} second is {self.drift.ppm:+.4g} ppm longer than the computer's"
                f" (standard deviation {self.drift.sigma_ppm:.2g} ppm)"
            )
            if self.drift.silences:
                times = "once" if self.drift.silences == 1 else f"{self.drift.silences} times"
                notes[-1] += f"; it was silent {times}, for {self.drift.silent:.4g} s in all"
        return (*notes, *self.refused)

    def as_json(self) -> dict[str, Any]:
        """Return plain data, times in nanoseconds."""
        plain = asdict(self)
        for name in ("wake", "computing", "slack", "lateness"):
            plain[name] = getattr(self, name).as_json()
        plain["units"] = {name: durations.as_json() for name, durations in self.units.items()}
        return plain


#: The time of a row that is not written yet: later than any.
_NOT_YET = np.iinfo(np.int64).max
#: Numbers that a step in real time leaves for whoever looks, in front of all rows.
_TOLD = 4
#: And what somebody who looks asks of the run: a count, behind these.
_ASKED = 1


class SharedRows:
    """Times and values of the rows of a run, all allotted before it begins.

    The engine writes the values of a row first and its time last, so a row whose successor has a
    time is whole.

    rows, columns: How many rows there is room for, and scalar signals in each.
    file: Descriptor of such memory that is there; ``None``: it is made, and empty.
    grows: Whether the system takes memory for values only when they are written.
    times_ns: int64 array of shape (rows,), ns.
    clocks_ns: int64 array of shape (rows,): when they were written by CLOCK_MONOTONIC, of runs in
        real time.
    values: float64 array of shape (rows, columns).
    told: int64 array of shape (4,): overruns so far, how far the last step ended behind its
        deadline (below 0: before it) and its computing time, ns, and the longest that one ended
        behind it.
    asked: int64 array of shape (1,): grows whenever somebody asks something of a run in real time,
        which then looks at what it is before its next step.
    file: Descriptor of the memory, for the other process.
    """

    def __init__(
        self, rows: int, columns: int, file: int | None = None, *, grows: bool = False
    ) -> None:
        head = _TOLD + _ASKED
        size = 8 * (head + rows * (2 + columns))
        self.file = operating_system.shared_memory("rows", size) if file is None else file
        weakref.finalize(self, operating_system.close, self.file)
        memory = operating_system.mapped(self.file, size)
        self.told = np.frombuffer(memory, np.int64, _TOLD)
        self.asked = np.frombuffer(memory, np.int64, _ASKED, 8 * _TOLD)
        self.times_ns = np.frombuffer(memory, np.int64, rows, 8 * head)
        self.clocks_ns = np.frombuffer(memory, np.int64, rows, 8 * (head + rows))
        values = np.frombuffer(memory, np.float64, rows * columns, 8 * (head + 2 * rows))
        self.values = values.reshape(rows, columns)
        if file is None:  # every page is there before the first step
            self.times_ns.fill(_NOT_YET)
            if not grows:
                self.clocks_ns.fill(0)
                self.values.fill(np.nan)

    @property
    def written(self) -> int:
        """Number of rows that have a time; the last may lack values while it is being written."""
        return int(np.searchsorted(self.times_ns, _NOT_YET))
