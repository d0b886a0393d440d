"""Implicit equations, constraints and initial systems in finished FMUs, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from scipy.integrate import solve_ivp

_LOOP = """model Loop
  input Real u(start=1); output Real y(start=1); output Real z(start=0.5);
  Real x(start=0.5, fixed=true);
equation
  y^3 + z = u + x; z = sin(y) - 0.5*x; der(x) = -y;
end Loop;"""

_PENDULUM = """model Pendulum "Cartesian"
  parameter Real L = 1; parameter Real g = 9.81;
  output Real x(start=0.3, fixed=true); output Real y(start=-0.9);
  output Real vx(start=0, fixed=true); output Real vy; Real F; output Real energy;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = -F*x; der(vy) = -F*y - g;
  x^2 + y^2 = L^2;
  energy = 0.5*(vx^2 + vy^2) + g*y;
end Pendulum;"""

_ARM = """model Arm
  parameter Real m = 1; parameter Real l = 1;
  output Real q1(start=0.4, fixed=true); output Real q2(start=-0.3, fixed=true);
  output Real w1(start=0, fixed=true); output Real w2(start=0, fixed=true);
  output Real energy;
equation
  der(q1) = w1; der(q2) = w2;
  2*m*l^2*der(w1) + m*l^2*cos(q1 - q2)*der(w2) + m*l^2*sin(q1 - q2)*w2^2 + 2*m*9.81*l*sin(q1) = 0;
  m*l^2*cos(q1 - q2)*der(w1) + m*l^2*der(w2) - m*l^2*sin(q1 - q2)*w1^2 + m*9.81*l*sin(q2) = 0;
  energy = m*l^2*(w1^2 + 0.5*w2^2 + cos(q1 - q2)*w1*w2) - m*9.81*l*(2*cos(q1) + cos(q2));
end Arm;"""


def test_nonlinear_loop_follows_its_inputs(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    fmu = build_text("Loop", _LOOP)
    assert validate_fmu(str(fmu)) == []
    loop = open_fmu(fmu).initialize()
    for u in (1.0, 3.0, -20.0, 0.5):
        loop.set(u=u)
        x, y, z = loop.get("x", "y", "z")
        assert y**3 + z == pytest.approx(u + x, rel=1e-13)
        assert z == pytest.approx(math.sin(y) - 0.5 * x, rel=1e-13, abs=1e-15)
        assert loop.get("der(x)") == [-y]


def test_directional_derivatives_pass_through_the_loop(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    loop = open_fmu(build_text("Loop", _LOOP)).initialize()
    reference = loop.references
    (y,) = loop.get("y")
    slopes = loop.fmu.getDirectionalDerivative(
        [reference["y"], reference["z"], reference["der(x)"]], [reference["u"]], [1.0]
    )
    dy = 1 / (3 * y**2 + math.cos(y))
    assert slopes == pytest.approx([dy, math.cos(y) * dy, -dy], rel=1e-13)
    slopes = loop.fmu.getDirectionalDerivative([reference["y"]], [reference["x"]], [1.0])
    assert slopes == pytest.approx([1.5 * dy], rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_restored_state_repeats_every_bit(
    method: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    loop = open_fmu(build_text("Loop", _LOOP, method=method)).initialize()
    loop.step(0.01, 7)
    state, time = loop.fmu.getFMUState(), loop.time
    loop.step(0.01, 20)
    first = loop.get("x", "y", "z")
    loop.fmu.setFMUState(state)
    loop.time = time
    for _ in range(20):
        loop.get("y", "der(x)")  # reading must not disturb
        loop.step(0.01)
    assert loop.get("x", "y", "z") == first
    loop.fmu.freeFMUState(state)


def test_no_solution_is_an_error_that_names_the_unknowns(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = "model Root input Real u(start=4); output Real y(start=1); equation y*y = u; end Root;"
    root = open_fmu(build_text("Root", text)).initialize()
    assert root.get("y") == [pytest.approx(2.0, rel=1e-14)]
    root.set(u=-1.0)
    with pytest.raises(FMICallException):
        root.get("y")
    assert "no solution of the equations for y" in root.messages[-1]
    root.set(u=9.0)
    assert root.get("y") == [pytest.approx(3.0, rel=1e-14)]


def _pendulum(_: float, s: np.ndarray) -> list[float]:
    return [s[1], -9.81 * math.sin(s[0])]


@pytest.mark.slow
def test_cartesian_pendulum_against_minimal_coordinates(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    pendulum = open_fmu(build_text("Pendulum", _PENDULUM, max_step=2e-4)).initialize()
    exact = solve_ivp(
        _pendulum, (0, 2), [math.asin(0.3), 0], rtol=1e-12, atol=1e-13, method="DOP853"
    ).y[:, -1]
    x, y, energy = pendulum.get("x", "y", "energy")
    assert (x, y) == (0.3, pytest.approx(-math.sqrt(1 - 0.09), rel=1e-14))
    pendulum.step(0.01, 200)
    x, y, vx, vy, energy_later = pendulum.get("x", "y", "vx", "vy", "energy")
    angle, rate = exact
    assert [x, y] == pytest.approx([math.sin(angle), -math.cos(angle)], abs=1e-10)
    assert [vx, vy] == pytest.approx([rate * math.cos(angle), rate * math.sin(angle)], abs=1e-10)
    assert energy_later == pytest.approx(energy, abs=1e-10)
    assert x**2 + y**2 == pytest.approx(1, abs=1e-14)


def _arm(_: float, s: np.ndarray) -> list[float]:
    d = s[0] - s[1]
    mass = np.array([[2, math.cos(d)], [math.cos(d), 1]])
    force = [
        -math.sin(d) * s[3] ** 2 - 2 * 9.81 * math.sin(s[0]),
        math.sin(d) * s[2] ** 2 - 9.81 * math.sin(s[1]),
    ]
    return [s[2], s[3], *np.linalg.solve(mass, force)]


def test_arm_with_implicit_mass_matrix(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    arm = open_fmu(build_text("Arm", _ARM, max_step=2e-4)).initialize()
    (energy,) = arm.get("energy")
    arm.step(0.01, 200)
    exact = solve_ivp(_arm, (0, 2), [0.4, -0.3, 0, 0], rtol=1e-12, atol=1e-13, method="DOP853")
    assert arm.get("q1", "q2", "w1", "w2") == pytest.approx(exact.y[:, -1].tolist(), abs=1e-9)
    assert arm.get("energy")[0] == pytest.approx(energy, abs=1e-9)


INITIAL = {
    "steady state": (
        "Real x(start=5);\ninitial equation\nder(x) = 0;\nequation\nder(x) = 6 - 2*x;",
        {"x": 3.0, "der(x)": 0.0},
    ),
    "fixed algebraic": (
        "Real x; Real y(start=6, fixed=true);\nequation\nder(x) = -x; y = 2*x;",
        {"x": 3.0, "y": 6.0},
    ),
    "free parameter": (
        (
            "parameter Real q(fixed=false, start=1); parameter Real k = 2*q;"
            " Real x(start=1, fixed=true); Real y;\n"
            "initial equation\ny = 10;\nequation\nder(x) = -x; y = k*x + 2;"
        ),
        {"q": 4.0, "k": 8.0, "y": 10.0},
    ),
    "nonlinear": (
        "Real x(start=1);\ninitial equation\nx^3 + x = 10;\nequation\nder(x) = -x;",
        {"x": 2.0},
    ),
    "nonlinear, other guess": (
        "Real x(start=-1);\ninitial equation\nx^2 = 9;\nequation\nder(x) = -x;",
        {"x": -3.0},
    ),
    "redundant": (
        (
            "Real x(start=2, fixed=true); Real y(start=4, fixed=true);\n"
            "initial equation\nx + y = 6;\nequation\nder(x) = -x; y = 2*x;"
        ),
        {"x": 2.0, "y": 4.0},
    ),
    "start from a free parameter": (
        (
            "parameter Real q(fixed=false); Real x(start=q, fixed=true);\n"
            "initial equation\n2*q = 7;\nequation\nder(x) = -x;"
        ),
        {"q": 3.5, "x": 3.5},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", INITIAL)
def test_initial_system(
    case: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    body, expected = INITIAL[case]
    fmu = build_text("A", f"model A\n{body}\nend A;")
    assert validate_fmu(str(fmu)) == []
    unit = open_fmu(fmu).initialize()
    assert unit.get(*expected) == pytest.approx(list(expected.values()), abs=1e-12)
    unit.step(0.1)
    assert {name: unit.get(name)[0] for name in expected if name in "qk"} == {
        name: pytest.approx(value) for name, value in expected.items() if name in "qk"
    }


def test_initial_system_follows_inputs_and_parameters(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = """model S input Real u(start=1); parameter Real k = 2; Real x;
    initial equation der(x) = 0; equation der(x) = u - k*x; end S;"""
    unit = open_fmu(build_text("S", text)).initialize(u=8.0, k=4.0)
    assert unit.get("x") == [2.0]


def test_contradicting_initial_values_are_named(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = """model C Real x(start=2, fixed=true); Real y(start=5, fixed=true);
    equation der(x) = -x; y = 2*x; end C;"""
    unit = open_fmu(build_text("C", text))
    with pytest.raises(FMICallException):
        unit.initialize()
    assert "contradict each other: fixed start of 'y'" in unit.messages[-1]
