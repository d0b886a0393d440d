"""Closed loops, right and wrong."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_cases.case import (
    Case,
    pair,
    ring,
    run,
)
from orchestrator.core.simunits import block
from orchestrator.core.system import System

LOOPS: Mapping[str, Case] = {
    "LOO101": Case(lambda _: ring("strict_lag"), lambda _: pair()),
    "LOO102": Case(lambda _: ring("gain", "gain"), lambda _: ring("strict_lag")),
    "LOO103": Case(
        lambda _: ring("gain", "gain"),
        lambda _: ring("strict_lag"),
        run=run(algorithm="newton"),
    ),
    "LOO104": Case(lambda _: ring("strict_lag"), lambda _: ring("strict_lag", delay="4 ms")),
    "LOO105": Case(lambda _: _many(30), lambda _: _many(5)),
    "LOO107": Case(
        lambda _: ring("gain", "gain"),
        lambda _: ring("strict_lag"),
        run=run(algorithm="jacobi", options={"algebraic_loops": "delay"}),
    ),
    "LOO106": Case(lambda _: _fan(20), lambda _: ring("strict_lag")),
}


def _many(count: int) -> System:
    """So many loops, each by itself."""
    system = System("many")
    for number in range(count):
        lag = f"lag{number}"
        system = system.add(lag, block("strict_lag")).connect(f"{lag}.y", f"{lag}.u")
    return system


def _fan(count: int) -> System:
    """A ring of sums of which each also takes those further back: many rings for few components.

    The connections from the last two back to the first are delayed, so that no loop is algebraic.
    """
    system = System("fan")
    for number in range(count):
        system = system.add(f"s{number}", block("sum"))
    for number in range(count):
        for back in (1, 2):
            delay = "5 ms" if back > number else None
            source = f"s{(number - back) % count}.y"
            system = system.connect(source, f"s{number}.u{back}", delay=delay)
    return system
