"""Closed loops, right and wrong."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.simunits import block
from orchestrator.system import (
    System,
)
from shapes.shape import (
    Shape,
    pair,
    ring,
    run,
)

LOOPS: Mapping[str, Shape] = {
    "LOO101": Shape(lambda _: ring("strict_lag"), lambda _: pair()),
    "LOO102": Shape(lambda _: ring("gain", "gain"), lambda _: ring("strict_lag")),
    "LOO103": Shape(
        lambda _: ring("gain", "gain"),
        lambda _: ring("strict_lag"),
        run=run(algorithm="newton"),
    ),
    "LOO104": Shape(lambda _: ring("strict_lag"), lambda _: ring("strict_lag", delay="4 ms")),
    "LOO105": Shape(lambda _: _many(30), lambda _: _many(5)),
    "LOO106": Shape(lambda _: _fan(20), lambda _: ring()),
}


def _many(count: int) -> System:
    """So many loops, each by itself."""
    system = System("many")
    for number in range(count):
        lag = f"lag{number}"
        system = system.add(lag, block("strict_lag")).connect(f"{lag}.y", f"{lag}.u")
    return system


def _fan(count: int) -> System:
    """A ring of sums of which each also takes those further back: many rings for few components."""
    system = System("fan")
    for number in range(count):
        system = system.add(f"s{number}", block("sum"))
    for number in range(count):
        for back in (1, 2):
            system = system.connect(f"s{(number - back) % count}.y", f"s{number}.u{back}")
    return system
