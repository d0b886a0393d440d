"""Blocks that judge signals take any number and any that is none: no error, no trace that stays."""

from __future__ import annotations

import math
from importlib.metadata import entry_points

import numpy as np
import pytest

from orchestrator.core.simunits import Block
from orchestrator.core.system import Causality, Connector, DataType

JUDGES = [
    "axis_guard",
    "force_guard",
    "pose_guard",
    "wrench_guard",
    "phase_lead",
    "wrench_phase_lead",
    "identifier",
    "triple_identifier",
    "force_compensation",
    "stewart_inverse",
    "stewart_forward",
]
BAD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e200, 1e160, 5e-324, 0.0, -1.0]
SEEDS = range(60)


def draw(block: Block, random: np.random.Generator, share: float) -> None:
    """Give every input a value near its start, a share of the elements something bad."""
    for connector in inputs(block):
        if connector.type is not DataType.REAL:
            block.assign(connector, False if connector.type is DataType.BOOLEAN else 0)
            continue
        values = np.ravel(connector.start) + 0.01 * random.normal(size=connector.size)
        for i in np.flatnonzero(random.random(connector.size) < share):
            values[i] = BAD[random.integers(len(BAD))]
        block.assign(connector, tuple(values) if connector.shape else float(values[0]))


def inputs(block: Block) -> list[Connector]:
    return [c for c in block.connectors.values() if c.causality is Causality.INPUT]


def expect_numbers(block: Block) -> None:
    for connector in block.connectors.values():
        if connector.causality is Causality.OUTPUT:
            value = np.asarray(getattr(block, connector.name), dtype=float)
            assert np.isfinite(value).all(), f"{connector.name} = {value}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", JUDGES)
def test_outputs_are_numbers_whatever_comes_in(name: str, seed: int) -> None:
    """From the first sample on, at any time, in steps of 1 ns, 1 ms and 10 ms, and after it."""
    (entry,) = entry_points(group="softdock.blocks", name=name)
    random = np.random.default_rng(seed)
    block = entry.load()()
    t = float(random.choice([-5.0, 0.0, 1e6]))
    draw(block, random, random.choice([0.0, 0.3]))
    block.initialise(t)
    expect_numbers(block)
    for _ in range(30):
        draw(block, random, random.choice([0.0, 0.1, 0.5]))
        h = float(random.choice([1e-9, 1e-3, 1e-2]))
        block.step(t, h)
        expect_numbers(block)
        t += h


@pytest.mark.parametrize("bad", BAD[:7])
@pytest.mark.parametrize("name", ["phase_lead", "wrench_phase_lead"])
def test_a_bad_sample_leaves_no_trace_in_a_lead(name: str, bad: float) -> None:
    """Its memory is 0.2 ms: after 200 ms nothing of a sample that was replaced can be left."""
    (entry,) = entry_points(group="softdock.blocks", name=name)
    block = entry.load()()
    draw(block, np.random.default_rng(0), 0.0)
    block.initialise(0.0)
    for connector in inputs(block):
        block.assign(connector, (bad,) * 3 if connector.shape else bad)
    block.step(0.0, 1e-3)
    assert block.sensor_lost
    for connector in inputs(block):
        block.assign(connector, (7.0,) * 3 if connector.shape else 7.0)
    for n in range(200):
        block.step(1e-3 * (n + 1), 1e-3)
    assert not block.sensor_lost
    np.testing.assert_allclose(block.force, 7.0, rtol=1e-12)


@pytest.mark.parametrize("bad", BAD[:7])
def test_the_identifier_finds_the_contact_after_a_bad_sample(bad: float) -> None:
    (entry,) = entry_points(group="softdock.blocks", name="identifier")
    block = entry.load()()
    block.initialise(0.0)
    for n in range(3000):
        t = 1e-3 * (n + 1)
        x, v = 0.01 * math.sin(12 * t), 0.12 * math.cos(12 * t)
        block.position, block.velocity, block.force = x, v, 5e4 * x + 100 * v
        if n == 1000:
            block.force = bad
        block.step(t - 1e-3, 1e-3)
        assert block.sensor_lost == (n == 1000)
    assert block.stiffness == pytest.approx(5e4, rel=1e-3)


@pytest.mark.parametrize("bad", BAD[:7])
def test_the_robot_is_found_again_after_a_bad_length(bad: float) -> None:
    (entry,) = entry_points(group="softdock.blocks", name="stewart_forward")
    block = entry.load()()
    block.initialise(0.0)
    good, pose = block.length.copy(), block.position.copy()
    block.length[2] = bad
    block.step(0.0, 1e-3)
    assert not block.healthy
    np.testing.assert_array_equal(block.position, pose)
    block.length[:] = good
    block.step(1e-3, 1e-3)
    assert block.healthy
    np.testing.assert_allclose(block.position, pose, rtol=0, atol=1e-9)
