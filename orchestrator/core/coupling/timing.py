"""When the two ends of a connection act, as the schedule has it."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of one connection in nanoseconds, seen from the begin of a step of its target.

    Parameters
    ----------
    source_ns, target_ns
        How long one step of either unit takes; they begin together at the start.
    newest_ns
        The newest sample that can be read; of all steps of the target the one where it is oldest.
    held_ns
        How late the input is on average where nothing stands on the connection.
    input_order
        Highest derivative of the input that the target takes; 0: it holds it.
    visible_ns
        Samples up to here can be read in every step: the newest is the last on the source's grid.
    is_newest
        Whether an undelayed input is held at that newest sample.
    follows
        Whether the target is given what the signal does over its step, as far as it is known.
    keeps_end
        Whether the input acts on an output at once, so that its value at the end counts.
    followed_late_ns
        How late the signal is over the step where nothing is declared and the target follows.
    varies
        Whether the steps differ in length. An input that acts on an output at once is then read at
        the end of the step: in any other place the output would jump with the length.
    """

    source_ns: int
    target_ns: int
    newest_ns: int
    held_ns: float
    input_order: int = 0
    visible_ns: int = 0
    is_newest: bool = True
    follows: bool = False
    keeps_end: bool = False
    followed_late_ns: int = 0
    varies: bool = False

    @property
    def read_ns(self) -> float:
        """Where in its step an input without a delay would be read."""
        return self.target_ns * (1.0 if self.varies and self.keeps_end else 0.5)

    @classmethod
    def equal(cls, step_ns: int, *, before: bool, input_order: int = 0) -> Timing:
        """Two units of the same step; ``before``: the source is stepped first."""
        held = -step_ns / 2 if before else step_ns / 2
        newest = step_ns if before else 0
        return cls(step_ns, step_ns, newest, held, input_order, newest)

    def sampled(self, shift_ns: int) -> float:
        """Mean time of the newest sample that is not after ``shift_ns`` and can be read."""
        shift_ns = min(shift_ns, self.visible_ns)
        windows = lcm(self.source_ns, self.target_ns) // self.target_ns
        total = 0
        for window in range(windows):
            begin = window * self.target_ns
            total += (begin + shift_ns) // self.source_ns * self.source_ns - begin
        return total / windows
