"""The lag of a device, as a filter of commands that are held from one sample to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence


class LagFilter:
    """``1``, ``1 / (s / w + 1)`` or ``w**2 / (s**2 + 2 damping w s + w**2)``, stepped exactly.

    Parameters
    ----------
    period
        s, for which a command is held.
    bandwidth
        Hz, ``w / (2 pi)``; ``None``: no lag.
    damping
        Ratio of the second order; ``None``: first order.
    """

    def __init__(self, period: float, bandwidth: float | None, damping: float | None) -> None:
        self._transition: Sequence[float] = ()
        self._x = self._v = 0.0
        if bandwidth is not None:
            w = 2.0 * math.pi * bandwidth
            self._transition = _transition(w, damping, period)
        self._command = math.nan

    def step(self, command: float) -> float:
        """Return the response to all commands before, as the device takes this one."""
        if math.isnan(self._command):
            self._command = self._x = command
        if not self._transition:
            self._command = command
            return command
        a, b, c, d = self._transition
        away = self._x - self._command
        self._x, self._v = (
            self._command + a * away + b * self._v,
            c * away + d * self._v,
        )
        self._command = command
        return self._x


def _transition(w: float, damping: float | None, h: float) -> tuple[float, float, float, float]:
    """Return the rows of the transition of (x - command, v) over h."""
    if damping is None:
        return math.exp(-w * h), 0.0, 0.0, 0.0
    fade = math.exp(-damping * w * h)
    split = 1.0 - damping * damping
    root = w * math.sqrt(abs(split))
    if abs(split) < 1e-8:
        even, odd = 1.0, h
    elif split > 0.0:
        even, odd = math.cos(root * h), math.sin(root * h) / root
    else:
        even, odd = math.cosh(root * h), math.sinh(root * h) / root
    turn = damping * w * odd
    return fade * (even + turn), fade * odd, -fade * w * w * odd, fade * (even - turn)
