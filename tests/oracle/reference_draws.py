"""The draws of a channel in Python, bit for bit those of engine/src/core/channel.cpp."""

from __future__ import annotations

import math
from bisect import bisect_right

from orchestrator.core.coupling import Channel

_MASK = 2**64 - 1


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def uniform_draw(key: int, number: int, stream: int) -> float:
    """Return a number in [0, 1): a function of a key, a counter and one of its four streams."""
    counter = (key + 0x9E3779B97F4A7C15 * (4 * number + stream + 1)) & _MASK
    return (_mix(counter) >> 11) * 2.0**-53


def normal_draw(key: int, number: int) -> float:
    """Return a number of mean 0 and variance 1, by Box and Muller, from streams 1 and 2."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform_draw(key, number, 1)))
    return radius * math.cos(2.0 * math.pi * uniform_draw(key, number, 2))


def _rounded(ns: float) -> int:
    return math.floor(ns + 0.5)


class Draws:
    """The fate of the samples of one signal, in the order in which they are sent.

    Parameters
    ----------
    channel
        That draws.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._number = 0
        self._normal = 0.0

    def uniform(self, number: int, stream: int) -> float:
        """Return a number in [0, 1): a function of the channel's key and of the arguments."""
        return uniform_draw(self._channel.key, number, stream)

    def next(self, time_ns: int, gap_ns: int) -> int | None:
        """Return the delay of the next sample in nanoseconds; ``None``: it is lost.

        Parameters
        ----------
        time_ns
            When it is sent.
        gap_ns
            How long after the one before it.
        """
        channel = self._channel
        self._number += 1
        delay: int | None = channel.nominal_ns
        if channel.times_ns:
            delay = self._recorded(time_ns)
        elif channel.quantiles_ns:
            delay = self._drawn(gap_ns)
        if channel.loss > 0.0 and self.uniform(self._number, 0) < channel.loss:
            return None
        return delay

    def _drawn(self, gap_ns: int) -> int:
        table = self._channel.quantiles_ns
        share = self._correlated(gap_ns) if self._channel.correlation_ns else None
        if share is None:
            share = self.uniform(self._number, 1)
        place = share * (len(table) - 1)
        below = min(int(place), len(table) - 2)
        low = table[below]
        return _rounded(low + (place - below) * (table[below + 1] - low))

    def _correlated(self, gap_ns: int) -> float:
        fresh = normal_draw(self._channel.key, self._number)
        if self._number == 1:
            self._normal = fresh
        else:
            kept = math.exp(-float(gap_ns) / float(self._channel.correlation_ns))
            self._normal = kept * self._normal + math.sqrt(1.0 - kept * kept) * fresh
        return 0.5 * math.erfc(-self._normal / math.sqrt(2.0))

    def _recorded(self, time_ns: int) -> int | None:
        times, delays = self._channel.times_ns, self._channel.delays_ns
        after = bisect_right(times, time_ns)
        row = max(0, after - 1)
        delay = delays[row]
        if delay < 0:
            return None
        last = after == 0 or after == len(times) or delays[after] < 0
        if last or not self._channel.interpolated:
            return delay
        share = float(time_ns - times[row]) / float(times[after] - times[row])
        return delay + _rounded(share * (delays[after] - delay))
