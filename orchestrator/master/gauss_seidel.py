"""Gauss-Seidel: one component after the other, each with the newest values of those before it."""

from __future__ import annotations

from orchestrator.master.order import stepping_order
from orchestrator.master.plan import Group, Plan
from orchestrator.system import System


def plan(system: System) -> Plan:
    """Put every component into a group of its own, sources before targets."""
    order = [name for ring in stepping_order(system) for name in ring]
    return Plan(tuple(Group((name,)) for name in order))
