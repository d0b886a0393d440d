"""The largest communication step that leaves the loops of a system as they are, and its picture."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.files.plain_data import finite
from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.core.simunits import description_of
from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.step_error import (
    ANY_NS,
    LoopMargins,
    LoopModes,
    StepEffect,
    at_step,
    candidate_steps,
    first_lines,
    ladder,
    reference_margins,
    reference_modes,
    step_error,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_STEPS = frozenset({OperationCode.STEP, OperationCode.SECOND_HALF})


class Cost(Struct):
    """What a schedule does in one simulated second.

    unit_steps: Steps of components; those of an iterated loop count once for each of its passes.
    operations: Numbers that are copied, read, kept or mixed between them; likewise.
    is_per_pass: Whether there are iterated loops, whose number of passes is found as they run.
    """

    unit_steps: float
    operations: float
    is_per_pass: bool


def cost_of(schedule: Schedule) -> Cost:
    """Count what a schedule of steps of one length does in a simulated second."""
    steps = moved = 0.0
    for row in schedule.operations:
        if row.code in _STEPS:
            steps += row.length / row.every
        elif row.code not in {OperationCode.SOLVE, OperationCode.FIRST_HALF}:
            moved += row.length / row.every
    rate = 1e9 / schedule.step_ns
    return Cost(steps * rate, moved * rate, bool(schedule.loops))


#: Steps are distinguished down to this ratio.
RATIO = 1.05
#: Rungs below one that is good that must be good, too.
_BELOW = 3


class Search(MutableStruct):
    """What was looked at: the errors by step in nanoseconds.

    error: Says how far a step is off; infinite where it is not usable.
    tolerance: What it may be.
    """

    error: Callable[[int], float]
    tolerance: float
    errors: dict[int, float] = field(default_factory=dict)

    def largest(self, steps: Sequence[int]) -> int | None:
        """Return the largest step that is within the tolerance, as are all smaller ones seen.

        Steps of 1, 2 and 5 times a power of ten are looked at from the largest down, until some in
        a row are within it; then those between the largest of them and the next, by halves.
        """
        rungs = ladder(steps)
        if steps and steps[-1] not in rungs:
            rungs.append(steps[-1])
        good, above = self._rungs(rungs)
        if good is None or above is None:
            return good
        between = [step for step in steps if good < step < above]
        while between and above > RATIO * good:
            mean = (good * above) ** 0.5
            middle = min(between, key=lambda step: abs(step - mean))
            if self._is_good(middle):
                good = middle
            else:
                above = middle
            between = [step for step in between if good < step < above]
        return good

    @property
    def not_monotonic(self) -> list[tuple[int, int]]:
        """Pairs of steps of which the smaller one is off by more, but for rounding, rising.

        Steps that leave nothing of a loop are left out.
        """
        steps = [step for step in sorted(self.errors) if self.errors[step] < 1.0]
        noise = 1e-3 * self.tolerance
        return [
            (small, large)
            for small, large in pairwise(steps)
            if self.errors[small] > max(1.02 * self.errors[large], noise)
        ]

    def _rungs(self, rungs: Sequence[int]) -> tuple[int | None, int | None]:
        """Return the largest good rung above good ones, and the one above it that is not."""
        row: list[int] = []
        above: int | None = None
        for rung in reversed(rungs):
            if self._is_good(rung):
                row.append(rung)
                if len(row) > _BELOW:
                    break
            else:
                row, above = [], rung
        return (row[0] if row else None), above

    def _is_good(self, step: int) -> bool:
        if step not in self.errors:
            self.errors[step] = self.error(step)
        return self.errors[step] <= self.tolerance


#: Modes of each loop that count, at most.
COUNT = 2
#: Numbers that a schedule may remember: its matrix has that many rows.
_MOST_NUMBERS = 300


class StepChoice(Struct):
    """The step of one algorithm.

    algorithm, tolerance: For which it is, and what any figure may be off, as a share of its size.
    step_ns: The largest step within the tolerance, ns; ``None`` if there is none.
    errors: Of all steps that were looked at, rising.
    cost: With the step; ``None`` without one.
    remarks: What to know of the search, in sentences.
    """

    algorithm: str
    tolerance: float
    step_ns: int | None
    errors: tuple[StepEffect, ...]
    cost: Cost | None
    remarks: tuple[str, ...] = ()

    @property
    def effect(self) -> StepEffect | None:
        """What the step does; ``None`` if there is none."""
        return next((error for error in self.errors if error.step_ns == self.step_ns), None)

    def __str__(self) -> str:
        if self.effect is None:
            return f"no step is within {self.tolerance:g} under {self.algorithm}"
        worst = self.effect.worst
        return (
            f"{self.effect.step_ns / 1e6:g} ms under {self.algorithm}: {worst.name} is off by"
            f" {worst.share:.2e} of its size, within {self.tolerance:g}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data; an error without a figure is ``None``."""
        effect, cost = self.effect, self.cost
        return {
            "algorithm": self.algorithm,
            "tolerance": self.tolerance,
            "step_ms": None if effect is None else effect.step_ns / 1e6,
            "figures": [] if effect is None else [error.as_json() for error in effect.deviations],
            "unit_steps_per_s": None if cost is None else cost.unit_steps,
            "operations_per_s": None if cost is None else cost.operations,
            "cost_is_per_pass": None if cost is None else cost.is_per_pass,
            "looked_at": [
                {
                    "step_ms": error.step_ns / 1e6,
                    "error": finite(error.share),
                    "worst": error.worst.name,
                }
                for error in self.errors
            ],
            "remarks": list(self.remarks),
        }


class StepReference(Struct):
    """What steps are judged by, and which of them there are.

    linear: The system, linearised once.
    modes, margins: In continuous time.
    steps: Candidates in nanoseconds, rising.
    """

    linear: LinearSystem
    modes: tuple[LoopModes, ...]
    margins: tuple[LoopMargins, ...]
    steps: tuple[int, ...]

    @classmethod
    def of(
        cls,
        linear: LinearSystem,
        *,
        length_ns: int | None = None,
        lines: Sequence[str] | None = None,
        count: int = COUNT,
    ) -> StepReference:
        """Find the modes and margins that count, and the steps that there are."""
        modes = reference_modes(linear, count)
        if not modes:
            raise DescriptionError(
                f"system '{linear.system.name}' has no closed loop whose modes a step could change:"
                " no step can be chosen by them; compare runs of H and H/2 (softdock run --verify)"
            )
        names = list(first_lines(linear.system) if lines is None else lines)
        margins = tuple(reference_margins(linear, line) for line in names)
        periods = [ticks * linear.step_ns for ticks in linear.master.rates.values()]
        fixed = [  # FMUs with a fixedInternalStepSize
            description_of(component).capabilities.fixed_step
            for name, component in linear.system.components.items()
            if name not in linear.master.rates
        ]
        multiple_ns = math.lcm(*(max(1, round(s * 1e9)) for s in fixed if s is not None))
        steps = candidate_steps(ANY_NS if length_ns is None else length_ns, periods, multiple_ns)
        most_ns = 1e9 * math.pi / max(abs(root) for loop in modes for root in loop.roots)
        steps = [step for step in steps if step <= most_ns]
        if not steps:
            raise DescriptionError(
                f"system '{linear.system.name}': no step below {most_ns / 1e6:.4g} ms, which its"
                " modes ask for, divides the time of the run and the steps of its components"
            )
        return cls(linear, modes, margins, tuple(steps))


def choose_step(
    reference: StepReference, tolerance: float, *, algorithm: str | None = None
) -> StepChoice:
    """Find the largest step with which all modes and margins are within a tolerance.

    Growth rates and frequencies of modes, gain and delay margins count, each as a share of its
    size: see :func:`~orchestrator.loops.loop_account.growth_size` and
    :class:`~orchestrator.loops.step_error.Limit`.
    """
    if not (math.isfinite(tolerance) and tolerance > 0.0):
        raise DescriptionError(f"tolerance: expected a share above 0, found {tolerance!r}")
    linear = reference.linear
    name = algorithm or linear.master.algorithm
    effects: dict[int, StepEffect] = {}
    refused: dict[int, DescriptionError] = {}

    def error(step_ns: int) -> float:
        try:
            effects[step_ns] = step_error(
                at_step(linear, step_ns, name), reference.modes, reference.margins, tolerance
            )
        except (CapabilityError, DescriptionError) as problem:
            refused[step_ns] = problem
            return math.inf
        return effects[step_ns].share

    def is_small(step_ns: int) -> bool:
        histories = at_step(linear, step_ns, name).schedule().histories
        return sum(max(row.depth, 2) for row in histories) <= _MOST_NUMBERS

    # The shorter a step, the more samples of it are remembered.
    every = reference.steps
    steps = every[bisect_left(every, True, hi=len(every) - 1, key=is_small) :]  # noqa: FBT003
    remarks = []
    search = Search(error, tolerance)
    step_ns = search.largest(steps)
    if refused and not effects:
        raise refused[max(refused)]
    if refused:
        remarks.append(f"with {max(refused) / 1e6:.6g} ms: {refused[max(refused)]}")
    if len(steps) < len(every) and min(search.errors) == min(ladder(steps)):
        remarks.append(
            f"steps below {steps[0] / 1e6:.6g} ms were not looked at: their delays take more than"
            f" {_MOST_NUMBERS} samples"
        )
    remarks += _search_remarks(search, effects, steps)
    return StepChoice(
        name,
        tolerance,
        step_ns,
        tuple(effects[step] for step in sorted(effects)),
        None if step_ns is None else cost_of(at_step(linear, step_ns, name).schedule()),
        tuple(remarks),
    )


def _search_remarks(
    search: Search, effects: dict[int, StepEffect], steps: Sequence[int]
) -> Iterator[str]:
    if search.not_monotonic:
        small, large = search.not_monotonic[-1]
        yield (
            f"the error does not rise with the step everywhere: {search.errors[small]:.2e} at"
            f" {small / 1e6:.6g} ms, {search.errors[large]:.2e} at {large / 1e6:.6g} ms"
        )
    if not any(share <= search.tolerance for share in search.errors.values()) and effects:
        best = min(effects.values(), key=lambda effect: effect.share)
        yield (
            f"no step from {steps[0] / 1e6:.6g} ms on is within {search.tolerance:g}: the best is"
            f" {best.share:.2e} at {best.step_ns / 1e6:.6g} ms ({best.worst.name})"
        )


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKS = "osD^vP"


def draw_choice(choices: Sequence[StepChoice], title: str) -> Figure:
    """Draw the largest error of all figures over the step, with the steps that were chosen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for number, choice in enumerate(choices):
        colour = _COLOURS[number % len(_COLOURS)]
        errors = [error for error in choice.errors if 0.0 < error.share < math.inf]
        axes.loglog(
            [error.step_ns / 1e6 for error in errors],
            [error.share for error in errors],
            f"{_MARKS[number % len(_MARKS)]}-",
            color=colour,
            markersize=4,
            linewidth=1.0,
            label=choice.algorithm,
        )
        if choice.effect is not None and choice.effect.share > 0.0:
            at = choice.effect.step_ns / 1e6, choice.effect.share
            axes.plot(*at, "o", color=colour, markersize=13, fillstyle="none")
            axes.annotate(
                f"{at[0]:g} ms",
                at,
                xytext=(10, -14 - 12 * number),
                textcoords="offset points",
                color=colour,
            )
    if choices:
        tolerance = choices[0].tolerance
        axes.axhline(tolerance, color="0.35", linestyle="--", label=f"tolerance {tolerance:g}")
    axes.set(xlabel="communication step H [ms]", title=title)
    axes.set_ylabel("largest error of modes and margins, share of their size [-]")
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend()
    return figure
