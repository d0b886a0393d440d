"""Readings of the engine's histories against the plain formula, through the smallest engine."""

import numpy as np
import pytest

from orchestrator.engine import Engine
from orchestrator.master.schedule import Beyond, Code, Reading

H = 10


def read(samples, reading, shift, depth):
    """Push samples, one per step, and read after each; returns what was read at each step."""
    engine = Engine(
        2,
        [],
        [(0, depth, reading, Beyond.LINEAR, -1)],
        [],
        [],
        [(0, 1, shift, 0, 1.0, 0.0)],
        [(Code.READ, 0, 1), (Code.PUSH, 0, 1)],
    )
    signals = engine.signals
    signals[0] = samples[0]
    engine.start(0, H)
    found = []
    for sample in samples[1:]:
        signals[0] = sample
        engine.run(1)
        found.append(signals[1])
    return found


@pytest.mark.parametrize("shift", range(-55, 30))
def test_linear(shift):
    samples = np.random.default_rng(3).normal(size=200)
    depth = -(-max(0, -shift) // H) + 3
    found = read(samples, Reading.LINEAR, shift, depth)
    for n, value in enumerate(found):
        at = n * H + shift
        if at <= 0 or n == 0:
            expected = samples[0]
        else:
            low = min(at // H, n - 1)
            weight = (at - low * H) / H
            expected = (1 - weight) * samples[low] + weight * samples[low + 1]
        # Extrapolated by up to three steps: a few roundings of numbers up to 10.
        assert value == pytest.approx(expected, rel=0, abs=1e-14)


@pytest.mark.parametrize("shift", range(-55, 1))
def test_hold(shift):
    samples = np.arange(1.0, 201.0)
    depth = -(-max(0, -shift) // H) + 3
    found = read(samples, Reading.HOLD, shift, depth)
    expected = [samples[max(0, (n * H + shift) // H)] for n in range(199)]
    assert found == expected
