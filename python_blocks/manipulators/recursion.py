"""Motion and torques of a tree of rigid links, joint by joint, compiled; see :mod:`.chain`.

All vectors are in the base frame, spatial ones about its origin: angular part first. ``U``, ``d``
are the remaining inertia of a joint's tree when all torques beyond it are known.

References
----------
Motor Substitution Test, Eq 1 to 4: at each joint the unknown is its acceleration or its torque, and
both cases pass one inertia and one force to the previous joint. Written here as the articulated
body algorithm with both kinds of joints of R. Featherstone, Rigid Body Dynamics Algorithms, 2008,
section 9.2; the paper prints neither its matrices ``L`` nor ``A``.
"""

from __future__ import annotations

import numpy as np

from orchestrator import compiled
from python_blocks.kinematics.rotation import Floats
from python_blocks.manipulators.tree import Found, Kept, Tree

#: Share of inertia that rounding leaves of none at all.
_NOTHING = 1e-12


@compiled
def turned(axis: Floats, angle: float, before: Floats, after: Floats) -> None:
    """Write ``before`` times the rotation by ``angle``, rad, about the unit vector ``axis``."""
    x, y, z = axis[0], axis[1], axis[2]
    c, s = np.cos(angle), np.sin(angle)
    r = (
        (c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
        (y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s),
        (z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)),
    )
    for i in range(3):
        for k in range(3):
            after[i, k] = before[i, 0] * r[0][k] + before[i, 1] * r[1][k] + before[i, 2] * r[2][k]


@compiled
def place_joints(tree: Tree, q: Floats, turns: Floats, origins: Floats, axes: Floats) -> None:
    """Write attitude (n, 3, 3), origin (n, 3), m, and spatial axis (n, 6) of the joints' frames."""
    parents, axis, offsets, rests = tree.parents, tree.axes, tree.offsets, tree.rests
    attitude = np.empty((3, 3))
    for i in range(len(q)):
        p = int(parents[i])
        for r in range(3):
            origins[i, r] = offsets[i, r] if p < 0 else origins[p, r]
            for c in range(3):
                if p < 0:
                    attitude[r, c] = rests[i, r, c]
                else:
                    origins[i, r] += turns[p, r, c] * offsets[i, c]
                    attitude[r, c] = (
                        turns[p, r, 0] * rests[i, 0, c]
                        + turns[p, r, 1] * rests[i, 1, c]
                        + turns[p, r, 2] * rests[i, 2, c]
                    )
        x = attitude[0, 0] * axis[i, 0] + attitude[0, 1] * axis[i, 1] + attitude[0, 2] * axis[i, 2]
        y = attitude[1, 0] * axis[i, 0] + attitude[1, 1] * axis[i, 1] + attitude[1, 2] * axis[i, 2]
        z = attitude[2, 0] * axis[i, 0] + attitude[2, 1] * axis[i, 1] + attitude[2, 2] * axis[i, 2]
        if tree.slides[i] == 1.0:
            for r in range(9):
                turns[i, r // 3, r % 3] = attitude[r // 3, r % 3]
            origins[i, 0] += x * q[i]
            origins[i, 1] += y * q[i]
            origins[i, 2] += z * q[i]
            axes[i, 0], axes[i, 1], axes[i, 2] = 0.0, 0.0, 0.0
            axes[i, 3], axes[i, 4], axes[i, 5] = x, y, z
            continue
        turned(axis[i], q[i], attitude, turns[i])
        a, b, c0 = origins[i, 0], origins[i, 1], origins[i, 2]
        axes[i, 0], axes[i, 1], axes[i, 2] = x, y, z
        axes[i, 3], axes[i, 4], axes[i, 5] = b * z - c0 * y, c0 * x - a * z, a * y - b * x


@compiled
def link_inertia(
    mass: float, centre: Floats, inertia: Floats, turn: Floats, origin: Floats, result: Floats
) -> None:
    """Write the spatial inertia (6, 6) of a link, kg.m2, kg.m and kg."""
    c = np.empty(3)
    for r in range(3):
        c[r] = origin[r] + turn[r, 0] * centre[0] + turn[r, 1] * centre[1] + turn[r, 2] * centre[2]
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for r in range(3):
        for k in range(3):
            value = -mass * c[r] * c[k]
            for a in range(3):
                for b in range(3):
                    value += turn[r, a] * inertia[a, b] * turn[k, b]
            result[r, k] = value
            result[3 + r, 3 + k] = mass if r == k else 0.0
        result[r, r] += mass * square
    for r in range(3):
        a, b = (r + 1) % 3, (r + 2) % 3
        result[r, 3 + r] = result[3 + r, r] = 0.0
        result[a, 3 + b] = result[3 + b, a] = -mass * c[r]
        result[b, 3 + a] = result[3 + a, b] = mass * c[r]


@compiled
def crossed(v: Floats, s: Floats, rate: float, c: Floats) -> None:
    """Write the spatial cross product of a velocity with a joint's own, ``v x (s rate)``."""
    for r in range(3):
        a, b = (r + 1) % 3, (r + 2) % 3
        c[r] = rate * (v[a] * s[b] - v[b] * s[a])
        c[3 + r] = rate * (v[a] * s[3 + b] - v[b] * s[3 + a] + v[3 + a] * s[b] - v[3 + b] * s[a])


@compiled
def gyroscopic(v: Floats, inertia: Floats, force: Floats) -> None:
    """Write the force that keeps a link at its velocity, ``v x* (inertia v)``."""
    h = np.zeros(6)
    for r in range(6):
        for k in range(6):
            h[r] += inertia[r, k] * v[k]
    for r in range(3):
        a, b = (r + 1) % 3, (r + 2) % 3
        force[r] = v[a] * h[b] - v[b] * h[a] + v[3 + a] * h[3 + b] - v[3 + b] * h[3 + a]
        force[3 + r] = v[a] * h[3 + b] - v[b] * h[3 + a]


@compiled
def dot(a: Floats, b: Floats) -> float:
    """Return the product of two spatial vectors."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@compiled
def gather(tree: Tree, q: Floats, rate: Floats, memory: Kept) -> float:
    """Pass outwards: poses, velocities, inertias and velocity-dependent forces of all links.

    Returns the kinetic energy in J, rotors included.
    """
    axes, velocity, inertia, rotors = memory.axes, memory.velocity, memory.inertia, tree.rotors
    place_joints(tree, q, memory.turns, memory.origins, axes)
    energy = 0.0
    for i in range(len(q)):
        p = int(tree.parents[i])
        for r in range(6):
            velocity[i, r] = axes[i, r] * rate[i] + (0.0 if p < 0 else velocity[p, r])
        crossed(velocity[i], axes[i], rate[i], memory.gain[i])
        turn, origin, link = memory.turns[i], memory.origins[i], tree.inertias[i]
        link_inertia(tree.masses[i], tree.centres[i], link, turn, origin, inertia[i])
        gyroscopic(velocity[i], inertia[i], memory.force[i])
        for r in range(6):
            for k in range(6):
                energy += 0.5 * velocity[i, r] * inertia[i, r, k] * velocity[i, k]
        energy += 0.5 * rotors[i] * rate[i] * rate[i]
    return energy


@compiled
def reduce(tree: Tree, is_accelerated: Floats, prescribed: Floats, memory: Kept) -> int:
    """Pass inwards: inertia of each joint's tree (Eq 4). Returns a joint without inertia, or 0.

    ``given`` is 1 where ``known`` is an acceleration, 0 where it is a torque.
    """
    axes, inertia, force, u = memory.axes, memory.inertia, memory.force, memory.u
    for i in range(len(is_accelerated) - 1, -1, -1):
        length = 0.0
        for r in range(6):
            u[i, r] = dot(inertia[i, r], axes[i])
            length += u[i, r] * u[i, r]
        coupling = dot(u[i], axes[i])
        memory.d[i] = coupling + tree.rotors[i]
        memory.remaining[i] = prescribed[i] - dot(axes[i], force[i])
        if is_accelerated[i] == 1.0:
            share, push = 0.0, prescribed[i]
        else:
            size = (length * dot(axes[i], axes[i])) ** 0.5 + tree.rotors[i]
            if not memory.d[i] > _NOTHING * size:
                return i + 1
            share = 1.0 / memory.d[i]
            push = (memory.remaining[i] - dot(u[i], memory.gain[i])) * share
        p = int(tree.parents[i])
        if p < 0:
            continue
        for r in range(6):
            force[p, r] += force[i, r] + dot(inertia[i, r], memory.gain[i]) + u[i, r] * push
            for k in range(6):
                inertia[p, r, k] += inertia[i, r, k] - share * u[i, r] * u[i, k]
    return 0


@compiled
def spread(
    tree: Tree, is_accelerated: Floats, prescribed: Floats, memory: Kept, solution: Found
) -> None:
    """Pass outwards again: write torque and acceleration of all joints."""
    axes, u, d, torque, acceleration = (
        memory.axes,
        memory.u,
        memory.d,
        solution.torque,
        solution.acceleration,
    )
    total = np.empty((len(is_accelerated), 6))
    for i in range(len(is_accelerated)):
        p = int(tree.parents[i])
        for r in range(6):
            # Gravity acts like a base that accelerates against it.
            base = -tree.gravity[r - 3] if r >= 3 else 0.0
            total[i, r] = memory.gain[i, r] + (base if p < 0 else total[p, r])
        if is_accelerated[i] == 1.0:
            acceleration[i] = prescribed[i]
            torque[i] = dot(u[i], total[i]) + d[i] * prescribed[i] + dot(axes[i], memory.force[i])
        else:
            torque[i] = prescribed[i]
            acceleration[i] = (memory.remaining[i] - dot(u[i], total[i])) / d[i]
        for r in range(6):
            total[i, r] += axes[i, r] * acceleration[i]


@compiled
def felt_inertia(tree: Tree, is_accelerated: Floats, joint: int, memory: Kept) -> float:
    """Return a joint's torque per unit of its acceleration (``J_eff`` of Eq 7).

    The known torques and accelerations of the other joints stay constant.
    """
    axes, u, d = memory.axes, memory.u, memory.d
    back = np.zeros(len(is_accelerated))  # on the way inwards: how far each joint gives way
    force = np.empty(6)
    share = 1.0 if is_accelerated[joint] == 1.0 else 1.0 / d[joint]
    for r in range(6):
        force[r] = u[joint, r] * share
    path = np.empty(len(is_accelerated), dtype=np.int64)
    length, at = 0, int(tree.parents[joint])
    while at >= 0:
        path[length] = at
        length += 1
        if is_accelerated[at] == 0.0:
            back[at] = -dot(axes[at], force)
            for r in range(6):
                force[r] += u[at, r] * back[at] / d[at]
        at = int(tree.parents[at])
    motion = np.zeros(6)
    for n in range(length - 1, -1, -1):
        at = path[n]
        if is_accelerated[at] == 0.0:
            moves = (back[at] - dot(u[at], motion)) / d[at]
            for r in range(6):
                motion[r] += axes[at, r] * moves
    if is_accelerated[joint] == 1.0:  # the torque for a unit of acceleration
        return float(dot(u[joint], motion) + d[joint])
    return float(d[joint] / (1.0 - dot(u[joint], motion)))  # the other way round


@compiled
def solve(
    tree: Tree,
    state: tuple[Floats, Floats],
    is_accelerated: Floats,
    prescribed: Floats,
    felt: bool,  # noqa: FBT001 - Numba knows no keywords that are all
    solution: Found,
) -> tuple[int, float]:
    """Solve for the unknown torques and accelerations.

    Parameters
    ----------
    tree
        Links and joints.
    state
        Positions and rates of the joints, rad or m and per s, shape (n,).
    given
        1 where ``known`` is the acceleration of the joint, 0 where it is its torque; (n,).
    known
        N.m or N, rad/s2 or m/s2; (n,).
    felt
        Whether to compute the inertia at each joint, and its torque without acceleration.
    found
        Record to write.

    Returns
    -------
    tuple of int and float
        Number of a joint without inertia, from 1, or 0; and the kinetic energy, J.
    """
    n = len(prescribed)
    memory = Kept(
        np.empty((n, 3, 3)),
        np.empty((n, 3)),
        np.empty((n, 6)),
        np.empty((n, 6)),
        np.empty((n, 6)),
        np.empty((n, 6, 6)),
        np.empty((n, 6)),
        np.empty((n, 6)),
        np.empty(n),
        np.empty(n),
    )
    energy = gather(tree, state[0], state[1], memory)
    joint = reduce(tree, is_accelerated, prescribed, memory)
    if joint > 0:
        return joint, energy
    spread(tree, is_accelerated, prescribed, memory, solution)
    if felt:
        for i in range(n):
            solution.inertia[i] = felt_inertia(tree, is_accelerated, i, memory)
            solution.bias[i] = solution.torque[i] - solution.inertia[i] * solution.acceleration[i]
    return 0, energy
