"""Motion of a robot's control point for a requested motion of its load."""

from __future__ import annotations

import numpy as np

from orchestrator import Block, Input, Output, Parameter
from python_blocks.kinematics.rotation import Floats, cross, rotated


class ControlPoint(Block):
    """Motion of the control point of a robot that carries a spacecraft's docking adapter.

    The end-effector is fixed on the rig, with its axes parallel to those of the robot's base. The
    robot moves the adapter like the spacecraft relative to the end-effector.

    ========= ========= ===== ============================================================
    connector causality unit  meaning
    ========= ========= ===== ============================================================
    s         input     m     spacecraft's centre of mass from the end-effector's, (3,)
    q         input     1     spacecraft's frame to end-effector's, scalar first, (4,)
    v         input     m/s   rate of s, (3,)
    w         input     rad/s angular velocity in the end-effector's frame, (3,)
    position  output    m     position of the control point in the base frame, (3,)
    velocity  output    m/s   its velocity, (3,)
    effector  parameter m     end-effector's centre of mass in the base frame, (3,)
    control   parameter m     control point in the spacecraft's frame, (3,)
    ========= ========= ===== ============================================================

    Attitude and angular velocity are those of the spacecraft: pass ``q`` and ``w`` on.

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 18 and 19; the geometry is assumed.
    """

    s: Floats = Input(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 2.5),
        description="Position of the spacecraft from the end-effector",
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the spacecraft"
    )
    v: Floats = Input(unit="m/s", shape=(3,), description="Rate of change of s")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Relative angular velocity")
    position: Floats = Output(
        unit="m", shape=(3,), description="Position of the control point", depends_on=("s", "q")
    )
    velocity: Floats = Output(
        unit="m/s",
        shape=(3,),
        description="Velocity of the control point",
        depends_on=("q", "v", "w"),
    )
    effector: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, 0.3), description="End-effector in the base frame"
    )
    control: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -1.0), description="Control point, spacecraft frame"
    )

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 19 and its rate; the block has no state."""
        arm = rotated(self.q.tolist(), self.control.tolist())
        turning = cross(self.w.tolist(), arm)
        self.position[:] = self.s + self.effector + np.array(arm)
        self.velocity[:] = self.v + np.array(turning)
