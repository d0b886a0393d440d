"""What an algorithm refuses of faults, before anything is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.algorithms.plan import Plan
from orchestrator.core.system import Fault, FaultKind, System, fault_problems


def fault_refusals(
    system: System, algorithm: str, plan: Plan, faults: Sequence[Fault]
) -> list[str]:
    """List why faults cannot act."""
    problems = fault_problems(faults, system)
    problems += [
        f"fault {fault}: algorithm '{algorithm}' varies the communication step, and white noise is"
        " drawn at a rate: choose an algorithm of fixed steps"
        for fault in faults
        if plan.step_size_control is not None and fault.kind is FaultKind.NOISE
    ]
    return problems


def expect_faults(system: System, algorithm: str, plan: Plan, faults: Sequence[Fault]) -> None:
    """Raise all that :func:`fault_refusals` lists, together, as a CapabilityError."""
    if problems := fault_refusals(system, algorithm, plan, faults):
        raise CapabilityError(*problems)
