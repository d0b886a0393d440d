"""Bodies and the manipulator between them, against their equations and against MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

K = np.array([1e4, 2e4, 3e4])
C = np.array([400.0, 300.0, 200.0])
K_ROTATION = np.array([1e4, 1.5e4, 0.7e4])
C_ROTATION = np.array([400.0, 350.0, 250.0])
REST = np.array([0.1, -0.2, 0.3])


def turn(random, angle):
    """A rotation by an angle about any axis, and its quaternion with the scalar first."""
    axis = random.normal(size=3)
    made = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
    return made, made.as_quat()[[3, 0, 1, 2]]


def any_pose(random, angle):
    """Inputs of the manipulator: a base anywhere, a tip turned against it by an angle."""
    base, base_q = turn(random, 1.3)
    relative, _ = turn(random, angle)
    tip_q = (base * relative).as_quat()[[3, 0, 1, 2]]
    names = ("base_position", "base_velocity", "base_w", "tip_position", "tip_velocity", "tip_w")
    values = {name: random.normal(size=3) for name in names}
    return values | {"base_q": base_q, "tip_q": tip_q}


def wrench(inputs, damping=1.0):
    """Force and torque on the base at the tip's point, in the world frame, written down again."""
    base = Rotation.from_quat(inputs["base_q"][[1, 2, 3, 0]]).as_matrix()
    tip = Rotation.from_quat(inputs["tip_q"][[1, 2, 3, 0]]).as_matrix()
    arm = base.T @ (inputs["tip_position"] - inputs["base_position"])
    rate = base.T @ (inputs["tip_velocity"] - inputs["base_velocity"])
    rate = rate - np.cross(inputs["base_w"], arm)
    force = K * (arm - REST) + damping * C * rate
    spin = base.T @ tip @ inputs["tip_w"] - inputs["base_w"]
    return base @ force, base @ (damping * C_ROTATION * spin), base, tip


@pytest.fixture
def manipulator(open_model):
    return open_model(
        "LockedManipulator", k=K, c=C, k_rotation=K_ROTATION, c_rotation=C_ROTATION, rest=REST
    )


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.01, 0.5, 2.0, 3.1])
def test_forces_and_torques(manipulator, random, angle):
    inputs = any_pose(random, angle)
    manipulator.set(**inputs)
    force, damping, base, tip = wrench(inputs)
    np.testing.assert_allclose(manipulator.get("base_force"), force, rtol=1e-10, atol=1e-9)
    twist = Rotation.from_matrix(base.T @ tip).as_rotvec()
    np.testing.assert_allclose(manipulator.get("twist"), twist, rtol=1e-8, atol=1e-12)
    # The torque of the springs: what the energy grows by when the tip turns about an axis.
    torsion = -manipulator.get("tip_torque") - damping
    small = 1e-5
    for axis in np.eye(3):
        energies = []
        for side in (small, -small):
            turned = Rotation.from_rotvec(side * axis).as_matrix() @ tip
            phi = Rotation.from_matrix(base.T @ turned).as_rotvec()
            energies.append(0.5 * K_ROTATION @ phi**2)
        # Central difference: error of the order small^2, and rounding of 1e5 J / small.
        slope = (energies[0] - energies[1]) / (2 * small)
        assert torsion @ axis == pytest.approx(slope, abs=2e-5 * K_ROTATION.max())


def test_wrenches_are_equal_and_opposite_about_every_point(manipulator, random):
    inputs = any_pose(random, 0.7)
    manipulator.set(**inputs)
    f_base, f_tip = manipulator.get("base_force"), manipulator.get("tip_force")
    np.testing.assert_array_equal(f_base, -f_tip)
    for point in (np.zeros(3), inputs["tip_position"], random.normal(size=3)):
        total = manipulator.get("base_torque") + manipulator.get("tip_torque")
        total += np.cross(inputs["base_position"] - point, f_base)
        total += np.cross(inputs["tip_position"] - point, f_tip)
        np.testing.assert_allclose(total, 0.0, atol=1e-10 * np.abs(f_base).max())


def test_dampers_take_energy_and_springs_keep_it(manipulator, random):
    for _ in range(20):
        inputs = any_pose(random, 1.0)
        manipulator.set(**inputs)
        _, _, base, tip = wrench(inputs)
        power = sum(
            manipulator.get(f"{end}_force") @ inputs[f"{end}_velocity"]
            + manipulator.get(f"{end}_torque") @ (frame @ inputs[f"{end}_w"])
            for end, frame in (("base", base), ("tip", tip))
        )
        grows = _growth_of_energy(manipulator, inputs)
        rate = base.T @ (inputs["tip_velocity"] - inputs["base_velocity"])
        rate -= np.cross(
            inputs["base_w"], base.T @ (inputs["tip_position"] - inputs["base_position"])
        )
        spin = base.T @ tip @ inputs["tip_w"] - inputs["base_w"]
        lost = C @ rate**2 + C_ROTATION @ spin**2
        assert lost > 0
        assert power == pytest.approx(-grows - lost, rel=1e-9)


def _growth_of_energy(model, inputs):
    """Rate of the springs' energy, by directional derivatives along the motion of the inputs."""
    direction = {}
    for end in ("base", "tip"):
        a, b, c, d = inputs[f"{end}_q"]
        half = 0.5 * np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
        for i, value in enumerate(half @ inputs[f"{end}_w"]):
            direction[f"{end}_q[{i + 1}]"] = value
        for i, value in enumerate(inputs[f"{end}_velocity"]):
            direction[f"{end}_position[{i + 1}]"] = value
    return model.slopes("energy", direction)[0]


def free_body(mass, inertia):
    """A body of MuJoCo without gravity; the inertia is that of its principal axes."""
    text = f"""<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
      <inertial pos="0 0 0" mass="{mass}" diaginertia="{" ".join(map(str, inertia))}"/>
      </body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def test_attached_body_accelerates_as_in_mujoco(open_model, random):
    mass, inertia, point = 300.0, np.array([300.0, 250.0, 200.0]), np.array([0.3, -0.2, -1.0])
    ours = open_model("AttachedBody", m=mass, J=np.diag(inertia), point=point)
    model, data = free_body(mass, inertia)
    for _ in range(10):
        rotation, q = turn(random, random.uniform(0, 3))
        r, v, w = random.normal(size=(3, 3))
        acting = {
            name: 100 * random.normal(size=3)
            for name in ("force", "torque", "point_force", "point_torque")
        }
        ours.set_states(r=r, v=v, q=q, w=w)
        ours.set(**acting)
        data.qpos[:], data.qvel[:] = [*r, *q], [*v, *w]
        at = rotation.apply(point)
        data.xfrc_applied[1, :3] = acting["force"] + acting["point_force"]
        data.xfrc_applied[1, 3:] = acting["torque"] + acting["point_torque"]
        data.xfrc_applied[1, 3:] += np.cross(at, acting["point_force"])
        mujoco.mj_forward(model, data)
        # Rounding of sums of terms of up to 1 m/s^2 and 10 rad/s^2.
        np.testing.assert_allclose(ours.rate("v"), data.qacc[:3], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.rate("w"), data.qacc[3:], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(ours.get("point_position"), r + at, rtol=1e-12, atol=1e-12)
        velocity = v + rotation.apply(np.cross(w, point))
        np.testing.assert_allclose(ours.get("point_velocity"), velocity, rtol=1e-12, atol=1e-12)
