"""Fixed point: a step is repeated with what it gave until all outputs agree."""

from __future__ import annotations

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms.plan import Iteration, Loops, Plan, iterated
from orchestrator.core.system import System

ACCELERATIONS = {
    "none": Iteration.FIXED_POINT,
    "aitken": Iteration.AITKEN,
    "anderson": Iteration.ANDERSON,
}


def plan(
    system: System,
    acceleration: str = "anderson",
    tolerance: float = 1e-9,
    most_iterations: int = 50,
) -> Plan:
    """Repeat every ring of components that no delay cuts until its outputs no longer change.

    system: What is to be stepped.
    acceleration: ``"anderson"``, ``"aitken"`` or ``"none"``. Without one, a loop converges only if
        its gain over one pass is below 1.
    tolerance, most_iterations: See :class:`Loops`.
    """
    if acceleration not in ACCELERATIONS:
        raise UnknownNameError(
            f"acceleration: expected one of {', '.join(ACCELERATIONS)}, found {acceleration!r}"
        )
    return iterated(system, Loops(ACCELERATIONS[acceleration], tolerance, most_iterations))
