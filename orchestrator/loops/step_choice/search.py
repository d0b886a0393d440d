"""Search for the largest step whose error is within a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from orchestrator.loops.step_choice.candidates import ladder

#: Steps are told apart down to this ratio.
RATIO = 1.05
#: Rungs below one that is good that must be good, too.
_BELOW = 3


@dataclass
class Search:
    """What was looked at: the errors by step in nanoseconds.

    Parameters
    ----------
    error
        Says how far a step is off; infinite where it is not usable.
    tolerance
        What it may be.
    """

    error: Callable[[int], float]
    tolerance: float
    errors: dict[int, float] = field(default_factory=dict)

    def largest(self, steps: Sequence[int]) -> int | None:
        """Return the largest step that is within the tolerance, as are all smaller ones seen.

        Steps of 1, 2 and 5 times a power of ten are looked at from the largest down, until some in
        a row are within it; then those between the largest of them and the next, by halves.

        Parameters
        ----------
        steps
            Candidates, rising.
        """
        rungs = ladder(list(steps))
        if steps and steps[-1] not in rungs:
            rungs.append(steps[-1])
        good, above = self._rungs(rungs)
        if good is None or above is None:
            return good
        between = [step for step in steps if good < step < above]
        while between and above > RATIO * good:
            middle = between[_middle(between, good, above)]
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


def _middle(steps: Sequence[int], low: int, high: int) -> int:
    """Return the place of the step that is nearest to the geometric mean of two."""
    mean = (low * high) ** 0.5
    return min(range(len(steps)), key=lambda i: abs(steps[i] - mean))
