"""Guard of the force and moment that act on a simulation."""

from __future__ import annotations

from math import isfinite

import numpy as np

from orchestrator import Input, Output, Parameter, Reason, State, compiled
from python_blocks.kinematics.rotation import Floats
from python_blocks.safety.partial_force_guard import PartialForceGuard
from python_blocks.safety.partial_guard import ROUNDING

_FORCE, _NOT_FINITE, _ENERGY = int(Reason.FORCE), int(Reason.FORCE_NOT_FINITE), int(Reason.ENERGY)
_STALE = int(Reason.SENSOR_STALE)
_UNKNOWN, _WRONG_SIGN = int(Reason.UNKNOWN_CONTACT), int(Reason.WRONG_SIGN)
_DISAGREEMENT = int(Reason.DISAGREEMENT)


class WrenchGuard(PartialForceGuard):
    """Guards force and moment from a rig to the simulated bodies.

    Like :class:`~python_blocks.safety.force_guard.ForceGuard`, in three directions of the force.
    Each direction compares sensor and identifier with its own motion. The moment is about the
    point at which ``s`` starts, the end-effector's centre of mass.

    =============== ========= ===== =========================================================
    connector       causality unit  meaning
    =============== ========= ===== =========================================================
    force           input     N     compensated force for the bodies, (3,)
    torque          input     N.m   compensated moment for the bodies, (3,)
    measured_force  input     N     measured value, (3,)
    measured_torque input     N.m   measured value, (3,)
    s               input     m     simulation: carried body from the force's body, (3,)
    w               input     rad/s simulation: relative angular velocity, (3,)
    actual          input     m     actual deformation of the contact, (3,)
    sensor_lost     input           the sensor is lost
    wrong_sign      input     1     > 0.5: the identified stiffness is negative, (3,)
    converged       input     1     > 0.5: the stiffness has converged, (3,)
    stop            input           reason of another guard in its safe state; 0: none
    reset           input           a rising edge leaves the safe state, if permitted
    applied_force   output    N     force on the bodies, (3,)
    applied_torque  output    N.m   moment on the bodies, (3,)
    energy          output    J     energy since the hardware last took most
    safe            output          the guard is in its safe state
    reason          output          cause, see :class:`~orchestrator.Reason`
    since           output    s     start of the safe state; 0 before
    torque_limit    parameter N.m   largest moment
    limit           parameter N     largest force
    disagreement    parameter N     largest difference of used and measured force, persisting
    energy_limit    parameter J     largest energy that the hardware may give
    stale_time      parameter s     longest time with an equal sample in motion
    stale_travel    parameter m     motion that must change the sample
    unknown_travel  parameter m     largest motion with an unknown stiffness
    unknown_time    parameter s     longest time with an unknown stiffness before a warning
    ramp            parameter s     time in which force and moment fade
    hold            parameter       hold them in the safe state instead
    persistence     parameter s     time after which a bad flag counts
    resettable      parameter       permit a reset
    =============== ========= ===== =========================================================

    The wrench acts on the body that ``s`` starts from and the opposite on the other, so its power
    into both is ``-(F (s' - w x s) + M w)``, all in the axes of the first.

    References
    ----------
    None; the account of energy is derived in :mod:`python_blocks.safety.work`.
    """

    force: Floats = Input(unit="N", shape=(3,), description="Force for the bodies")
    torque: Floats = Input(unit="N.m", shape=(3,), description="Moment for the bodies")
    measured_force: Floats = Input(unit="N", shape=(3,), description="Measured force")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="Measured moment")
    s: Floats = Input(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 2.5),
        description="Position of the carried body from the other",
    )
    w: Floats = Input(unit="rad/s", shape=(3,), description="Relative angular velocity")
    actual: Floats = Input(unit="m", shape=(3,), description="Measured deformation of the contact")
    wrong_sign: Floats = Input(
        unit="1", shape=(3,), description="Above 0.5: the stiffness is negative"
    )
    converged: Floats = Input(
        unit="1",
        shape=(3,),
        start=1.0,
        description="Above 0.5: the stiffness has converged",
    )
    applied_force: Floats = Output(
        unit="N", shape=(3,), description="Force on the bodies", depends_on=("force",)
    )
    applied_torque: Floats = Output(
        unit="N.m", shape=(3,), description="Moment on the bodies", depends_on=("torque",)
    )
    torque_limit: float = Parameter(
        start=4000.0, unit="N.m", above=0.0, description="Largest moment"
    )
    memory: Floats = State(
        start=np.zeros((6, 3)),
        description="s and w of the sample before; force of the sensor, m where it last changed and"
        " since when it has not, s; where the contact was last known, m",
    )
    last: list[float] = State(start=[0.0] * 6, description="Wrench when the safe state began")

    def initialise(self, t: float) -> None:
        """Begin with the first sample."""
        self.begin()
        self.applied_force[:] = np.where(np.isfinite(self.force), self.force, 0.0)
        self.applied_torque[:] = np.where(np.isfinite(self.torque), self.torque, 0.0)
        self._latch_inputs()

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or let the wrench fade."""
        if self.reason:
            self._fade(t, h)
            return
        self.pressed = self.reset
        share = 1.0 if self.share == 1.0 else self.rising(h)
        limits = self.energy_limit, self.limit, self.torque_limit
        violation, self.energy = limited(
            (self.force, self.torque),
            (self.s, self.w),
            (self.applied_force, self.applied_torque),
            self.memory,
            (self.energy, *limits),
            share,
            h,
        )
        watched, unknown = watch(
            (self.measured_force, self.actual, self.converged),
            self.memory,
            (self.stale_time - ROUNDING, self.stale_travel, self.unknown_travel),
            h,
        )
        if unknown:
            self.contact_unknown(t, h)
        else:
            self.unknown_for = 0.0
        violation = violation or self.stop or watched or self.persists(self._flag(), h)
        if violation:
            self.latch(violation, t + h)
            self.last = self.applied_force.tolist() + self.applied_torque.tolist()

    def _flag(self) -> int:
        spoken = flag(
            (self.force, self.torque, self.measured_force, self.measured_torque),
            self.wrong_sign,
            self.disagreement,
        )
        return spoken or (Reason.SENSOR_LOST if self.sensor_lost else 0)

    def _fade(self, t: float, h: float) -> None:
        share = self.faded(t + h)
        self.applied_force[:] = [share * component for component in self.last[:3]]
        self.applied_torque[:] = [share * component for component in self.last[3:]]
        if self.reset_requested() and not self.stop and not self._flag():
            self.leave(t + h)
            self.applied_force[:], self.applied_torque[:] = 0.0, 0.0
            self._latch_inputs()

    def _latch_inputs(self) -> None:
        self.memory[0], self.memory[1] = self.s, self.w
        self.memory[2], self.memory[3] = self.measured_force, self.actual
        self.memory[4], self.memory[5] = 0.0, self.actual


@compiled
def work(applied: tuple[Floats, Floats], memory: Floats, s: Floats, w: Floats, h: float) -> float:
    """Return the work of a wrench held over a step, by the motion in its middle, J."""
    force, torque = applied
    x, y, z = 0.5 * (memory[0, 0] + s[0]), 0.5 * (memory[0, 1] + s[1]), 0.5 * (memory[0, 2] + s[2])
    a, b, c = 0.5 * (memory[1, 0] + w[0]), 0.5 * (memory[1, 1] + w[1]), 0.5 * (memory[1, 2] + w[2])
    done: float = -(
        force[0] * (s[0] - memory[0, 0] - h * (b * z - c * y))
        + force[1] * (s[1] - memory[0, 1] - h * (c * x - a * z))
        + force[2] * (s[2] - memory[0, 2] - h * (a * y - b * x))
        + h * (torque[0] * a + torque[1] * b + torque[2] * c)
    )
    return done


@compiled
def limited(
    wrench: tuple[Floats, Floats],
    motion: tuple[Floats, Floats],
    applied: tuple[Floats, Floats],
    memory: Floats,
    limits: tuple[float, float, float, float],
    share: float,
    h: float,
) -> tuple[int, float]:
    """Add the work of the last wrench, and pass the next one on.

    Parameters
    ----------
    given
        Force and moment for the bodies.
    motion
        s and w.
    applied
        Force and moment as last applied; they are changed.
    memory
        State of the guard; it is changed.
    limits
        Energy so far and at most, J; force, N, and moment, N m.
    share
        Share of the wrench to pass on.
    h
        Length of the step, s.

    Returns
    -------
    tuple
        The reason, 0 for none, and the energy, J.
    """
    energy, energy_limit, largest, largest_torque = limits
    done = work(applied, memory, motion[0], motion[1], h)
    if isfinite(done):
        energy = max(0.0, energy + done)
    memory[0], memory[1] = motion
    square, torque_square = 0.0, 0.0
    for i in range(3):
        square += (share * wrench[0][i]) ** 2
        torque_square += (share * wrench[1][i]) ** 2
    violation = 0
    if isfinite(square + torque_square):  # else the last wrench stands
        if square > largest**2 or torque_square > largest_torque**2:
            violation = _FORCE  # such a wrench does not reach the bodies
        else:
            for i in range(3):
                applied[0][i], applied[1][i] = share * wrench[0][i], share * wrench[1][i]
    return (_ENERGY if energy > energy_limit else violation), energy


@compiled
def watch(
    motion: tuple[Floats, Floats, Floats],
    memory: Floats,
    limits: tuple[float, float, float],
    h: float,
) -> tuple[int, bool]:
    """Compare sensor and identifier in each direction with the motion in it.

    Parameters
    ----------
    shown
        Measured force, deformation, and above 0.5 if the stiffness has converged.
    memory
        State of the guard; it is changed.
    limits
        Time, s, and motion, m, with an equal sample; motion with an unknown stiffness, m.
    h
        Length of the step, s.

    Returns
    -------
    tuple
        The reason, 0 for none, and whether a stiffness is unknown.
    """
    force, actual, converged = motion
    time, distance, unknown_way = limits
    violation, unknown = 0, False
    for i in range(3):
        if force[i] != memory[2, i]:
            memory[2, i], memory[3, i], memory[4, i] = force[i], actual[i], 0.0
        else:
            memory[4, i] += h
            if memory[4, i] > time and abs(actual[i] - memory[3, i]) > distance:
                violation = _STALE
        if converged[i] > 0.5:
            memory[5, i] = actual[i]
        else:
            unknown = True
            if violation == 0 and abs(actual[i] - memory[5, i]) > unknown_way:
                violation = _UNKNOWN
    return violation, unknown


@compiled
def flag(
    wrenches: tuple[Floats, Floats, Floats, Floats],
    wrong_sign: Floats,
    disagreement: float,
) -> int:
    """Return the reason against force, moment and their measurements, or 0."""
    force, torque, measured, shown_torque = wrenches
    gap, total, is_wrong = 0.0, 0.0, False
    for i in range(3):
        gap += (force[i] - measured[i]) ** 2
        total += torque[i] + shown_torque[i]
        is_wrong = is_wrong or wrong_sign[i] > 0.5
    if not isfinite(gap + total):
        return _NOT_FINITE
    if gap > disagreement**2:
        return _DISAGREEMENT
    return _WRONG_SIGN if is_wrong else 0
