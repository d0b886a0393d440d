"""Acceleration and jerk of a measured signal, by differentiation of a polynomial through it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError, Reason
from orchestrator.rig.supervisor.limits import SignalLimits

Floats = npt.NDArray[np.float64]
_NS = 1e-9
#: Order of a derivative, and the degree of its polynomial.
_ACCELERATION, _JERK = 2, 3


def derivative_weights(samples: int, order: int, period: float) -> Floats:
    """Return what samples are multiplied by for a derivative in the middle of their window.

    It is that of the polynomial of degree ``order`` that fits them best (Savitzky, Golay:
    Analytical Chemistry 36, 1964). Noise of standard deviation ``s`` gives the derivative one of
    ``s`` times the norm of the weights, for many samples ``s sqrt(720 / n**5) / h**2`` of the
    second and ``s sqrt(100800 / n**7) / h**3`` of the third.

    Parameters
    ----------
    samples
        In the window, > ``order``.
    order
        Of the derivative.
    period
        s, between two of them.

    Returns
    -------
    ndarray
        Shape (samples,), the oldest first.
    """
    places = (np.arange(samples) - 0.5 * (samples - 1)) * period
    scale = places[-1]
    rows = np.linalg.pinv(np.vander(places / scale, order + 1, increasing=True))
    weights: Floats = rows[order] * math.factorial(order) / scale**order
    return weights


class MotionCheck:
    """Looks at the acceleration and the jerk of one signal.

    Samples count as evenly spaced, by the device's count: they arrive less evenly. After one that
    was lost the window is filled anew.

    Parameters
    ----------
    name, limits
        Of the signal; at least one of ``acceleration`` and ``jerk`` is given.
    period_ns
        Of its device.

    Raises
    ------
    DescriptionError
        If the window has too few samples.
    """

    def __init__(self, name: str, limits: SignalLimits, period_ns: int) -> None:
        period = period_ns * _NS
        samples = 1 + round(limits.ns("window") / period_ns)
        wanted = (
            (Reason.ACCELERATION, _ACCELERATION, limits.acceleration),
            (Reason.JERK, _JERK, limits.jerk),
        )
        asked = [(reason, order, most) for reason, order, most in wanted if most is not None]
        least = 2 + max(order for _, order, _ in asked)
        if samples < least:
            raise DescriptionError(
                f"supervisor.signals.'{name}'.window: expected at least"
                f" {(least - 1) * period * 1e3:g} ms, {least} samples of the device, found"
                f" {limits.window!r}"
            )
        self._looks = [
            (reason, most, derivative_weights(samples, order, period))
            for reason, order, most in asked
        ]
        self._persistence = limits.ns("persistence") / period_ns
        self._values: Floats = np.zeros(samples)
        self._filled = self._bad = 0
        self._number = -1
        self._found = Reason.OPERATION

    def take(self, number: int, value: float) -> None:
        """Take a sample by its number; one that is known already says nothing."""
        if number == self._number:
            return
        if number != self._number + 1 or not math.isfinite(value):
            self._filled = self._bad = 0
        self._number = number
        self._values[:-1] = self._values[1:]
        self._values[-1] = value
        self._filled += 1
        if self._filled < len(self._values):
            return
        found = self._look()
        self._bad = self._bad + 1 if found else 0
        if found and self._bad > self._persistence:
            self._found = found

    def reason(self) -> Reason:
        """Return what was found since this was last asked."""
        found, self._found = self._found, Reason.OPERATION
        return found

    def _look(self) -> Reason:
        for reason, most, weights in self._looks:
            if abs(float(weights @ self._values)) > most:
                return reason
        return Reason.OPERATION
