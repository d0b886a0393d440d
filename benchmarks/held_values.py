"""At which value a unit that can only hold should hold a delayed input: errors of growth by plant.

python benchmarks/held_values.py

One linear plant ``x' = A x + B u`` closes its loop by ``u(t) = C x(t - tau)`` and holds over a step
of length H the value ``u(m) + c H^2 u''(m)`` at the middle ``m`` of the step, by the polynomial
through six samples. ``c = 0``: the middle, as ``exact`` and ``waveform`` modes do it; ``1/24``: the
mean over the step; ``1/8``: what moves the position of a double integrator as the signal does.
Errors are growth rates of the one-step map less those of the continuous loop, 1/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from runner import Benchmark
from scipy.linalg import expm
from scipy.optimize import fsolve

Floats = NDArray[np.float64]
STEPS = (0.008, 0.004, 0.002)
WAYS = {"middle": 0.0, "mean": 1.0 / 24.0, "position": 1.0 / 8.0}
#: A, B, C, delay in s, and about where the root is.
PLANTS: dict[str, tuple[list[list[float]], list[float], list[float], float, complex]] = {
    "double integrator": ([[0, 1], [0, 0]], [0, 1], [-100, -7.5], 0.04, -1.7 + 10j),
    "lag": ([[-5]], [30], [-1], 0.05, -1 + 28j),
    "second-order lag": ([[0, 1], [-200, -20]], [0, 200], [-1.5, 0], 0.04, -3 + 18j),
}


def root(a: Floats, b: Floats, c: Floats, tau: float, guess: complex) -> complex:
    """Return the root of the continuous loop near a guess, 1/s."""

    def residual(z: Floats) -> list[float]:
        s = complex(z[0], z[1])
        values = np.linalg.det(s * np.eye(len(a)) - a - np.outer(b, c) * np.exp(-s * tau))
        return [values.real, values.imag]

    z = fsolve(residual, [guess.real, guess.imag], xtol=1e-13)
    return complex(z[0], z[1])


def weights(nodes: Floats, time: float, derivative: int) -> Floats:
    """Return what each sample counts in the polynomial's derivative at a time."""
    powers = np.vander(nodes - time, len(nodes), increasing=True).T
    wanted = np.zeros(len(nodes))
    wanted[derivative] = math.factorial(derivative)
    return np.asarray(np.linalg.solve(powers, wanted), dtype=np.float64)


def error(
    a: Floats, b: Floats, c: Floats, tau: float, exact: complex, step: float, bend: float
) -> float:
    """Growth rate of the loop that holds, less the exact one, 1/s."""
    n = len(a)
    moved = expm(np.block([[a, b[:, None]], [np.zeros((1, n + 1))]]) * step)
    first = min(math.floor((step / 2 - tau) / step) - 2, -5)
    places = np.arange(first, first + 6)
    nodes = np.asarray(places * step, dtype=np.float64)
    middle = step / 2 - tau
    counts = weights(nodes, middle, 0) + bend * step**2 * weights(nodes, middle, 2)
    size = n - first
    period = np.zeros((size, size))
    period[:n, :n] = moved[:n, :n]
    for count, place in zip(counts, places, strict=True):
        if place == 0:
            period[:n, :n] += count * np.outer(moved[:n, n], c)
        else:
            period[:n, n - place - 1] += count * moved[:n, n]
    period[n, :n] = c
    for i in range(n + 1, size):
        period[i, i - 1] = 1.0
    values = np.linalg.eigvals(period).astype(np.complex128)
    rates = np.log(values[np.abs(values) > 1e-9]) / step
    return float(rates[np.argmin(np.abs(rates - exact))].real - exact.real)


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    steps = STEPS[:2] if benchmark.options().quick else STEPS
    rows = []
    for name, (a, b, c, tau, guess) in PLANTS.items():
        loop = np.array(a, float), np.array(b, float), np.array(c, float), tau
        exact = root(*loop, guess)
        for way, bend in WAYS.items():
            errors = [error(*loop, exact, step, bend) for step in steps]
            order = math.log2(abs(errors[-2] / errors[-1]))
            rows.append((name, way, *(f"{e:+.1e}" for e in errors), f"{order:.1f}"))
    columns = ["plant", "held", *(f"{1e3 * h:g} ms" for h in steps), "order"]
    benchmark.table("Errors of growth, 1/s", columns, rows, texts=2)
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
