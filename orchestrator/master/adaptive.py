"""Algorithms that choose the length of every communication step."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import UnknownNameError
from orchestrator.master import gauss_seidel, jacobi
from orchestrator.master.iterated import newton
from orchestrator.master.plan import Coupling, Plan, StepMethod, StepRule, bounds
from orchestrator.system import System

_BASES = {"jacobi": jacobi.plan, "gauss-seidel": gauss_seidel.plan, "newton": newton}


def step_doubling(
    system: System,
    base: str = "gauss-seidel",
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Do every step whole and in two halves; the difference tells the error.

    Parameters
    ----------
    system
        What is to be stepped.
    base
        How a step is done: ``"jacobi"``, ``"gauss-seidel"`` or ``"newton"``.
    relative, absolute
        Tolerances of every connected output.
    shortest, longest
        Bounds of the step; the first one is the communication step.
    """
    if base not in _BASES:
        raise UnknownNameError(f"base: expected one of {', '.join(_BASES)}, found {base!r}")
    plan = _BASES[base](system)
    order = 2 if plan.coupling is Coupling.MEAN else 1
    rule = StepRule(StepMethod.DOUBLING, relative, absolute, order, *bounds(shortest, longest))
    return replace(plan, rule=rule)


def embedded(
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
    rule = StepRule(StepMethod.EMBEDDED, relative, absolute, 1, *bounds(shortest, longest))
    return replace(gauss_seidel.plan(system), coupling=Coupling.AHEAD, rule=rule)


def ecco(
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
    rule = StepRule(StepMethod.ECCO, relative, absolute, 1, *bounds(shortest, longest))
    return replace(jacobi.plan(system), rule=rule)
