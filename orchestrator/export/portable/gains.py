"""Gains in place of what connections make of values, for tools that ignore it."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import Block, Input, Output, Parameter, block
from orchestrator.core.system import (
    Connection,
    Connector,
    DataType,
    Endpoint,
    MappingTransformation,
    System,
    factor_and_offset_of,
)


class Gain(Block):
    """Linear function of a signal.

    ========= ========= ======================
    connector causality meaning
    ========= ========= ======================
    u         input     what comes in
    y         output    ``gain u + offset``
    gain      parameter factor
    offset    parameter added after it
    ========= ========= ======================
    """

    u: float = Input(description="What comes in")
    y: float = Output(description="gain u + offset")
    gain: float = Parameter(start=1.0, description="Factor")
    offset: float = Parameter(start=0.0, description="Added after it")

    def step(self, t: float, h: float) -> None:
        """Evaluate; the block has no state."""
        self.y = self.gain * self.u + self.offset


def connector_at(system: System, end: Endpoint) -> Connector:
    """The connector at an end of a connection of a flat system."""
    if not end.component:
        return system.connectors[end.connector]
    return system.components[end.component].connectors[end.connector]


def left_to_tools(system: System) -> list[str]:
    """Name the connections whose values the other tool must change, as SSP asks it to."""
    remarks = []
    for line in system.connections:
        source, target = connector_at(system, line.source), connector_at(system, line.target)
        factor, offset = factor_and_offset_of(line, source, target)
        what = []
        if (factor, offset) != (1.0, 0.0):
            units = "" if source.unit == target.unit else f" ({source.unit} to {target.unit})"
            what.append(f"multiply by {factor:g} and add {offset:g}{units}")
        if isinstance(line.transformation, MappingTransformation):
            what.append("apply a table of values")
        if what:
            remarks.append(
                f"{line}: the tool has to {' and '.join(what)}; FMPy, ecos and libcosim convert no"
                " units, FMPy applies no factors either: for them export with plain connections"
                " (--plain-connections)"
            )
    return remarks


def with_gains(system: System) -> tuple[System, list[str]]:
    """Put a gain into every undelayed line of Reals that changes its values."""
    remarks: list[str] = []
    lines: list[Connection] = []
    made = system
    for line in system.connections:
        source, target = connector_at(system, line.source), connector_at(system, line.target)
        changes = line.delay is None and source.type is DataType.REAL
        factor, offset = factor_and_offset_of(line, source, target) if changes else (1.0, 0.0)
        if (factor, offset) == (1.0, 0.0):
            lines.append(line)
            continue
        if source.shape:
            raise CapabilityError(
                f"connection {line} changes the values of an array, for which there is no gain: use"
                " a block"
            )
        name = f"gain_{len(remarks) + 1}"
        while name in made.components:
            name += "_"
        made = made.add(name, block(Gain), gain=factor, offset=offset)
        lines.append(Connection(line.source, Endpoint(name, "u")))
        lines.append(Connection(Endpoint(name, "y"), line.target))
        remarks.append(
            f"{line}: {name} multiplies by {factor:g} and adds {offset:g}; it is stepped as any"
            " FMU, so the line is one step later"
        )
    return replace(made, connections=tuple(lines)), remarks
