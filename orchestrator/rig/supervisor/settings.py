"""What a supervisor is told: the table ``[supervisor]`` of a rig."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import Reason
from orchestrator.rig.supervisor.limits import (
    REASON_NAMES,
    CommandLimits,
    DeviceLimits,
    EnergyLimits,
    SignalLimits,
    expect_reason,
)
from orchestrator.rig.supervisor.states import Event
from orchestrator.rig.supervisor.table import Table, Time
from orchestrator.rig.supervisor.tracking.settings import TrackingLimits

Reaction = Literal["alarm", "fallback", "quickstop", "estop"]
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
            expect_reason(name)
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
            Reason.OPERATOR_QUICK_STOP: Event.QUICK_FAULT,
            Reason.DEVICE_CHANGED: Event.ALARM,
        }
        told = {REASON_NAMES[name]: _EVENTS[kind] for name, kind in self.reactions.items()}
        return usual | told
