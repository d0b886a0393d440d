"""The settings that every device has."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class DeviceSettings(BaseModel):
    """What is done with any device; adapters add the settings of their own.

    Parameters
    ----------
    connect_timeout
        How long the first sample may take, in seconds.
    stale_after
        From which age on a sample is stale, in seconds.
    on_stale
        What a stale sample does: ``"stop"`` ends the run, ``"hold"`` goes on with it.
    out_of_range
        What a command beyond the range of its connector does: ``"clamp"`` sends the nearest value
        within it and counts, ``"stop"`` ends the run. What is not finite always ends the run.
    supervisor
        Name of the rig whose supervisor watches it, which runs already; empty: none does. A run
        with ``[supervisor]`` sets it by itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    connect_timeout: Seconds = 5.0
    stale_after: Seconds = 0.1
    on_stale: Literal["stop", "hold"] = "stop"
    out_of_range: Literal["clamp", "stop"] = "clamp"
    supervisor: str = ""
