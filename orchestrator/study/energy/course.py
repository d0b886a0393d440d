"""Course of a signal within the steps of a run, and the work of one signal along another.

A held input has one value for each step. An output is known at the ends of steps, and a cubic
through four rows is taken between them. An input that follows its signal is on the polynomial that
the master gave it, so that its work is that of the polynomial, and of the jumps between two.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.structs import Struct

Floats = NDArray[np.float64]

#: Nodes of the quadrature in a step: products of two cubics are integrated exactly.
_NODES = 4


class Course(Struct, eq=False):
    """A signal within steps: a polynomial of the third order in the time since the begin of each.

    steps: Lengths in s, shape (n - 1,).
    powers: Coefficients of the powers 0 to 3 of time, float64 of shape (4, n - 1, size).
    """

    steps: Floats
    powers: Floats

    @classmethod
    def held(cls, steps: Floats, values: Floats) -> Course:
        """Return the course of an input that is held: its values over the steps (n - 1, size)."""
        return cls(steps, np.concatenate([values[None], np.zeros((3, *values.shape))]))

    @classmethod
    def followed(cls, steps: Floats, derivatives: Floats) -> Course:
        """Return it from the value and the derivatives at the begin of each step."""
        return cls(steps, derivatives / np.array([1.0, 1.0, 2.0, 6.0])[:, None, None])

    @classmethod
    def through(cls, time: Floats, rows: Floats, count: int, jumps: Sequence[int] = ()) -> Course:
        """Return it from values at all ends of steps, shape (n, size).

        count: Rows that each curve goes through, at most 4.
        jumps: Steps at whose begin the signal jumps, where there are as many rows on both sides.
        """
        count = min(count, len(time))
        begins = np.arange(len(time) - 1)
        lower, upper = np.zeros_like(begins), np.full_like(begins, len(time) - count)
        for jump in sorted(jumps):
            if count <= jump + 1 <= len(time) - count:
                lower[jump:] = jump + 1
                upper[:jump] = np.minimum(upper[:jump], jump + 1 - count)
        first = np.clip(begins - 1, lower, np.maximum(lower, upper))
        window = first[:, None] + np.arange(count)
        steps = np.diff(time)
        # In units of the step, so that the powers are of alike size.
        offsets = (time[window] - time[begins][:, None]) / steps[:, None]
        powers = offsets[..., None] ** np.arange(count)
        coefficients = np.linalg.solve(powers, rows[window])
        padded = np.zeros((4, len(begins), rows.shape[1]))
        for k in range(count):
            padded[k] = coefficients[:, k] / steps[:, None] ** k
        return cls(steps, padded)

    def divided(self, parts: int, steps: Floats) -> Course:
        """Return the same curves over shorter steps, ``parts`` of which make each of these.

        steps: Lengths in s, shape (m,). Steps behind the last whole one stay at its end.
        """
        count = parts * len(self.steps)
        inside = steps[:count].reshape(-1, parts)
        begins = np.cumsum(inside, axis=1) - inside
        moved = np.zeros((4, len(steps), self.powers.shape[2]))
        for low in range(4):
            for high in range(low, 4):
                power = comb(high, low) * begins ** (high - low)
                moved[low, :count] += (power[..., None] * self.powers[high, :, None]).reshape(
                    count, -1
                )
        if count:
            moved[0, count:] = self.at(1.0)[-1]
        return Course(steps, moved)

    def at(self, share: float) -> Floats:
        """Return values at a share of each step, shape (n - 1, size)."""
        time = share * self.steps[:, None]
        c = self.powers
        return np.asarray(c[0] + time * (c[1] + time * (c[2] + time * c[3])))

    def rate(self, share: float) -> Floats:
        """Return derivatives at a share of each step, per second, shape (n - 1, size)."""
        time = share * self.steps[:, None]
        c = self.powers
        return np.asarray(c[1] + time * (2.0 * c[2] + 3.0 * time * c[3]))

    def __rmul__(self, factor: float) -> Course:
        return Course(self.steps, factor * self.powers)

    def integral(self) -> Floats:
        """Return the integral over each step, shape (n - 1, size)."""
        orders = np.arange(1.0, 5.0)[:, None, None]
        return np.asarray((self.powers / orders * self.steps[:, None] ** orders).sum(axis=0))

    def jumps(self, before: Floats) -> Floats:
        """Return the jumps at the begins of steps; ``before`` is the value before the first."""
        ends = np.vstack([before, self.at(1.0)[:-1]])
        return self.at(0.0) - ends


def work_within(
    effort: Course,
    motion: Course,
    first: Floats | None,
    arm_and_force: tuple[Course, ...] | None = None,
) -> Floats:
    """Return the work of each step, shape (n - 1,).

    effort, motion: Of the same size; the motion is a flow, or a displacement.
    first: Of a displacement: its value before the first step, shape (size,); ``None``: it is a
        flow.
    about: Arm and force whose moment is taken off the effort, a torque.
    """

    def acting(share: float) -> Floats:
        if arm_and_force is None:
            return effort.at(share)
        arm, force = (course.at(share) for course in arm_and_force)
        return np.asarray(effort.at(share) - np.cross(arm, force))

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    work = np.zeros(effort.steps.size)
    for share, weight in zip(0.5 + 0.5 * nodes, 0.5 * weights, strict=True):
        flow = motion.at(share) if first is None else motion.rate(share)
        work += weight * effort.steps * (acting(share) * flow).sum(axis=1)
    if first is not None:
        begin = acting(0.0)
        mean = 0.5 * (begin + np.vstack([begin[:1], acting(1.0)[:-1]]))
        work += (mean * motion.jumps(first)).sum(axis=1)
    return work
