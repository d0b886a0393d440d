"""The docking dynamics in six degrees of freedom: against Pinocchio, and what is conserved."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

BODIES = {"station": (50000.0, 60000.0), "effector": (300.0, 300.0), "spacecraft": (2000.0, 2000.0)}
R_BS, R_AE, R_DE, R_OC = (np.array([0.0, 0.0, z]) for z in (2.0, -1.0, 1.0, -1.5))
K_M, C_M, K_R, C_R = 1e4, 400.0, 1e4, 400.0
K, C = np.array([4e4, 3.6e4, 3.2e4]), np.array([400.0, 240.0, 320.0])


@pytest.fixture(scope="module")
def free_bodies():
    """Three free bodies of Pinocchio; the first index is the universe."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    for name, (mass, inertia) in BODIES.items():
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        body = pin.Inertia(mass, np.zeros(3), inertia * np.eye(3))
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


def any_state(random, spread):
    """Positions, velocities (world), attitudes and angular velocities (body) near the start."""
    starts = {"station": 0.0, "effector": 3.0, "spacecraft": 5.5}
    state = {}
    for name, z in starts.items():
        attitude = Rotation.from_rotvec(spread * random.normal(size=3))
        state[f"{name}__r"] = np.array([0.0, 0.0, z]) + spread * random.normal(size=3)
        state[f"{name}__v"] = spread * random.normal(size=3)
        state[f"{name}__q"] = attitude.as_quat()[[3, 0, 1, 2]]
        state[f"{name}__w"] = spread * random.normal(size=3)
    return state


def accelerations(model, state):
    """Of all bodies in the world frame, angular ones in the body frames, from Pinocchio.

    The wrenches are written down here again: all of them from velocities of points, and without
    the relative motions of the paper.
    """
    R = {b: Rotation.from_quat(state[f"{b}__q"][[1, 2, 3, 0]]).as_matrix() for b in BODIES}
    r, v = ({b: state[f"{b}__{x}"] for b in BODIES} for x in "rv")
    w = {b: R[b] @ state[f"{b}__w"] for b in BODIES}  # world frame

    def point(body, place):
        return v[body] + np.cross(w[body], place - r[body])

    A, B = r["effector"] + R["effector"] @ R_AE, r["station"] + R["station"] @ R_BS
    back = R["station"].T
    manipulator = R["station"] @ (
        K_M * (back @ (A - B)) + C_M * (back @ (point("effector", A) - point("station", A)))
    )
    twist = Rotation.from_matrix(back @ R["effector"]).as_rotvec()
    torsion = R["station"] @ (K_R * twist + C_R * (back @ (w["effector"] - w["station"])))
    front = R["effector"].T
    captured = r["spacecraft"] + R["spacecraft"] @ R_OC
    rate = point("spacecraft", captured) - point("effector", captured)
    rest = r["effector"] + R["effector"] @ R_DE
    contact = R["effector"] @ (K * (front @ (captured - rest)) + C * (front @ rate))
    acting = {
        "station": [(A, manipulator, torsion)],
        "effector": [(A, -manipulator, -torsion), (captured, contact, np.zeros(3))],
        "spacecraft": [(captured, -contact, np.zeros(3))],
    }
    q, nu, external = [], [], [pin.Force.Zero()]
    for body in BODIES:
        q += [*r[body], *state[f"{body}__q"][[1, 2, 3, 0]]]
        nu += [*(R[body].T @ v[body]), *state[f"{body}__w"]]
        force = sum(f for _, f, _ in acting[body])
        torque = sum(np.cross(place - r[body], f) + m for place, f, m in acting[body])
        external.append(pin.Force(R[body].T @ force, R[body].T @ torque))
    data = model.createData()
    a = pin.aba(model, data, np.array(q), np.array(nu), np.zeros(18), external)
    found = {}
    for i, body in enumerate(BODIES):
        linear, angular = a[6 * i : 6 * i + 3], a[6 * i + 3 : 6 * i + 6]
        # Pinocchio differentiates in the turning frame.
        found[f"{body}__v"] = R[body] @ (
            linear + np.cross(state[f"{body}__w"], R[body].T @ v[body])
        )
        found[f"{body}__w"] = angular
    return found


@pytest.mark.parametrize("spread", [0.01, 0.3])
def test_accelerations_are_those_of_pinocchio(open_model, free_bodies, random, spread):
    ours = open_model("ManipulatorDockingIdeal")
    for _ in range(5):
        state = any_state(random, spread)
        ours.set_states(**state)
        for name, wanted in accelerations(free_bodies, state).items():
            scale = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(ours.rate(name), wanted, atol=1e-10 * scale, err_msg=name)


def test_relative_motion_and_the_open_plant(open_model, random):
    closed, opened = open_model("ManipulatorDockingIdeal"), open_model("ManipulatorDocking")
    state = any_state(random, 0.2)
    closed.set_states(**state)
    opened.set_states(**state)
    opened.set(force=closed.get("force"), torque=closed.get("contact.torque"))
    for name in state:
        np.testing.assert_allclose(opened.rate(name), closed.rate(name), rtol=1e-12, atol=1e-12)
    R = Rotation.from_quat(state["effector__q"][[1, 2, 3, 0]]).as_matrix()
    R_c = Rotation.from_quat(state["spacecraft__q"][[1, 2, 3, 0]]).as_matrix()
    apart = state["spacecraft__r"] - state["effector__r"]
    spin = R @ state["effector__w"]
    np.testing.assert_allclose(opened.get("s"), R.T @ apart, atol=1e-14)
    rate = state["spacecraft__v"] - state["effector__v"] - np.cross(spin, apart)
    np.testing.assert_allclose(opened.get("v"), R.T @ rate, atol=1e-14)
    found = Rotation.from_quat(opened.get("q")[[1, 2, 3, 0]]).as_matrix()
    np.testing.assert_allclose(found, R.T @ R_c, atol=1e-14)
    w = R.T @ (R_c @ state["spacecraft__w"] - spin)
    np.testing.assert_allclose(opened.get("w"), w, atol=1e-14)


def conserved(plants, **values):
    system = System("s").add("d", fmu(plants / "ManipulatorDockingIdeal.fmi3.fmu"))
    for name, value in values.items():
        system = system.set(f"d.{name}", value)
    with Execution(system, step="1 ms") as run:
        run.advance("5 s")
        rows = run.recording()
    return {name.removeprefix("d."): rows.values[:, i] for i, name in enumerate(rows.names)}


def vector(columns, name):
    return np.column_stack([columns[f"{name}[{i}]"] for i in range(3)])


@pytest.mark.parametrize("hardening", [(0.0, 0.0, 0.0), (1.3e8, 1.2e8, 1.1e8)])
def test_undamped_motion_keeps_energy_and_momenta(plants, hardening):
    zeros = (0.0, 0.0, 0.0)
    columns = conserved(
        plants,
        c_manipulator=zeros,
        c_rotation=zeros,
        **{"contact.c": zeros, "contact.hardening": hardening},
        **{"effector.w0": (0.02, -0.03, 0.05)},
    )
    energy = columns["total_energy"]
    # dopri5 at a relative tolerance of 1e-9 for each step: measured 7e-11 in 5 s.
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    # Momentum is linear in the states: every solver keeps it, up to rounding and the norm of q.
    np.testing.assert_allclose(vector(columns, "momentum"), 0.0, atol=1e-9)
    turning = vector(columns, "angular_momentum")
    np.testing.assert_allclose(turning, np.tile(turning[0], (len(turning), 1)), atol=1e-7)
    assert np.ptp(vector(columns, "s"), axis=0).min() > 0.015  # it did move, in all directions


def test_damped_motion_loses_energy_and_keeps_momenta(plants):
    columns = conserved(plants)
    energy = columns["total_energy"]
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()
    assert energy[-1] < 0.5 * energy[0]
    np.testing.assert_allclose(vector(columns, "momentum"), 0.0, atol=1e-9)
    np.testing.assert_allclose(vector(columns, "angular_momentum"), 0.0, atol=1e-7)


def test_a_screw_that_drags_puts_in_its_power_and_no_momentum(plants):
    """Without damping the energy changes by the integral of minus the force times the rate."""
    zeros = (0.0, 0.0, 0.0)
    columns = conserved(
        plants,
        c_manipulator=zeros,
        c_rotation=zeros,
        **{"contact.c": zeros, "screw.speed": 4 * np.pi, "screw.begin": 0.5, "screw.stroke": 0.03},
    )
    time = np.arange(5001) * 1e-3
    gained, lost = (np.clip((time - start) / 0.1, 0.0, 1.0) for start in (0.5, 3.5))
    power = 0.01 * (gained - lost) * columns["force[2]"]  # W; the rate is -10 mm/s along z
    work = np.concatenate([[0.0], np.cumsum(0.5e-3 * (power[1:] + power[:-1]))])
    energy = columns["total_energy"]
    assert np.ptp(energy) > 0.1 * energy[0]
    # Trapezoids of 1 ms: (w H)^2/12 of 0.2 J at w = 12 1/s, and the corners of the ramps.
    np.testing.assert_allclose(energy - energy[0], work, atol=1e-5)
    np.testing.assert_allclose(vector(columns, "momentum"), 0.0, atol=1e-9)
    np.testing.assert_allclose(vector(columns, "angular_momentum"), 0.0, atol=1e-7)
    assert columns["s[2]"][3600:].mean() < columns["s[2]"][:400].mean() - 0.02
