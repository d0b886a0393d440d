"""The C runtime: state machine, saved states, directional derivatives, bad values."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

Open = Callable[..., Any]

DUFFING = """model Duffing "nonlinear oscillator with every kind of variable"
  parameter Real k = 2 "cubic stiffness";
  parameter Real x0 = 0.5;
  parameter Real k2 = 2*k "derived";
  parameter Integer n = 3;
  parameter Boolean driven = true;
  input Real u(start=0.25);
  input Boolean off;
  output Real x(start=x0, fixed=true);
  output Real y "feed-through";
  output Boolean high;
  output Integer twice;
  Real v(start=0, fixed=true);
  Real energy;
equation
  der(x) = v;
  der(v) = -x - k*x^3 - 0.1*v + (if driven and not off then u*cos(n*time) else 0);
  y = k2*x + 3*u;
  energy = v^2/2 + x^2/2 + k*x^4/4;
  high = noEvent(x > 0.1);
  twice = 2*n;
end Duffing;
"""


@pytest.fixture
def duffing(build_text: Any, open_fmu: Open) -> Any:
    return open_fmu(build_text("Duffing", DUFFING))


def refused(slave: Any, pattern: str, call: Callable[[], Any]) -> None:
    with pytest.raises(FMICallException):
        call()
    assert pattern in slave.messages[-1]


def test_description_classifies_variables(build_text: Any) -> None:
    fmu = build_text("Duffing", DUFFING)
    assert validate_fmu(str(fmu)) == []
    description = read_model_description(str(fmu))
    variables = {v.name: v for v in description.modelVariables}
    shown = {n: (v.causality, v.variability, v.initial) for n, v in variables.items()}
    assert shown["k"] == ("parameter", "tunable", "exact")
    assert shown["x0"] == ("parameter", "fixed", "exact")  # acts on the start only
    assert shown["n"] == ("parameter", "fixed", "exact")
    assert shown["k2"] == ("calculatedParameter", "tunable", "calculated")
    assert shown["x"] == ("output", "continuous", "approx")
    assert shown["high"] == ("output", "discrete", "calculated")
    depends = {o.variable.name: [d.name for d in o.dependencies] for o in description.outputs}
    assert depends == {"x": ["x"], "y": ["u", "x"], "high": ["x"], "twice": []}
    kinds = {o.variable.name: o.dependenciesKind for o in description.outputs}
    assert kinds["y"] == ["constant", "tunable"]
    assert kinds["high"] == ["dependent"]


def test_against_scipy(duffing: Any) -> None:
    from scipy.integrate import solve_ivp

    duffing.initialize()
    duffing.step(0.01, 200)

    def right(t: float, s: Any) -> list[float]:
        x, v = s
        return [v, -x - 2 * x**3 - 0.1 * v + 0.25 * math.cos(3 * t)]

    exact = solve_ivp(right, (0, 2), [0.5, 0], rtol=1e-12, atol=1e-14, method="DOP853").y[:, -1]
    # RK4 with h = 1 ms: h^4 = 1e-12, with factors of the order one.
    np.testing.assert_allclose(duffing.get("x", "v"), exact, atol=1e-11)


def test_booleans_and_integers(duffing: Any) -> None:
    duffing.initialize(n=5, driven=False)
    refs = duffing.references
    assert duffing.fmu.getBoolean([refs["driven"], refs["high"]]) == [0, 1]
    assert duffing.fmu.getInteger([refs["n"], refs["twice"]]) == [5, 10]
    refused(duffing, "'n' is Integer, not Real", lambda: duffing.get("n"))


def test_start_follows_parameter_unless_set(build_text: Any, open_fmu: Open) -> None:
    fmu = build_text("Duffing", DUFFING)
    follows = open_fmu(fmu).initialize(x0=0.9, k=3.0)
    assert follows.get("x", "k2", "y") == [0.9, 6.0, pytest.approx(6 * 0.9 + 0.75)]
    chosen = open_fmu(fmu).initialize(x=0.1, x0=0.9)
    assert chosen.get("x") == [0.1]


def test_tunable_parameter_between_steps(duffing: Any) -> None:
    duffing.initialize()
    duffing.step(0.01)
    duffing.set(k=7.0)
    x, y = duffing.get("x", "y")
    assert y == pytest.approx(14 * x + 0.75, rel=1e-14)
    refused(duffing, "'x0' is fixed", lambda: duffing.set(x0=1.0))
    refused(duffing, "'n' is fixed", lambda: duffing.set(n=1))
    refused(duffing, "'k2' is calculated", lambda: duffing.set(k2=1.0))
    refused(duffing, "start value of 'x'", lambda: duffing.set(x=1.0))


def test_structural_parameter_cannot_be_set(build_text: Any, open_fmu: Open) -> None:
    text = """model Sized parameter Integer n = 2; output Real x[n];
    equation x = fill(time, n); end Sized;"""
    slave = open_fmu(build_text("Sized", text))
    refused(slave, "shapes the equations", lambda: slave.set(n=3))


def test_state_machine(duffing: Any) -> None:
    refused(duffing, "fmi2DoStep: not allowed in state 'instantiated'", lambda: duffing.step(0.1))
    refused(duffing, "fmi2GetReal: not allowed", lambda: duffing.get("x"))
    refused(duffing, "fmi2SetupExperiment first", duffing.fmu.enterInitializationMode)
    duffing.initialize(stop_time=1.0)
    refused(duffing, "not allowed in state 'step mode'", duffing.fmu.enterInitializationMode)
    refused(duffing, "starts at t = 0.5", lambda: duffing.fmu.doStep(0.5, 0.1))
    refused(duffing, "communication step is -0.1", lambda: duffing.fmu.doStep(0.0, -0.1))
    refused(duffing, "communication step is nan", lambda: duffing.fmu.doStep(0.0, math.nan))
    refused(duffing, "after the stop time", lambda: duffing.fmu.doStep(0.0, 1.1))
    duffing.step(0.1, 10)  # sums to 0.99999..: within the slack of the stop time
    duffing.fmu.terminate()
    refused(duffing, "state 'terminated'", lambda: duffing.step(0.1))
    assert len(duffing.get("x")) == 1
    duffing.fmu.reset()
    duffing.time = 0.0
    duffing.initialize()
    assert duffing.get("x") == [0.5]


def test_steps_do_not_accumulate_time_error(duffing: Any) -> None:
    duffing.initialize()
    for index in range(10_000):  # the importer multiplies, the FMU adds
        duffing.fmu.doStep(index * 0.001, 0.001)


def test_values_that_are_not_numbers(duffing: Any) -> None:
    refused(duffing, "the value for 'u' is not a number", lambda: duffing.set(u=math.nan))
    duffing.initialize()
    duffing.set(u=math.inf)
    refused(duffing, "'u' is inf in the step from t = 0 s", lambda: duffing.step(0.01))
    refused(duffing, "state 'error", lambda: duffing.step(0.01))


def test_diverging_state_is_named(duffing: Any) -> None:
    duffing.initialize(x0=1e200)
    refused(duffing, "'x' is", lambda: duffing.step(0.01))


def test_error_is_left_by_a_saved_state(duffing: Any) -> None:
    duffing.initialize()
    saved = duffing.fmu.getFMUstate()
    duffing.set(u=math.inf)
    with pytest.raises(FMICallException):
        duffing.step(0.01)
    duffing.fmu.setFMUstate(saved)
    duffing.step(0.01)
    duffing.fmu.freeFMUstate(saved)


def test_bad_start_is_named(build_text: Any, open_fmu: Open) -> None:
    text = (
        "model Root parameter Real a = 1; Real x(start=sqrt(a), fixed=true);"
        " equation der(x) = 1; end Root;"
    )
    slave = open_fmu(build_text("Root", text))
    refused(slave, "'x' starts as", lambda: slave.initialize(a=-1.0))


def test_wrong_guid_is_reported(shipped_fmus: dict[str, Path], open_fmu: Open) -> None:
    slave = open_fmu(shipped_fmus["Chaser"])
    slave.fmu.guid = "{other}"
    component = slave.fmu.component
    with pytest.raises(Exception, match="Failed to instantiate"):
        slave.fmu.instantiate(callbacks=slave._callbacks)
    slave.fmu.component = component
    assert "GUID '{other}' does not match" in slave.messages[-1]


def test_saved_state_is_bit_exact(duffing: Any) -> None:
    duffing.initialize()
    duffing.step(0.013, 7)
    saved, time = duffing.fmu.getFMUstate(), duffing.time
    data = duffing.fmu.serializeFMUstate(saved)
    duffing.step(0.013, 20)
    first = duffing.get("x", "v", "y", "energy")
    duffing.set(u=0.9)
    restored = duffing.fmu.deSerializeFMUstate(data)
    duffing.fmu.setFMUstate(restored)
    duffing.time = time
    duffing.step(0.013, 20)
    assert duffing.get("x", "v", "y", "energy") == first  # equal bits, not approximately
    again = duffing.fmu.getFMUstate()
    duffing.fmu.setFMUstate(saved)
    assert duffing.fmu.serializeFMUstate(saved) == data
    assert duffing.fmu.serializeFMUstate(again) != data
    for state in (saved, restored, again):
        duffing.fmu.freeFMUstate(state)


def test_state_of_another_model_is_refused(
    duffing: Any, shipped_fmus: dict[str, Path], open_fmu: Open
) -> None:
    chaser = open_fmu(shipped_fmus["Chaser"]).initialize()
    state = chaser.fmu.getFMUstate()
    data = chaser.fmu.serializeFMUstate(state)
    chaser.fmu.freeFMUstate(state)
    refused(duffing, "fmi2DeSerializeFMUstate", lambda: duffing.fmu.deSerializeFMUstate(data))
    target = open_fmu(shipped_fmus["Target"])
    padded = data[: len(data) - 8]  # the size fits by chance: the GUID still tells
    refused(target, "fmi2DeSerializeFMUstate", lambda: target.fmu.deSerializeFMUstate(padded))


def test_instances_are_independent(shipped_fmus: dict[str, Path], open_fmu: Open) -> None:
    units = [
        open_fmu(shipped_fmus["Chaser"], f"unit {i}").initialize(v0=float(i)) for i in range(5)
    ]
    for index in range(10):
        for unit in units:
            unit.fmu.doStep(index * 0.1, 0.1)
    assert [unit.get("position")[0] for unit in units] == pytest.approx([0, 1, 2, 3, 4], abs=1e-12)


def test_directional_derivatives(duffing: Any) -> None:
    duffing.initialize()
    duffing.step(0.01, 30)
    refs = duffing.references
    x, v, time = *duffing.get("x", "v"), duffing.time

    def derivative(unknown: str, known: str) -> float:
        return float(duffing.fmu.getDirectionalDerivative([refs[unknown]], [refs[known]], [1.0])[0])

    assert derivative("y", "u") == 3.0
    assert derivative("y", "x") == 4.0
    assert derivative("x", "u") == 0.0
    assert derivative("x", "x") == 1.0
    assert derivative("der(x)", "v") == 1.0
    assert derivative("der(v)", "x") == pytest.approx(-1 - 6 * x**2, rel=1e-14)
    assert derivative("der(v)", "u") == pytest.approx(math.cos(3 * time), rel=1e-12)
    assert derivative("energy", "v") == pytest.approx(v, rel=1e-14)
    refused(duffing, "neither a Real input nor a state", lambda: derivative("y", "k"))
    refused(duffing, "no Real output", lambda: derivative("k", "u"))
