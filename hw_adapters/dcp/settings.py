"""The settings of the adapter for DCP slaves."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from orchestrator.dcp.dcp_file import read_description
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.plan import SlavePlan, make_plan
from orchestrator.rig.devices import DeviceSettings

Text = float | int | str | list[float | int]
_TRANSPORTS = {"udp": Transport.UDP_IPV4, "tcp": Transport.TCP_IPV4}


class DcpSettings(DeviceSettings):
    """Which slave it is, where it is, and how it is led.

    Parameters
    ----------
    description
        Its description, ``.dcpx`` or ``.dcp``; relative paths are from the working directory.
    mode
        ``srt``, ``hrt``: it runs by its own clock; ``nrt``: the run steps it.
    transport, host, port
        How it is reached; what is not given is as its description says.
    inputs, outputs
        That are exchanged; empty: all.
    parameters
        Values that are set before it runs, by name.
    resolution
        Its time resolution, s; not given: the one that it recommends, or its first.
    steps
        Between two data PDUs of its outputs (``srt``, ``hrt``), in units of the resolution.
    slave_id
        That it is given.
    response_timeout
        How long an answer may take, s; the one of a step that it computes, too.
    unconfirmed
        In ``nrt``: whether inputs may go to a slave that does not confirm them, by a network that
        could lose or delay them.
    """

    description: str
    mode: Literal["nrt", "srt", "hrt"] = "srt"
    transport: Literal["udp", "tcp"] | None = None
    host: str | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: dict[str, Text] = Field(default={})
    resolution: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)
    steps: int | None = Field(default=None, ge=1)
    slave_id: int = Field(default=1, ge=1, le=255)
    response_timeout: float = Field(default=1.0, gt=0.0, allow_inf_nan=False)
    unconfirmed: bool = False


def plan_of(settings: DcpSettings) -> SlavePlan:
    """Read the description and say what is asked of the slave; nothing is opened.

    Raises
    ------
    LoadError, DescriptionError
        If the description cannot be read, or the slave does not have what is asked for.
    """
    file = Path(settings.description)
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        changed = 0
    return make_plan(
        _description(file.absolute(), changed),
        mode=OpMode[settings.mode.upper()],
        transport=_TRANSPORTS.get(settings.transport or ""),
        host=settings.host,
        port=settings.port,
        inputs=settings.inputs,
        outputs=settings.outputs,
        resolution=settings.resolution,
        steps=settings.steps,
        parameters={name: _plain(value) for name, value in settings.parameters.items()},
        number=settings.slave_id,
        patience_s=settings.response_timeout,
        unconfirmed=settings.unconfirmed,
    )


@cache
def _description(file: Path, changed: int) -> SlaveDescription:
    del changed  # a file that was written anew is read anew
    return read_description(file)


def _plain(value: Text) -> float | int | str | bytes | list[float | int | str | bytes]:
    return list(value) if isinstance(value, list) else value
