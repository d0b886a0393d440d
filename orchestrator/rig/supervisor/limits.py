"""Limits that a supervisor holds a rig to: of commands, signals, devices and energy."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError, Reason, nearest
from orchestrator.core.system import nanoseconds

Time = StrictStr | StrictInt | StrictFloat
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class SettingsTable(BaseModel):
    """A table of settings, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def ns(self, key: str) -> int:
        """Return a time of the table in nanoseconds."""
        return nanoseconds(getattr(self, key), f"supervisor.{key}")

    def expect_times(self, *keys: str, least_ns: int = 1) -> None:
        """Expect that what is given of some times can be read, and is not shorter."""
        for key in keys:
            if getattr(self, key) is None:
                continue
            try:
                found = self.ns(key)
            except DescriptionError as error:
                raise PydanticCustomError("time", "{text}", {"text": str(error)}) from error
            if found < least_ns:
                told = {
                    "key": key,
                    "least": f"{least_ns * 1e-9:g}",
                    "found": str(getattr(self, key)),
                }
                raise PydanticCustomError(
                    "time", "{key}: expected >= {least} s, found {found}", told
                )


#: As they are written in ``reactions``.
REASON_NAMES = {reason.name.lower(): reason for reason in Reason if reason is not Reason.OPERATION}


def expect_reason(name: str) -> None:
    """Raise PydanticCustomError if a reason has not this name."""
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
    def _sound(self) -> Self:
        self.expect_times("persistence", least_ns=0)
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and not low < high:
            raise PydanticCustomError("range", "expected minimum < maximum")
        return self

    @property
    def to_zero(self) -> float:
        """How fast a velocity or a force goes to 0, per s."""
        return self.velocity

    def stop(self, *, quick: bool) -> tuple[float, float]:
        """Return deceleration and jerk of a stop."""
        if not quick:
            return self.deceleration, self.stop_jerk
        return (
            self.quick_deceleration or 4.0 * self.deceleration,
            self.quick_jerk or 4.0 * self.stop_jerk,
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
    def _sound(self) -> Self:
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
    def _sound(self) -> Self:
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
