"""What a run in real time says of its timing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.core.realtime.durations import Durations
from orchestrator.core.system import seconds


@dataclass(frozen=True, slots=True)
class Overrun:
    """One step that ended after its deadline, or took more than a budget.

    Parameters
    ----------
    step
        Its number, from 1 on.
    time_ns
        Simulated time at which it begins.
    late_ns
        How long after its deadline it ended; below 0: before it.
    woken_ns
        How long after its moment it began.
    computed_ns
        Computing time of the step.
    unit, unit_ns
        The component that was most over its budget, else that with the longest computing time in
        the step, and this; empty where the step had none.
    late, over_budget, unit_over_budget
        What it broke: its deadline, the budget of a step, that of a component.
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


@dataclass(frozen=True, slots=True)
class Drift:
    """By how much a device's clock runs apart from the computer's.

    Parameters
    ----------
    ppm
        How much longer the device's second is, in millionths.
    sigma_ppm
        Standard deviation of that.
    samples
        Ticks of which it was estimated.
    silences, silent
        How often the device said nothing for longer than ``stale_after``, and for how many seconds
        in all: nothing of the clock's pace follows from those, and no simulated time went by.
    """

    ppm: float
    sigma_ppm: float
    samples: int
    silences: int = 0
    silent: float = 0.0

    def of_device(self, here: float) -> float:
        """Return what the device calls a time span of so many seconds by the computer."""
        return here / (1.0 + self.ppm * 1e-6)

    def of_computer(self, device: float) -> float:
        """Return how long, by the computer, so many seconds of the device are."""
        return device * (1.0 + self.ppm * 1e-6)


@dataclass(frozen=True, slots=True)
class RealTimeRecord:
    """The timing of a run in real time.

    Parameters
    ----------
    factor, policy, priority, cpus
        As they were asked for.
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
        notes = [f"in real time: {self.overruns} overruns in {steps} steps"]
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
        return {
            "factor": self.factor,
            "policy": self.policy,
            "priority": self.priority,
            "cpus": list(self.cpus),
            "granted": list(self.granted),
            "refused": list(self.refused),
            "kernel": self.kernel,
            "wake": self.wake.as_json(),
            "computing": self.computing.as_json(),
            "slack": self.slack.as_json(),
            "lateness": self.lateness.as_json(),
            "units": {name: durations.as_json() for name, durations in self.units.items()},
            "overruns": self.overruns,
            "longest_row": self.longest_row,
            "slipped_ns": self.slipped_ns,
            "listed": [asdict(overrun) for overrun in self.listed],
            "drift": asdict(self.drift) if self.drift else None,
            "clock": self.clock,
        }
