"""Equilibria of a rope under a force at one node: force over depth.

Newton's method on the exact energy, and continuation along the arc length of the curve, which
continues where the force falls or the rope snaps through: neither force nor depth need grow along
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestrator import ConvergenceError, DescriptionError
from python_blocks.ropes.planar_rope import Floats, PlanarRope

_MOST, _FORCE = 100, 1e-9  # iterations; N that may be left
_STEPS = 1000


@dataclass(frozen=True, eq=False)
class ForceCurve:
    """Equilibria under a force along y at one node.

    Parameters
    ----------
    node
        Node, counted from 1.
    depth
        Displacement of the node along the force from its position without it, m, shape (n,).
    force
        The force, N, shape (n,); positive along +y if the direction was 1, along -y if it was -1.
    stable
        Whether the equilibrium is stable at a held depth, shape (n,).
    shapes
        The inner nodes, m, shape (n, segments - 1, 2).
    """

    node: int
    depth: Floats
    force: Floats
    stable: np.ndarray
    shapes: Floats


def equilibrium(
    rope: PlanarRope, start: Floats | None = None, load: Floats | None = None
) -> Floats:
    """Return the inner nodes of a stable equilibrium, m, shape (segments - 1, 2).

    Newton's method with a shift that makes the Hessian positive definite, and steps halved until
    the energy falls.

    Parameters
    ----------
    rope
        The rope.
    start
        Start of the search, m; default an arc that bows to +y.
    load
        Forces on the inner nodes, N, of the same shape; default none.

    Raises
    ------
    ConvergenceError
        No equilibrium was found.
    """
    x = (rope.arc() if start is None else start).ravel().copy()
    outside = np.zeros_like(x) if load is None else load.ravel()

    def potential(y: Floats) -> float:
        return rope.energy(y.reshape(-1, 2)) - float(outside @ y)

    for _ in range(_MOST):
        slope = -rope.forces(x.reshape(-1, 2)).ravel() - outside
        if np.abs(slope).max() < _FORCE + 1e-12 * rope.k_tes * rope.segment:
            return x.reshape(-1, 2)
        hessian = rope.stiffness(x.reshape(-1, 2))
        lowest = np.linalg.eigvalsh(hessian)[0]
        if lowest <= 0.0:
            hessian = hessian + (1.0 - 2.0 * lowest) * np.eye(len(x))
        move = -np.linalg.solve(hessian, slope)
        share, here = 1.0, potential(x)
        while potential(x + share * move) > here + 1e-14 * (1.0 + abs(here)) and share > 1e-8:
            share *= 0.5
        x = x + share * move
    raise ConvergenceError(
        f"rope: no equilibrium after {_MOST} iterations, {np.abs(slope).max():.3g} N are left"
    )


def sag(inner: Floats) -> float:
    """Return the largest height of the nodes over the line between the ends, m."""
    return float(np.abs(inner[:, 1]).max())


def end_slope(inner: Floats) -> float:
    """Return the angle of the first segment to the line between the ends, rad."""
    return float(np.arctan2(inner[0, 1], inner[0, 0]))


def index_of(rope: PlanarRope, node: int) -> int:
    """Return the index of y of a node among the unknowns.

    Raises
    ------
    DescriptionError
        The node is not an inner one.
    """
    if not 2 <= node <= rope.segments:
        raise DescriptionError(
            f"rope: expected an inner node, 2 to {rope.segments}, found node {node}"
        )
    return 2 * (node - 2) + 1


def initial_stiffness(rope: PlanarRope, inner: Floats, node: int) -> float:
    """Return the stiffness along y at a node near an equilibrium, N/m."""
    at = index_of(rope, node)
    unit = np.zeros(2 * (rope.segments - 1))
    unit[at] = 1.0
    return float(1.0 / np.linalg.solve(rope.stiffness(inner), unit)[at])


def force_curve(
    rope: PlanarRope, node: int, direction: float, until: float, step: float = 5e-4
) -> ForceCurve:
    """Follow the equilibria under a growing force at a node, by arc length.

    Parameters
    ----------
    rope
        The rope; the curve begins at its equilibrium without force.
    node
        Node at which the force acts, counted from 1.
    direction
        1: along +y (outward, where the rope bows), -1: along -y.
    until
        Depth at which the curve ends, m.
    step
        Length of a step along the curve, m: root mean square over all nodes.

    Raises
    ------
    DescriptionError
        The node is not an inner one.
    ConvergenceError
        The curve cannot be followed further.
    """
    at = index_of(rope, node)
    x = equilibrium(rope).ravel()
    size = len(x)
    unit = np.zeros(size)
    unit[at] = direction
    scale = 1.0 / initial_stiffness(rope, x.reshape(-1, 2), node)  # m for each N
    start, force, forward = x[at], 0.0, np.append(np.zeros(size), 1.0)
    rows: list[tuple[float, float, bool, Floats]] = [(0.0, 0.0, True, x)]
    length = step * size**0.5
    while direction * (x[at] - start) < until:
        x, force, forward = _arc_step(rope, x, force, unit, scale, forward, length)
        held = np.delete(np.delete(rope.stiffness(x.reshape(-1, 2)), at, 0), at, 1)
        stable = bool(np.linalg.eigvalsh(held)[0] > 0.0)
        rows.append((direction * (x[at] - start), force, stable, x))
        if len(rows) > _STEPS:
            raise ConvergenceError(
                f"rope: {until:g} m are not reached at node {node} after {_STEPS} steps of"
                f" {step:g} m; the last of them is at {rows[-1][0]:g} m"
            )
    depth, forces, good, shapes = zip(*rows, strict=True)
    every = np.array(shapes).reshape(len(rows), -1, 2)
    return ForceCurve(node, np.array(depth), np.array(forces), np.array(good), every)


def _arc_step(
    rope: PlanarRope,
    x: Floats,
    force: float,
    unit: Floats,
    scale: float,
    forward: Floats,
    length: float,
) -> tuple[Floats, float, Floats]:
    """Go one step along the curve; unknowns are the nodes and ``force*scale``."""
    size = len(x)
    for _ in range(12):
        tangent = _tangent(rope, x, unit, scale, forward)
        y = np.append(x, force * scale) + length * tangent
        for _ in range(20):
            residual = -rope.forces(y[:size].reshape(-1, 2)).ravel() - unit * y[size] / scale
            plane = tangent @ (y - np.append(x, force * scale)) - length
            matrix = np.zeros((size + 1, size + 1))
            matrix[:size, :size] = rope.stiffness(y[:size].reshape(-1, 2))
            matrix[:size, size] = -unit / scale
            matrix[size] = tangent
            move = np.linalg.solve(matrix, np.append(residual, plane))
            y = y - move
            if np.abs(move).max() < 1e-12:
                return y[:size], float(y[size] / scale), tangent
        length *= 0.5
    raise ConvergenceError(f"rope: the force curve cannot be followed beyond {force:.6g} N")


def _tangent(rope: PlanarRope, x: Floats, unit: Floats, scale: float, forward: Floats) -> Floats:
    """Return the unit vector along the curve, on the side of the one before."""
    size = len(x)
    matrix = np.zeros((size + 1, size + 1))
    matrix[:size, :size] = rope.stiffness(x.reshape(-1, 2))
    matrix[:size, size] = -unit / scale
    matrix[size] = forward
    tangent = np.linalg.solve(matrix, np.append(np.zeros(size), 1.0))
    return np.asarray(tangent / np.linalg.norm(tangent))
