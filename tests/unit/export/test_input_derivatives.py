"""Inputs that move within a communication step, and time derivatives of outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from orchestrator.export import Solver, build_model

RAMP = """model Ramp
  input Real u(start=1); input Real w; input Integer n;
  output Real x(start=0, fixed=true);
  output Real y "feed-through and time";
  output Real z "of an implicit equation";
  output Integer count;
equation
  der(x) = u - w*x;
  y = x*time + 3*u;
  z^3 + z = x + time;
  count = n;
end Ramp;
"""


@pytest.fixture(scope="module", params=["rk4", "dopri5"])
def ramp(request: Any, tmp_path_factory: Any) -> Path:
    folder = tmp_path_factory.mktemp("ramp")
    (folder / "Ramp.mo").write_text(RAMP, encoding="utf-8")
    return build_model("Ramp", folder, folder / "build", solver=Solver(request.param, None)).path


@pytest.fixture
def slave(ramp: Path, open_fmu: Callable[..., Any]) -> Any:
    opened = open_fmu(ramp)
    opened.initialize()
    return opened


def slope(slave: Any, name: str, value: float, order: int = 1) -> None:
    slave.fmu.setRealInputDerivatives([slave.references[name]], [order], [value])


def rates(slave: Any, *names: str, order: int = 1) -> list[float]:
    references = [slave.references[name] for name in names]
    return list(slave.fmu.getRealOutputDerivatives(references, [order] * len(names)))


def test_a_ramp_is_integrated_exactly(slave: Any) -> None:
    slave.set(u=1.0)
    slope(slave, "u", 4.0)
    slave.step(0.5)
    assert slave.get("x") == pytest.approx([0.5 + 4.0 * 0.5**2 / 2], rel=1e-13)
    assert slave.get("u", "y") == pytest.approx([3.0, 1.0 * 0.5 + 9.0], rel=1e-13)


def test_a_slope_holds_for_one_step(slave: Any) -> None:
    slope(slave, "u", 2.0)
    slave.step(0.5)
    x = slave.get("x")[0]
    slave.step(0.5)
    assert slave.get("u") == [2.0]
    assert slave.get("x")[0] - x == pytest.approx(1.0, rel=1e-13)


def test_setting_an_input_ends_its_slope_alone(slave: Any) -> None:
    slope(slave, "u", 2.0)
    slope(slave, "w", 1.0)
    slave.set(u=1.0)
    slave.step(0.25)
    assert slave.get("u", "w") == [1.0, 0.25]


def test_a_ramp_against_the_closed_form(slave: Any) -> None:
    slave.set(w=2.0, u=0.0)
    for k in range(10):
        slave.set(u=0.3 * k)
        slope(slave, "u", 3.0)
        slave.step(0.1)
    exact = 3.0 * (1.0 / 2.0 - (1 - math.exp(-2.0)) / 4.0)  # x' = 3 t - 2 x
    assert slave.get("x") == pytest.approx([exact], rel=1e-8)


def test_slopes_are_part_of_the_state(slave: Any) -> None:
    slope(slave, "u", 2.0)
    saved = slave.fmu.getFMUstate()
    slave.fmu.doStep(0.0, 0.5)
    first = slave.get("x", "u", "y", "z")
    slave.fmu.setFMUstate(slave.fmu.deSerializeFMUstate(slave.fmu.serializeFMUstate(saved)))
    slave.fmu.doStep(0.0, 0.5)
    assert slave.get("x", "u", "y", "z") == first
    assert first[1] == 2.0


def test_output_derivatives_along_the_solution(slave: Any) -> None:
    slave.set(u=1.0, w=0.5)
    slope(slave, "u", 4.0)
    slave.step(0.5)
    x, z = slave.get("x", "z")
    xdot = 3.0 - 0.5 * x
    expected = [xdot, xdot * 0.5 + x + 3 * 4.0, (xdot + 1) / (3 * z**2 + 1)]
    np.testing.assert_allclose(rates(slave, "x", "y", "z"), expected, rtol=1e-12)
    slave.set(u=3.0)  # held from now on
    np.testing.assert_allclose(rates(slave, "y"), [expected[1] - 12.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        (lambda s: slope(s, "u", 1.0, order=4), "of order 4 of 'u'; expected 1 to 3"),
        (lambda s: slope(s, "u", 1.0, order=0), "of order 0 of 'u'"),
        (lambda s: slope(s, "u", math.inf), "the derivative of 'u' would be inf"),
        (lambda s: slope(s, "x", 1.0), "is no Real input"),
        (lambda s: slope(s, "n", 1.0), "is no Real input"),
        (lambda s: rates(s, "y", order=2), "only order 1 is given"),
        (lambda s: rates(s, "u"), "is no Real output"),
        (lambda s: rates(s, "count"), "is no Real output"),
    ],
)
def test_refusals(slave: Any, call: Callable[[Any], Any], pattern: str) -> None:
    with pytest.raises(FMICallException):
        call(slave)
    assert pattern in str(slave.messages[-1])


def test_a_slope_set_between_steps_counts_from_now(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = (
        "model Edge input Real u; output Real y; equation y = if u > 0.05 then 1 else 0; end Edge;"
    )
    slave = open_fmu(build_text("Edge", text, method="dopri5")).initialize()
    slave.step(0.1)
    slave.set(u=0.0)
    slope(slave, "u", 1.0)
    assert slave.get("y") == [0.0]
    slave.step(0.1)
    assert slave.get("y") == [1.0]
