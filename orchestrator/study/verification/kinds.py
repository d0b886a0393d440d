"""Which outputs have no order: those that count, and those that depend on draws."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from orchestrator.core.simunits import resolve
from orchestrator.core.system import DataType, Fault, FaultKind, System, lines_of
from orchestrator.study.verification.comparison import Kinds


def kinds_of(system: System, names: Collection[str], faults: Sequence[Fault]) -> Kinds:
    """Sort recorded signals into kinds.

    Draws of a varying delay are made for each sample, those of a noise at each communication
    point: a run with other steps has others. Whatever lies behind such a connection is random.
    """
    flat = resolve(system).flat()
    drawn = set(_drawn_at(flat, faults))
    if drawn:
        import networkx as nx

        graph = flat.graph
        drawn |= {name for start in drawn for name in nx.descendants(graph, start)}
    counted = {
        f"{name}.{connector.name}"
        for name, component in flat.components.items()
        for connector in component.connectors.values()
        if connector.type is not DataType.REAL
    }
    discrete = (name for name in names if name in counted or _whole(name) in counted)
    random = (name for name in names if name.partition(".")[0] in drawn)
    return Kinds(frozenset(discrete), frozenset(random))


def _whole(name: str) -> str:
    """Name of the array connector of which a signal is an element."""
    return name.rpartition("[")[0]


def _drawn_at(flat: System, faults: Sequence[Fault]) -> Iterator[str]:
    """Components at the end of a connection whose samples are drawn for."""
    for line in flat.connections:
        if line.delay is not None and line.delay.variation is not None:
            yield line.target.component
    for fault in faults:
        if fault.kind is FaultKind.NOISE:
            yield from (line.target.component for line in lines_of(fault, flat))
