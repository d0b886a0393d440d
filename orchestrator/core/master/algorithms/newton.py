"""Newton: the interface of every ring is solved, by its Jacobian."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.diagnostics import CapabilityError, UnknownNameError
from orchestrator.core.master.algorithms.plan import Iteration, Loops, Plan, iterated
from orchestrator.core.system import System

_JACOBIANS = ("auto", "derivatives", "differences")


def plan(
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
    found = iterated(system, Loops(Iteration.NEWTON, tolerance, most_iterations))
    inside = [name for group in found.groups if group.loop for name in group.members]
    mute = [name for name in inside if not system.components[name].has_derivatives]
    if jacobian == "derivatives" and mute:
        raise CapabilityError(
            f"jacobian 'derivatives': {', '.join(map(repr, mute))} give no directional derivatives"
            " (providesDirectionalDerivative is not true): choose 'differences'"
        )
    if jacobian == "differences" or mute:
        return found
    by_units = Loops(Iteration.NEWTON_BY_DERIVATIVES, tolerance, most_iterations)
    return replace(found, loops=by_units)
