"""Targets that a hexapod was sent, and which of them it says that it has."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from hw_adapters.pi_gcs.codec import AXES, axis_values, last_digits

#: So many targets are remembered: at 200 Hz those of 5 s.
_MOST = 1024
#: Of the seventh decimal that was sent, mm or degrees.
_ROUNDING = 1.5e-7


class Targets:
    """Knows by the reply to ``MOV?`` which command the controller took.

    A controller that prints fewer decimals than it was sent is compared by those.
    """

    def __init__(self) -> None:
        self._sent: deque[tuple[int, Mapping[str, float]]] = deque(maxlen=_MOST)
        self._count = 0
        #: The newest command that was taken; 0: none.
        self.taken = 0
        #: Whether one of the replies had a target that was sent.
        self.says = False

    def send(self, target: Mapping[str, float]) -> None:
        """Take note of a command, by axis in mm and degrees."""
        self._count += 1
        self._sent.append((self._count, dict(target)))

    def see(self, reply: Sequence[str]) -> None:
        """Take note of a reply to ``MOV?``.

        Raises
        ------
        WireFormatError
            If it is not one value for each axis.
        """
        values, tolerance = axis_values(reply, AXES), last_digits(reply) + _ROUNDING
        for ordinal, target in reversed(self._sent):
            if ordinal <= self.taken:
                return
            if all(abs(values[axis] - target[axis]) <= tolerance for axis in AXES):
                self.taken, self.says = ordinal, True
                return
