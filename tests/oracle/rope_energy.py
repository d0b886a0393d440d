"""The energy of the rope of rope_arc, written anew: exact angles, and minima by Newton's method.

Twists are angles against a frame that is carried along the rope without turning about it, where the
plant has directors as states; gradients are complex steps, so no derivative is written down.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from oracle.rope_arc import CLAMP_B, CURVATURE, EA, EI, GJ, NODE, NODES, PLACES, S
from scipy.linalg import solve

Floats: TypeAlias = NDArray[np.float64]
PLACED = 3 * (NODES - 2)  # unknowns: places of the inner nodes, then the twists of the segments
SIZE = PLACED + NODES - 1
_UP = np.array([0.0, 0.0, 1.0])
_STIFF = np.r_[2.0, np.ones(NODES - 2), 2.0] / S  # the clamps are half a segment away
_BEND = np.r_[0.0, np.full(NODES - 2, CURVATURE * S), 0.0]


def _dot(a: Floats, b: Floats) -> Floats:
    return np.sum(a * b, axis=-1)  # type: ignore[no-any-return]


def potential(z: Floats, force: Floats) -> Floats:
    """Return energy minus the work of a force on the node, J, of unknowns of shape (..., SIZE)."""
    lead = z.shape[:-1]

    def spread(vector: Floats) -> Floats:
        return np.broadcast_to(vector, (*lead, 1, 3))

    inner = z[..., :PLACED].reshape(*lead, NODES - 2, 3)
    chords = np.diff(np.concatenate([spread(PLACES[0]), inner, spread(PLACES[-1])], -2), axis=-2)
    lengths = np.sqrt(_dot(chords, chords))
    along = [spread(np.array([1.0, 0.0, 0.0])), chords / lengths[..., None], spread(CLAMP_B)]
    t = np.concatenate(along, axis=-2)
    directors, twists = _directors(t, z[..., PLACED:])
    before, after = t[..., :-1, :], t[..., 1:, :]
    kink = np.cross(before, after)
    sine = np.sqrt(_dot(kink, kink) + 1e-30)
    turn = (2.0 * np.arctan(sine / (1.0 + _dot(before, after))) / sine)[..., None] * kink
    mean = 0.5 * (directors[..., :-1, :] + directors[..., 1:, :])
    bent = _STIFF * (0.5 * _dot(turn, turn) - _BEND * _dot(turn, mean))
    held = 0.5 * EA / S * np.sum((lengths - S) ** 2, axis=-1)
    held = held + np.sum(EI * bent + 0.5 * GJ * _STIFF * twists**2, axis=-1)
    return held - inner[..., NODE - 2, :] @ force  # type: ignore[no-any-return]


def _directors(t: Floats, angles: Floats) -> tuple[Floats, Floats]:
    """Return directors of clamps and segments, and the twists between them, rad."""
    carried = _UP + 0.0 * t[..., 0, :]
    directors = [carried]
    for i in range(1, NODES + 1):
        last, now = t[..., i - 1, :], t[..., i, :]
        share = _dot(carried, now) / (1.0 + _dot(last, now))
        carried = carried - share[..., None] * (last + now)
        if i < NODES:
            angle = angles[..., i - 1, None]
            directors.append(carried * np.cos(angle) + np.cross(now, carried) * np.sin(angle))
    directors.append(_UP + 0.0 * carried)
    sine = _dot(np.cross(carried, _UP), t[..., -1, :])
    end = 2.0 * np.arctan(sine / (1.0 + _dot(carried, _UP)))
    every = np.concatenate([0.0 * end[..., None], angles, end[..., None]], axis=-1)
    return np.stack(directors, axis=-2), np.diff(every, axis=-1)


def minimum(force: Floats) -> Floats:
    """Return the unknowns of the equilibrium under a force, N, shape (SIZE,)."""
    z = np.r_[PLACES[1:-1].ravel(), np.zeros(NODES - 1)]
    for _ in range(60):
        slope = _gradient(z, force)
        if np.abs(slope).max() < 1e-9:
            return z
        shifts = 1e-6 * np.eye(SIZE)
        curve = (_gradient(z + shifts, force) - _gradient(z - shifts, force)) / 2e-6
        lowest = np.linalg.eigvalsh(curve)[0]
        move = -solve(curve + max(0.0, 1e-4 - 2.0 * lowest) * np.eye(SIZE), slope)
        share, here = 1.0, potential(z, force)
        while potential(z + share * move, force) > here + 1e-14 and share > 1e-8:
            share *= 0.5
        z = z + share * move
    raise AssertionError(f"no equilibrium: {np.abs(slope).max():.3g} N are left")


def _gradient(z: Floats, force: Floats) -> Floats:
    """Return the slopes at unknowns of shape (..., SIZE), by steps along the imaginary axis."""
    return potential(z[..., None, :] + 1e-30j * np.eye(SIZE), force).imag / 1e-30
