"""Blocks that connect a rope to the body that carries it, and to the rod of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator import Block, Input, Output, Parameter
from python_blocks.kinematics.rotation import cross, rotated

Floats = NDArray[np.float64]


def _point(meaning: str, unit: str = "m", start: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Floats:
    return Input(unit=unit, shape=(len(start),), start=start, description=meaning)


_FORCES = ("force_a_x", "force_a_z", "force_b_x", "force_b_z")


class RopeMount(Block):
    """Ends and clamps of a planar rope on a free body, and the wrench of the rope on that body.

    The rope moves in the x-z plane of the world, with the world's coordinates: its x is x, its y is
    z, and a torque to the left is one about -y. What the body carries out of this plane is
    projected into it, for places and for rates, so that the power of forces is that of the rope.
    Clamps turn with the body.
    """

    r: Floats = _point("Position of the centre of mass")
    v: Floats = _point("Velocity of the centre of mass", "m/s")
    q: Floats = _point("Attitude of the body", "1", (1.0, 0.0, 0.0, 0.0))
    w: Floats = _point("Angular velocity, body frame", "rad/s")
    force_a_x: float = Input(unit="N", start=0.0, description="Of the rope on its first holder")
    force_a_z: float = Input(unit="N", start=0.0, description="Of the rope on its first holder")
    force_b_x: float = Input(unit="N", start=0.0, description="Of the rope on its last holder")
    force_b_z: float = Input(unit="N", start=0.0, description="Of the rope on its last holder")
    torque_a: float = Input(unit="N.m", start=0.0, description="Torque on its first holder")
    torque_b: float = Input(unit="N.m", start=0.0, description="Torque on its last holder")
    end_a_x: float = Output(unit="m", description="First end", depends_on=("r", "q"))
    rate_a_x: float = Output(
        unit="m/s", description="Velocity of the first end", depends_on=("v", "q", "w")
    )
    clamp_a_x: float = Output(unit="1", description="First clamp", depends_on=("q",))
    end_a_z: float = Output(unit="m", description="First end", depends_on=("r", "q"))
    rate_a_z: float = Output(
        unit="m/s", description="Velocity of the first end", depends_on=("v", "q", "w")
    )
    clamp_a_z: float = Output(unit="1", description="First clamp", depends_on=("q",))
    end_b_x: float = Output(unit="m", description="Last end", depends_on=("r", "q"))
    rate_b_x: float = Output(
        unit="m/s", description="Velocity of the last end", depends_on=("v", "q", "w")
    )
    clamp_b_x: float = Output(unit="1", description="Last clamp", depends_on=("q",))
    end_b_z: float = Output(unit="m", description="Last end", depends_on=("r", "q"))
    rate_b_z: float = Output(
        unit="m/s", description="Velocity of the last end", depends_on=("v", "q", "w")
    )
    clamp_b_z: float = Output(unit="1", description="Last clamp", depends_on=("q",))
    force: Floats = Output(
        unit="N", shape=(3,), description="Force on the body", depends_on=_FORCES
    )
    torque: Floats = Output(
        unit="N.m",
        shape=(3,),
        description="Torque about its centre of mass",
        depends_on=("q", "torque_a", "torque_b", *_FORCES),
    )
    point_a: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, 0.0), description="First end, body frame"
    )
    point_b: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, 0.0), description="Last end, body frame"
    )
    along_a: Floats = Parameter(
        unit="1", shape=(3,), start=(1.0, 0.0, 0.0), description="Clamp at a, body frame"
    )
    along_b: Floats = Parameter(
        unit="1", shape=(3,), start=(1.0, 0.0, 0.0), description="Clamp at b, body frame"
    )

    def step(self, t: float, h: float) -> None:
        """Project the ends, and move the forces to the centre of mass; the block has no state."""
        q, w = self.q.tolist(), self.w.tolist()
        pull_a = (self.force_a_x, 0.0, self.force_a_z)
        pull_b = (self.force_b_x, 0.0, self.force_b_z)
        arm_a, arm_b = self.point_a.tolist(), self.point_b.tolist()
        self.rate_a_x, self.rate_a_z = self._in_plane(self.v, q, cross(w, arm_a))
        self.rate_b_x, self.rate_b_z = self._in_plane(self.v, q, cross(w, arm_b))
        self.end_a_x, self.end_a_z = self._in_plane(self.r, q, arm_a)
        self.end_b_x, self.end_b_z = self._in_plane(self.r, q, arm_b)
        self.clamp_a_x, self.clamp_a_z = self._direction(q, self.along_a)
        self.clamp_b_x, self.clamp_b_z = self._direction(q, self.along_b)
        turn_a = cross(rotated(q, arm_a), pull_a)
        turn_b = cross(rotated(q, arm_b), pull_b)
        for i in range(3):
            self.force[i] = pull_a[i] + pull_b[i]
            self.torque[i] = turn_a[i] + turn_b[i]
        self.torque[1] -= self.torque_a + self.torque_b

    @staticmethod
    def _in_plane(origin: Floats, q: Sequence[float], vector: Sequence[float]) -> tuple[Any, Any]:
        """Turn a vector of the body, add it to one of the world, and give x and z."""
        x, _, z = rotated(q, vector)
        return origin[0] + x, origin[2] + z

    @staticmethod
    def _direction(q: Sequence[float], along: Floats) -> tuple[Any, Any]:
        """Give x and z of a direction of the body, as a unit vector of the plane."""
        x, _, z = rotated(q, along.tolist())
        size = (x * x + z * z) ** 0.5
        return x / size, z / size


class ArmRod(Block):
    """The rod at the end of a planar arm: its motion along z, and the wrench of the rope on it.

    The rope pushes at its node, which is beside the end of the rod by as much as both have moved
    along x; ``torque`` is that of the couple, so that no angular momentum comes from nowhere.
    """

    tip: Floats = _point("End of the arm")
    joints: Floats = Input(
        unit="m", shape=(4, 3), start=((0.0,) * 3,) * 4, description="Origins of base and links"
    )
    v: Floats = _point("Velocity of the base", "m/s")
    w: Floats = _point("Angular velocity of the base", "rad/s")
    rate: Floats = _point("Joint rates", "rad/s")
    push: float = Input(unit="N", start=0.0, description="Force of the rope on the rod, along z")
    place: float = Input(unit="m", start=0.0, description="Place of the node along x")
    position: float = Output(unit="m", description="Place along z", depends_on=("tip",))
    velocity: float = Output(
        unit="m/s", description="Velocity along z", depends_on=("tip", "joints", "v", "w", "rate")
    )
    force: Floats = Output(
        unit="N", shape=(3,), description="Force on the end", depends_on=("push",)
    )
    torque: Floats = Output(
        unit="N.m", shape=(3,), description="Torque on it", depends_on=("push", "place", "tip")
    )

    def step(self, t: float, h: float) -> None:
        """Sum the motion of the joints; all of them turn about y."""
        x = self.tip[0]
        speed = self.v[2] - self.w[1] * (x - self.joints[0, 0])
        for i in range(3):
            speed = speed - self.rate[i] * (x - self.joints[i + 1, 0])
        self.position, self.velocity = self.tip[2], speed
        self.force[0], self.force[1], self.force[2] = 0.0, 0.0, self.push
        self.torque[0], self.torque[2] = 0.0, 0.0
        self.torque[1] = -(self.place - x) * self.push


class Balance(Block):
    """Momentum in the plane, and angular momentum about y and the origin, of arm, rope and body."""

    arm_momentum: Floats = _point("Of the arm", "kg.m/s")
    arm_angular: Floats = _point("Of the arm, about its centre of mass", "kg.m2/s")
    arm_center: Floats = _point("Centre of mass of the arm")
    r: Floats = _point("Centre of mass of the body")
    v: Floats = _point("Its velocity", "m/s")
    body_angular: Floats = _point("Of the body, about its centre of mass", "kg.m2/s")
    rope_momentum_x: float = Input(unit="kg.m/s", start=0.0, description="Of the rope")
    rope_momentum_z: float = Input(unit="kg.m/s", start=0.0, description="Of the rope")
    rope_angular: float = Input(unit="kg.m2/s", start=0.0, description="Of the rope, to the left")
    momentum: Floats = Output(unit="kg.m/s", shape=(2,), description="Along x and z")
    angular: float = Output(unit="kg.m2/s", description="About y")
    m: float = Parameter(unit="kg", start=41.7, above=0.0, description="Mass of the body")

    def step(self, t: float, h: float) -> None:
        """Add up."""
        self.momentum[0] = self.arm_momentum[0] + self.m * self.v[0] + self.rope_momentum_x
        self.momentum[1] = self.arm_momentum[2] + self.m * self.v[2] + self.rope_momentum_z
        own = self.arm_angular[1] + self.body_angular[1] - self.rope_angular
        c, p, r, v = self.arm_center, self.arm_momentum, self.r, self.v
        carried = c[2] * p[0] - c[0] * p[2] + self.m * (r[2] * v[0] - r[0] * v[2])
        self.angular = own + carried
