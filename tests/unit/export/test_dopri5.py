"""The error-controlled solver inside co-simulation, against SciPy and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

Open = Callable[..., Any]

ARENSTORF = """model Arenstorf "satellite between earth and moon: a closed orbit"
  constant Real m = 0.012277471;
  Real r1; Real r2;
  output Real x(start=0.994, fixed=true); output Real y(start=0, fixed=true);
  output Real vx(start=0, fixed=true);
  output Real vy(start=-2.00158510637908252240537862224, fixed=true);
equation
  r1 = ((x + m)^2 + y^2)^1.5;
  r2 = ((x - 1 + m)^2 + y^2)^1.5;
  der(x) = vx;
  der(y) = vy;
  der(vx) = x + 2*vy - (1 - m)*(x + m)/r1 - m*(x - 1 + m)/r2;
  der(vy) = y - 2*vx - (1 - m)*y/r1 - m*y/r2;
end Arenstorf;
"""
PERIOD = 17.0652165601579625588917206249

LAG = """model Lag "first order with a rate"
  parameter Real rate = 2;
  input Real u;
  output Real x(start=1, fixed=true);
  output Real clock(start=0, fixed=true);
equation
  der(x) = rate*(u - x);
  der(clock) = cos(time);
end Lag;
"""

VAN_DER_POL = """model VanDerPol "stiff for a large parameter"
  parameter Real mu = 5;
  output Real x(start=2, fixed=true);
  output Real v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = mu*(1 - x^2)*v - x;
end VanDerPol;
"""


def with_tolerance(slave: Any, tolerance: float) -> Any:
    slave.fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
    slave.fmu.enterInitializationMode()
    slave.fmu.exitInitializationMode()
    return slave


def test_closed_orbit(build_text: Any, open_fmu: Open) -> None:
    slave = with_tolerance(open_fmu(build_text("Arenstorf", ARENSTORF, method="dopri5")), 1e-12)
    slave.step(PERIOD / 4, 4)
    # The orbit amplifies errors by 1e5 in a period: 1e-12 becomes 1e-7.
    assert slave.get("x", "y") == pytest.approx([0.994, 0.0], abs=2e-6)


def test_error_follows_the_tolerance(build_text: Any, open_fmu: Open) -> None:
    from scipy.integrate import solve_ivp

    def right(t: float, s: Any) -> list[float]:
        return [s[1], 5 * (1 - s[0] ** 2) * s[1] - s[0]]

    exact = solve_ivp(right, (0, 6), [2, 0], rtol=1e-13, atol=1e-14, method="DOP853").y[:, -1]
    fmu = build_text("VanDerPol", VAN_DER_POL, method="dopri5")
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        slave = with_tolerance(open_fmu(fmu), tolerance)
        slave.step(0.5, 12)
        errors.append(float(np.abs(np.array(slave.get("x", "v")) - exact).max()))
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < 1e-2
    assert errors[-1] < 1e-8
    fmu = build_text("Lag", LAG, method="dopri5", tolerance=1e-10)
    slave = open_fmu(fmu).initialize()
    slave.step(1.0)
    assert slave.get("x", "clock") == pytest.approx([math.exp(-2), math.sin(1)], abs=1e-9)


def test_jumping_input_at_communication_points(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("Lag", LAG, method="dopri5")).initialize()
    x = 1.0
    for index in range(40):
        u = 1e3 * (-1) ** index
        slave.set(u=u)
        slave.step(0.125)
        x = u + (x - u) * math.exp(-2 * 0.125)
        assert slave.get("x")[0] == pytest.approx(x, rel=1e-7, abs=1e-5)


def test_step_size_hardly_matters(build_text: Any, open_fmu: Open) -> None:
    fmu = build_text("VanDerPol", VAN_DER_POL, method="dopri5")
    results = []
    for count in (1, 7, 50, 1000):
        slave = with_tolerance(open_fmu(fmu), 1e-10)
        slave.step(2.0 / count, count)
        results.append(slave.get("x", "v"))
    np.testing.assert_allclose(results, [results[0]] * 4, atol=1e-8)


def test_controller_is_part_of_the_saved_state(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("VanDerPol", VAN_DER_POL, method="dopri5")).initialize()
    slave.step(0.3, 5)
    state, time = slave.fmu.getFMUstate(), slave.time
    data = slave.fmu.serializeFMUstate(state)
    slave.step(0.3, 20)
    first = slave.get("x", "v")
    other = open_fmu(slave.path, "other").initialize()  # another history of steps
    other.step(0.01, 3)
    restored = other.fmu.deSerializeFMUstate(data)
    other.fmu.setFMUstate(restored)
    other.time = time
    other.step(0.3, 20)
    assert other.get("x", "v") == first  # equal bits
    slave.fmu.freeFMUstate(state)
    other.fmu.freeFMUstate(restored)


def test_stiffness_is_said_once(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("Lag", LAG, method="dopri5")).initialize(rate=1e5)
    slave.step(0.1, 3)
    assert len(slave.messages) == 1
    assert "the model is stiff near t = " in slave.messages[0]
    assert slave.get("clock")[0] == pytest.approx(math.sin(0.3), abs=1e-8)
    calm = open_fmu(slave.path, "calm").initialize()
    calm.step(0.1, 100)
    assert calm.messages == []


def test_bad_values(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("Lag", LAG, method="dopri5")).initialize()
    slave.set(u=math.inf)
    with pytest.raises(FMICallException):
        slave.step(0.1)
    assert "'u' is inf in the step from t = 0 s" in slave.messages[-1]
    blow_up = "model Blow output Real x(start=1, fixed=true); equation der(x) = x^2; end Blow;"
    slave = open_fmu(build_text("Blow", blow_up, method="dopri5")).initialize()
    slave.step(0.5)
    assert slave.get("x") == [pytest.approx(2.0, rel=1e-7)]
    with pytest.raises(FMICallException):
        slave.step(1.0)  # x = 1/(1 - t) has no value at t = 1
    assert "'x' (now" in slave.messages[-1]
    assert "changes too fast" in slave.messages[-1]
    with pytest.raises(FMICallException):
        with_tolerance(open_fmu(slave.path, "again"), -1.0)


def test_sources_hold_the_chosen_solver_only(build_text: Any) -> None:
    import zipfile

    with zipfile.ZipFile(build_text("Lag", LAG, method="dopri5")) as archive:
        names = set(archive.namelist())
    assert "sources/dopri5.c" in names
    assert "sources/rk4.c" not in names
