"""The method ``verlet``: its limit, its energy, what is no position, and models it cannot take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from orchestrator import DescriptionError, StepError, System, fmu, simulate

SPRING = """model Spring "a stiff spring, and a lag that follows it"
  parameter Real w = 1000;
  output Real x(start = 1, fixed = true);
  output Real v(start = 0, fixed = true);
  output Real lag(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -w^2*x;
  der(lag) = 10*(x - lag);
  assert(abs(x) < 1e6, "torn");
end Spring;
"""
DECAY = """model Decay
  output Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end Decay;
"""


def run(path: Any, stop: str = "0.1 s") -> Any:
    return simulate(System("spring").add("spring", fmu(path)), step="1 ms", stop=stop)


def test_it_swings_by_the_closed_form_up_to_its_limit(build_text: Any) -> None:
    """sin(w' h/2) = w h/2: velocity Verlet swings as fast as that and keeps its height."""
    found = run(build_text("Spring", SPRING, 1e-3, "verlet"))  # w h = 1
    faster = 2.0 / 1e-3 * math.asin(0.5)
    np.testing.assert_allclose(found["spring.x"], np.cos(faster * found.time), atol=1e-11)


def test_beyond_its_limit_it_says_so(build_text: Any, wording) -> None:
    stiff = SPRING.replace("w = 1000", "w = 2010")
    with wording.raises(StepError):
        run(build_text("Stiff", stiff.replace("Spring", "Stiff"), 1e-3, "verlet"), "1 s")


def test_what_is_no_position_is_of_second_order(build_text: Any) -> None:
    """The lag of cos(w t): its exact answer, with errors that fall with the square of the step."""
    errors = []
    for n, step in enumerate((2.5e-4, 1.25e-4)):
        name = f"Spring{n}"
        found = run(build_text(name, SPRING.replace("Spring", name), step, "verlet"), "0.05 s")
        t, w, a = found.time, 1000.0, 10.0
        exact = a * (a * np.cos(w * t) + w * np.sin(w * t) - a * np.exp(-a * t)) / (a * a + w * w)
        errors.append(np.abs(found["spring.lag"] - exact).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


def test_a_model_without_positions_is_refused(build_text: Any, wording) -> None:
    with wording.raises(DescriptionError):
        build_text("Decay", DECAY, 1e-3, "verlet")
