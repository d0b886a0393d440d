"""Algorithms that repeat a step until all outputs agree: fixed point and Newton."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import CapabilityError, UnknownNameError
from orchestrator.master.order import stepping_order
from orchestrator.master.plan import Coupling, Group, Iteration, Loops, Plan
from orchestrator.system import System

_JACOBIANS = ("auto", "derivatives", "differences")
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


def newton(
    system: System,
    jacobian: str = "auto",
    tolerance: float = 1e-9,
    most_iterations: int = 50,
) -> Plan:
    """Solve every ring of components that no delay cuts by Newton's method on its interface.

    The Jacobian of the interface is kept from step to step, and corrected by Broyden's update.

    Parameters
    ----------
    system
        What is to be stepped.
    jacobian
        ``"differences"``: each column is one more pass through the whole step. ``"derivatives"``:
        it is made of directional derivatives of the units, until they turn out not to be enough.
        ``"auto"``: of derivatives where all units in rings give them.
    tolerance, most_iterations
        See :class:`Loops`.
    """
    if jacobian not in _JACOBIANS:
        raise UnknownNameError(
            f"jacobian: expected one of {', '.join(_JACOBIANS)}, found {jacobian!r}"
        )
    plan = iterated(system, Loops(Iteration.NEWTON, tolerance, most_iterations))
    inside = [name for group in plan.groups if group.loop for name in group.members]
    mute = [name for name in inside if not system.components[name].has_derivatives]
    if jacobian == "derivatives" and mute:
        raise CapabilityError(
            f"jacobian 'derivatives': {', '.join(map(repr, mute))} give no directional derivatives"
            " (providesDirectionalDerivative is not true): choose 'differences'"
        )
    if jacobian == "differences" or mute:
        return plan
    by_units = Loops(Iteration.NEWTON_BY_DERIVATIVES, tolerance, most_iterations)
    return replace(plan, loops=by_units)


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
