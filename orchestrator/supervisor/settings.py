"""What a supervisor is told: the table ``[supervisor]`` of a rig."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.diagnostics import Reason, nearest
from orchestrator.supervisor.states import Event
from orchestrator.supervisor.table import Finite, Positive, Table, Time
from orchestrator.supervisor.tracking.settings import TrackingLimits

Reaction = Literal["alarm", "fallback", "quickstop", "estop"]
#: Names of reasons, as they are written in ``reactions``.
REASON_NAMES = {reason.name.lower(): reason for reason in Reason if reason is not Reason.OPERATION}
_EVENTS = {
    "alarm": Event.ALARM,
    "fallback": Event.FAULT,
    "quickstop": Event.QUICK_FAULT,
    "estop": Event.STOP_FAULT,
}
#: Of which a rig may only be told; whatever else is found brings it to rest.
_MERE_ALARMS = ("device_changed", "margin")
#: A rig is known by its name on this machine; it becomes the name of a file.
RigName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=60)]


class CommandLimits(Table):
    """How far and how fast a command may go, and how it comes to rest.

    Parameters
    ----------
    minimum, maximum
        Workspace of the command, in its unit; ``None``: that of the connector.
    velocity
        Per s. A command is never sent faster: it is held back, and that is a fault if it lasts
        longer than ``persistence``.
    acceleration, jerk
        Per s2 and s3; beyond them for longer than ``persistence`` is a fault. ``None``: not looked
        at.
    deceleration, stop_jerk
        With which it comes to rest in FALLBACK; four times as much in QUICKSTOP, unless
        ``quick_deceleration`` and ``quick_jerk`` say otherwise.
    rests
        ``"in place"``: a position, which comes to rest where it can; ``"at zero"``: a velocity or
        a force, which goes to 0 with ``velocity`` per s.
    persistence
        See above.
    """

    minimum: Finite | None = None
    maximum: Finite | None = None
    velocity: Positive
    acceleration: Positive | None = None
    jerk: Positive | None = None
    deceleration: Positive
    stop_jerk: Positive
    quick_deceleration: Positive | None = None
    quick_jerk: Positive | None = None
    rests: Literal["in place", "at zero"] = "in place"
    persistence: Time = "40 ms"

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("persistence", least_ns=0)
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and not low < high:
            raise PydanticCustomError("range", "expected minimum < maximum")
        return self

    def stop(self, *, quick: bool) -> tuple[float, float]:
        """Return deceleration and jerk of a stop."""
        if not quick:
            return self.deceleration, self.stop_jerk
        return (
            self.quick_deceleration or 4.0 * self.deceleration,
            self.quick_jerk or 4.0 * self.stop_jerk,
        )


class SignalLimits(Table):
    """What a measured signal may be.

    Parameters
    ----------
    minimum, maximum
        Its range.
    slew
        How fast it may change, per s.
    acceleration, jerk
        What its second and third derivative may be, per s2 and s3.
    window
        Of the samples that they are computed from; they are those of its middle.
    frozen
        How long it may have the same value to the last bit; of a signal with noise, or with
        ``against``.
    against, travel
        A signal frozen while this one moved by ``travel`` is frozen; else any time counts.
    persistence
        How long it may be beyond its range, slew, acceleration or jerk.
    reason
        What being beyond the range is called; default by its unit: ``force`` (N), ``torque``
        (N.m), else ``workspace``.
    """

    minimum: Finite | None = None
    maximum: Finite | None = None
    slew: Positive | None = None
    acceleration: Positive | None = None
    jerk: Positive | None = None
    window: Time = "40 ms"
    frozen: Time | None = None
    against: StrictStr | None = None
    travel: Positive | None = None
    persistence: Time = "0 s"
    reason: StrictStr | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("persistence", least_ns=0)
        self.expect_times("frozen", "window")
        if (self.against is None) is not (self.travel is None):
            raise PydanticCustomError("against", "expected 'against' and 'travel' together")
        if self.reason is not None:
            _expect_reason(self.reason)
        return self


class DeviceLimits(Table):
    """What a device must do.

    Parameters
    ----------
    stale
        From which age on its newest sample is stale.
    malformed
        How many datagrams in a row of a second may be none of its protocol.
    lost
        How many samples in a second may be missing.
    status_mask
        Bits of its status word that must be 0.
    status_steps
        By how much the status may grow in a second, of a device that counts there.
    clock_jump
        By how much its clock may run ahead or behind within a second, against this machine's.
    estop_mask
        Bits of its status word that say that the hard-wired stop is open.
    """

    stale: Time = "100 ms"
    malformed: Annotated[int, Field(ge=0)] | None = 20
    lost: Annotated[int, Field(ge=0)] | None = None
    status_mask: Annotated[int, Field(ge=0)] = 0
    status_steps: Annotated[int, Field(ge=0)] | None = None
    clock_jump: Time | None = "500 ms"
    estop_mask: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("stale", "clock_jump")
        return self


class EnergyLimits(Table):
    """A port at which energy passes from the rig to the simulation; see the passivity observer.

    Parameters
    ----------
    force, motion
        Conjugate signals: force, and position of the simulated body, such as the command.
    sense
        1 or -1: power into the simulation is sense x force x velocity.
    limit
        Most energy that the rig may give beyond what it last took, J.
    """

    force: StrictStr
    motion: StrictStr
    sense: Literal[1, -1] = 1
    limit: Positive


class SupervisorSettings(Table):
    """How a rig is supervised; times are text such as ``"50 ms"`` or seconds.

    Parameters
    ----------
    rig
        Name of the rig on this machine; only one supervisor can have it.
    arm
        ``"operator"``: somebody arms and engages it; ``"automatic"``: it does both by itself as
        soon as all devices are heard and commanded, once.
    confirm_within
        How long the first step of arming holds.
    blend
        How long the command of a device goes over from where it stands to the simulation's.
    heartbeat
        From which age of the other's sign of life on a supervisor, or the process of a device, is
        lost.
    command_stale
        From which age on the newest command of the simulation is stale.
    hold_cycles
        How many times a device is sent the same command again; from then on it slows down until the
        simulation gives a new one. ``None``: any number of times. 0 suits a simulation that steps
        with each sample of the device.
    rest_within
        After which time a stop is overdue.
    after_fault
        ``"stop"``: the run ends when the rig is at rest, and says why; ``"continue"``: it goes on
        with what it has in the place of the devices.
    operator_lost
        What the loss of the last terminal that attended does: ``"ignore"``, or ``"stop"``.
    ring
        How long what was seen at full rate is kept, and written on each fault.
    priority
        Of SCHED_FIFO, 1 to 98; 0: as the process is. It should be above that of the run.
    require_priority
        Whether a supervisor that is not granted its priority ends instead of saying so.
    commands, signals
        By ``"device.connector"``. Every command of a supervised device has a table.
    devices
        By component; those without a table have the defaults.
    energy
        By a name of its own.
    tracking
        By ``"device.response"``: whose delay and gain are tracked.
    reactions
        By the name of a reason: ``"fallback"``, ``"quickstop"`` or ``"estop"``, of what tracking
        finds also ``"alarm"``.
    """

    rig: RigName
    arm: Literal["operator", "automatic"] = "operator"
    confirm_within: Time = "10 s"
    blend: Time = "500 ms"
    heartbeat: Time = "200 ms"
    command_stale: Time = "100 ms"
    hold_cycles: Annotated[int, Field(ge=0)] | None = None
    rest_within: Time = "2 s"
    after_fault: Literal["stop", "continue"] = "stop"
    operator_lost: Literal["ignore", "stop"] = "ignore"
    ring: Time = "5 s"
    priority: Annotated[int, Field(ge=0, le=98)] = 85
    require_priority: bool = False
    commands: dict[str, CommandLimits] = Field({})
    signals: dict[str, SignalLimits] = Field({})
    devices: dict[str, DeviceLimits] = Field({})
    energy: dict[str, EnergyLimits] = Field({})
    tracking: dict[str, TrackingLimits] = Field({})
    reactions: dict[str, Reaction] = Field({})

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("confirm_within", "heartbeat", "command_stale", "rest_within", "ring")
        self.expect_times("blend", least_ns=0)
        for name, reaction in self.reactions.items():
            _expect_reason(name)
            if reaction == "alarm" and name not in _MERE_ALARMS:
                told = {"name": name, "known": " and ".join(_MERE_ALARMS)}
                raise PydanticCustomError(
                    "reaction", "{name}: expected an alarm only for {known}", told
                )
        return self

    @property
    def events(self) -> dict[Reason, Event]:
        """The event of each reason that does not simply lead to FALLBACK."""
        usual = {
            Reason.FORCE: Event.QUICK_FAULT,
            Reason.TORQUE: Event.QUICK_FAULT,
            Reason.WORKSPACE: Event.QUICK_FAULT,
            Reason.EMERGENCY_STOP: Event.STOP_FAULT,
            Reason.DEVICE_CHANGED: Event.ALARM,
        }
        told = {REASON_NAMES[name]: _EVENTS[kind] for name, kind in self.reactions.items()}
        return usual | told


def _expect_reason(name: str) -> None:
    if name not in REASON_NAMES:
        raise PydanticCustomError(
            "reason",
            "no reason '{name}'{near}; known: {known}",
            {
                "name": name,
                "near": nearest(name, REASON_NAMES),
                "known": ", ".join(REASON_NAMES),
            },
        )
