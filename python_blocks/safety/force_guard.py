"""Guard of the force that acts on a simulation, in one direction."""

from __future__ import annotations

from math import isfinite

from orchestrator import Input, Output, Parameter, Reason, State
from python_blocks.safety.partial_force_guard import PartialForceGuard
from python_blocks.safety.partial_guard import ROUNDING


class ForceGuard(PartialForceGuard):
    """Guards the force from a rig to the simulated bodies, in one direction.

    In operation the force passes unchanged and without delay. The last finite force replaces one
    that is not finite, which is a cause after the persistence. In the safe state the force fades
    from its last value to zero in the time ``ramp``, or keeps it (``hold``).

    ============== ========= ===== =========================================================
    connector      causality unit  meaning
    ============== ========= ===== =========================================================
    force          input     N     compensated force for the bodies
    measured       input     N     measured force
    position       input     m     position of the contact in the simulation
    actual         input     m     actual position of the robot
    sensor_lost    input           the sensor is lost
    wrong_sign     input           the identified stiffness is negative
    converged      input           the stiffness has converged
    stop           input           reason of another guard in its safe state; 0: none
    reset          input           a rising edge leaves the safe state, if permitted
    applied        output    N     force on the bodies
    energy         output    J     energy since the hardware last took most
    safe           output          the guard is in its safe state
    reason         output          cause, see :class:`~orchestrator.Reason`
    since          output    s     start of the safe state; 0 before
    sense          parameter 1     power into the bodies is sense x force x velocity
    limit          parameter N     largest force
    disagreement   parameter N     largest difference of used and measured force, persisting
    energy_limit   parameter J     largest energy that the hardware may give
    stale_time     parameter s     longest time with an equal sample in motion
    stale_travel   parameter m     motion that must change the sample
    unknown_travel parameter m     largest motion with an unknown stiffness
    unknown_time   parameter s     longest time with an unknown stiffness before a warning
    ramp           parameter s     time in which the force fades
    hold           parameter       hold the force in the safe state instead
    persistence    parameter s     time after which a bad flag counts
    resettable     parameter       permit a reset
    ============== ========= ===== =========================================================

    ``energy`` is the largest work that the force has done on the bodies since any moment. A contact
    gives at most what it stored, ``k x^2/2``: set ``energy_limit`` to 1.5 times that of the largest
    deformation. See :mod:`python_blocks.safety.work`.

    References
    ----------
    None; the account of energy is derived in :mod:`python_blocks.safety.work`.
    """

    force: float = Input(unit="N", description="Compensated force for the bodies")
    measured: float = Input(unit="N", description="Force that the sensor measures")
    position: float = Input(unit="m", description="Position of the contact in the simulation")
    actual: float = Input(unit="m", description="Measured position of the robot")
    wrong_sign: bool = Input(description="The identified stiffness is negative")
    converged: bool = Input(start=True, description="The identified stiffness has converged")
    applied: float = Output(unit="N", description="Force on the bodies", depends_on=("force",))
    sense: float = Parameter(
        start=-1.0, unit="1", description="Power into the bodies is sense x force x velocity"
    )

    place: float = State(start=0.0, description="Position at the sample before, m")
    shown: float = State(start=0.0, description="Last sample of the sensor, N")
    shown_at: float = State(
        start=0.0, description="Position of the robot at the last change of the sample, m"
    )
    unchanged_for: float = State(start=0.0, description="Since when it has not changed, s")
    origin: float = State(
        start=0.0, description="Position of the contact when it was last identified, m"
    )
    last: float = State(start=0.0, description="Force when the safe state began, N")

    def initialise(self, t: float) -> None:
        """Begin with the first sample."""
        self.begin()
        self.applied = self.last = self.force if isfinite(self.force) else 0.0
        self._latch_inputs()

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or let the force fade."""
        if self.reason:
            self._fade(t, h)
            return
        self.pressed = self.reset
        self.last = self.applied
        force = self.force
        if force - force == 0.0:
            self.applied = force if self.share == 1.0 else self.rising(h) * force
        violation = self._violation(t, h)
        if violation:
            self.latch(violation, t + h)
            if violation == Reason.FORCE:
                self.applied = self.last  # such a force does not reach the bodies
            self.last = self.applied

    def _violation(self, t: float, h: float) -> int:
        before, self.place = self.place, self.position
        if self.account(self.sense * self.last * (self.position - before)):
            return Reason.ENERGY
        if abs(self.applied) > self.limit:
            return Reason.FORCE
        if self.stop:
            return self.stop
        if self.measured != self.shown:
            self.shown, self.shown_at, self.unchanged_for = self.measured, self.actual, 0.0
        else:
            self.unchanged_for += h
            moved = abs(self.actual - self.shown_at)
            if self.unchanged_for > self.stale_time - ROUNDING and moved > self.stale_travel:
                return Reason.SENSOR_STALE
        if self.converged:
            self.origin, self.unknown_for = self.actual, 0.0
        elif abs(self.actual - self.origin) > self.unknown_travel:
            return Reason.UNKNOWN_CONTACT
        else:
            self.contact_unknown(t, h)
        return self.persists(self._flag(), h)

    def _flag(self) -> int:
        gap = abs(self.force - self.measured)
        if gap - gap != 0.0:
            return Reason.FORCE_NOT_FINITE
        if gap > self.disagreement:
            return Reason.DISAGREEMENT
        if self.wrong_sign:
            return Reason.WRONG_SIGN
        return Reason.SENSOR_LOST if self.sensor_lost else 0

    def _fade(self, t: float, h: float) -> None:
        self.applied = self.last * self.faded(t + h)
        if self.reset_requested() and not self.stop and not self._flag():
            self.leave(t + h)
            self.applied = self.last = 0.0
            self._latch_inputs()

    def _latch_inputs(self) -> None:
        self.place, self.origin = self.position, self.actual
        self.shown, self.shown_at, self.unchanged_for = self.measured, self.actual, 0.0
