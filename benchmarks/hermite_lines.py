"""What samples and their derivatives do for delayed lines that are followed: errors of growth.

python benchmarks/hermite_lines.py

One linear plant ``x' = A x + B u`` closes its loop by ``u(t) = C x(t - tau)``. Over a step it
follows a cubic: that through four samples around the span; that with the values and slopes of the
two samples around the middle of the span; and polynomials of degree 5, with the values and slopes
of three samples or through six, as the engine has it, as the cubic of the same mean and moments.
Slopes are those that the plant has at its samples, ``C (A x + B u)``. Errors are growth rates of
the one-step map less those of the continuous loop, 1/s.
"""

from __future__ import annotations

import math

import numpy as np
from held_values import PLANTS, STEPS, Floats, root
from numpy.polynomial import Legendre, Polynomial
from runner import Benchmark
from scipy.linalg import expm

#: Numbers of samples around the span, and whether their slopes count.
WAYS = {
    "four samples": (4, False),
    "six samples": (6, False),
    "two samples and slopes": (2, True),
    "three samples and slopes": (3, True),
}
#: Delays besides those of the plants, so that samples lie elsewhere in the span, s.
OTHER_DELAYS = {"double integrator": (0.0415, 0.043)}


def cubic(places: Floats, *, with_slopes: bool, begin: float, step: float) -> Floats:
    """Return what each sample (then each slope) counts in the cubic over a span.

    Shape (4, samples): powers of the time since the begin, in steps.
    """
    t = places - begin / step
    rows = np.vander(t, len(t) * (1 + with_slopes), increasing=True)
    if with_slopes:
        powers = np.arange(rows.shape[1])
        slopes = powers * np.vander(t, rows.shape[1] + 1, increasing=True)[:, :-1]
        slopes[:, 1:] = powers[1:] * rows[:, :-1]
        rows = np.vstack([rows, slopes])
    coefficients = np.linalg.inv(rows)
    if len(coefficients) <= 4:
        return np.asarray(coefficients, dtype=np.float64)
    kept = [
        Polynomial(column)
        .convert(kind=Legendre, domain=[0, 1])
        .truncate(4)
        .convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1])
        for column in coefficients.T
    ]
    return np.array([np.pad(one.coef, (0, 4 - len(one.coef))) for one in kept]).T


def responses(a: Floats, b: Floats, step: float) -> tuple[Floats, Floats]:
    """Return what a step makes of the states, and of inputs 1, t, t^2, t^3 (t in steps)."""
    n = len(a)
    chain = np.zeros((n + 4, n + 4))
    chain[:n, :n], chain[:n, n] = a, b
    chain[range(n, n + 3), range(n + 1, n + 4)] = 1.0
    moved = expm(chain * step)
    scale = [math.factorial(k) / step**k for k in range(4)]
    return moved[:n, :n], moved[:n, n:] * scale


def error(
    a: Floats, b: Floats, c: Floats, tau: float, exact: complex, step: float, way: str
) -> float:
    """Growth rate of the loop that follows, less the exact one, 1/s."""
    count, with_slopes = WAYS[way]
    n, begin = len(a), -tau
    middle = begin + (0.5 * step if with_slopes else 0.0)
    first = math.floor(middle / step + 1e-9) - (count - 2) // 2
    if count == 3:
        first = round(middle / step) - 1
    first = min(first, 1 - count)
    places = np.arange(first, first + count)
    counts = cubic(
        np.asarray(places, dtype=np.float64), with_slopes=with_slopes, begin=begin, step=step
    )
    kept = 1 - first
    now, slopes = n + np.arange(kept), n + kept + np.arange(kept)  # newest first
    size = n + 2 * kept
    given = np.zeros((4, size))
    for i, place in enumerate(places):
        given[:, now[-place]] += counts[:, i]
        if with_slopes:
            given[:, slopes[-place]] += counts[:, count + i] * step
    states, inputs = responses(a, b, step)
    period = np.zeros((size, size))
    period[:n, :n] = states
    period[:n] += inputs @ given
    period[now[0]] = c @ period[:n]
    period[slopes[0]] = c @ (a @ period[:n] + np.outer(b, given.sum(axis=0)))
    for register in (now, slopes):
        period[register[1:], register[:-1]] = 1.0
    values = np.linalg.eigvals(period).astype(np.complex128)
    rates = np.log(values[np.abs(values) > 1e-9]) / step
    return float(rates[np.argmin(np.abs(rates - exact))].real - exact.real)


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    steps = STEPS[:1] if benchmark.options().quick else STEPS
    rows = []
    for name, (a, b, c, own, guess) in PLANTS.items():
        for tau in (own, *OTHER_DELAYS.get(name, ())):
            loop = np.array(a, float), np.array(b, float), np.array(c, float), tau
            exact = root(*loop, guess)
            for way in WAYS:
                errors = [error(*loop, exact, step, way) for step in steps]
                rows.append((name, f"{1e3 * tau:g} ms", way, *(f"{e:+.1e}" for e in errors)))
    columns = ["plant", "delay", "cubic by", *(f"{1e3 * h:g} ms" for h in steps)]
    benchmark.table("Errors of growth, 1/s", columns, rows, texts=3)
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
