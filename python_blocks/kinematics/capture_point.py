"""Position of the captured point relative to the rest position of the contact."""

from __future__ import annotations

import numpy as np

from orchestrator import Block, Input, Output, Parameter
from python_blocks.kinematics.rotation import Floats, cross, rotated


class CapturePoint(Block):
    """Deformation of the contact, and its rate, from the motion of a robot's platform.

    ========= ========= ===== ===========================================================
    connector causality unit  meaning
    ========= ========= ===== ===========================================================
    position  input     m     control point in the base frame, (3,)
    q         input     1     platform's frame to base frame, scalar first, (4,)
    velocity  input     m/s   velocity of the control point, base frame, (3,)
    w         input     rad/s angular velocity, base frame, (3,)
    drag      input     m     displacement of the drag mechanism, (3,)
    drag_rate input     m/s   its rate v_D, (3,)
    offset    output    m     captured point from the rest position, (3,)
    rate      output    m/s   rate of the offset, v_OD, (3,)
    rest      parameter m     rest position of the contact, base frame, (3,)
    captured  parameter m     captured point from the control point, platform frame, (3,)
    ========= ========= ===== ===========================================================

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 22 and 23, second to fourth line. Changed: the offset is the
    position itself, not the integral of its rate, so nothing drifts. The geometry is assumed.
    """

    position: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 1.8), description="Position of the control point"
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the platform"
    )
    velocity: Floats = Input(unit="m/s", shape=(3,), description="Velocity of the control point")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Angular velocity, base frame")
    drag: Floats = Input(unit="m", shape=(3,), description="Displacement of the drag mechanism")
    drag_rate: Floats = Input(unit="m/s", shape=(3,), description="Rate of the drag mechanism")
    offset: Floats = Output(
        unit="m",
        shape=(3,),
        description="Displacement of the captured point from rest",
        depends_on=("position", "q", "drag"),
    )
    rate: Floats = Output(
        unit="m/s",
        shape=(3,),
        description="Rate of the offset",
        depends_on=("q", "velocity", "w", "drag_rate"),
    )
    rest: Floats = Parameter(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 1.3),
        description="Position of the contact at rest, base frame",
    )
    captured: Floats = Parameter(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, -0.5),
        description="Captured point from the control point",
    )

    def step(self, t: float, h: float) -> None:
        """Evaluate the kinematics; the block has no state."""
        arm = rotated(self.q.tolist(), self.captured.tolist())
        turning = cross(self.w.tolist(), arm)
        self.offset[:] = self.position + np.array(arm) - self.rest - self.drag
        self.rate[:] = self.velocity + np.array(turning) - self.drag_rate
