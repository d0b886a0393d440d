"""What a supervisor and its tracking are told: the table ``[supervisor]`` of a rig."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError, Reason
from orchestrator.rig.supervisor.limits import (
    REASON_NAMES,
    CommandLimits,
    DeviceLimits,
    EnergyLimits,
    Finite,
    Positive,
    SettingsTable,
    SignalLimits,
    Time,
    expect_reason,
)
from orchestrator.rig.supervisor.states import Event
from orchestrator.rig.supervisor.tracker import Known

_NS = 1e-9


class TrackingLimits(SettingsTable):
    """Which command a response follows, and how it is tracked.

    What is left out of ``delay`` to ``noise`` is that of the identification before arming.

    command: ``"device.input"`` that the response follows.
    delay, gain: With which the margins were computed.
    bandwidth, damping: Of the lag after the delay, Hz and a ratio; without them there is none.
    noise: Standard deviation of the response, rounding included, in its unit.
    scatter: By which single samples follow earlier or later; ``None``: a quarter of the device's
        period.
    longest: Delay that is looked for; ``None``: four times ``delay``, and at least ten periods.
    memory: In which what was seen fades to 1/e: a period of the slowest motion, or more.
    change: Of the delay, which shall be found; ``None``: a period of the device.
    precision: Half an interval of 95 % of the delay at which an estimate counts.
    excitation: By which the command must move within ``longest`` for a sample to count; ``None``:
        ten times the noise.
    """

    command: StrictStr
    delay: Time | None = None
    gain: Finite | None = None
    bandwidth: Positive | None = None
    damping: Positive | None = None
    noise: Positive | None = None
    scatter: Time | None = None
    longest: Time | None = None
    memory: Time = "2 s"
    change: Time | None = None
    precision: Time = "500 us"
    excitation: Positive | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("memory", "precision", "scatter", "longest", "change")
        self.expect_times("delay", least_ns=0)
        if self.gain == 0.0:
            raise PydanticCustomError("gain", "gain: expected another number than 0")
        if self.damping is not None and self.bandwidth is None:
            raise PydanticCustomError("damping", "expected 'bandwidth' beside 'damping'")
        return self

    def known(self, name: str, period_ns: int) -> Known:
        """Return what a tracker of the response ``name`` is told."""
        missing = [key for key in ("delay", "noise") if getattr(self, key) is None]
        if missing or self.noise is None:
            raise DescriptionError(
                f"supervisor.tracking.'{name}': missing {' and '.join(missing)}: expected there, or"
                f" found by [identification] of '{name.partition('.')[0]}'"
            )
        period, delay = period_ns * _NS, self.ns("delay") * _NS
        longest = self._seconds("longest", max(4.0 * delay, 10.0 * period))
        if longest <= delay:
            raise DescriptionError(
                f"supervisor.tracking.'{name}': longest: expected more than the delay of"
                f" {delay * 1e3:g} ms, found {longest * 1e3:g} ms"
            )
        return Known(
            period=period,
            delay=delay,
            gain=1.0 if self.gain is None else self.gain,
            bandwidth=self.bandwidth,
            damping=self.damping,
            noise=self.noise,
            scatter=self._seconds("scatter", 0.25 * period),
            longest=longest,
            memory=self._seconds("memory", 0.0),
            change=self._seconds("change", period),
            precision=self._seconds("precision", 0.0),
            excitation=self.excitation,
        )

    def _seconds(self, key: str, default: float) -> float:
        return default if getattr(self, key) is None else self.ns(key) * _NS


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


class SupervisorSettings(SettingsTable):
    """How a rig is supervised; times are text such as ``"50 ms"`` or seconds.

    rig: Name of the rig on this machine; only one supervisor can have it.
    arm: ``"operator"``: somebody arms and engages it; ``"automatic"``: it does both by itself as
        soon as all devices are heard and commanded, once.
    confirm_within: How long the first step of arming holds.
    blend: How long the command of a device goes over from where it stands to the simulation's.
    heartbeat: From which age of the other's sign of life on a supervisor, or the process of a
        device, is lost.
    command_stale: From which age on the newest command of the simulation is stale.
    hold_cycles: How many times a device is sent the same command again; from then on it slows down
        until the simulation gives a new one. ``None``: any number of times. 0 suits a simulation
        that steps with each sample of the device.
    rest_within: After which time a stop is overdue.
    after_fault: ``"stop"``: the run ends when the rig is at rest, and says why; ``"continue"``: it
        goes on with what it has in the place of the devices.
    operator_lost: What the loss of the last terminal that attended does: ``"ignore"``, or
        ``"stop"``.
    ring: How long what was seen at full rate is kept, and written on each fault.
    priority: Of SCHED_FIFO, 1 to 98; 0: as the process is. It should be above that of the run.
    require_priority: Whether a supervisor that is not granted its priority ends instead of saying
        so.
    commands, signals: By ``"device.connector"``. Every command of a supervised device has a table.
    devices: By component; those without a table have the defaults.
    energy: By a name of its own.
    tracking: By ``"device.response"``: whose delay and gain are tracked.
    reactions: By the name of a reason: ``"fallback"``, ``"quickstop"`` or ``"estop"``, of what
        tracking finds also ``"alarm"``.
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
