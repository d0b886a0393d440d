"""Rings of components that no delay cuts, to be iterated."""

from __future__ import annotations

from orchestrator.core.master.algorithms.order import stepping_order
from orchestrator.core.master.algorithms.plan import Coupling, Group, Loops, Plan
from orchestrator.core.system import System


def iterated(system: System, loops: Loops, coupling: Coupling = Coupling.MEAN) -> Plan:
    """Order the components as Gauss-Seidel does, and iterate the rings."""
    alone = {
        line.source.component
        for line in system.connections
        if line.source.component == line.target.component and line.delay is None
    }
    groups = [
        Group(tuple(ring), loop=len(ring) > 1 or ring[0] in alone)
        for ring in stepping_order(system)
    ]
    return Plan(tuple(groups), coupling, loops)
