"""What came of an expectation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an expectation was kept, and what was found.

    Parameters
    ----------
    name, requirement
        Of the expectation.
    where
        Case, and the point of a sweep.
    that
        What was expected.
    passed
        Whether it held.
    found
        In words.
    value, unit
        The measure; of a signal what lies farthest beyond the bound, or nearest to it. ``None``:
        there was nothing to look at.
    time
        When a signal broke it first, s.
    """

    name: str
    requirement: str
    where: str
    that: str
    passed: bool
    found: str
    value: float | None = None
    unit: str = ""
    time: float | None = None

    @property
    def word(self) -> str:
        """``"passed"`` or ``"broken"``."""
        return "passed" if self.passed else "broken"

    def __str__(self) -> str:
        mark = f" [{self.requirement}]" if self.requirement else ""
        place = f", {self.where}" if self.where else ""
        return (
            f"expectation '{self.name}'{mark}{place}: {self.word}: expected {self.that},"
            f" found {self.found}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)
