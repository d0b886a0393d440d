"""The range that a parameter has by its nature."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from orchestrator.core.diagnostics import DescriptionError


@dataclass(frozen=True, slots=True)
class Limits:
    """A range of numbers.

    Parameters
    ----------
    least, most
        Its ends.
    open_below, open_above
        Whether the end itself is outside.
    """

    least: float = -inf
    most: float = inf
    open_below: bool = False
    open_above: bool = False

    @classmethod
    def of(
        cls,
        minimum: float | None = None,
        maximum: float | None = None,
        above: float | None = None,
        below: float | None = None,
    ) -> Limits | None:
        """Return the range between what is allowed and what is just not; ``None`` if it is all."""
        if (minimum is not None and above is not None) or (
            maximum is not None and below is not None
        ):
            raise DescriptionError(
                "expected one of minimum and above, and one of maximum and below"
            )
        low, high = minimum if above is None else above, maximum if below is None else below
        if low is None and high is None:
            return None
        least, most = -inf if low is None else low, inf if high is None else high
        if not least < most:
            raise DescriptionError(f"expected a range, found {least:g} to {most:g}")
        return cls(least, most, above is not None, below is not None)

    def admits(self, value: float) -> bool:
        """Whether a number lies inside; what is no number does not."""
        low = self.least < value if self.open_below else self.least <= value
        high = value < self.most if self.open_above else value <= self.most
        return low and high

    def __str__(self) -> str:
        low = f"{'>' if self.open_below else '>='} {self.least:g}"
        high = f"{'<' if self.open_above else '<='} {self.most:g}"
        return " and ".join(
            text for text, end in ((low, self.least), (high, self.most)) if abs(end) != inf
        )
