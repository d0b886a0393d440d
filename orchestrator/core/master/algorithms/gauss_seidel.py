"""Gauss-Seidel: one component after the other, each with the newest values of those before it."""

from __future__ import annotations

from orchestrator.core.master.algorithms.plan import Group, Plan, levels, stepping_order
from orchestrator.core.system import System


def plan(system: System) -> Plan:
    """Step sources before targets; components that have nothing to tell each other share a group.

    Such a group can be stepped by several threads. A delay of two steps or more binds no order.
    """
    order = [name for ring in stepping_order(system) for name in ring]
    return Plan(tuple(Group(group) for group in levels(system, order)))
