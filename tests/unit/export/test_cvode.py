"""The implicit solver inside co-simulation, against SciPy, closed forms and the explicit one."""

from __future__ import annotations

import math
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from scipy.integrate import solve_ivp

from orchestrator.core.diagnostics import FmuError
from orchestrator.export.codegen import compiler

Open = Callable[..., Any]


def sundials_is_missing() -> str:
    try:
        compiler.sundials_libraries()
    except FmuError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(sundials_is_missing()), reason=sundials_is_missing())

ROBERTSON = """model Robertson "three reactions with rates from 4e-2 to 3e7"
  output Real a(start=1, fixed=true, nominal=1);
  output Real b(start=0, fixed=true, nominal=1e-5);
  output Real c(start=0, fixed=true, nominal=1);
equation
  der(a) = -0.04*a + 1e4*b*c;
  der(b) = 0.04*a - 1e4*b*c - 3e7*b^2;
  der(c) = 3e7*b^2;
end Robertson;
"""

LINEAR = """model Linear "eigenvalues -1 and -rate"
  parameter Real rate = 1e5;
  input Real u;
  output Real x(start=2, fixed=true);
  output Real y(start=0, fixed=true);
equation
  der(x) = -(rate + 1)/2*x + (rate - 1)/2*y + u;
  der(y) = (rate - 1)/2*x - (rate + 1)/2*y + u;
end Linear;
"""

VAN_DER_POL = """model VanDerPol "relaxation oscillation"
  parameter Real mu = 1000;
  output Real x(start=2, fixed=true);
  output Real v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = mu*(1 - x^2)*v - x;
end VanDerPol;
"""

FRICTION = """model Friction "mass on a belt, Coulomb friction smoothed over 1e-4 m/s"
  output Real s(start=0, fixed=true);
  output Real v(start=0, fixed=true, nominal=0.1);
protected
  Real slip;
equation
  slip = v - 0.1;
  der(s) = v;
  der(v) = -10*s - 3*tanh(slip/1e-4);
end Friction;
"""

IMPLICIT = """model Implicit "a stiff lag whose rate solves a nonlinear equation"
  output Real x(start=1, fixed=true);
  output Real q;
equation
  q + 0.1*q^3 = 1e4*(cos(time) - x);
  der(x) = q;
end Implicit;
"""


def with_tolerance(slave: Any, tolerance: float) -> Any:
    slave.fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
    slave.fmu.enterInitializationMode()
    slave.fmu.exitInitializationMode()
    return slave


def radau(right: Any, end: float, start: list[float], **options: Any) -> Any:
    return solve_ivp(right, (0, end), start, method="Radau", rtol=1e-10, atol=1e-13, **options).y[
        :, -1
    ]


def test_robertson(build_text: Any, open_fmu: Open) -> None:
    def right(t: float, s: Any) -> list[float]:
        first, second = -0.04 * s[0] + 1e4 * s[1] * s[2], 3e7 * s[1] ** 2
        return [first, -first - second, second]

    exact = radau(right, 4e4, [1.0, 0.0, 0.0])
    slave = with_tolerance(open_fmu(build_text("Robertson", ROBERTSON, method="cvode")), 1e-8)
    slave.step(4e3, 10)
    values = slave.get("a", "b", "c")
    np.testing.assert_allclose(values, exact, rtol=2e-6)
    assert sum(values) == pytest.approx(1.0, abs=1e-10)
    assert slave.messages == []


def test_linear_closed_form_and_speed(build_text: Any, open_fmu: Open) -> None:
    exact = [math.exp(-1.0) + math.exp(-1e5), math.exp(-1.0) - math.exp(-1e5)]
    seconds = {}
    for method in ("cvode", "dopri5"):
        model = f"Linear{method}"
        fmu = build_text(model, LINEAR.replace("Linear", model), method=method)
        slave = with_tolerance(open_fmu(fmu), 1e-7)
        began = time.process_time()
        slave.step(0.1, 10)
        seconds[method] = time.process_time() - began
        assert slave.get("x", "y") == pytest.approx(exact, abs=1e-6)
        told = any("the model is stiff" in message for message in slave.messages)
        assert told == (method == "dopri5")
    assert seconds["dopri5"] > 3 * seconds["cvode"]


def test_jumps_and_unchanged_inputs(build_text: Any, open_fmu: Open) -> None:
    slave = with_tolerance(open_fmu(build_text("Linear", LINEAR, method="cvode")), 1e-9)
    slow, fast = 2.0, 2.0  # x + y and x - y decay apart; u drives the sum
    for index in range(20):
        u = float(index // 4 % 2)
        slave.set(u=u)
        slave.step(0.05)
        slow = 2 * u + (slow - 2 * u) * math.exp(-0.05)
        fast *= math.exp(-1e5 * 0.05)
        x, y = (slow + fast) / 2, (slow - fast) / 2
        assert slave.get("x", "y") == pytest.approx([x, y], abs=1e-6)


@pytest.mark.slow
def test_relaxation_oscillation(build_text: Any, open_fmu: Open) -> None:
    def right(t: float, s: Any) -> list[float]:
        return [s[1], 1000 * (1 - s[0] ** 2) * s[1] - s[0]]

    exact = radau(right, 2000.0, [2.0, 0.0])
    slave = with_tolerance(open_fmu(build_text("VanDerPol", VAN_DER_POL, method="cvode")), 1e-9)
    slave.step(20.0, 100)
    np.testing.assert_allclose(slave.get("x", "v"), exact, rtol=1e-5)


@pytest.mark.slow
def test_friction(build_text: Any, open_fmu: Open) -> None:
    def right(t: float, s: Any) -> list[float]:
        return [s[1], -10 * s[0] - 3 * math.tanh((s[1] - 0.1) / 1e-4)]

    exact = radau(right, 8.0, [0.0, 0.0])
    slave = with_tolerance(open_fmu(build_text("Friction", FRICTION, method="cvode")), 1e-9)
    slave.step(0.01, 800)
    np.testing.assert_allclose(slave.get("s", "v"), exact, atol=1e-6)


@pytest.mark.slow
def test_tolerance_reaches_the_solver(build_text: Any, open_fmu: Open) -> None:
    exact = radau(lambda t, s: [s[1], 5 * (1 - s[0] ** 2) * s[1] - s[0]], 6.0, [2.0, 0.0])
    fmu = build_text("VanDerPol", VAN_DER_POL.replace("1000", "5"), method="cvode")
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        slave = with_tolerance(open_fmu(fmu), tolerance)
        slave.step(0.5, 12)
        errors.append(float(np.abs(np.array(slave.get("x", "v")) - exact).max()))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-7 < 1e-4 < errors[0]


@pytest.mark.slow
def test_jacobian_passes_through_blocks(build_text: Any, open_fmu: Open) -> None:
    def right(t: float, s: Any) -> list[float]:
        q = np.roots([0.1, 0.0, 1.0, -1e4 * (math.cos(t) - s[0])])
        return [float(q[np.argmin(np.abs(q.imag))].real)]

    exact = radau(right, 1.0, [1.0])
    slave = with_tolerance(open_fmu(build_text("Implicit", IMPLICIT, method="cvode")), 1e-9)
    slave.step(0.1, 10)
    assert slave.get("x") == pytest.approx(exact, abs=1e-7)


def test_saved_state_gives_equal_bits(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("VanDerPol", VAN_DER_POL, method="cvode")).initialize()
    slave.step(0.3, 5)
    state, moment = slave.fmu.getFMUstate(), slave.time
    data = slave.fmu.serializeFMUstate(state)
    slave.step(0.3, 40)
    first = slave.get("x", "v")
    slave.fmu.setFMUstate(state)
    slave.time = moment
    slave.step(0.3, 40)
    assert slave.get("x", "v") == first
    other = open_fmu(slave.path, "other").initialize()
    other.step(0.01, 300)  # another history
    restored = other.fmu.deSerializeFMUstate(data)
    other.fmu.setFMUstate(restored)
    other.time = moment
    other.step(0.3, 40)
    assert other.get("x", "v") == first
    slave.fmu.freeFMUstate(state)
    other.fmu.freeFMUstate(restored)


def test_failures_name_variable_and_time(build_text: Any, open_fmu: Open) -> None:
    slave = open_fmu(build_text("Linear", LINEAR, method="cvode")).initialize()
    slave.set(u=math.inf)
    with pytest.raises(FMICallException):
        slave.step(0.1)
    assert "'u' is inf in the step from t = 0 s" in slave.messages[-1]
    blow_up = "model Blow output Real x(start=1, fixed=true); equation der(x) = x^2; end Blow;"
    slave = open_fmu(build_text("Blow", blow_up, method="cvode")).initialize()
    slave.step(0.5)
    assert slave.get("x") == [pytest.approx(2.0, rel=1e-5)]
    with pytest.raises(FMICallException):
        slave.step(1.0)  # x = 1/(1 - t) has no value at t = 1
    assert "'x' (now" in slave.messages[-1]


def test_messages_of_the_library_reach_the_importer(build_text: Any, open_fmu: Open) -> None:
    text = """model Root
      parameter Real p = 1;
      output Real x(start=0, fixed=true);
    equation
      der(x) = sqrt(p);
    end Root;"""
    slave = open_fmu(build_text("Root", text, method="cvode")).initialize(p=-1.0)
    with pytest.raises(FMICallException):
        slave.step(1.0)
    assert "CVODE: The right-hand side routine failed at the first call" in slave.messages[0]
    assert "its derivative -nan at t = 0 s" in slave.messages[1].replace("e nan", "e -nan")


def test_library_shows_no_symbol_of_sundials(build_text: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(build_text("Linear", LINEAR, method="cvode")) as archive:
        archive.extractall(tmp_path / "fmu")
    library = next((tmp_path / "fmu" / "binaries").rglob("*.so"))
    listed = subprocess.run(  # noqa: S603 - our own FMU
        ["nm", "-D", "--defined-only", str(library)],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [line.split()[-1] for line in listed.splitlines()]
    assert names
    assert all(name.startswith("fmi2") for name in names)
    needed = subprocess.run(  # noqa: S603 - our own FMU
        ["objdump", "-p", str(library)],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "sundials" not in needed


def test_missing_libraries_are_named(
    build_text: Any, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    compiler.sundials_libraries.cache_clear()
    monkeypatch.setattr(compiler, "SUNDIALS", ("sundials_cvode", "sundials_none"))
    try:
        with wording.raises(FmuError):
            build_text("Linear", LINEAR, method="cvode")
    finally:
        compiler.sundials_libraries.cache_clear()


def test_fmi3_sources_say_the_libraries(tmp_path: Path) -> None:
    from orchestrator.export import Solver, build_model

    (tmp_path / "Linear.mo").write_text(LINEAR, encoding="utf-8")
    built = build_model("Linear", tmp_path, tmp_path, solver=Solver("cvode"), fmi=["3.0"])
    with zipfile.ZipFile(built.path) as archive:
        text = archive.read("sources/buildDescription.xml").decode()
        names = archive.namelist()
    assert 'Library name="sundials_cvode"' in text
    assert "sources/cvode.c" in names
    assert "sources/dopri5.c" not in names


def test_a_model_without_states_has_its_events(build_text: Any, open_fmu: Open) -> None:
    text = "model NoStates output Real y = if cos(time) > 0 then 1 else 2; end NoStates;"
    slave = with_tolerance(open_fmu(build_text("NoStates", text, method="cvode")), 1e-8)
    slave.step(2.0, 1)
    assert slave.get("y") == [2.0]
