"""Guards on rigs that are well: they change nothing, and their limits are far."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reproduction.famdc import axial_rig, spatial_rig
from reproduction.famdc.example import example, run

SEEDS = range(10)
STORED = 0.5 * 5e4 * axial_rig.OFFSET**2  # J, in the contact at the start: 2.5
STORED_IN_SPACE = float(0.5 * (spatial_rig.K * spatial_rig.OFFSET**2).sum())  # 5.4


def unknown_way(columns: dict[str, np.ndarray], place: str, known: str) -> float:
    """How far the contact moves at most from where it was last known, m."""
    x, is_known = columns[place], columns[known] > 0.5
    last = np.maximum.accumulate(np.where(is_known, np.arange(x.size), 0))
    return float(np.abs(x - x[last]).max())


@pytest.mark.parametrize("table", axial_rig.TABLES)
def test_on_one_axis_the_guards_change_no_bit(plants: Path, table: str) -> None:
    """So they add no delay."""
    plain = run(axial_rig.rig(plants, table), axial_rig.noise())
    guarded = run(axial_rig.rig(plants, table, "guarded"), axial_rig.noise())
    for name, column in plain.items():
        np.testing.assert_array_equal(guarded[name], column, err_msg=name)


def test_in_space_the_guards_change_no_bit(plants: Path) -> None:
    plain = run(spatial_rig.rig(plants), spatial_rig.noise(), stop="2 s")
    guarded = run(example("spatial_guarded"), spatial_rig.noise(), stop="2 s")
    for name, column in plain.items():
        np.testing.assert_array_equal(guarded[name], column, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("table", axial_rig.TABLES)
def test_no_false_alarm_on_one_axis(plants: Path, table: str) -> None:
    for seed in SEEDS:
        columns = run(axial_rig.rig(plants, table, "guarded"), axial_rig.noise(seed=seed))
        assert not columns["command_guard.reason"].any()
        assert not columns["force_guard.reason"].any()
        # A contact gives no more than it stored, and noise adds 2 mJ; the limit is 3.75 J.
        assert columns["force_guard.energy"].max() < STORED
        assert np.abs(columns["command_guard.slope"]).max() < 4.0  # of 10 m/s2
        assert np.abs(columns["command_guard.rate"]).max() < 0.13  # of 0.3 m/s
        assert np.abs(columns["force_guard.applied"]).max() < 510.0  # of 2000 N
        gap = columns["force_guard.applied"] - columns["sensor.measured"]
        assert np.abs(gap).max() < 160.0  # of 400 N
        assert unknown_way(columns, "robot.position", "identifier.converged") < 0.008  # of 15 mm


@pytest.mark.parametrize("seed", SEEDS)
def test_no_false_alarm_in_space(plants: Path, seed: int) -> None:
    """2 s: all that is largest is so in the first half second."""
    columns = run(example("spatial_guarded"), spatial_rig.noise(seed=seed), stop="2 s")
    assert not columns["command_guard.reason"].any()
    assert not columns["wrench_guard.reason"].any()
    assert columns["wrench_guard.energy"].max() < STORED_IN_SPACE  # of 8 J
    assert columns["command_guard.slope"].max() < 6.0  # of 20 m/s2
    for i in range(3):
        way = unknown_way(columns, f"captured.offset[{i}]", f"identifier.converged[{i}]")
        assert way < 0.012  # of 15 mm


@pytest.mark.slow
def test_no_false_alarm_while_the_contact_doubles(plants: Path) -> None:
    """Table 4 with 10 mN of noise: what an actuator does to a contact is not passive."""
    system = example("spatial_guarded")
    for name, value in {"k_swing": spatial_rig.K, "c_swing": spatial_rig.C}.items():
        system = system.set(f"contact.{name}", tuple(value.tolist()))
    columns = run(system, spatial_rig.noise(0.01))
    assert not columns["command_guard.reason"].any()
    assert not columns["wrench_guard.reason"].any()
    assert columns["wrench_guard.energy"].max() < STORED_IN_SPACE
