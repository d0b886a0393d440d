"""Jacobi: all components exchange at the beginning of a step, then all are stepped."""

from __future__ import annotations

from orchestrator.master.plan import Group, Plan
from orchestrator.system import System


def plan(system: System) -> Plan:
    """Put all components into one group."""
    return Plan((Group(tuple(system.components)),), latch_at_end=False)
