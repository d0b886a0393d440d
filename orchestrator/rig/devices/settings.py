"""The settings that every device has."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class DeviceSettings(BaseModel):
    """What is done with any device; adapters add the settings of their own.

    Parameters
    ----------
    connect_timeout
        How long the first sample may take, in seconds.
    stale_after
        From which age on a sample is stale, in seconds.
    command_stale_after
        For how long, beyond its step, a run may give no new command, in seconds. Then the process
        of the device brings its commands to rest by their limits and gives no more signs of life.
        It counts whole cycles of the device, at least three. With a supervisor that one's
        ``command_stale`` comes first.
    on_stale
        What a stale sample does: ``"stop"`` ends the run, ``"hold"`` goes on with it.
    out_of_range
        What a command beyond the range of its connector does: ``"stop"`` ends the run, ``"clamp"``
        sends the nearest value within it and counts: the loop is not the one that was armed then.
        What is not finite always ends the run.
    run_on
        For how many seconds a run goes on when its device is lost: the device is led to its safe
        state, its last values stand, ``valid`` is 0, and its clock goes on by this machine's time,
        so that simulated components come to rest. Then the run ends. Without a supervisor only.
    supervisor
        Name of the rig whose supervisor watches it, which runs already; empty: none does. A run
        with ``[supervisor]`` sets it by itself.
    sample_log
        File that gets every sample and every command that was sent, at the end; empty: none. An
        identification sets it by itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    connect_timeout: Seconds = 5.0
    stale_after: Seconds = 0.1
    command_stale_after: Seconds = 0.1
    on_stale: Literal["stop", "hold"] = "stop"
    out_of_range: Literal["clamp", "stop"] = "stop"
    run_on: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    supervisor: str = ""
    sample_log: str = ""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.run_on and self.supervisor:
            raise ValueError(
                f"run_on: expected 0 of a supervised device, found {self.run_on:g} s: the"
                f" supervisor of rig '{self.supervisor}' says when its run ends"
            )
        return self

    @property
    def own_watchdog(self) -> float:
        """After how long without a sign of life the device stops by itself, s; infinite: never."""
        return math.inf

    @model_validator(mode="after")
    def _earlier_than_its_own(self) -> Self:
        own, found = self.own_watchdog, self.command_stale_after
        if "command_stale_after" in self.model_fields_set and found > own:
            raise ValueError(
                f"command_stale_after: expected at most {own:g} s, after which the device's own"
                f" watchdog stops it, found {found:g} s"
            )
        return self
