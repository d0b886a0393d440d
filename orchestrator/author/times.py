"""Times as a person writes them."""

from __future__ import annotations

from orchestrator.core.system.step_length import StepLength, step_text

_UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def time_text(ns: int) -> str:
    """Write whole nanoseconds in the largest unit of which they are a whole number: ``"16 ms"``."""
    if isinstance(ns, StepLength):
        return step_text(ns)
    unit, size = next((name, size) for name, size in _UNITS if ns % size == 0)
    return f"{ns // size} {unit}"
