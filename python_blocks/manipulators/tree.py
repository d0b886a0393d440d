"""A tree of rigid links, and the results of :mod:`.recursion`.

All vectors are in the base frame, spatial ones about its origin: angular part first.
"""

from __future__ import annotations

from typing import NamedTuple

from python_blocks.kinematics.rotation import Floats


class Tree(NamedTuple):
    """Constant data of n links, each with the joint that carries it."""

    slides: Floats  # 1: the joint slides, 0: it turns; (n,)
    parents: Floats  # number of the joint before, from 0; -1: the base; (n,)
    axes: Floats  # unit vectors in the joint's frame, (n, 3)
    offsets: Floats  # of the joint, in the frame before, m, (n, 3)
    rests: Floats  # rotation into the frame before where the joint is at 0, (n, 3, 3)
    masses: Floats  # kg, (n,)
    centres: Floats  # of mass, in the joint's frame, m, (n, 3)
    inertias: Floats  # about them, in the joint's frame, kg.m2, (n, 3, 3)
    rotors: Floats  # inertias behind gears, as the joints feel them, kg.m2 or kg, (n,)
    gravity: Floats  # in the base frame, m/s2, (3,)


class Kept(NamedTuple):
    """Results of one pass for the next."""

    turns: Floats  # attitudes of the frames, (n, 3, 3)
    origins: Floats  # of the joints, m, (n, 3)
    axes: Floats  # spatial, (n, 6)
    velocity: Floats  # spatial, (n, 6)
    gain: Floats  # accelerations that velocities make, (n, 6)
    inertia: Floats  # spatial, of the link, then of what it carries, (n, 6, 6)
    force: Floats  # without any acceleration, (n, 6)
    u: Floats  # inertia times axis, (n, 6)
    d: Floats  # that along the axis, with the rotor, (n,)
    remaining: Floats  # what is known, less what the forces take, (n,)


class Found(NamedTuple):
    """Results of the solution, (n,) each."""

    torque: Floats  # N.m or N
    acceleration: Floats  # rad/s2 or m/s2
    inertia: Floats  # that a joint feels, kg.m2 or kg; where it is asked for
    bias: Floats  # torque without acceleration of the joint; likewise
