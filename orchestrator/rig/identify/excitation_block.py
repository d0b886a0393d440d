"""The block that commands a device while it is identified."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from orchestrator.core.simunits import Block, Output
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.identification.record import Floats

#: Of the output that says when a command was given.
CLOCK = "given_at"


def excitation_block(
    inputs: Sequence[DeviceConnector], commands: Floats, step: float
) -> type[Block]:
    """Return a block with an output for each command, and one for the time by the wall.

    Parameters
    ----------
    inputs
        The commands of the device.
    commands
        Shape (steps, scalars), in the order of ``inputs``.
    step
        s, of the run.
    """
    places: dict[str, slice] = {}
    first = 0
    for port in inputs:
        places[port.name] = slice(first, first + port.size)
        first += port.size

    def give(self: Block, t: float, h: float) -> None:
        """Give the commands of the step, and say when."""
        row = commands[min(round(t / step), len(commands) - 1)] if h else commands[0]
        for port in inputs:
            value = row[places[port.name]]
            if port.shape:
                np.copyto(getattr(self, port.name), value.reshape(port.shape))
            else:
                setattr(self, port.name, float(value[0]))
        setattr(self, CLOCK, time.monotonic())

    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": "Commands of a device, step by step.",
        "__annotations__": {CLOCK: float} | dict.fromkeys(places, float),
        CLOCK: Output(unit="s", depends_on=(), description="When the command was given"),
        "initialise": lambda self, t: give(self, t, 0.0),
        "step": give,
    }
    for port in inputs:
        start = np.full(port.shape, port.start) if port.shape else port.start
        members[port.name] = Output(
            unit=port.unit, shape=port.shape, depends_on=(), start=start, description="Commanded"
        )
    return type("Excitation", (Block,), members)
