"""What other tools cannot be given, and what they will do otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import read_fmu
from orchestrator.core.system import (
    Component,
    Connection,
    Interpolation,
    MappingTransformation,
    SourceKind,
    System,
)


def check_portable(system: System, delay: DelayMode, *, plain_connections: bool) -> None:
    """Raise all that keeps a flat system from being exported for other tools, together."""
    problems = [
        CapabilityError(text)
        for text in (
            *(text for part in system.components.values() for text in _component(part)),
            *(
                text
                for line in system.connections
                for text in _line(line, system, plain_connections=plain_connections)
            ),
        )
    ]
    if delay is DelayMode.WAVEFORM:
        problems.append(
            CapabilityError(
                "delay = 'waveform': other tools hold inputs over a step; expected 'mean' or"
                " 'plain'"
            )
        )
    if problems:
        raise DescriptionError.collect(problems)


def _component(component: Component) -> Iterator[str]:
    where = f"component '{component.name}'"
    if component.source.kind is SourceKind.FMU:
        described = read_fmu(Path(component.source.location), component.options.interface)
        if described.interface == "ModelExchange":
            yield (
                f"{where} ({component.source}) is run as Model Exchange; other tools step FMUs of"
                " Co-Simulation: export it for that, or leave out interface = 'me'"
            )
    elif component.source.kind is not SourceKind.BLOCK:
        yield f"{where} is made from {component.source}; expected an FMU or a block"


def _line(line: Connection, system: System, *, plain_connections: bool) -> Iterator[str]:
    where = f"connection {line}"
    if line.is_predicted:
        yield (
            f"{where} predicts its input ('{line.extrapolation}'), which only our master does:"
            " leave the extrapolation out"
        )
    if line.compensation is not None:
        yield (
            f"{where} has the compensation '{line.compensation}', which only our master does:"
            " leave it out"
        )
    if line.delay is not None and line.delay.variation is not None:
        yield f"{where} has a delay that varies; an FMU of a line has a constant one: remove it"
    if line.interpolation is Interpolation.SLERP:
        yield f"{where} is interpolated by slerp; an FMU of a line does hold, linear and cubic"
    is_table = isinstance(line.transformation, MappingTransformation)
    if plain_connections and is_table:
        yield f"{where} has a table of values, for which there is no FMU: use a block"
    for end in (line.source, line.target):
        component = system.components.get(end.component)
        if component is None:
            continue
        connector = component.connectors[end.connector]
        if connector.type.is_text and component.source.kind is SourceKind.BLOCK:
            yield f"{where} carries {connector.type}s of a block, and its FMU has numbers only"
        if connector.shape and component.source.kind is SourceKind.FMU:
            yield (
                f"{where} carries an array of {component.source}; SSP 1.0 has no arrays: use the"
                " FMI 2.0 form of that FMU, with scalars"
            )
