"""A device's clock against this machine's: how long a sample was on its way."""

from __future__ import annotations

import itertools
import math

from orchestrator.core.structs import Struct

#: Clocks differ by at most this share; what grows faster is a delay.
LARGEST_DRIFT = 0.02
#: Number of periods, and length in s, of a window that its quickest sample represents.
_WINDOW_PERIODS, _WINDOW_S = 16, 0.06
#: Number of stored windows: beyond it, pairs are merged.
_MOST_WINDOWS = 64
#: Least number of windows for a drift.
_LEAST_WINDOWS = 6
#: The quickest samples of all windows lie on a line within this, or within this share of a period.
_SCATTER_S, _SCATTER_PERIODS = 2e-3, 0.25
#: A drift that was measured for so long is known within the scatter over its time, s.
_KNOWN_S = 1.0


class _Window(Struct):
    """The quickest sample of a piece of the run: its device time, and how late it was, in s."""

    device_s: float
    late_s: float


class DeviceClock:
    """Maps the device's time to this machine's over the whole run.

    A sample arrives ``delay + offset + drift * t`` after what its device's clock shows, ``t`` being
    the device's time. The delay is positive and often at its least, so the line below all samples
    is offset, drift and least delay; what a sample lies above it is its excess: the time that it
    was on its way longer than the quickest.

    The drift is that of the lower convex hull over the middle of the samples. It counts only while
    the quickest samples of all parts of the run lie on that line, and is at most ``LARGEST_DRIFT``.
    The longer it was measured, the less it may change. So a delay that grows is age, in the second
    as in the hour after it began.

    Nobody can know the least delay from one direction, nor a delay that grows from the first sample
    on as evenly and as slowly as a clock drifts.

    Parameters
    ----------
    period
        Between two samples, in s.

    References
    ----------
    Moon, Skelly, Towsley: Estimation and removal of clock skew from network delay measurements,
    INFOCOM 1999.
    """

    def __init__(self, period: float) -> None:
        self._length = max(_WINDOW_PERIODS * period, _WINDOW_S)
        self.scatter = max(_SCATTER_S, _SCATTER_PERIODS * period)
        self.begin()

    def begin(self) -> None:
        """Forget the clock: a restarted device has another one."""
        self._first: tuple[float, int] | None = None
        self._windows: list[_Window] = []
        self._open: _Window | None = None
        self._open_until = self._window = self._length
        self._offset = self.drift = 0.0
        self._least, self._most = -LARGEST_DRIFT, LARGEST_DRIFT

    @property
    def is_known(self) -> bool:
        """Whether there is a sample to compare with."""
        return self._first is not None

    def excess(self, device_s: float, now_ns: int) -> float:
        """Return by how much later than the quickest a sample came, s; below 0: earlier."""
        if self._first is None:
            return 0.0
        gone = device_s - self._first[0]
        return (now_ns - self._first[1]) * 1e-9 - gone - self._offset - self.drift * gone

    def take(self, device_s: float, now_ns: int) -> float:
        """Learn from a sample of this clock; return its excess, 0 or more, in s."""
        if self._first is None:
            self._first = device_s, now_ns
        gone = device_s - self._first[0]
        lateness = (now_ns - self._first[1]) * 1e-9 - gone
        if self._open is None or lateness - self.drift * gone < self._lateness(self._open):
            self._open = _Window(gone, lateness)
        excess = lateness - self._offset - self.drift * gone
        if excess < 0.0:
            self._offset += excess
        if gone >= self._open_until:
            self._close(gone)
        return max(excess, 0.0)

    def _lateness(self, window: _Window) -> float:
        return window.late_s - self.drift * window.device_s

    def _close(self, gone: float) -> None:
        assert self._open is not None  # noqa: S101 - a sample has just come
        self._windows.append(self._open)
        self._open = None
        if len(self._windows) == _MOST_WINDOWS:
            pairs = zip(self._windows[::2], self._windows[1::2], strict=True)
            self._windows = [min(pair, key=self._lateness) for pair in pairs]
            self._window *= 2.0
        self._open_until = gone + self._window
        if len(self._windows) >= _LEAST_WINDOWS:
            self._fit()

    def _fit(self) -> None:
        drift = _slope(self._windows)
        if not -LARGEST_DRIFT <= drift <= LARGEST_DRIFT:
            return
        rests = [window.late_s - drift * window.device_s for window in self._windows]
        if max(rests) - min(rests) > self.scatter:
            return
        spent = self._windows[-1].device_s - self._windows[0].device_s
        self.drift = min(max(drift, self._least), self._most)
        if spent >= _KNOWN_S:
            self._least = max(self._least, self.drift - self.scatter / spent)
            self._most = min(self._most, self.drift + self.scatter / spent)
        self._offset = min(self._lateness(window) for window in self._windows)


def _slope(windows: list[_Window]) -> float:
    """Return the slope of the lower convex hull in the middle of the device's time."""
    hull: list[_Window] = []
    for point in windows:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0.0:
            hull.pop()
        hull.append(point)
    middle = 0.5 * (windows[0].device_s + windows[-1].device_s)
    for before, after in itertools.pairwise(hull):
        if after.device_s >= middle:
            return (after.late_s - before.late_s) / (after.device_s - before.device_s)
    return math.nan


def _turn(first: _Window, second: _Window, third: _Window) -> float:
    return (second.device_s - first.device_s) * (third.late_s - first.late_s) - (
        second.late_s - first.late_s
    ) * (third.device_s - first.device_s)
