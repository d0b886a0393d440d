"""What a supervisor is told: the table ``[supervisor]`` of a rig, its limits and its tracking."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError, Reason, choices_for
from orchestrator.core.diagnostics.validation import Table, Time
from orchestrator.core.system import nanoseconds
from orchestrator.rig.supervisor.gate import AxisLimits, GateTimes
from orchestrator.rig.supervisor.states import Event
from orchestrator.rig.supervisor.tracker import Known

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
_NS = 1e-9


class SettingsTable(Table):
    """A table of settings with times."""

    def ns(self, key: str) -> int:
        """Return a time of the table in nanoseconds."""
        return nanoseconds(getattr(self, key), f"supervisor.{key}")

    def expect_times(self, *keys: str, least_ns: int = 1) -> None:
        """Expect that what is given of some times can be read, and is not shorter."""
        for key in keys:
            if getattr(self, key) is None:
                continue
            try:
                time_ns = self.ns(key)
            except DescriptionError as error:
                raise PydanticCustomError("time", "{text}", {"text": str(error)}) from error
            if time_ns < least_ns:
                context = {
                    "key": key,
                    "least": f"{least_ns * 1e-9:g}",
                    "found": str(getattr(self, key)),
                }
                raise PydanticCustomError(
                    "time", "{key}: expected >= {least} s, found {found}", context
                )


#: As they are written in ``reactions``.
REASON_NAMES = {reason.name.lower(): reason for reason in Reason if reason is not Reason.OPERATION}


def expect_reason(name: str) -> None:
    """Raise PydanticCustomError if a reason has not this name."""
    if name not in REASON_NAMES:
        raise PydanticCustomError(
            "reason",
            "no reason '{name}'{choices}",
            {"name": name, "choices": choices_for(name, REASON_NAMES, "reason")},
        )


class CommandLimits(SettingsTable):
    """How far and how fast a command may go, and how it comes to rest.

    minimum, maximum: Workspace of the command, in its unit; ``None``: that of the connector.
    velocity: Per s. A command is never sent faster: it is held back, and that is a fault if it
        lasts longer than ``persistence``.
    acceleration, jerk: Per s2 and s3; beyond them for longer than ``persistence`` is a fault.
        ``None``: not looked at.
    deceleration, stop_jerk: With which it comes to rest in FALLBACK; four times as much in
        QUICKSTOP, unless ``quick_deceleration`` and ``quick_jerk`` say otherwise.
    rests: ``"in place"``: a position, which comes to rest where it can; ``"at zero"``: a velocity
        or a force, which goes to 0 with ``velocity`` per s.
    persistence: See above.
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
    def _check_limits(self) -> Self:
        self.expect_times("persistence", least_ns=0)
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and not low < high:
            raise PydanticCustomError("range", "expected minimum < maximum")
        return self

    @property
    def axis(self) -> AxisLimits:
        """What a gate holds a scalar of the command to."""
        return AxisLimits(
            self.velocity,
            self.ns("persistence") * _NS,
            (self.deceleration, self.stop_jerk),
            (
                self.quick_deceleration or 4.0 * self.deceleration,
                self.quick_jerk or 4.0 * self.stop_jerk,
            ),
            self.rests,
            self.velocity,
            -math.inf if self.minimum is None else self.minimum,
            math.inf if self.maximum is None else self.maximum,
            self.acceleration or math.inf,
            self.jerk or math.inf,
            self.acceleration or math.inf,
        )


class SignalLimits(SettingsTable):
    """What a measured signal may be.

    minimum, maximum: Its range.
    slew: How fast it may change, per s.
    acceleration, jerk: What its second and third derivative may be, per s2 and s3.
    window: Of the samples that they are computed from; they are those of its middle.
    frozen: How long it may have the same value to the last bit; of a signal with noise, or with
        ``against``.
    against, travel: A signal frozen while this one moved by ``travel`` is frozen; else any time
        counts.
    persistence: How long it may be beyond its range, slew, acceleration or jerk.
    reason: What being beyond the range is called; default by its unit: ``force`` (N), ``torque``
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
    def _check_limits(self) -> Self:
        self.expect_times("persistence", least_ns=0)
        self.expect_times("frozen", "window")
        if (self.against is None) is not (self.travel is None):
            raise PydanticCustomError("against", "expected 'against' and 'travel' together")
        if self.reason is not None:
            expect_reason(self.reason)
        return self


class DeviceLimits(SettingsTable):
    """What a device must do.

    stale: From which age on its newest sample is stale.
    malformed: How many datagrams in a row of a second may be none of its protocol.
    lost: How many samples in a second may be missing.
    status_mask: Bits of its status word that must be 0.
    status_steps: By how much the status may grow in a second, of a device that counts there.
    clock_jump: By how much its clock may run ahead or behind within a second, against this
        machine's.
    estop_mask: Bits of its status word that say that the hard-wired stop is open.
    """

    stale: Time = "100 ms"
    malformed: Annotated[int, Field(ge=0)] | None = 20
    lost: Annotated[int, Field(ge=0)] | None = None
    status_mask: Annotated[int, Field(ge=0)] = 0
    status_steps: Annotated[int, Field(ge=0)] | None = None
    clock_jump: Time | None = "500 ms"
    estop_mask: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        self.expect_times("stale", "clock_jump")
        return self


class EnergyLimits(SettingsTable):
    """A port at which energy passes from the rig to the simulation; see the passivity observer.

    force, motion: Conjugate signals: force, and position of the simulated body, such as the
        command.
    sense: 1 or -1: power into the simulation is sense x force x velocity.
    limit: Most energy that the rig may give beyond what it last took, J.
    """

    force: StrictStr
    motion: StrictStr
    sense: Literal[1, -1] = 1
    limit: Positive


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
    def _check_limits(self) -> Self:
        self.expect_times("memory", "precision", "scatter", "longest", "change")
        self.expect_times("delay", least_ns=0)
        if self.gain == 0.0:
            raise PydanticCustomError("gain", "gain: expected another number than 0")
        if self.damping is not None and self.bandwidth is None:
            raise PydanticCustomError("damping", "expected 'bandwidth' together with 'damping'")
        return self

    def tracker_settings(self, name: str, period_ns: int) -> Known:
        """Return the settings of a tracker of the response ``name``."""
        missing = [key for key in ("delay", "noise") if getattr(self, key) is None]
        if missing or self.noise is None:
            raise DescriptionError(
                f"supervisor.tracking.'{name}': missing {' and '.join(missing)}; set the value"
                f" here, or let [identification] of '{name.partition('.')[0]}' find it"
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
    def _check_settings(self) -> Self:
        self.expect_times("confirm_within", "heartbeat", "command_stale", "rest_within", "ring")
        self.expect_times("blend", least_ns=0)
        for name, reaction in self.reactions.items():
            expect_reason(name)
            if reaction == "alarm" and name not in _MERE_ALARMS:
                context = {"name": name, "known": " and ".join(_MERE_ALARMS)}
                raise PydanticCustomError(
                    "reaction", "{name}: expected an alarm only for {known}", context
                )
        return self

    @property
    def times(self) -> GateTimes:
        """Times for the gate of each device."""
        stale = self.ns("command_stale")
        return GateTimes(self.ns("blend"), self.ns("heartbeat"), stale, self.hold_cycles)

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
        chosen_events = {REASON_NAMES[name]: _EVENTS[kind] for name, kind in self.reactions.items()}
        return usual | chosen_events
