"""A rod against the wire rope as it ships: the order of the nodes, and what is handed over."""

from cmath import exp
from pathlib import Path

import numpy as np
import pytest

from orchestrator import apply_parameter_set, read_system, simulate
from orchestrator.study import read_experiment

EXAMPLE = Path(__file__).parents[3] / "examples" / "impact"


def run(system):
    return simulate(system, stop="65 ms")  # beyond the peak of each


@pytest.mark.slow
def test_order_of_the_nodes_in_figure_28(plants):
    """Largest at node 5, then 25, 20, 10; measured 3.91, 2.81, 2.58 and 2.45 N."""
    rope = read_system(EXAMPLE / "rope.ssd")
    found = {
        node: run(apply_parameter_set(rope, EXAMPLE / f"rope_{node:02}.ssv"))
        for node in (5, 25, 20, 10)
    }
    peaks = {node: -one["rope.force"].min() for node, one in found.items()}
    assert sorted(peaks, key=peaks.get, reverse=True) == [5, 25, 20, 10]
    assert peaks[5] == pytest.approx(3.907, abs=0.002)
    for one in found.values():
        lost = 1.47 * (0.06 - one["rod.velocity"][-1])
        assert lost == pytest.approx(one["rope.impulse"][-1], rel=2e-3)  # force held over a step


def test_virtual_spring_of_eq_46(plants):
    """Energy in closed form: m v^2/2 = 2089 d^2/2 + 4.13e4 d^3/3, to the fit's difference."""
    found = run(read_system(EXAMPLE / "spring.ssd"))
    depth = found["spring.compression"].max()
    kinetic = 0.5 * 1.47 * 0.06**2
    assert 2089 * depth**2 / 2 + 4.13e4 * depth**3 / 3 == pytest.approx(kinetic, rel=5e-3)
    force = found["spring.force_b"].max()
    assert force == pytest.approx(4.13e4 * depth**2 + 2089 * depth, rel=5e-3)


def test_the_experiment_has_all_nodes_and_speeds():
    cases = read_experiment(EXAMPLE / "rope.toml").case
    wanted = {f"node_{n:02}_{v}" for n in (5, 10, 16, 20, 25) for v in ("06", "08", "10")}
    assert wanted <= set(cases)


@pytest.mark.parametrize(("stiffness", "delay"), [(300.0, 0.006), (2089.0, 0.006), (500.0, 0.024)])
def test_the_loop_that_a_rig_must_carry(plants, stiffness, delay):
    """m s^2 + b s + k exp(-h s) = 0: only the rope is behind the delay."""
    system = read_system(EXAMPLE / "rig_latched.ssd").set("sensor.k", stiffness)
    result = simulate(
        system.with_delay("robot.x", "sensor.x", delay), step="1 ms", stop="3 s", delay="mean"
    )
    root = complex(0.0, (stiffness / 1.47) ** 0.5)
    for _ in range(50):
        late = stiffness * exp(-delay * root)
        value = 1.47 * root**2 + 10.0 * root + late
        root -= value / (2.94 * root + 10.0 - delay * late)
    place, time = result["rod.position"], result.time
    top = np.flatnonzero((place[1:-1] > place[:-2]) & (place[1:-1] >= place[2:])) + 1
    top = top[time[top] > 0.2]
    growth = np.polyfit(time[top], np.log(place[top]), 1)[0]
    assert growth == pytest.approx(root.real, abs=0.02)  # tops are seen every ms only
