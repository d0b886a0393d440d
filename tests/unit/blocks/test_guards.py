"""Guards as blocks: what passes, and what latches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from unit.blocks.guard_steps import H, axis, moved, started, swinging

from orchestrator import Reason
from python_blocks.safety.axis_guard import AxisGuard
from python_blocks.safety.force_guard import ForceGuard
from python_blocks.safety.pose_guard import PoseGuard
from python_blocks.safety.wrench_guard import WrenchGuard

BAD = pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])


# --- what passes ---------------------------------------------------------------------------


def test_in_operation_all_passes_bit_for_bit() -> None:
    random = np.random.default_rng(1)
    guard, force = started(AxisGuard(position=0.01)), started(ForceGuard(limit=1e9))
    wrench = started(WrenchGuard(limit=1e9, torque_limit=1e9, disagreement=1e9))
    for n in range(300):
        x, v = swinging((n + 1) * H)
        moved(guard, n * H, position=x, velocity=v)
        assert (guard.command, guard.rate) == (x, v)
        f = float(random.normal(0, 100))
        moved(force, n * H, force=f, measured=f)
        assert force.applied == f
        six = random.normal(0, 100, 6)
        moved(wrench, n * H, force=six[:3], torque=six[3:], measured_force=six[:3])
        assert [*wrench.applied_force, *wrench.applied_torque] == six.tolist()
    assert (guard.reason, force.reason, wrench.reason) == (0, 0, 0)


def test_a_pose_passes_bit_for_bit() -> None:
    guard = started(PoseGuard())
    for n in range(300):
        x, v = swinging((n + 1) * H)
        a = 0.1 * x
        q = (math.cos(a / 2), 0.0, math.sin(a / 2), 0.0)
        moved(
            guard,
            n * H,
            position=(x - 0.01, 0.0, 1.8),
            velocity=(v, 0.0, 0.0),
            q=q,
            w=(0.0, 0.1 * v, 0.0),
        )
        assert guard.command.tolist() == [x - 0.01, 0.0, 1.8]
        assert guard.attitude.tolist() == list(q)
        assert guard.rate.tolist() == [v, 0.0, 0.0]
        assert guard.turn_rate.tolist() == [0.0, 0.1 * v, 0.0]
    assert guard.reason == 0


def test_the_other_sign_of_a_quaternion_is_no_jump() -> None:
    guard = started(PoseGuard())
    moved(guard, 0.0, q=(-1.0, 0.0, 0.0, 0.0))
    assert guard.reason == 0


# --- what latches --------------------------------------------------------------------------


@BAD
@pytest.mark.parametrize("name", ["position", "velocity"])
@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_a_command_that_is_no_number_never_passes(bad: float, name: str, h: float) -> None:
    guard = axis(h=h)
    x, v = guard.command, guard.rate
    moved(guard, 0.3, h, **{name: bad})
    assert guard.reason == Reason.COMMAND_NOT_FINITE
    assert guard.command == pytest.approx(x + v * h - math.copysign(h * h, v), abs=1e-12)
    assert abs(guard.rate) == pytest.approx(abs(v) - 2.0 * h)


@BAD
def test_no_number_from_the_first_sample(bad: float) -> None:
    guard = started(AxisGuard(position=bad, velocity=bad))
    assert (guard.command, guard.rate) == (0.0, 0.0)
    moved(guard, 0.0)
    assert guard.reason == Reason.COMMAND_NOT_FINITE
    force = started(ForceGuard(force=bad, measured=bad))
    assert force.applied == 0.0
    for n in range(11):
        moved(force, n * H)
        assert force.applied == 0.0
    assert force.reason == Reason.FORCE_NOT_FINITE
    wrench = started(WrenchGuard(force=(bad, 0.0, 0.0), s=(bad, bad, bad)))
    for n in range(11):
        moved(wrench, n * H)
        assert np.isfinite(wrench.applied_force).all()
    assert wrench.reason == Reason.FORCE_NOT_FINITE
    pose = started(PoseGuard(position=(bad, 0.0, 1.8)))
    moved(pose, 0.0)
    assert pose.reason == Reason.COMMAND_NOT_FINITE


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"velocity": (0.6, 0.0, 0.0)}, Reason.VELOCITY),
        ({"w": (0.0, 0.6, 0.0)}, Reason.VELOCITY),
        ({"position": (0.0, 0.001, 1.8)}, Reason.VELOCITY),  # 1 m/s
        ({"velocity": (0.03, 0.0, 0.0)}, Reason.ACCELERATION),  # 30 m/s2
        ({"w": (0.0, 0.03, 0.0)}, Reason.ACCELERATION),
        ({"q": (0.99, 0.14106735979665885, 0.0, 0.0)}, Reason.TRAVEL),  # 0.283 rad
        ({"q": (0.0, 0.0, 0.0, 0.0)}, Reason.COMMAND_NOT_FINITE),
        ({"q": (math.nan, 0.0, 0.0, 0.0)}, Reason.COMMAND_NOT_FINITE),
        ({"margin": 0.019}, Reason.LEGS),
        ({"margin": math.nan}, Reason.LEGS),
        ({"condition": 51.0}, Reason.SINGULAR),
        ({"condition": math.nan}, Reason.SINGULAR),
        ({"stop": int(Reason.ENERGY)}, Reason.ENERGY),
    ],
)
def test_what_a_pose_is_stopped_for(inputs: dict[str, object], reason: Reason) -> None:
    guard = started(PoseGuard())
    moved(guard, 0.0, **inputs)
    assert guard.reason == reason
    assert guard.safe
    assert guard.command.tolist() == [0.0, 0.0, 1.8]  # it stood, so it stands


@pytest.mark.parametrize("flag", ["reachable", "solved"])
def test_kinematics_may_fail_for_as_long_as_the_persistence(flag: str) -> None:
    guard = started(PoseGuard())
    for n in range(9):
        moved(guard, n * H, **{flag: False})
    moved(guard, 0.009, **{flag: True})
    assert guard.reason == 0
    for n in range(10):
        moved(guard, 0.011 + n * H, **{flag: False})
    assert guard.reason == Reason.KINEMATICS


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"force": math.nan}, Reason.FORCE_NOT_FINITE),
        ({"measured": math.inf}, Reason.FORCE_NOT_FINITE),
        ({"force": 500.0}, Reason.DISAGREEMENT),
        ({"wrong_sign": True}, Reason.WRONG_SIGN),
        ({"sensor_lost": True}, Reason.SENSOR_LOST),
    ],
)
def test_flags_count_when_they_persist(inputs: dict[str, object], reason: Reason) -> None:
    guard = started(ForceGuard())
    for n in range(9):
        moved(guard, n * H, **inputs)
        assert guard.reason == 0, n
    moved(guard, 0.009)
    assert guard.reason == reason


def test_a_force_beyond_the_limit_does_not_pass_once() -> None:
    guard = started(ForceGuard(force=100.0, measured=100.0))
    moved(guard, 0.0, force=2001.0)
    assert guard.reason == Reason.FORCE
    assert guard.applied == 100.0


def test_a_sensor_that_stands_still_in_motion() -> None:
    """0.02 m/s are 0.1 mm in 5 ms; the time of 10 ms is what is waited for."""
    guard = started(ForceGuard(force=7.0, measured=7.0))
    for n in range(9):
        moved(guard, n * H, actual=2e-5 * (n + 1))
        assert guard.reason == 0, n
    moved(guard, 0.009, actual=2e-4)
    assert guard.reason == Reason.SENSOR_STALE


def test_a_sensor_that_stands_still_at_rest_is_none_to_stop_for() -> None:
    guard = started(ForceGuard(force=7.0, measured=7.0))
    for n in range(1000):
        moved(guard, n * H, actual=9e-5 * math.sin(n))
    assert guard.reason == 0


def test_the_sensor_is_watched_in_each_direction() -> None:
    """The third force stands still while the contact moves in the third direction."""
    guard = started(WrenchGuard(measured_force=(0.0, 0.0, 5.0), force=(0.0, 0.0, 5.0)))
    for n in range(11):
        shown = (float(n + 1), 0.0, 5.0)
        moved(guard, n * H, measured_force=shown, force=shown, actual=(0.0, 0.0, 2e-5 * (n + 1)))
    assert guard.reason == Reason.SENSOR_STALE


def test_an_unknown_contact_may_move_so_far() -> None:
    guard = started(ForceGuard())
    for n in range(149):
        moved(
            guard, n * H, actual=1e-4 * (n + 1), measured=float(n), force=float(n), converged=False
        )
    assert guard.reason == 0
    moved(guard, 0.149, actual=0.0151, measured=-1.0)
    assert guard.reason == Reason.UNKNOWN_CONTACT
