"""What is left of a loop's margins when the delay and the gain of a device have changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MarginTable:
    """Margins of the loop through one command, over changes of the device in it.

    With a gain that is ``factor`` times what it was and a delay that is longer by ``added``, the
    loop's response is ``factor L(w) exp(-i w added)``: its delay margin is that of ``factor L``
    less ``added``, its gain margin that of ``L exp(-i w added)`` over ``factor``. Both are exact;
    what lies between two rows is linear.

    Parameters
    ----------
    line
        ``component.output -> component.input``.
    delay_reserve, gain_reserve
        What must be left: s, and a factor.
    factors, delay_margins
        Increasing factors, and the delay margin at each, s; 0 where the loop is unstable.
    added, gain_margins
        Increasing added delays, s, and the gain margin at each; 0 where it is unstable.
    """

    line: str
    delay_reserve: float
    gain_reserve: float
    factors: tuple[float, ...]
    delay_margins: tuple[float, ...]
    added: tuple[float, ...]
    gain_margins: tuple[float, ...]

    def left(self, added: float, factor: float) -> tuple[float, float]:
        """Return what is left of the delay margin, s, and of the gain margin, a factor."""
        delay = _between(self.factors, self.delay_margins, factor) - added
        return delay, _between(self.added, self.gain_margins, added) / max(factor, 1e-9)

    def as_json(self) -> dict[str, Any]:
        """Return plain data, which :meth:`of_json` reads."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> MarginTable:
        """Return the table that :meth:`as_json` wrote."""
        lists = ("factors", "delay_margins", "added", "gain_margins")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})


def _between(places: Sequence[float], values: Sequence[float], at: float) -> float:
    """Interpolate; outside the first and the last value hold."""
    right = bisect_right(places, at)
    if right == 0:
        return values[0]
    if right == len(places):
        return values[-1]
    left = right - 1
    share = (at - places[left]) / (places[right] - places[left])
    return values[left] + share * (values[right] - values[left])
