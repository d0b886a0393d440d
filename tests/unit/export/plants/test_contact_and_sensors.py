"""Capture contact, sensors and reduced legs, against closed forms and quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System

K, C = np.array([4e4, 3.6e4, 3.2e4]), np.array([400.0, 240.0, 320.0])


def test_constant_contact_is_a_spring_and_a_damper(open_model, random):
    contact = open_model("CaptureContact", rest=[0.1, -0.2, 1.0])
    x, v = random.normal(size=(2, 3))
    contact.set(position=x, velocity=v)
    np.testing.assert_allclose(contact.get("force"), K * x + C * v, rtol=1e-14)
    torque = np.cross(np.array([0.1, -0.2, 1.0]) + x, K * x + C * v)
    np.testing.assert_allclose(contact.get("torque"), torque, rtol=1e-12, atol=1e-9)


def test_the_rest_of_the_contact_is_dragged(open_model, random):
    """The force is that of the position from rest; the torque's arm goes with the rest."""
    contact = open_model("CaptureContact", rest=[0.1, -0.2, 1.0])
    x, v, drag = random.normal(size=(3, 3))
    contact.set(position=x, velocity=v, drag=drag)
    force = K * x + C * v
    np.testing.assert_allclose(contact.get("force"), force, rtol=1e-14)
    torque = np.cross(np.array([0.1, -0.2, 1.0]) + drag + x, force)
    np.testing.assert_allclose(contact.get("torque"), torque, rtol=1e-12, atol=1e-9)


def test_ropes_get_stiffer_with_the_cube(open_model, random):
    """Force and energy in closed form; k_now is the slope of the force at this place."""
    hardening = np.array([1e8, 2e8, 0.0])
    contact = open_model("CaptureContact", hardening=hardening)
    x, v = 0.01 * random.normal(size=(2, 3))
    contact.set(position=x, velocity=v)
    force = K * x + hardening * x**3 + C * v
    np.testing.assert_allclose(contact.get("force"), force, rtol=1e-12)
    np.testing.assert_allclose(contact.get("k_now"), K + 3 * hardening * x**2, rtol=1e-12)
    energy = (K * x**2 / 2 + hardening * x**4 / 4).sum()
    np.testing.assert_allclose(contact.get("energy"), [energy], rtol=1e-12)
    slopes = contact.slopes("force", {"position[1]": 1.0})
    np.testing.assert_allclose(slopes, [K[0] + 3e8 * x[0] ** 2, 0.0, 0.0], rtol=1e-12)


def test_screw_drags_at_constant_speed_until_its_stroke_ends(plants):
    """Two turns a second with a lead of 5 mm are 10 mm/s: 15 mm take 1.5 s and one ramp."""
    values = {"speed": 4 * np.pi, "lead": 5e-3, "stroke": 0.015, "begin": 0.5, "ramp": 0.2}
    axis = (0.6, 0.0, -0.8)
    system = System("s").add("screw", fmu(plants / "DragScrew.fmi3.fmu"), **values, axis=axis)
    with Execution(system, step="10 ms", early_return=False) as run:
        run.advance("3 s")
        rows = run.recording()
    found = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    time = rows.time_ns / 1e9
    gained, lost = (np.clip((time - start) / 0.2, 0.0, 1.0) for start in (0.5, 2.0))
    rate = 0.01 * (gained - lost)
    # Trapezoids are exact for a speed that goes straight between samples.
    way = np.concatenate([[0.0], np.cumsum(0.005 * (rate[1:] + rate[:-1]))])
    assert way[-1] == pytest.approx(0.015, abs=1e-12)
    for i, share in enumerate(axis):
        np.testing.assert_allclose(found[f"screw.drag[{i}]"], share * way, atol=1e-15)
        np.testing.assert_allclose(found[f"screw.drag_rate[{i}]"], share * rate, atol=1e-15)
    still = System("s").add("screw", fmu(plants / "DragScrew.fmi3.fmu"))
    with Execution(still, step="10 ms", early_return=False) as run:
        run.advance("1 s")
        assert not run.recording().values.any()


class Swing(Block):
    """Moves the captured point."""

    x1: float = Output(depends_on=())
    x2: float = Output(depends_on=())
    x3: float = Output(depends_on=())
    v1: float = Output(depends_on=())
    v2: float = Output(depends_on=())
    v3: float = Output(depends_on=())

    def step(self, t: float, h: float) -> None:
        w, now = np.array([3.0, 4.0, 5.0]), t + h
        self.x1, self.x2, self.x3 = (0.01 * np.cos(w * now)).tolist()
        self.v1, self.v2, self.v3 = (-0.01 * w * np.sin(w * now)).tolist()


def test_time_varying_contact_is_the_integral_of_equation_22(plants):
    """F = F(0) + integral of K v dt + C v, by quadrature; stiffness and damping up to twice."""
    system = System("s").add("swing", block(Swing))
    system = system.add("contact", fmu(plants / "CaptureContact.fmu"), period=4.0)
    for i in (1, 2, 3):
        system = (
            system.set(f"contact.k_swing[{i}]", K[i - 1])
            .set(f"contact.c_swing[{i}]", C[i - 1])
            .set(f"contact.drag[{i}]", 0.0)
            .connect(f"swing.x{i}", f"contact.position[{i}]", extrapolation="linear")
            .connect(f"swing.v{i}", f"contact.velocity[{i}]", extrapolation="linear")
        )
    with Execution(system, step="1 ms") as run:
        run.advance("6 s")
        rows = run.recording()
    found = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    fine = np.linspace(0.0, 6.0, 600_001)
    share = 1 - np.abs(1 - np.mod(fine, 4.0) / 2.0)
    for i, w in enumerate((3.0, 4.0, 5.0)):
        stiff = K[i] * (1 + share)
        np.testing.assert_allclose(found[f"contact.k_now[{i + 1}]"], stiff[::100], rtol=1e-9)
        rate = -0.01 * w * np.sin(w * fine)
        power = stiff * rate
        work = np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(fine))
        wanted = K[i] * 0.01 + np.concatenate([[0.0], work]) + C[i] * (1 + share) * rate
        # Inputs go straight over steps of 1 ms: (w H)^2/8 = 3e-6 of forces of up to 800 N.
        np.testing.assert_allclose(found[f"contact.force[{i + 1}]"], wanted[::100], atol=5e-3)


class Step(Block):
    """One, in all directions."""

    force: np.ndarray = Output(shape=(3,), start=1.0, unit="N")
    torque: np.ndarray = Output(shape=(3,), start=2.0, unit="N.m")
    unused: float = Input()

    def step(self, t: float, h: float) -> None:
        self.force[:], self.torque[:] = 1.0, 2.0


def test_wrench_sensor_lags_and_has_its_bias(plants):
    values = {"lag": 5e-3, "force_bias": (0.1, 0.2, 0.3), "torque_bias": (0.0, 0.0, -1.0)}
    system = (
        System("s")
        .add("step", block(Step), unused=0.0)
        .add("sensor", fmu(plants / "WrenchSensor.fmi3.fmu"), **values)
        .connect("step.force", "sensor.force")
        .connect("step.torque", "sensor.torque")
    )
    with Execution(system, step="1 ms") as run:
        run.advance("10 ms")
        rows = run.recording()
    column = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    rise = 1 - np.exp(-rows.time_ns / 1e9 / 5e-3)
    for i in range(3):
        # RK4 in steps of 0.2 ms: (0.04)^5/120 each.
        expected = rise + values["force_bias"][i]
        np.testing.assert_allclose(column[f"sensor.measured_force[{i}]"], expected, atol=1e-7)
        expected = 2 * rise + values["torque_bias"][i]
        np.testing.assert_allclose(column[f"sensor.measured_torque[{i}]"], expected, atol=1e-7)


def test_force_sensor_starts_settled(open_model):
    sensor = open_model("ForceSensor", force0=500.0, bias=2.0)
    sensor.set(force=500.0)
    assert sensor.get("measured") == [502.0]
    assert sensor.matrix() == pytest.approx(np.array([[-1 / 2e-3]]))


def test_reduced_legs_are_six_axes_of_15_hz(open_model):
    legs = open_model("ReducedLegs")
    matrix = legs.matrix()
    w = 2 * np.pi * 15
    rates = np.linalg.eigvals(matrix)
    np.testing.assert_allclose(np.abs(rates), w, rtol=1e-12)
    np.testing.assert_allclose(rates.real, -0.7 * w, rtol=1e-12)
    legs.set(length_command=legs.get("length") + 0.01)
    np.testing.assert_allclose(legs.rate("velocity"), 0.01 * w**2, rtol=1e-9)
    assert np.abs(expm(matrix * 0.5)).max() < 1e-8  # nothing but the twelve modes
