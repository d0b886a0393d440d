"""Wrench of a contact on the robot that moves its other half."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter
from python_blocks.kinematics.rotation import Floats, cross, rotated


class ContactReaction(Block):
    """Wrench on the platform, at its control point, from the force at the captured point.

    ============ ========= ==== ==========================================================
    connector    causality unit meaning
    ============ ========= ==== ==========================================================
    contact      input     N    force on the part on the base, base frame, (3,)
    q            input     1    platform's frame to base frame, scalar first, (4,)
    force        output    N    force on the platform, base frame, (3,)
    torque       output    N.m  its torque about the control point, base frame, (3,)
    captured     parameter m    captured point from the control point, platform frame, (3,)
    ============ ========= ==== ==========================================================

    References
    ----------
    Newton's third law; Yu et al., IEEE Access (2018), section III B, moves the robot by its legs
    and does not give the effect of the contact on them. The geometry is assumed.
    """

    contact: Floats = Input(unit="N", shape=(3,), description="Force on the other part")
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the platform"
    )
    force: Floats = Output(
        unit="N", shape=(3,), description="Force on the platform", depends_on=("contact",)
    )
    torque: Floats = Output(unit="N.m", shape=(3,), description="Torque about the control point")
    captured: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -0.5), description="Captured point from control"
    )

    def step(self, t: float, h: float) -> None:
        """Invert the force and move it to the control point; the block has no state."""
        self.force[:] = -self.contact
        self.torque[:] = cross(
            rotated(self.q.tolist(), self.captured.tolist()), self.force.tolist()
        )
