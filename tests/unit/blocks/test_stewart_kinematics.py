from __future__ import annotations

import casadi as ca
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from orchestrator.core.diagnostics import DescriptionError, StepError
from python_blocks.kinematics.capture_point import CapturePoint
from python_blocks.kinematics.control_point import ControlPoint
from python_blocks.kinematics.rotation import cross, matrix, turned
from python_blocks.kinematics.stewart import (
    StewartGeometry,
    condition,
    forward,
    jacobian,
    leg_lengths,
)
from python_blocks.kinematics.stewart_forward import StewartForward
from python_blocks.kinematics.stewart_inverse import StewartInverse

ROBOT = StewartGeometry()
HOME = np.array([0.0, 0.0, 1.8])
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def scalar_first(rotation):
    return rotation.as_quat()[[3, 0, 1, 2]]


def any_pose(random, spread=1.0):
    attitude = Rotation.from_rotvec(0.25 * spread * random.uniform(-1, 1, 3))
    return HOME + 0.2 * spread * random.uniform(-1, 1, 3), scalar_first(attitude)


@pytest.fixture
def random():
    return np.random.default_rng(22)


def test_rotations_are_those_of_scipy(random):
    for _ in range(10):
        rotation = Rotation.random(random_state=random)
        q = scalar_first(rotation)
        np.testing.assert_allclose(matrix(3.0 * q), rotation.as_matrix(), atol=1e-14)
        angle = random.normal(size=3) * random.choice([1e-9, 1e-3, 1.0])
        expected = (Rotation.from_rotvec(angle) * rotation).as_matrix()
        np.testing.assert_allclose(matrix(turned(q, angle)), expected, atol=1e-14)
    a, b = random.normal(size=(2, 3))
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))


def in_mujoco(position, q):
    """Lengths of six tendons between sites, and how they change with the motion of the body."""
    base = "".join(
        f'<site name="b{i}" pos="{" ".join(map(repr, p))}"/>'
        for i, p in enumerate(ROBOT.base.tolist())
    )
    top = "".join(
        f'<site name="p{i}" pos="{" ".join(map(repr, p))}"/>'
        for i, p in enumerate(ROBOT.platform.tolist())
    )
    tendons = "".join(
        f'<spatial><site site="b{i}"/><site site="p{i}"/></spatial>' for i in range(6)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{base}<body><freejoint/><inertial pos="0 0 0" mass="1"'
        f' diaginertia="1 1 1"/>{top}</body></worldbody><tendon>{tendons}</tendon></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*position, *q]
    mujoco.mj_forward(model, data)
    rates = np.zeros((6, 6))
    for column, unit in enumerate(np.eye(6)):
        data.qvel[:3], data.qvel[3:] = unit[:3], matrix(q).T @ unit[3:]
        mujoco.mj_forward(model, data)
        rates[:, column] = data.ten_velocity
    return data.ten_length.copy(), rates


def test_lengths_and_jacobian_are_those_of_mujoco(random):
    for _ in range(5):
        position, q = any_pose(random)
        lengths, rates = in_mujoco(position, q)
        found, ours = jacobian(ROBOT, position, q)
        np.testing.assert_allclose(found, lengths, rtol=1e-14)
        np.testing.assert_allclose(leg_lengths(ROBOT, position, q), lengths, rtol=1e-14)
        np.testing.assert_allclose(ours, rates, atol=1e-13)


def test_casadi_traces_the_lengths(random):
    p, q = ca.SX.sym("p", 3), ca.SX.sym("q", 4)
    traced = ca.vertcat(*leg_lengths(ROBOT, [p[i] for i in range(3)], [q[i] for i in range(4)]))
    slopes = ca.Function("slopes", [p, q], [traced, ca.jacobian(traced, p)])
    position, attitude = any_pose(random)
    lengths, rates = slopes(position, attitude)
    found, ours = jacobian(ROBOT, position, attitude)
    np.testing.assert_allclose(np.array(lengths).ravel(), found, rtol=1e-14)
    np.testing.assert_allclose(np.array(rates), ours[:, :3], atol=1e-14)


def test_forward_finds_the_pose_back(random):
    worst = 0
    for _ in range(50):
        position, q = any_pose(random)
        lengths = np.array(leg_lengths(ROBOT, position, q))
        pose = forward(ROBOT, lengths, HOME, UPRIGHT)
        assert pose.solves(1e-10)
        # The lengths are right to 1e-10 m; condition numbers are below 30 here.
        np.testing.assert_allclose(pose.position, position, atol=1e-8)
        np.testing.assert_allclose(matrix(pose.q), matrix(q), atol=1e-8)
        worst = max(worst, pose.iterations)
    assert worst <= 8
    warm = forward(ROBOT, lengths + 1e-4, pose.position, pose.q)
    assert warm.iterations <= 2  # 0.1 mm from the last pose


def test_forward_says_where_there_is_no_pose():
    lengths = np.full(6, 2.0)
    lengths[0] = 9.0
    pose = forward(ROBOT, lengths, HOME, UPRIGHT)
    assert not pose.solves(1e-10)
    assert pose.residual > 0.1
    assert np.isfinite(pose.position).all()


def test_condition_grows_to_infinity_at_a_singular_pose():
    # Platform and base joints in line with each other, turned by 90 degrees: a known singularity.
    angles = [0.0, 30.0, 60.0, 80.0, 89.0, 89.99]
    found = []
    for angle in angles:
        q = scalar_first(Rotation.from_euler("z", angle, degrees=True))
        found.append(condition(ROBOT, jacobian(ROBOT, HOME, q)[1]))
    assert found == sorted(found)
    assert found[0] < 10.0
    assert found[-1] > 1e3


def test_geometry_refuses_what_is_none(wording):
    with wording.raises(DescriptionError):
        StewartGeometry(base_radius=0.0)


def inverse_block(**values):
    block = StewartInverse(**values)
    block.initialise(0.0)
    return block


def test_blocks_undo_each_other(random):
    for _ in range(5):
        position, q = any_pose(random, 0.5)
        twist = random.normal(size=6)
        there = inverse_block(position=tuple(position), q=tuple(q))
        there.velocity[:], there.w[:] = twist[:3], twist[3:]
        there.step(0.0, 1e-3)
        back = StewartForward(length=tuple(there.length), rate=tuple(there.rate))
        back.initialise(0.0)
        assert there.healthy
        assert back.healthy
        np.testing.assert_allclose(back.position, position, atol=1e-9)
        np.testing.assert_allclose(matrix(back.q), matrix(q), atol=1e-9)
        np.testing.assert_allclose([*back.velocity, *back.w], twist, atol=1e-8)


def test_rates_of_the_inverse_are_those_of_the_lengths(random):
    position, q = any_pose(random, 0.5)
    velocity, w, h = random.normal(size=3), random.normal(size=3), 1e-6
    block = inverse_block(
        position=tuple(position), q=tuple(q), velocity=tuple(velocity), w=tuple(w)
    )
    ahead = leg_lengths(ROBOT, position + h * velocity, turned(q, h * w))
    before = leg_lengths(ROBOT, position - h * velocity, turned(q, -h * w))
    slope = (np.array(ahead) - np.array(before)) / (2 * h)
    np.testing.assert_allclose(block.rate, slope, atol=1e-8)


def test_beyond_the_limits_is_not_healthy_and_stops_if_asked(wording):
    high = (0.0, 0.0, 2.9)
    block = inverse_block(position=high)
    assert not block.healthy
    assert block.margin == pytest.approx(2.8 - np.sqrt(2.9**2 + 0.6519238), abs=1e-6)
    assert (block.length == 2.8).all()
    assert not block.rate.any()
    with wording.raises(StepError):
        inverse_block(position=high, stop=True)


def test_a_pose_that_is_no_number_keeps_the_lengths():
    block = inverse_block()
    kept = block.length.copy()
    block.position[0] = np.nan
    block.step(0.0, 1e-3)
    assert not block.healthy
    np.testing.assert_array_equal(block.length, kept)


def test_a_singular_pose_is_not_healthy(wording):
    q = tuple(scalar_first(Rotation.from_euler("z", 89.99, degrees=True)))
    block = inverse_block(q=q, longest=3.0)
    assert not block.healthy
    with wording.raises(StepError):
        inverse_block(q=q, longest=3.0, stop=True)


@pytest.mark.parametrize("length", [9.0, float("nan")])
def test_forward_block_holds_the_last_pose(length, wording):
    block = StewartForward()
    block.initialise(0.0)
    good = block.position.copy()
    block.length[0], block.rate[:] = length, 1.0
    block.step(0.0, 1e-3)
    assert not block.healthy
    np.testing.assert_array_equal(block.position, good)
    assert not block.velocity.any()
    block.length[0], block.rate[:] = 1.973, 0.0
    block.step(0.0, 1e-3)
    assert block.healthy
    stopping = StewartForward(length=(length, *[1.973] * 5), stop=True)
    with wording.raises(StepError):
        stopping.initialise(0.0)


def test_control_and_captured_point(random):
    """A body that turns: points and velocities by differences of poses."""
    rotation = Rotation.random(random_state=random)
    s, v, w = random.normal(size=(3, 3))
    h = 1e-6

    def points(time):
        q = scalar_first(Rotation.from_rotvec(time * w) * rotation)
        control = ControlPoint(s=tuple(s + time * v), q=tuple(q), v=tuple(v), w=tuple(w))
        control.initialise(0.0)
        captured = CapturePoint(
            position=tuple(control.position), q=tuple(q), velocity=tuple(control.velocity),
            w=tuple(w), drag=(0.0, 0.0, 0.1 * time), drag_rate=(0.0, 0.0, 0.1),
        )  # fmt: skip
        captured.initialise(0.0)
        return control, captured

    (control, captured), (later, at_later), (before, at_before) = points(0.0), points(h), points(-h)
    R = rotation.as_matrix()
    np.testing.assert_allclose(control.position, s + [0, 0, 0.3] + R @ [0, 0, -1.0], atol=1e-14)
    np.testing.assert_allclose(captured.offset, s + R @ [0, 0, -1.5] - [0, 0, 1.0], atol=1e-14)
    rate = (later.position - before.position) / (2 * h)
    np.testing.assert_allclose(control.velocity, rate, atol=1e-8)
    rate = (at_later.offset - at_before.offset) / (2 * h)
    np.testing.assert_allclose(captured.rate, rate, atol=1e-8)
