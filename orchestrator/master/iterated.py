"""Algorithms that repeat a step until all outputs agree: fixed point and Newton."""

from __future__ import annotations

from orchestrator.errors import UnknownNameError
from orchestrator.master.order import stepping_order
from orchestrator.master.plan import Coupling, Group, Iteration, Loops, Plan
from orchestrator.system import System

_ACCELERATIONS = {
    "none": Iteration.FIXED_POINT,
    "aitken": Iteration.AITKEN,
    "anderson": Iteration.ANDERSON,
}


def fixed_point(
    system: System,
    acceleration: str = "anderson",
    tolerance: float = 1e-9,
    most_iterations: int = 50,
) -> Plan:
    """Repeat every ring of components that no delay cuts until its outputs no longer change.

    Parameters
    ----------
    system
        What is to be stepped.
    acceleration
        ``"anderson"``, ``"aitken"`` or ``"none"``. Without one, a loop converges only if its gain
        over one pass is below 1.
    tolerance, most_iterations
        See :class:`Loops`.
    """
    if acceleration not in _ACCELERATIONS:
        raise UnknownNameError(
            f"acceleration: expected one of {', '.join(_ACCELERATIONS)}, found {acceleration!r}"
        )
    return iterated(system, Loops(_ACCELERATIONS[acceleration], tolerance, most_iterations))


def newton(system: System, tolerance: float = 1e-9, most_iterations: int = 50) -> Plan:
    """Solve every ring of components that no delay cuts by Newton's method on its interface.

    The Jacobian of the interface is made by finite differences through the whole step, kept from
    step to step, and corrected by Broyden's update.

    Parameters
    ----------
    system
        What is to be stepped.
    tolerance, most_iterations
        See :class:`Loops`.
    """
    return iterated(system, Loops(Iteration.NEWTON, tolerance, most_iterations))


def iterated(system: System, loops: Loops) -> Plan:
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
    return Plan(tuple(groups), Coupling.MEAN, loops)
