"""Step doubling: every step whole and in two halves; the difference tells the error."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms import gauss_seidel, jacobi, newton
from orchestrator.core.master.algorithms.plan import (
    Coupling,
    Plan,
    StepMethod,
    StepSizeControl,
    bounds,
)
from orchestrator.core.system import System

_BASES = {"jacobi": jacobi.plan, "gauss-seidel": gauss_seidel.plan, "newton": newton.plan}


def plan(
    system: System,
    base: str = "gauss-seidel",
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Do every step whole and in two halves; the difference tells the error.

    system: What is to be stepped.
    base: How a step is done: ``"jacobi"``, ``"gauss-seidel"`` or ``"newton"``.
    relative, absolute: Tolerances of every connected output.
    shortest, longest: Bounds of the step; the first one is the communication step.
    """
    if base not in _BASES:
        raise UnknownNameError(f"base: expected one of {', '.join(_BASES)}, found {base!r}")
    found = _BASES[base](system)
    order = 2 if found.coupling is Coupling.MEAN else 1
    control = StepSizeControl(
        StepMethod.DOUBLING, relative, absolute, order, *bounds(shortest, longest)
    )
    return replace(found, step_size_control=control)
