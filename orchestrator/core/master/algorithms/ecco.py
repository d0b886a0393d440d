"""ECCO: steps so short that the coupling makes little energy."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.master.algorithms import jacobi
from orchestrator.core.master.algorithms.plan import Plan, StepMethod, StepSizeControl, bounds
from orchestrator.core.system import System


def plan(
    system: System,
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Make steps so short that the coupling makes little energy: ECCO, with Jacobi.

    Needs power bonds: pairs of opposite connections between two components whose product is a
    power. They are found by their units. Nothing is repeated.

    Parameters
    ----------
    system
        What is to be stepped.
    relative, absolute
        Tolerances of the energy that a bond makes in one step, absolute in J.
    shortest, longest
        Bounds of the step; the first one is the communication step.
    """
    control = StepSizeControl(StepMethod.ECCO, relative, absolute, 1, *bounds(shortest, longest))
    return replace(jacobi.plan(system), step_size_control=control)
