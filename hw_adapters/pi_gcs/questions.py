"""Questions that are open, and which of them a reply answers."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from itertools import permutations

from hw_adapters.pi_gcs.codec import AXES
from orchestrator.rig.devices import WireFormatError

#: Orders of the axes; the first is that of all other questions.
_ORDERS = tuple(permutations(AXES))[1:]
#: Questions that are remembered; a reply to an older one is none.
_MOST_OPEN = len(_ORDERS) // 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question where the hexapod is.

    Parameters
    ----------
    number
        Of the cycle.
    order
        In which it names the axes.
    asked_s
        When, CLOCK_MONOTONIC in s.
    """

    number: int
    order: tuple[str, ...]
    asked_s: float


class Questions:
    """Asks for the axes in another order each time, so that a reply shows its question.

    A controller that has an order of its own (``named`` is false) is asked again only when it has
    answered, since a late reply to one question is not told from one to the next.
    """

    def __init__(self) -> None:
        self.named = False
        self._open: deque[Question] = deque(maxlen=_MOST_OPEN)

    def next(self, number: int, now: float) -> Question:
        """Return the next question, which is open from now on."""
        order = _ORDERS[number % len(_ORDERS)] if self.named else AXES
        self._open.append(Question(number, tuple(order), now))
        return self._open[-1]

    def may_ask(self, now: float, patience_s: float) -> bool:
        """Whether no question is open, or the last one was not answered in time."""
        return now >= self._until(patience_s)

    def wait(self, due: float, patience_s: float) -> float:
        """Return until when to wait for a reply before the next question."""
        return max(due, self._until(patience_s))

    def _until(self, patience_s: float) -> float:
        if not self._open:
            return -math.inf
        return self._open[-1].asked_s + patience_s if self.named else math.inf

    def refused(self) -> None:
        """Close the oldest open question: its reply has come, and cannot be read."""
        if self._open:
            self._open.popleft()

    def answered(self, order: tuple[str, ...]) -> Question:
        """Return the question that a reply in some order answers; those before it are lost.

        Raises
        ------
        WireFormatError
            If none is open that it answers.
        """
        match = next((question for question in self._open if question.order == order), None)
        if match is None:
            raise WireFormatError.in_file("GCS", "a reply to no question that is open")
        while self._open.popleft() is not match:
            continue
        return match
