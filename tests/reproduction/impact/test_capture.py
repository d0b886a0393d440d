"""An arm of three joints meets the rope of a free target: conservation, and an independent engine.

The engine: Pinocchio's articulated bodies for arm and target, a rope that is written anew in
angles and lengths, and SciPy's DOP853 for all of it at once.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from compile_cache import exclusive
from scipy.integrate import solve_ivp

from orchestrator import Component, System, build_recipe, read_system, simulate
from python_blocks.kinematics.assumed_arm import seven_joint_arm

EXAMPLE = Path(__file__).parents[3] / "examples" / "impact"
RECIPE = EXAMPLE / "plants" / "PlanarArm.toml"
STOP = 0.02


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


class Engine:
    """The whole of it as one set of ordinary differential equations; a plane's y is the world's z.

    Its states are those of arm (x, z, angle, joints), target (place, attitude with the scalar last)
    and inner nodes, then their rates.
    """

    def __init__(self, system: System) -> None:
        arm, rope, target, mount = (
            system.components[n].values for n in ("arm", "rope", "target", "mount")
        )
        self.rope = rope
        self.mass = 0.0365 * 0.3 / 30
        self.ends = [np.array(mount[k]) for k in ("point_a", "point_b")]
        self.ways = [np.array(mount[k]) for k in ("along_a", "along_b")]
        self.arm, self.tip = _arm(system.components["arm"])
        inertia = np.array(target["J"]).reshape(3, 3)
        self.target = pin.Model()
        self.target.gravity.linear[:] = 0.0
        joint = self.target.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "target")
        body = pin.Inertia(target["m"], np.zeros(3), inertia)
        self.target.appendBodyToJoint(joint, body, pin.SE3.Identity())
        self.data = self.arm.createData(), self.target.createData()
        w, x, y, z = target["q0"]
        nodes = np.array([[rope[f"{c}0[{i}]"] for c in "xy"] for i in range(1, 30)])
        self.start = np.concatenate(
            [np.zeros(3), arm["phi0"], target["r0"], [x, y, z, w], nodes.ravel(), np.zeros(70)]
        )
        self.start[71 + 1] = arm["v0"][2]

    def forces(self, nodes: np.ndarray, ways: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Forces on all 31 nodes, and torques on both holders, to the left."""
        d = np.diff(nodes, axis=0)
        length, angle = np.hypot(*d.T), np.arctan2(d[:, 1], d[:, 0])
        clamps = [np.arctan2(way[1], way[0]) for way in ways]
        turns = np.diff(np.concatenate([[clamps[0]], angle, [clamps[1]]]))
        moment = np.concatenate([[self.rope["k_clamp"]], np.full(29, self.rope["k_tor"])])
        moment = np.append(moment, self.rope["k_clamp"]) * turns
        along = d / length[:, None]
        left = np.column_stack([-along[:, 1], along[:, 0]])
        pull = self.rope["k_tes"] * (length - 0.01)
        carried = pull[:, None] * along + (-np.diff(moment) / length)[:, None] * left
        on = np.zeros_like(nodes)
        on[:-1] += carried
        on[1:] -= carried
        return on, np.array([moment[0], -moment[-1]])

    def rates(self, _: float, z: np.ndarray) -> np.ndarray:
        """Derivatives of the states."""
        q, pose, inner = z[:6], z[6:13], z[13:71].reshape(29, 2)
        v, twist, speeds = z[71:77], z[77:83], z[83:].reshape(29, 2)
        turned = pin.Quaternion(pose[3:]).toRotationMatrix()
        points = [turned @ point for point in self.ends]
        ends = [(pose[:3] + point)[[0, 2]] for point in points]
        nodes = np.vstack([ends[0], inner, ends[1]])
        on, torques = self.forces(nodes, [(turned @ way)[[0, 2]] for way in self.ways])
        pin.framesForwardKinematics(self.arm, self.data[0], q)
        tip = self.data[0].oMf[self.tip].translation
        jacobian = pin.computeFrameJacobian(
            self.arm, self.data[0], q, self.tip, pin.LOCAL_WORLD_ALIGNED
        )
        pressed = tip[2] - inner[14, 1]
        rate = jacobian[2] @ v - speeds[14, 1]
        push = max(0.0, 1e5 * pressed + self.rope["c_rod"] * rate) if pressed > 0 else 0.0
        on[15, 1] += push
        couple = jacobian[4] * (inner[14, 0] - tip[0]) * push  # the rope pushes at its node
        moved = pin.aba(self.arm, self.data[0], q, v, -jacobian[2] * push + couple)
        force = np.array([on[0, 0] + on[-1, 0], 0.0, on[0, 1] + on[-1, 1]])
        torque = np.array([0.0, -torques.sum(), 0.0])
        for point, pull in zip(points, (on[0], on[-1]), strict=True):
            torque += np.cross(point, (pull[0], 0.0, pull[1]))
        wrench = np.concatenate([turned.T @ force, turned.T @ torque])
        spun = pin.aba(self.target, self.data[1], pose, twist, wrench)
        x, y, zz, w = pose[3:]
        a, b, c = twist[3:]
        turning = 0.5 * np.array(
            [w * a + y * c - zz * b, w * b + zz * a - x * c, w * c + x * b - y * a,
             -x * a - y * b - zz * c]
        )  # fmt: skip
        nodes_moved = (on[1:-1] / self.mass).ravel()
        return np.concatenate(
            [v, turned @ twist[:3], turning, speeds.ravel(), moved, spun, nodes_moved]
        )


def _arm(arm: Component) -> tuple[pin.Model, int]:
    """The planar arm on a base that keeps to the x-z plane, and the frame of its end."""
    planar = seven_joint_arm().with_locked(dict.fromkeys((1, 3, 5, 7), 0.0))
    mass, inertia = arm.values["m"], np.array(arm.values["J"]).reshape(4, 3, 3)
    model = pin.Model()
    model.gravity.linear[:] = 0.0
    joint = 0
    for kind in (pin.JointModelPX(), pin.JointModelPZ(), pin.JointModelRY()):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), f"base {joint}")
    for i in range(4):
        if i:
            place = pin.SE3(np.eye(3), planar.offset[i - 1])
            joint = model.addJoint(joint, pin.JointModelRY(), place, f"joint {i}")
        link = pin.Inertia(mass[i], planar.center[i], inertia[i])
        model.appendBodyToJoint(joint, link, pin.SE3.Identity())
    end = pin.SE3(np.eye(3), np.array(arm.values["tip"]))
    return model, model.addFrame(pin.Frame("end", joint, 0, end, pin.FrameType.OP_FRAME))


def test_table_4_is_read_in_one_way():
    """The capture's target has the inertia of the snare's, whose model holds it."""
    snare = EXAMPLE.parents[1] / "modelica" / "SpaceDocking" / "Bodies" / "GrappleTarget.mo"
    model = snare.read_text()
    numbers = re.findall(r"-?\d+\.\d+", model[model.index("J = {{") :].split(";")[0])
    target = read_system(EXAMPLE / "capture.ssd").components["target"]
    np.testing.assert_array_equal(np.ravel(target.values["J"]), [float(n) for n in numbers])


@pytest.fixture(scope="module")
def capture(plants) -> System:
    with exclusive(str(RECIPE)):
        build_recipe(RECIPE, RECIPE.parent / "build")
    return read_system(EXAMPLE / "capture.ssd")


@pytest.mark.slow
def test_against_pinocchio_and_scipy(capture):
    """The first 20 ms; the error is of first order in the step that holds the forces."""
    undamped = capture.set("rope.c_tor", 0.0)
    engine = Engine(undamped)
    solved = solve_ivp(engine.rates, (0.0, STOP), engine.start, "DOP853", rtol=1e-7, atol=1e-9)
    last = solved.y[:, -1]
    turned = pin.Quaternion(last[9:13]).toRotationMatrix()
    exact = np.array([last[72], last[75], (turned @ last[77:80])[2], last[81]])
    runs = [simulate(undamped, stop=STOP, step=step) for step in ("100 us", "50 us")]
    names = ("arm.v[2]", "arm.rate[1]", "target.v[2]", "target.w[1]")
    coarse, fine = (np.array([run[name][-1] for name in names]) for run in runs)
    start = np.array([0.06, 0.0, 0.0, 0.0])  # errors are measured by what the impact has changed
    wrong = np.abs(np.array([coarse, fine]) - exact) / np.abs(exact - start)
    assert wrong[1].max() < 0.008  # measured 0.0066, half of that with twice the step
    assert wrong[0] / wrong[1] == pytest.approx(2.0, abs=0.2)
    assert 2.0 * fine - coarse == pytest.approx(exact, rel=5e-4)  # measured 2e-4


@pytest.mark.slow
def test_momentum_angular_momentum_and_energy(capture):
    """The whole impact; what is left is of first order in the step, along z, and of second."""
    run = simulate(capture, stop="0.2 s")
    along_z = run["balance.momentum[1]"]
    handed = run["rope.impulse"][-1]
    assert np.abs(along_z - along_z[0]).max() < 2.5e-3 * handed  # measured 1.8e-3
    assert np.abs(run["balance.momentum[0]"]).max() < 1e-5 * handed  # 3.6e-6
    angular = run["balance.angular"]
    assert np.abs(angular - angular[0]).max() < 1e-4 * abs(angular[0])  # 3.2e-5
    kept = run["arm.energy"] + run["target.energy"] + run["rope.energy"]
    taken = 0.5 * np.cumsum(run["rope.dissipation"][1:] + run["rope.dissipation"][:-1]) * 1e-4
    open_ = kept[1:] + taken - kept[0]
    assert np.abs(open_).max() < 0.02 * run["arm.energy"][0]  # measured 0.008
    assert -run["rope.force"].min() == pytest.approx(3.182, abs=0.002)
