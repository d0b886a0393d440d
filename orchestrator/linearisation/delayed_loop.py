"""A loop of linear components with all its delays, in continuous time.

With x the states of all components, u their inputs, and lines u = sum over k of G_k y(t - tau_k):

    x' = A x + B u,    u = sum_k G_k (C x(t - tau_k) + D u(t - tau_k))

Its characteristic roots are the zeros of det Delta(s). Each delayed signal is a transport line,
discretised on Chebyshev points, whose eigenvalues start Newton's method on Delta itself.

References
----------
Breda, Maset, Vermiglio: Pseudospectral differencing methods for characteristic roots of delay
differential equations, SIAM J. Sci. Comput. 27 (2005), 482-495. Changed: each delayed signal has a
grid of its own, so that feed-through with a delay needs no derivative of the past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from orchestrator.diagnostics import DescriptionError
from orchestrator.linearisation.state_space import Floats, StateSpace

Complex = NDArray[np.complex128]

_POINTS = 24  # of each transport line, where there are few
_MOST_POINTS = 600  # of all lines together, but three of each
_NEWTON = 40
_NEAR, _SAME = 1e-3, 1e-7  # guesses, and roots, that are one, as a share of them
_CLOSE = 1e-12  # the last step of Newton's method, as a share of the root


@dataclass(frozen=True)
class DelayedLoop:
    """A linear system with any number of delays.

    Parameters
    ----------
    a, b, c, d
        Of all components side by side.
    gains
        What inputs are of outputs, float64 of shape (m, p), by delay in seconds; 0 for lines
        without one.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    gains: Mapping[float, Floats]

    @property
    def delays(self) -> tuple[float, ...]:
        """Those above zero, in order."""
        return tuple(sorted(delay for delay in self.gains if delay > 0.0))

    @property
    def at_once(self) -> Floats:
        """Gains of the lines without a delay."""
        return self.gains.get(0.0, np.zeros((self.b.shape[1], self.c.shape[0])))

    def matrix(self, s: complex) -> Complex:
        """Return Delta(s), complex128 of shape (n + m, n + m)."""
        n, m = self.b.shape
        line = sum(
            (gain * np.exp(-s * delay) for delay, gain in self.gains.items()),
            np.zeros((m, self.c.shape[0]), dtype=np.complex128),
        )
        return np.block([[s * np.eye(n) - self.a, -self.b], [-line @ self.c, np.eye(m) - line @ self.d]])

    def slope(self, s: complex) -> Complex:
        """Return d Delta / d s."""
        n, m = self.b.shape
        line = sum(
            (-delay * gain * np.exp(-s * delay) for delay, gain in self.gains.items()),
            np.zeros((m, self.c.shape[0]), dtype=np.complex128),
        )
        return np.block([[np.eye(n), np.zeros((n, m))], [-line @ self.c, -line @ self.d]])

    def polished(self, guess: complex) -> complex | None:
        """Return the characteristic root that Newton's method finds from a guess, if it does."""
        s = complex(guess)
        for _ in range(_NEWTON):
            whole = self.matrix(s)
            try:
                trace = np.trace(np.linalg.solve(whole, self.slope(s)))
            except np.linalg.LinAlgError:
                return s  # the matrix is singular: this is one
            if not np.isfinite(trace) or trace == 0.0:
                return None
            step = 1.0 / trace
            s -= step
            if abs(step) <= _CLOSE * max(1.0, abs(s)):
                return s
        return None

    def discretised(self, points: int | None = None) -> Floats:
        """Return the matrix of an ordinary system whose eigenvalues approach the roots.

        Parameters
        ----------
        points
            Of each transport line; ``None``: as many as there is time for.
        """
        n, m = self.b.shape
        used = [
            (j, max(delay for delay in self.delays if self.gains[delay][:, j].any()))
            for j in range(self.c.shape[0])
            if any(self.gains[delay][:, j].any() for delay in self.delays)
        ]
        if points is None:
            points = max(3, min(_POINTS, _MOST_POINTS // max(1, len(used))))
        nodes, derivative = _chebyshev(points)
        size = n + points * len(used)
        # u = (1 - G_0 D)^-1 (G_0 C x + what the lines read).
        try:
            inverse = np.linalg.inv(np.eye(m) - self.at_once @ self.d)
        except np.linalg.LinAlgError:
            raise DescriptionError(
                "the loop has no solution: its lines without a delay feed an output back to itself"
                " with gain 1"
            ) from None
        brought = np.zeros((m, size))
        brought[:, :n] = self.at_once @ self.c
        for place, (j, longest) in enumerate(used):
            first = n + points * place
            for delay in self.delays:
                gain = self.gains[delay][:, j]
                if gain.any():
                    at = _weights(nodes, 1.0 - 2.0 * delay / longest)
                    # The node at 1 is the output itself, which is no state.
                    brought[:, first : first + points] += np.outer(gain, at[1:])
        inputs = inverse @ brought
        outputs = self.d @ inputs
        outputs[:, :n] += self.c
        whole = np.zeros((size, size))
        whole[:n] = self.b @ inputs
        whole[:n, :n] += self.a
        for place, (j, longest) in enumerate(used):
            first = n + points * place
            rate = 2.0 / longest * derivative[1:]
            whole[first : first + points, first : first + points] = rate[:, 1:]
            whole[first : first + points] += np.outer(rate[:, 0], outputs[j])
        return whole

    @cached_property
    def _guesses(self) -> Complex:
        return np.linalg.eigvals(self.discretised())

    def roots(self, count: int, guesses: Sequence[complex] = ()) -> list[complex]:
        """Return the rightmost characteristic roots, those with imag >= 0.

        Parameters
        ----------
        count
            How many at most.
        guesses
            Where to look as well.
        """
        own = self._guesses[np.argsort(-self._guesses.real)]
        found: list[complex] = []
        for guess in [*guesses, *own[: 2 * count]]:
            if any(abs(_upper(guess) - other) <= _NEAR * max(1.0, abs(other)) for other in found):
                continue  # it would lead there again
            root = self.polished(guess)
            if root is None:
                continue
            root = _upper(root)
            if all(abs(root - other) > _SAME * max(1.0, abs(root)) for other in found):
                found.append(root)
        return sorted(found, key=lambda root: -root.real)[:count]


def _upper(root: complex) -> complex:
    """Return that of a pair with imag >= 0; what is real but for rounding is real."""
    imag = abs(root.imag)
    return complex(root.real, imag if imag > 1e-9 * max(1.0, abs(root)) else 0.0)


def side_by_side(spaces: Sequence[StateSpace]) -> StateSpace:
    """Put systems that know nothing of each other into one."""
    return StateSpace(
        block_diag(*[space.a for space in spaces]),
        block_diag(*[space.b for space in spaces]),
        block_diag(*[space.c for space in spaces]),
        block_diag(*[space.d for space in spaces]),
        tuple(name for space in spaces for name in space.states),
        tuple(name for space in spaces for name in space.inputs),
        tuple(name for space in spaces for name in space.outputs),
    )


def _chebyshev(points: int) -> tuple[Floats, Floats]:
    """Return points + 1 nodes from 1 to -1, and what differentiates values on them."""
    k = np.arange(points + 1)
    nodes = np.cos(np.pi * k / points)
    c = np.where((k == 0) | (k == points), 2.0, 1.0) * (-1.0) ** k
    gaps = nodes[:, None] - nodes[None, :]
    whole = np.outer(c, 1.0 / c) / (gaps + np.eye(points + 1))
    return nodes, whole - np.diag(whole.sum(axis=1))


def _weights(nodes: Floats, at: float) -> Floats:
    """Return with what weights values on the nodes make one in between (barycentric)."""
    hit = np.isclose(nodes, at, rtol=0.0, atol=1e-14)
    if hit.any():
        return hit.astype(np.float64)
    k = np.arange(nodes.size)
    weights = (-1.0) ** k * np.where((k == 0) | (k == nodes.size - 1), 0.5, 1.0) / (at - nodes)
    return weights / weights.sum()
