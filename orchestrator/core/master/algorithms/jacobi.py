"""Jacobi: all components exchange at the beginning of a step, then all are stepped."""

from __future__ import annotations

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms.plan import Group, Plan
from orchestrator.core.system import System

_WAYS = {"refuse": False, "delay": True}


def plan(system: System, algebraic_loops: str = "refuse") -> Plan:
    """Put all components into one group."""
    if algebraic_loops not in _WAYS:
        raise UnknownNameError(
            f"algebraic_loops: expected one of {', '.join(_WAYS)}, found {algebraic_loops!r}"
        )
    groups = (Group(tuple(system.components)),)
    return Plan(groups, latch_at_end=False, delays_loops=_WAYS[algebraic_loops])
