"""How an emulated device follows its commands: a delay, then a lag, exactly integrated."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Tracking:
    """Axes that follow piecewise constant commands, each by itself.

    The position obeys ``G(s) = exp(-s delay)`` times 1, ``1 / (s / w + 1)`` or
    ``w**2 / (s**2 + 2 damping w s + w**2)`` with ``w = 2 pi bandwidth``. Commands are constant
    between the moments at which they take effect, so that each piece has a closed solution.

    Parameters
    ----------
    axes
        How many.
    delay_ns
        From the moment of a command to its effect.
    bandwidth_hz
        Corner or natural frequency; ``None``: no lag.
    damping
        Ratio of the second order; ``None``: first order.
    """

    def __init__(
        self,
        axes: int,
        delay_ns: int,
        bandwidth_hz: float | None = None,
        damping: float | None = None,
    ) -> None:
        self._delay = delay_ns
        #: By which commands from now on take effect later; it does not become less.
        self.slower_ns = 0
        self._matrix = _state_matrix(bandwidth_hz, damping)
        self._transitions: dict[int, Array] = {}
        self._pending: deque[tuple[int, Array]] = deque()
        self._command: Array = np.zeros(axes)
        self._now = 0
        order = 0 if self._matrix is None else len(self._matrix)
        self._state: Array = np.zeros((max(order, 1), axes))  # rows: position, velocity

    @property
    def position(self) -> Array:
        """Shape (axes,): where the axes are, from where they began."""
        position: Array = self._state[0].copy()
        return position

    @property
    def velocity(self) -> Array:
        """Shape (axes,): their velocity per second; 0 without a lag, as steps have none."""
        if self._matrix is None:
            return np.zeros_like(self._command)
        if len(self._matrix) == 1:
            first: Array = self._matrix[0, 0] * (self._state[0] - self._command)
            return first
        return np.array(self._state[1])

    def command(self, at_ns: int, values: Array) -> None:
        """Take a command, shape (axes,), given at a time not before that of the last one."""
        self._pending.append((at_ns + self._delay + self.slower_ns, values.copy()))

    def stand(self) -> None:
        """Stand where it is and forget all commands, as after a loss of power; time is 0 again."""
        self._pending.clear()
        self._command = self.position
        self._state[1:] = 0.0
        self._now = 0

    def advance(self, to_ns: int) -> None:
        """Go on to a time; what takes effect at that time is in force afterwards."""
        while self._pending and self._pending[0][0] <= to_ns:
            at, values = self._pending.popleft()
            self._relax(at - self._now)
            self._now, self._command = at, values
            if self._matrix is None:
                self._state[0] = values
        self._relax(to_ns - self._now)
        self._now = to_ns

    def _relax(self, span_ns: int) -> None:
        if self._matrix is None or span_ns == 0:
            return
        if span_ns not in self._transitions:
            self._transitions[span_ns] = _transition(self._matrix * (span_ns * 1e-9))
        equilibrium = np.zeros_like(self._state)
        equilibrium[0] = self._command
        self._state = self._transitions[span_ns] @ (self._state - equilibrium) + equilibrium


def _state_matrix(bandwidth_hz: float | None, damping: float | None) -> Array | None:
    if bandwidth_hz is None:
        return None
    w = 2.0 * math.pi * bandwidth_hz
    if damping is None:
        return np.array([[-w]])
    return np.array([[0.0, 1.0], [-w * w, -2.0 * damping * w]])


def _transition(matrix: Array) -> Array:
    if len(matrix) == 1:
        return np.exp(matrix)
    from scipy.linalg import expm  # heavy, and an emulator shall be there at once

    exponential: Array = expm(matrix)
    return exponential
