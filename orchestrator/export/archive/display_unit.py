"""Units to display: they never stop a build, one that cannot be used is left out."""

from __future__ import annotations

from functools import cache

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.system import conversion


@cache
def display_misfit(unit: str, display: str) -> str:
    """Why values in a unit cannot be displayed in another one; empty if they can."""
    try:
        conversion(unit, display)
    except SoftdockError as error:
        return str(error)
    return ""
