"""A loop as a schedule makes it, cut at one line: what all such loops have."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.loops.state_space import Floats


@dataclass(frozen=True)
class CutLoop:
    """A loop as a schedule makes it, cut at a line that is read p times in a period.

    What a run remembers goes by x' = A x + B u, where u is put in by the line, and y = C x comes
    out of it.

    Parameters
    ----------
    line
        ``component.output -> component.input``.
    components
        Those of the loop.
    period
        Of the schedule, s.
    roots
        Of the closed loop, 1/s, the fastest growing first; free motions are left out.
    rest, into, out_of
        A, B and C, float64 of shapes (n, n), (n, p) and (p, n); without the p where it is 1.
    """

    line: str
    components: tuple[str, ...]
    period: float
    roots: tuple[complex, ...]
    rest: Floats
    into: Floats
    out_of: Floats

    @property
    def is_stable(self) -> bool:
        """Whether every mode of the closed loop dies down."""
        return all(root.real < 0.0 for root in self.roots)
