"""How a system wants to be run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DefaultExperiment:
    """How a system wants to be run where nothing else is said (times in nanoseconds)."""

    start_ns: int = 0
    stop_ns: int | None = None
    step_ns: int | None = None
    algorithm: str | None = None
