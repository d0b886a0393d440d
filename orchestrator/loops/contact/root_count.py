"""Root count: how many characteristic roots lie to the right of a vertical line.

The argument principle on p(s) + q(s) exp(-s delay), independent of any root finder: it certifies
that none was missed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError

_TURN = 0.5  # largest phase step between two samples, rad
_MOST = 2_000_000


def roots_right_of(
    p: NDArray[np.float64], q: NDArray[np.float64], delay: float, abscissa: float
) -> int:
    """Count the roots of p(s) + q(s) exp(-s delay) with real part above ``abscissa``.

    Parameters
    ----------
    p, q
        Coefficients, highest power first, shapes (n + 1,) and (m + 1,), m < n.
    delay
        Delay, s.
    abscissa
        Real part of the line, 1/s.

    Returns
    -------
    int
        Number of roots, multiplicity included.

    Raises
    ------
    DescriptionError
        A root lies on the line, or so close that the phase cannot be followed past it.
    """
    order = p.size - 1
    sizes = np.abs(p) / abs(p[0])
    sizes[order + 1 - q.size :] += np.abs(q) / abs(p[0]) * np.exp(-abscissa * delay)
    sizes[1:] = np.maximum(sizes[1:], 0.0)
    # Beyond `reach` the terms below s^n are at most a quarter of it.
    reach = float(np.max(np.roots(np.concatenate([[0.25], -sizes[1:]])).real)) + abs(abscissa)
    reach = max(reach, 1e-9)
    shift = 0.05 * reach / order
    reach *= 2.0

    def ratio(omega: NDArray[np.float64]) -> NDArray[np.complex128]:
        s = abscissa + 1j * omega
        value = np.polyval(p, s) + np.polyval(q, s) * np.exp(-s * delay)
        return np.asarray(value / (p[0] * (shift + 1j * omega) ** order))

    omega = np.linspace(0.0, reach, 256 + int(8 * reach * delay))
    values = ratio(omega)
    while True:
        if np.any(values == 0.0) or omega.size > _MOST:
            raise DescriptionError(
                f"a root lies on or next to the line of real part {abscissa:g} 1/s, so the roots "
                "to its right cannot be counted; move the line a little"
            )
        turns = np.angle(values[1:] / values[:-1])
        coarse = np.flatnonzero(np.abs(turns) > _TURN)
        if coarse.size == 0:
            break
        middle = 0.5 * (omega[coarse] + omega[coarse + 1])
        if np.any(np.diff(omega)[coarse] <= 1e-15 * reach):
            omega = np.zeros(_MOST + 1)
            continue
        omega = np.insert(omega, coarse + 1, middle)
        values = np.insert(values, coarse + 1, ratio(middle))
    turned = float(np.sum(turns)) - float(np.angle(values[-1]))
    return round(-turned / np.pi)
