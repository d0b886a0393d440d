"""Embedded error control: inputs are predicted, and that tells the error."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.master.algorithms import gauss_seidel
from orchestrator.core.master.algorithms.plan import (
    Coupling,
    Plan,
    StepMethod,
    StepSizeControl,
    bounds,
)
from orchestrator.core.system import System


def plan(
    system: System,
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Extend inputs along their sources' last two values; what comes out tells the error of that.

    Parameters
    ----------
    system
        What is to be stepped, in the order of Gauss-Seidel.
    relative, absolute
        Tolerances of every connected output: of its prediction over one step.
    shortest, longest
        Bounds of the step; the first one is the communication step.
    """
    control = StepSizeControl(
        StepMethod.EMBEDDED, relative, absolute, 1, *bounds(shortest, longest)
    )
    return replace(gauss_seidel.plan(system), coupling=Coupling.AHEAD, step_size_control=control)
