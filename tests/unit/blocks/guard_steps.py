"""Steps of guards without an engine, for the tests of the blocks."""

from __future__ import annotations

import math

from orchestrator.core.simunits import Block
from python_blocks.safety.axis_guard import AxisGuard

H = 1e-3


def started(block: Block, t: float = 0.0) -> Block:
    block.initialise(t)
    return block


def moved(block: Block, t: float, h: float = H, **inputs: object) -> Block:
    """Set inputs and do a step from t."""
    for name, value in inputs.items():
        block.assign(block.connectors[name], value)
    block.step(t, h)
    return block


def swinging(t: float) -> tuple[float, float]:
    """10 mm at 2 Hz: 0.126 m/s, 1.58 m/s2."""
    w = 4 * math.pi
    return 0.01 * math.cos(w * t), -0.01 * w * math.sin(w * t)


def axis(until: float = 0.3, h: float = H, **values: object) -> AxisGuard:
    """A guard that has seen the swing up to a time."""
    guard = started(AxisGuard(position=0.01, **values))
    for n in range(round(until / h)):
        x, v = swinging((n + 1) * h)
        moved(guard, n * h, h, position=x, velocity=v)
    return guard
