"""Pade: the diagonal Pade approximation of a delay, exp(-s tau)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError


def pade_coefficients(order: int, delay: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give numerator and denominator of the diagonal Pade approximation of exp(-s delay).

    Parameters
    ----------
    order
        Degree n >= 1 of both polynomials.
    delay
        Delay tau, s.

    Returns
    -------
    numerator, denominator : numpy.ndarray
        Shape (order + 1,) each, highest power of s first, units s^k, both 1 at s = 0. The
        numerator is the denominator at -s, so the modulus on the imaginary axis is exactly 1.

    Raises
    ------
    DescriptionError
        The order is below 1 or the delay negative.

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation (EPOS 2.0), Eq 10 for n = 1, here for any n.
    """
    if order < 1 or not (math.isfinite(delay) and delay >= 0.0):
        raise DescriptionError(
            f"Pade approximation of order {order} of a delay of {delay} s: the order must be at "
            "least 1 and the delay finite and not negative"
        )
    powers = np.arange(order, -1, -1)
    share = [
        math.comb(order, k) * math.factorial(2 * order - k) / math.factorial(2 * order)
        for k in powers.tolist()
    ]
    denominator = np.array(share) * delay**powers
    return denominator * (-1.0) ** powers, denominator


def pade_phase(order: int, angle: float) -> float:
    """Give the phase lag of the Pade approximation at the angle w tau.

    Parameters
    ----------
    order
        Degree n of the approximation.
    angle
        Frequency times delay, rad; the result is exact up to a lag of 2 pi.

    Returns
    -------
    float
        Phase lag, rad; it tends to ``angle`` as the order grows.
    """
    denominator = pade_coefficients(order, 1.0)[1]
    return 2.0 * float(np.angle(np.polyval(denominator, 1j * angle)))
