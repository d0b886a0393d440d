"""Solutions far from the guess: at the start, and where a branch of solutions ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy.fmi1 import FMICallException

_STARTS = {
    # A resistor that heats itself: its Jacobian is singular where current and resistance are 0.
    "Heated": (
        """model Heated
  Real R; Real i; Real T(start=288.15, nominal=300); Real P; output Real y;
equation
  R = 50*(1 + 0.01*(T - 293)); sin(time) = R*i; P = sin(time)*i;
  P = 10*(T - 300); y = R;
end Heated;""",
        50 * 1.07,
    ),
    "Product": (
        "model Product output Real y; Real z; equation y^2 + z^2 = 25; y*z = 12; end Product;",
        3.0,
    ),
    "Steep": (
        "model Steep output Real y(start=30); equation atan(y) = 0.2; end Steep;",
        math.tan(0.2),
    ),
}

_FOLD = """model Fold
  output Real y(start=-1); {states}
equation
  y^3 - y = {drive}; {slopes}
end Fold;"""

_TRIGGER = """model Trigger
  output Real y(start=15); output Boolean high; Real vin = 5 - 5*time; Real vp; Real v; Real i;
equation
  i = (vin - vp)/1000; i = (vp - y)/15000; v = 15000*vp;
  y = max(-15, min(15, v)); high = v >= 15;
end Trigger;"""


@pytest.mark.parametrize("name", _STARTS)
def test_a_start_is_found_and_told(
    name: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text, right = _STARTS[name]
    unit = open_fmu(build_text(name, text)).initialize()
    assert unit.get("y") == [pytest.approx(right, rel=1e-3)]
    (told,) = unit.messages
    assert "from the start values Newton's method finds no solution of the equations for " in told


def test_equations_without_a_solution_stay_an_error(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = "model None_ output Real y(start=2); equation y^2 + exp(y) = -1; end None_;"
    with pytest.raises(FMICallException):
        open_fmu(build_text("None_", text)).initialize()


@pytest.mark.parametrize("method", ["dopri5", "rk4", "cvode"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_branch_that_ends_jumps_with_a_message(
    method: str, dynamic: bool, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    """y^3 - y = t - 1 folds at y = -1/sqrt(3)."""
    states = {"states": "Real x(start=-1, fixed=true);", "drive": "x", "slopes": "der(x) = 1;"}
    alone = {"states": "", "drive": "time - 1", "slopes": ""}
    text = _FOLD.format(**(states if dynamic else alone))
    unit = open_fmu(build_text("Fold", text, method=method)).initialize()
    values = []
    for _ in range(20):
        unit.step(0.1)
        values += unit.get("y")
    turn = 1 + 2 / (3 * math.sqrt(3))
    for step, y in enumerate(values, 1):
        assert y**3 - y == pytest.approx(0.1 * step - 1, abs=1e-8)
        assert y < -0.57 if 0.1 * step < turn else y > 1.15
    (told,) = unit.messages
    assert float(told.split()[2]) == pytest.approx(turn, abs=1e-6)
    assert "the branch of solutions of the equations for y" in told


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_trigger_jumps_at_a_corner_and_its_relations_follow(
    method: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    unit = open_fmu(build_text("Trigger", _TRIGGER, method=method)).initialize()
    unit.step(0.1, count=11)
    assert unit.get("y") == [15.0]
    unit.step(0.1, count=9)
    assert unit.get("y") == [-15.0]
    assert unit.fmu.getBoolean([unit.references["high"]]) == [False]
    (told,) = [m for m in unit.messages if "branch" in m]
    assert float(told.split()[2]) == pytest.approx(1.2 - 1 / 75000 * 16, abs=1e-5)


def test_reading_shows_what_the_next_step_jumps_to(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = "model Held input Real u; output Real y(start=-1); equation y^3 - y = u; end Held;"
    unit = open_fmu(build_text("Held", text)).initialize(u=-1.0)
    unit.set(u=1.0)
    (shown,) = unit.get("y")
    unit.step(0.1)
    assert [shown] == unit.get("y")
    assert shown == pytest.approx(1.3247, abs=1e-4)


def test_at_an_event_any_solution_is_searched_for(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    """With d = 1 only the upper branch of y^3 - y = d is left."""
    text = """model Switched
  output Real y(start=-1); discrete Real d(start=-0.2, fixed=true);
equation
  y^3 - y = d;
  when time > 0.55 then d = 1; end when;
end Switched;"""
    unit = open_fmu(build_text("Switched", text)).initialize()
    unit.fmu.setDebugLogging(True, ["logEvents"])
    unit.step(0.1, count=5)
    assert unit.get("y")[0] < -0.8
    unit.step(0.1)
    assert unit.get("y") == [pytest.approx(1.3247, abs=1e-4)]
    (told,) = [message for message in unit.messages if "jumps" in message]
    assert told.startswith("t = 0.55 s: the solution of the equations for y ")
