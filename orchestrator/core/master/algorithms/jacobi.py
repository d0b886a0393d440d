"""Jacobi: all components exchange at the beginning of a step, then all are stepped."""

from __future__ import annotations

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms.plan import Group, Plan
from orchestrator.core.system import System

_WAYS = {"refuse": False, "delay": True}


def plan(system: System, algebraic_loops: str = "refuse") -> Plan:
    """Put all components into one group.

    Parameters
    ----------
    system
        What is to be stepped.
    algebraic_loops
        What becomes of loops of direct feed-through that no delay cuts: ``"refuse"``, or
        ``"delay"``: every unit hands on in a step what came before it, which delays the signals of
        the loop by one step for each unit. Nothing is solved then.
    """
    if algebraic_loops not in _WAYS:
        raise UnknownNameError(
            f"algebraic_loops: expected one of {', '.join(_WAYS)}, found {algebraic_loops!r}"
        )
    groups = (Group(tuple(system.components)),)
    return Plan(groups, latch_at_end=False, delays_loops=_WAYS[algebraic_loops])
