"""The Stewart platform with legs that have mass, against Pinocchio and against its energy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

# Defaults of the plant, written down again.
M, J, CENTRE = 200.0, np.diag([40.0, 40.0, 60.0]), np.array([0.0, 0.0, 0.1])
LOWER, UPPER = (30.0, 0.4, 2.0), (10.0, 0.5, 0.8)  # mass, place along the leg, inertia across
SCREW = 2 * np.pi / 0.01
HOME = 1.9727959


def circle(radius, half):
    angles = np.radians([0, 0, 120, 120, 240, 240]) + np.radians(half) * np.tile([1, -1], 3)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(6)])


BASE, PLATFORM = circle(1.5, 15.0), circle(1.0, 45.0)


def across(mass, place, inertia):
    return pin.Inertia(mass, np.array([0.0, 0.0, place]), np.diag([inertia, inertia, 0.0]))


@cache
def mechanism():
    """Six legs of two turning joints and a sliding one, and a free platform; loops still open."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    ends = []
    for number, lower in enumerate(BASE):
        at = pin.SE3(np.eye(3), lower)
        one = model.addJoint(0, pin.JointModelRX(), at, f"x{number}")
        two = model.addJoint(one, pin.JointModelRY(), pin.SE3.Identity(), f"y{number}")
        rod = model.addJoint(two, pin.JointModelPZ(), pin.SE3.Identity(), f"rod{number}")
        model.appendBodyToJoint(two, across(*LOWER), pin.SE3.Identity())
        model.appendBodyToJoint(rod, across(UPPER[0], -UPPER[1], UPPER[2]), pin.SE3.Identity())
        ends.append(rod)
    top = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    model.appendBodyToJoint(top, pin.Inertia(M, CENTRE, J), pin.SE3.Identity())
    frames = [
        (
            model.addFrame(
                pin.Frame(f"end{i}", rod, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME)
            ),
            model.addFrame(
                pin.Frame(f"joint{i}", top, 0, pin.SE3(np.eye(3), upper), pin.FrameType.OP_FRAME)
            ),
        )
        for i, (rod, upper) in enumerate(zip(ends, PLATFORM, strict=True))
    ]
    control = model.addFrame(
        pin.Frame("control", top, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME)
    )
    return model, frames, control


def accelerations(state, leg_force, force, torque, armature=0.0):
    """Acceleration of the control point and angular acceleration, world frame.

    The loops are closed by multipliers: M a + b = tau + G' f with G a = -g.
    """
    model, frames, control = mechanism()
    data, world = model.createData(), pin.LOCAL_WORLD_ALIGNED
    R = Rotation.from_quat(state["q"][[1, 2, 3, 0]]).as_matrix()
    legs = state["p"] + PLATFORM @ R.T - BASE
    lengths = np.linalg.norm(legs, axis=1)
    u = legs / lengths[:, None]
    q = np.concatenate(
        [
            np.column_stack([np.arctan2(-u[:, 1], u[:, 2]), np.arcsin(u[:, 0]), lengths]).ravel(),
            state["p"],
            state["q"][[1, 2, 3, 0]],
        ]
    )
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    G = np.vstack(
        [
            pin.getFrameJacobian(model, data, b, world)[:3]
            - pin.getFrameJacobian(model, data, a, world)[:3]
            for a, b in frames
        ]
    )
    nu = np.zeros(24)
    nu[18:] = [*(R.T @ state["v"]), *(R.T @ state["w"])]
    nu[:18] = np.linalg.solve(G[:, :18], -G[:, 18:] @ nu[18:])
    pin.forwardKinematics(model, data, q, nu, np.zeros(24))
    pin.updateFramePlacements(model, data)
    drift = np.concatenate(
        [
            pin.getFrameClassicalAcceleration(model, data, b, world).linear
            - pin.getFrameClassicalAcceleration(model, data, a, world).linear
            for a, b in frames
        ]
    )
    tau = np.zeros(24)
    tau[2:18:3] = leg_force
    tau += pin.getFrameJacobian(model, data, control, world).T @ np.concatenate([force, torque])
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    mass[range(2, 18, 3), range(2, 18, 3)] += armature
    bias = pin.nonLinearEffects(model, data, q, nu)
    whole = np.block([[mass, -G.T], [G, np.zeros((18, 18))]])
    a = np.linalg.solve(whole, np.concatenate([tau - bias, -drift]))[:24]
    pin.forwardKinematics(model, data, q, nu, a)
    pin.updateFramePlacements(model, data)
    found = pin.getFrameClassicalAcceleration(model, data, control, world)
    return found.linear, found.angular


def any_state(random):
    attitude = Rotation.from_rotvec(0.2 * random.normal(size=3))
    return {
        "p": np.array([0.0, 0.0, 1.8]) + 0.1 * random.normal(size=3),
        "q": attitude.as_quat()[[3, 0, 1, 2]],
        "v": random.normal(size=3),
        "w": random.normal(size=3),
    }


def test_platform_accelerates_as_in_pinocchio(open_model, random):
    ours = open_model("StewartPlatform")
    for _ in range(10):
        state = any_state(random)
        acting = {"force": 300 * random.normal(size=3), "torque": 300 * random.normal(size=3)}
        leg_force = 500 * random.normal(size=6)
        ours.set_states(**state)
        ours.set(leg_force=leg_force, **acting)
        linear, angular = accelerations(state, leg_force, **acting)
        # Linear systems of 6 and 42 unknowns with condition numbers of up to 1e5.
        np.testing.assert_allclose(ours.rate("v"), linear, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.rate("w"), angular, rtol=1e-9, atol=1e-9)


def test_robot_accelerates_as_in_pinocchio_with_its_motors(open_model, random):
    ours = open_model("StewartRobot")
    for _ in range(5):
        state, current = any_state(random), 5 * random.normal(size=6)
        acting = {"force": 300 * random.normal(size=3), "torque": 300 * random.normal(size=3)}
        ours.set_states(**state, current=current)
        ours.set(**acting)
        torque = 0.5 * current - 2e-3 * SCREW * ours.get("velocity")
        linear, angular = accelerations(state, SCREW * torque, **acting, armature=2e-3 * SCREW**2)
        np.testing.assert_allclose(ours.rate("v"), linear, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.rate("w"), angular, rtol=1e-9, atol=1e-9)


def test_lengths_and_rates_are_those_of_the_geometry(open_model, random):
    ours = open_model("StewartPlatform")
    assert ours.get("length") == pytest.approx(np.full(6, HOME), abs=1e-6)
    state = any_state(random)
    ours.set_states(**state)
    R = Rotation.from_quat(state["q"][[1, 2, 3, 0]]).as_matrix()
    arms = PLATFORM @ R.T
    legs = state["p"] + arms - BASE
    lengths = np.linalg.norm(legs, axis=1)
    np.testing.assert_allclose(ours.get("length"), lengths, rtol=1e-14)
    rates = np.einsum("ij,ij->i", legs, state["v"] + np.cross(state["w"], arms)) / lengths
    np.testing.assert_allclose(ours.get("velocity"), rates, rtol=1e-12, atol=1e-13)


def run(plants, name, stop, **values):
    still = {"force": (0.0, 0.0, 0.0), "torque": (0.0, 0.0, 0.0)}
    system = System("s").add("d", fmu(plants / f"{name}.fmi3.fmu"), **still, **values)
    with Execution(system, step="1 ms") as ran:
        ran.advance(stop)
        rows = ran.recording()
    return {name.removeprefix("d."): rows.values[:, i] for i, name in enumerate(rows.names)}


def test_a_falling_platform_keeps_its_energy(plants):
    column = run(
        plants, "StewartPlatform", "0.2 s", q0=(0.99, 0.1, 0.05, 0.0), leg_force=(0.0,) * 6
    )
    energy = column["energy"]
    # RK4 at 1 ms: falling for 0.2 s turns 400 J of about 4 kJ.
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert np.ptp(column["p[2]"]) > 0.1


def test_the_robot_holds_its_weight_and_follows(plants):
    """Currents grow until they carry the weight; a command of 5 mm is reached by all legs."""
    column = run(plants, "StewartRobot", "2 s", length_command=(HOME + 0.005,) * 6)
    for leg in range(6):
        assert column[f"length[{leg}]"][-1] == pytest.approx(HOME + 0.005, abs=1e-6)
    # Six legs of equal slope carry the platform and what of the legs hangs on their upper ends.
    height = column["p[2]"][-1]
    share = (HOME + 0.005 - UPPER[1]) / (HOME + 0.005)
    hanging = 9.81 * (LOWER[0] * LOWER[1] / (HOME + 0.005) + UPPER[0] * share)  # across the leg
    slope = height / (HOME + 0.005)
    along = (9.81 * M / 6 + hanging * (1 - slope**2)) / slope + UPPER[0] * 9.81 * slope
    current = along / SCREW / 0.5
    assert column["current[0]"][-1] == pytest.approx(current, rel=1e-4)
