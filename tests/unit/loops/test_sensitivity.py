"""Derivatives of trajectories with events, against closed forms."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from orchestrator import CapabilityError, DescriptionError, StepError, UnknownNameError
from orchestrator.export import build_model
from orchestrator.loops import trajectory_sensitivity

# Falls to x = 0 under -1, is thrown back under 2: a state event that bends the trajectory.
LAYERS = """model Layers
  parameter Real x0 = 1; parameter Real v0 = 0; parameter Real push(min = 0) = 2;
  output Real x(start = x0, fixed = true); output Real v(start = v0, fixed = true);
  output Real square = x^2;
  output Integer below = if x < 0 then 1 else 0;
equation
  der(x) = v; der(v) = if x < 0 then push else -1;
end Layers;"""
# Grows until 1 s, then decays: an event in time.
TURNING = """model Turning
  parameter Real x0 = 1;
  output Real x(start = x0, fixed = true);
equation
  der(x) = if time < 1 then x else -x;
end Turning;"""
BALL = """model Ball
  parameter Real x0 = 1;
  output Real x(start = x0, fixed = true); output Real v(start = 0, fixed = true);
equation
  der(x) = v; der(v) = -1;
  when x < 0 then reinit(v, -v); end when;
end Ball;"""


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("sensitivity")

    @cache
    def build(text: str, version: str = "2.0") -> Path:
        name = text.split()[1]
        (folder / f"{name}.mo").write_text(text, encoding="utf-8")
        return build_model(name, folder, folder / version, fmi=[version]).path

    return build


def test_event_in_the_state(plant) -> None:
    x0, v0, stop = 1.0, 0.2, 3.0
    sensitivity = trajectory_sensitivity(
        plant(LAYERS), {"x0": x0, "v0": v0}, ["x", "v", "square"], stop=stop, step=0.01
    )
    speed = -math.sqrt(v0**2 + 2.0 * x0)  # at x = 0
    at = v0 - speed
    moves = np.array([-1.0 / speed, 1.0 - v0 / speed])  # of `at`; d speed = (1, v0)/speed
    fast = np.array([1.0, v0]) / speed
    rest = stop - at
    x, v = speed * rest + rest**2, speed + 2.0 * rest
    assert v < 0.0 or x < 0.0  # has not come back
    dx = fast * rest - (speed + 2.0 * rest) * moves
    dv = fast - 2.0 * moves
    [event] = sensitivity.events
    # The method is exact for parabolas: what is left is rounding and where the event is found.
    assert event.time == pytest.approx(at, abs=1e-12)
    np.testing.assert_allclose(event.moves, moves, rtol=1e-8)
    np.testing.assert_allclose(event.derivative[:2], [[0.0, 0.0], fast], atol=1e-8)
    np.testing.assert_allclose(sensitivity.value[-1], [x, v, x * x], rtol=1e-10)
    np.testing.assert_allclose(sensitivity.derivative[-1], [dx, dv, 2.0 * x * dx], rtol=1e-7)


def test_event_in_time(plant) -> None:
    sensitivity = trajectory_sensitivity(plant(TURNING), {"x0": 2.0}, ["x"], stop=2.5, step=0.01)
    [event] = sensitivity.events
    assert event.time == pytest.approx(1.0, abs=1e-12)
    assert event.moves.tolist() == [0.0]
    want = math.exp(1.0 - 1.5)  # rounding of the method: 2.5 * 0.01**4 / 120
    assert sensitivity.derivative[-1, 0, 0] == pytest.approx(want, rel=1e-9)


def test_what_acts_on_the_equations_is_refused(plant, wording) -> None:
    ask = {"x0": -1.0, "push": 2.0}
    with wording.raises(CapabilityError):
        trajectory_sensitivity(plant(LAYERS), ask, ["x"], stop=1.0, step=0.1)


def test_resets_are_refused(plant) -> None:
    with pytest.raises(CapabilityError, match=r"resets states at 1\.41421"):
        trajectory_sensitivity(plant(BALL), {"x0": 1.0}, ["x"], stop=2.0, step=0.1)


@pytest.mark.parametrize(
    ("parameters", "outputs", "error", "text"),
    [
        ({}, ["x"], DescriptionError, "at least one parameter"),
        ({"height": 1.0}, ["x"], UnknownNameError, "has no Real variable 'height'"),
        ({"x0": 1.0}, ["below"], UnknownNameError, "has no Real variable 'below'"),
        ({"push": -1.0}, ["x"], StepError, "push"),
    ],
)
def test_bad_input(plant, parameters, outputs, error, text: str) -> None:
    with pytest.raises(error, match=text):
        trajectory_sensitivity(plant(LAYERS), parameters, outputs, stop=1.0, step=0.1)


def test_other_versions_are_refused(plant, wording) -> None:
    with wording.raises(CapabilityError):
        trajectory_sensitivity(plant(LAYERS, "3.0"), {"x0": 1.0}, ["x"], stop=1.0, step=0.1)
