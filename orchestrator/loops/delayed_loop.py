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

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.loops.state_space import Floats, StateSpace

Complex = NDArray[np.complex128]

_POINTS = 24  # of each transport line, where there are few
_MOST_POINTS = 600  # of all lines together, but three of each
_LARGE = 300  # states, and delayed signals thrice
_NEWTON = 40
_NEAR, _SAME = 1e-3, 1e-7  # guesses, and roots, that are one, as a share of them
_SPREAD = 100.0  # guesses of roots that are left out, as a multiple of their size
_CLOSE = 1e-12  # the last step of Newton's method, as a share of the root


class DelayedLoop(Struct, dict=True):
    """A linear system x' = A x + B u, y = C x + D u whose inputs are outputs of before.

    a, b, c, d: float64 of shapes (n, n), (n, m), (p, n) and (p, m).
    gains: What inputs are of outputs, float64 of shape (m, p), by delay in seconds, above 0.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    gains: Mapping[float, Floats]

    @classmethod
    def closed(
        cls,
        space: StateSpace,
        gains: Mapping[float, Floats],
        *,
        into: Sequence[int] = (),
        out_of: Sequence[int] = (),
    ) -> DelayedLoop:
        """Close all lines without a delay, and keep what the others bring and take.

        space: All components side by side.
        gains: What its inputs are of its outputs, by delay in seconds, 0 where there is none.
        into, out_of: Inputs and outputs that are kept as well, as the first ones.
        Raises DescriptionError: if the lines without a delay have no solution.
        """
        m, p = len(space.inputs), len(space.outputs)
        at_once = gains.get(0.0, np.zeros((m, p)))
        delayed = {delay: gain for delay, gain in gains.items() if delay > 0.0}
        fed = sum((g.any(axis=1) for g in delayed.values()), np.zeros(m, dtype=bool))
        used_columns = sum((g.any(axis=0) for g in delayed.values()), np.zeros(p, dtype=bool))
        rows = _first(into, np.flatnonzero(fed))
        columns = _first(out_of, np.flatnonzero(used_columns))
        through = np.eye(p) - space.d @ at_once
        if np.linalg.cond(through) > 1.0 / np.finfo(np.float64).eps:
            raise DescriptionError(
                "the loop has no solution: its connections without a delay feed an output back to"
                " itself with gain 1"
            )
        c = np.asarray(np.linalg.solve(through, space.c), dtype=np.float64)
        d = np.asarray(np.linalg.solve(through, space.d[:, rows]), dtype=np.float64)
        inputs = at_once @ d
        inputs[rows, np.arange(len(rows))] += 1.0
        return cls(
            space.a + space.b @ at_once @ c,
            space.b @ inputs,
            c[columns],
            d[columns],
            {delay: gain[np.ix_(rows, columns)] for delay, gain in delayed.items()},
        )

    def matrix(self, s: Complex | complex) -> Complex:
        """Return Delta(s), complex128 of shape (..., n + m, n + m)."""
        return self._around(s, np.eye(self.a.shape[0]) * np.asarray(s)[..., None, None] - self.a, 0)

    def slope(self, s: Complex | complex) -> Complex:
        """Return d Delta / d s, of the same shape."""
        return self._around(s, np.eye(self.a.shape[0]), 1)

    def _around(self, s: Complex | complex, corner: Floats | Complex, order: int) -> Complex:
        """Put a derivative of Delta together: its corner of states, and what the lines make."""
        s = np.asarray(s, dtype=np.complex128)
        n, m = self.b.shape
        line = np.zeros((*s.shape, m, self.c.shape[0]), dtype=np.complex128)
        for delay, gain in self.gains.items():
            line += (-delay) ** order * np.exp(-s * delay)[..., None, None] * gain
        matrix = np.zeros((*s.shape, n + m, n + m), dtype=np.complex128)
        matrix[..., :n, :n] = corner
        matrix[..., n:, :n] = -line @ self.c
        matrix[..., n:, n:] = -line @ self.d
        if order == 0:
            matrix[..., :n, n:] = -self.b
            matrix[..., n:, n:] += np.eye(m)
        return matrix

    def polished(self, guess: complex) -> complex | None:
        """Return the characteristic root that Newton's method finds from a guess, if it does."""
        s = complex(guess)
        for _ in range(_NEWTON):
            try:
                # Far to the left of the plane exp(-s delay) has no number: that is no root.
                with np.errstate(over="ignore", invalid="ignore"):
                    trace = complex(np.trace(np.linalg.solve(self.matrix(s), self.slope(s))))
            except np.linalg.LinAlgError:
                return s  # the matrix is singular: this is one
            if not np.isfinite(trace) or trace == 0.0:
                return None
            step = 1.0 / trace
            s -= step
            if abs(step) <= _CLOSE * max(1.0, abs(s)):
                return s
        return None

    def discretised(self) -> Floats:
        """Return the matrix of an ordinary system whose eigenvalues approach the roots."""
        n, m = self.b.shape
        count = self.c.shape[0]
        points = max(3, min(_POINTS, _MOST_POINTS // max(1, count)))
        longest = [
            max((d for d, gain in self.gains.items() if gain[:, j].any()), default=1.0)
            for j in range(count)
        ]
        nodes, derivative = chebyshev(points)
        size = n + points * count
        inputs = np.zeros((m, size))
        for j in range(count):
            first = n + points * j
            for delay, gain in self.gains.items():
                if gain[:, j].any():
                    # The node at 1 is the output itself, which is no state.
                    at = _weights(nodes, 1.0 - 2.0 * delay / longest[j])[1:]
                    inputs[:, first : first + points] += np.outer(gain[:, j], at)
        outputs = self.d @ inputs
        outputs[:, :n] += self.c
        matrix = np.zeros((size, size))
        matrix[:n] = self.b @ inputs
        matrix[:n, :n] += self.a
        for j in range(count):
            first = n + points * j
            rate = 2.0 / longest[j] * derivative[1:]
            matrix[first : first + points, first : first + points] = rate[:, 1:]
            matrix[first : first + points] += np.outer(rate[:, 0], outputs[j])
        return matrix

    @property
    def is_large(self) -> bool:
        """Whether all eigenvalues of its discretised form take too long."""
        return len(self.a) + 3 * len(self.c) > _LARGE

    @cached_property
    def _guesses(self) -> Complex:
        return np.linalg.eigvals(self.discretised()).astype(np.complex128)

    def roots(
        self, count: int, guesses: Sequence[complex] = (), *, still: float = 0.0
    ) -> list[complex]:
        """Return the rightmost characteristic roots, those with imag >= 0.

        count: How many at most.
        guesses: Where to look as well.
        still: Roots that are smaller, 1/s, are left out.
        """
        own_guesses = self._guesses[np.argsort(-self._guesses.real)]
        # Multiple roots at rest are many guesses, spread by rounding, that lead to none.
        tried = 2 * count + int(np.sum(np.abs(own_guesses) <= _SPREAD * still))
        roots = self.near([*guesses, *own_guesses[:tried]], spacing=_NEAR)
        return [root for root in roots if abs(root) >= still][:count]

    def near(self, guesses: Iterable[complex], *, spacing: float = 0.0) -> list[complex]:
        """Return the characteristic roots that guesses lead to, imag >= 0, the rightmost first."""
        roots: list[complex] = []
        for guess in guesses:
            if any(
                abs(_upper(guess) - neighbour) < spacing * max(1.0, abs(neighbour))
                for neighbour in roots
            ):
                continue  # it would lead there again
            root = self.polished(guess)
            if root is None:
                continue
            root = _upper(root)
            if all(abs(root - neighbour) > _SAME * max(1.0, abs(root)) for neighbour in roots):
                roots.append(root)
        return sorted(roots, key=lambda root: -root.real)


def _first(preferred: Sequence[int], others: Iterable[int]) -> list[int]:
    return list(dict.fromkeys([*preferred, *(int(index) for index in others)]))


def _upper(root: complex) -> complex:
    """Return that of a pair with imag >= 0; what is real but for rounding is real."""
    imag = abs(root.imag)
    return complex(root.real, imag if imag > 1e-9 * max(1.0, abs(root)) else 0.0)


def side_by_side(spaces: Sequence[StateSpace]) -> StateSpace:
    """Put systems that know nothing of each other into one."""
    return StateSpace(
        _diagonal([space.a for space in spaces]),
        _diagonal([space.b for space in spaces]),
        _diagonal([space.c for space in spaces]),
        _diagonal([space.d for space in spaces]),
        tuple(name for space in spaces for name in space.states),
        tuple(name for space in spaces for name in space.inputs),
        tuple(name for space in spaces for name in space.outputs),
    )


def _diagonal(blocks: Sequence[Floats]) -> Floats:
    """Put matrices along the diagonal of one."""
    rows, columns = (sum(block.shape[axis] for block in blocks) for axis in (0, 1))
    matrix = np.zeros((rows, columns))
    row = column = 0
    for block in blocks:
        below, right = row + block.shape[0], column + block.shape[1]
        matrix[row:below, column:right] = block
        row, column = below, right
    return matrix


def chebyshev(points: int) -> tuple[Floats, Floats]:
    """Return points + 1 nodes from 1 to -1, and what differentiates values on them."""
    k = np.arange(points + 1)
    nodes = np.cos(np.pi * k / points)
    c = np.where((k == 0) | (k == points), 2.0, 1.0) * (-1.0) ** k
    gaps = nodes[:, None] - nodes[None, :]
    matrix = np.outer(c, 1.0 / c) / (gaps + np.eye(points + 1))
    return nodes, matrix - np.diag(matrix.sum(axis=1))


def _weights(nodes: Floats, at: float) -> Floats:
    """Return with what weights values on the nodes make one in between (barycentric)."""
    hit = np.isclose(nodes, at, rtol=0.0, atol=1e-14)
    if hit.any():
        return hit.astype(np.float64)
    k = np.arange(nodes.size)
    weights = (-1.0) ** k * np.where((k == 0) | (k == nodes.size - 1), 0.5, 1.0) / (at - nodes)
    return np.asarray(weights / weights.sum())
