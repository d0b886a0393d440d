"""Guard of the force and moment that act on a simulation."""

from __future__ import annotations

import numpy as np

from orchestrator.simunits import Input, Output, Parameter, State
from python_blocks.kinematics.rotation import Floats
from python_blocks.safety.partial_force_guard import PartialForceGuard
from python_blocks.safety.partial_guard import ROUNDING
from python_blocks.safety.reason import Reason


class WrenchGuard(PartialForceGuard):
    """Stands between force and moment of a rig and the simulated bodies.

    As :class:`~python_blocks.safety.force_guard.ForceGuard`, in three directions of the force:
    each has its own watch of the sensor and of the identifier, against the motion in it. The
    moment is about the point that ``s`` starts from, the end-effector's centre of mass.

    =============== ========= ===== =========================================================
    connector       causality unit  meaning
    =============== ========= ===== =========================================================
    force           input     N     force for the bodies, as it was compensated, (3,)
    torque          input     N.m   moment for the bodies, as it was compensated, (3,)
    measured_force  input     N     what the sensor shows, (3,)
    measured_torque input     N.m   what the sensor shows, (3,)
    s               input     m     simulation: carried body from the force's body, (3,)
    w               input     rad/s simulation: relative angular velocity, (3,)
    actual          input     m     deformation of the contact as the robot has it, (3,)
    sensor_lost     input           the sensor is said to be lost
    wrong_sign      input     1     > 0.5: the identified stiffness is negative, (3,)
    known           input     1     > 0.5: the stiffness is known, (3,)
    stop            input           reason of another guard that is safe; 0: none
    reset           input           its rising edge leaves the safe state, if that is allowed
    applied_force   output    N     force on the bodies, (3,)
    applied_torque  output    N.m   moment on the bodies, (3,)
    energy          output    J     energy beyond what the hardware last took
    safe            output          the guard is in its safe state
    reason          output          why, see :class:`~python_blocks.safety.reason.Reason`
    since           output    s     when that began; 0 before
    torque_limit    parameter N.m   largest moment
    limit           parameter N     largest force
    disagreement    parameter N     largest difference of used and measured force, persisting
    energy_limit    parameter J     most energy that the hardware may give
    stale_time      parameter s     how long a sample may stand still in motion
    stale_travel    parameter m     motion that must change the sample
    unknown_travel  parameter m     how far the contact may move without being known
    unknown_time    parameter s     how long it may be unknown before that is a warning
    ramp            parameter s     time in which force and moment fade
    hold            parameter       they stand in the safe state instead
    persistence     parameter s     how long a flag may be bad before it counts
    resettable      parameter       whether a reset is allowed
    =============== ========= ===== =========================================================

    The wrench acts on the body that ``s`` starts from and the opposite on the other, so its power
    into both is ``-(F (s' - w x s) + M w)``, all in the axes of the first.

    References
    ----------
    None; the account of energy is derived in :mod:`python_blocks.safety.work`.
    """

    force: Floats = Input(unit="N", shape=(3,), description="Force for the bodies")
    torque: Floats = Input(unit="N.m", shape=(3,), description="Moment for the bodies")
    measured_force: Floats = Input(unit="N", shape=(3,), description="What the sensor shows")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="What the sensor shows")
    s: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 2.5), description="Carried body from the other"
    )
    w: Floats = Input(unit="rad/s", shape=(3,), description="Relative angular velocity")
    actual: Floats = Input(unit="m", shape=(3,), description="Deformation that the robot has")
    wrong_sign: Floats = Input(unit="1", shape=(3,), description="> 0.5: stiffness is negative")
    known: Floats = Input(unit="1", shape=(3,), start=1.0, description="> 0.5: it is known")
    applied_force: Floats = Output(
        unit="N", shape=(3,), description="Force on the bodies", depends_on=("force",)
    )
    applied_torque: Floats = Output(
        unit="N.m", shape=(3,), description="Moment on the bodies", depends_on=("torque",)
    )
    torque_limit: float = Parameter(start=4000.0, unit="N.m", description="Largest moment")
    place: list[float] = State(start=[0.0] * 6, description="s and w at the sample before")
    shown: list[float] = State(start=[0.0] * 3, description="Last force of the sensor, N")
    shown_at: list[float] = State(start=[0.0] * 3, description="Where it last changed, m")
    still: list[float] = State(start=[0.0] * 3, description="Since when it has not, s")
    origin: list[float] = State(start=[0.0] * 3, description="Where it was last known, m")
    last: list[float] = State(start=[0.0] * 6, description="Wrench of the sample before")

    def initialise(self, t: float) -> None:
        """Begin with the first sample."""
        self.begin()
        self.applied_force[:] = np.where(np.isfinite(self.force), self.force, 0.0)
        self.applied_torque[:] = np.where(np.isfinite(self.torque), self.torque, 0.0)
        self.last = self.applied_force.tolist() + self.applied_torque.tolist()
        self._look()

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or let the wrench fade."""
        if self.reason:
            self._fade(t, h)
            return
        self.pressed = self.reset
        now = self.force.tolist() + self.torque.tolist()
        total = sum(now)
        if total - total != 0.0:
            now = self.last
        elif self.share != 1.0:
            share = self.rising(h)
            now = [share * one for one in now]
        found = self._found(now, t, h)
        if found == Reason.FORCE:
            now = self.last  # such a wrench does not reach the bodies
        if found:
            self.latch(found, t + h)
        self.last = now
        self.applied_force[:], self.applied_torque[:] = now[:3], now[3:]

    def _found(self, now: list[float], t: float, h: float) -> int:
        if self.account(self._work(h)):
            return Reason.ENERGY
        fx, fy, fz, mx, my, mz = now
        if (
            fx * fx + fy * fy + fz * fz > self.limit**2
            or mx * mx + my * my + mz * mz > self.torque_limit**2
        ):
            return Reason.FORCE
        if self.stop:
            return self.stop
        return self._watched(t, h) or self.persists(self._flag(), h)

    def _work(self, h: float) -> float:
        """Work of the wrench that was held over the step, by the motion in its middle, J."""
        x0, y0, z0, a0, b0, c0 = self.place
        self.place = self.s.tolist() + self.w.tolist()
        x1, y1, z1, a1, b1, c1 = self.place
        x, y, z = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)
        a, b, c = 0.5 * h * (a0 + a1), 0.5 * h * (b0 + b1), 0.5 * h * (c0 + c1)
        fx, fy, fz, mx, my, mz = self.last
        return -(
            fx * (x1 - x0 - b * z + c * y)
            + fy * (y1 - y0 - c * x + a * z)
            + fz * (z1 - z0 - a * y + b * x)
            + mx * a
            + my * b
            + mz * c
        )

    def _watched(self, t: float, h: float) -> int:
        """Look at the sensor and at the identifier in each direction."""
        shown, actual = self.measured_force.tolist(), self.actual.tolist()
        known = self.known.tolist()
        for i in (0, 1, 2):
            if shown[i] != self.shown[i]:
                self.shown[i], self.shown_at[i], self.still[i] = shown[i], actual[i], 0.0
            else:
                self.still[i] += h
                moved = abs(actual[i] - self.shown_at[i])
                if self.still[i] > self.stale_time - ROUNDING and moved > self.stale_travel:
                    return Reason.SENSOR_STALE
            if known[i] > 0.5:
                self.origin[i] = actual[i]
            elif abs(actual[i] - self.origin[i]) > self.unknown_travel:
                return Reason.UNKNOWN_CONTACT
        if min(known) > 0.5:
            self.dark = 0.0
        else:
            self.in_the_dark(t, h)
        return 0

    def _flag(self) -> int:
        ax, ay, az = self.force.tolist()
        bx, by, bz = self.measured_force.tolist()
        gap = (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2
        total = gap + sum(self.torque.tolist()) + sum(self.measured_torque.tolist())
        if total - total != 0.0:
            return Reason.FORCE_NOT_FINITE
        if gap > self.disagreement**2:
            return Reason.DISAGREEMENT
        if max(self.wrong_sign.tolist()) > 0.5:
            return Reason.WRONG_SIGN
        return Reason.SENSOR_LOST if self.sensor_lost else 0

    def _fade(self, t: float, h: float) -> None:
        left = self.faded(t + h)
        self.applied_force[:] = [left * one for one in self.last[:3]]
        self.applied_torque[:] = [left * one for one in self.last[3:]]
        if self.asked() and not self.stop and not self._flag():
            self.leave(t + h)
            self.last = [0.0] * 6
            self.applied_force[:], self.applied_torque[:] = 0.0, 0.0
            self._look()

    def _look(self) -> None:
        self.place = self.s.tolist() + self.w.tolist()
        self.shown, self.shown_at = self.measured_force.tolist(), self.actual.tolist()
        self.still, self.origin = [0.0] * 3, self.actual.tolist()
