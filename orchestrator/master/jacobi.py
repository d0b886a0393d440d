"""Jacobi: all components exchange at the beginning of a step, then all are stepped."""

from __future__ import annotations

from orchestrator.system import System


def groups(system: System) -> tuple[tuple[str, ...], ...]:
    """Put all components into one group."""
    return (tuple(system.components),) if system.components else ()
