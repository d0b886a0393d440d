"""The benchmark without Softdock: its quasi-polynomial, and an integration of its equations.

With M, C, K of the whole structure and M_e, C_e, K_e of the part in the laboratory, x of shape
(3,), and a laboratory that is tau late:

    (M - M_e) x'' + (C - C_e) x' + (K - K_e) x = -M 1 ag - (m_e x1'' + c_e x1' + k_e x1)(t - tau)
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]
HERE = Path(__file__).parent
#: Silva et al. (2020): stiffness in N/m, part in the laboratory, floors and damping.
STIFFNESS = np.array(
    [
        [26054883.87960384, -23133938.8771082, 5937035.46333915],
        [-23133938.8771082, 32560774.18638033, -14419970.77723698],
        [5937035.46333915, -14419970.77723699, 9267275.50622431],
    ]
)
M_E, K_E, ZETA_E = 29.13, 1190e3, 0.0097
C_E = 2.0 * ZETA_E * math.sqrt(M_E * K_E)
FIRST = np.diag([1.0, 0.0, 0.0])
RATE = 8192.0
_GRID = np.linspace(1.0, 300.0, 6_000)  # rad/s: all modes of the structure


def matrices(mass: float, damping: tuple[float, ...]) -> tuple[Floats, Floats, Floats]:
    """Return M, C and K of a partition, of its floors' mass in kg and its damping in N s/m."""
    c11, c12, c13, c22, c23, c33 = damping
    return (
        mass * np.eye(3),
        np.array([[c11, c12, c13], [c12, c22, c23], [c13, c23, c33]]),
        STIFFNESS,
    )


def critical_delay(mass: float, damping: tuple[float, ...]) -> float:
    """Return the delay, s, at which a root crosses: 1 + G(i w) exp(-i w tau) = 0."""
    m, c, k = matrices(mass, damping)

    def response(omega: float) -> complex:
        s = 1j * omega
        inner = (m - M_E * FIRST) * s * s + (c - C_E * FIRST) * s + k - K_E * FIRST
        return complex(np.linalg.inv(inner)[0, 0] * (M_E * s * s + C_E * s + K_E))

    size = np.array([abs(response(omega)) - 1.0 for omega in _GRID])
    crossed = [
        brentq(lambda omega: abs(response(omega)) - 1.0, _GRID[i], _GRID[i + 1], xtol=1e-13)
        for i in np.flatnonzero(size[:-1] * size[1:] < 0.0)
    ]
    return min(
        (float(np.angle(response(omega))) - math.pi) % (2.0 * math.pi) / omega for omega in crossed
    )


def shaken(
    mass: float, damping: tuple[float, ...], delay: float, stop: float, scale: float = 0.4
) -> tuple[Floats, Floats, Floats]:
    """Integrate El Centro by Runge-Kutta of order 4 in steps of 1/8192 s.

    Returns
    -------
    time, hybrid, reference
        s, and the displacement of the first floor in m, with the laboratory and of the whole
        structure, float64 of shape (n,).
    """
    m, c, k = matrices(mass, damping)
    h = 1.0 / RATE
    count = round(stop * RATE) + 1
    time = h * np.arange(count)
    motion = np.loadtxt(HERE / "records" / "el_centro.csv", delimiter=",", skiprows=1, unpack=True)
    at = scale * np.interp(h / 2.0 * np.arange(2 * count), *motion)
    late = _integrated(m, c, k, at, count, delay)
    return time, late, _integrated(m, c, k, at, count, None)


def _integrated(
    m: Floats, c: Floats, k: Floats, ground: Floats, count: int, delay: float | None
) -> Floats:
    """Return the first floor; with a delay of ``None`` no part is in a laboratory."""
    h = 1.0 / RATE
    part = 0.0 if delay is None else 1.0
    inverse = np.linalg.inv(m - part * M_E * FIRST)
    zero, one = np.zeros((3, 3)), np.eye(3)
    lower = [-inverse @ (k - part * K_E * FIRST), -inverse @ (c - part * C_E * FIRST)]
    a = np.block([[zero, one], [lower[0], lower[1]]])
    by_ground = np.concatenate([np.zeros(3), -(inverse @ m).sum(axis=1)])
    by_force = np.concatenate([np.zeros(3), -inverse[:, 0]])
    forces = np.zeros(count + 1)  # of the specimen, as the floor moves now
    lag = 0.0 if delay is None else delay * RATE
    first, share = np.zeros(count), np.zeros(4)

    def force(place: float) -> float:
        """Read the delayed force between samples: the cubic through four of them."""
        whole, rest = divmod(place - lag, 1.0)
        i = int(whole)
        if delay is None or i < 1:
            return 0.0
        share[:] = (
            -rest * (rest - 1.0) * (rest - 2.0) / 6.0,
            (rest + 1.0) * (rest - 1.0) * (rest - 2.0) / 2.0,
            -(rest + 1.0) * rest * (rest - 2.0) / 2.0,
            (rest + 1.0) * rest * (rest - 1.0) / 6.0,
        )
        return float(share @ forces[i - 1 : i + 3])

    x = np.zeros(6)
    for j in range(count):
        outside = [by_ground * ground[2 * j + i] + by_force * force(j + i / 2) for i in range(2)]
        k1 = a @ x + outside[0]
        first[j] = x[0]
        forces[j] = M_E * k1[3] + C_E * x[3] + K_E * x[0]
        if j + 1 == count:
            break
        outside.append(by_ground * ground[2 * j + 2] + by_force * force(j + 1))
        k2 = a @ (x + h / 2 * k1) + outside[1]
        k3 = a @ (x + h / 2 * k2) + outside[1]
        k4 = a @ (x + h * k3) + outside[2]
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return first
