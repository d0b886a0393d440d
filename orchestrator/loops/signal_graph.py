"""Which scalar feeds which: the lines of a system as gains between inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.system import (
    Connection,
    Connector,
    MappingTransformation,
    System,
    factor_and_offset_of,
)
from orchestrator.core.system.loops.rings import ordered_rings
from orchestrator.loops.signal_names import signal_names
from orchestrator.loops.state_space import Floats


def numeric_lines(system: System) -> list[Connection]:
    """Return the connections between components that carry numbers."""
    return [
        line
        for line in system.connections
        if line.source.component
        and line.target.component
        and not _source(system, line).type.is_text
    ]


def inner_lines(system: System, components: Iterable[str]) -> list[Connection]:
    """Return those of them that begin and end at some components."""
    names = set(components)
    return [
        line
        for line in numeric_lines(system)
        if line.source.component in names and line.target.component in names
    ]


def coupled_groups(system: System) -> list[tuple[str, ...]]:
    """Return the groups of components that act on each other, each in the order of the system.

    A component that acts on itself is a group of its own; one that is in no loop is in none.
    """
    edges = [(line.source.component, line.target.component) for line in numeric_lines(system)]
    own = {source for source, target in edges if source == target}
    groups = ordered_rings(list(system.components), edges)
    order = {name: i for i, name in enumerate(system.components)}
    return [
        tuple(sorted(group, key=order.__getitem__))
        for group in groups
        if len(group) > 1 or group[0] in own
    ]


def gains(
    system: System, lines: Iterable[Connection], inputs: Iterable[str], outputs: Iterable[str]
) -> Mapping[float, Floats]:
    """Return what inputs are of outputs, by the delay in seconds, 0 where there is none.

    Parameters
    ----------
    system, lines
        Which of its connections count.
    inputs, outputs
        Names of scalars, as :func:`signal_names` makes them; others are left out.

    Returns
    -------
    mapping to float64 of shape (inputs, outputs)

    Raises
    ------
    CapabilityError
        If a connection has a table of values: it has no gain.
    """
    rows = {name: i for i, name in enumerate(inputs)}
    columns = {name: i for i, name in enumerate(outputs)}
    found: dict[float, Floats] = {}
    for line in lines:
        if isinstance(line.transformation, MappingTransformation):
            raise CapabilityError(
                f"connection {line} has a table of values: no gain is in its place"
            )
        source = _source(system, line)
        target = system.components[line.target.component].connectors[line.target.connector]
        factor, _ = factor_and_offset_of(line, source, target)
        delay = 0.0 if line.delay is None else line.delay.nominal_ns / 1e9
        whole = found.setdefault(delay, np.zeros((len(rows), len(columns))))
        ends = zip(
            signal_names(line.target.component, [target]),
            signal_names(line.source.component, [source]),
            strict=True,
        )
        for into, out_of in ends:
            if into in rows and out_of in columns:
                whole[rows[into], columns[out_of]] = factor
    return found


def _source(system: System, line: Connection) -> Connector:
    return system.components[line.source.component].connectors[line.source.connector]
