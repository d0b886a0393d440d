"""Every plant of the package against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu
from scipy.integrate import solve_ivp

from orchestrator.export import build_model

ROOT = Path(__file__).parents[3] / "modelica"
PLANTS = ("Chaser", "Target", "PositionAxis", "Compliance", "SpringDashpot")


@pytest.mark.parametrize("name", PLANTS)
def test_description_is_valid(name: str, shipped_fmus: dict[str, Path]) -> None:
    assert validate_fmu(str(shipped_fmus[name])) == []
    variables = read_model_description(str(shipped_fmus[name])).modelVariables
    assert all(variable.description for variable in variables)
    assert all(v.unit for v in variables if v.causality in {"input", "output"})


def test_chaser_under_constant_forces(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    chaser = open_fmu(shipped_fmus["Chaser"]).initialize(m=500.0, x0=-0.1, v0=0.02)
    chaser.set(force=-3.0, virtual_force=1.0, thrust=7.0)
    chaser.step(0.01, 100)
    # RK4 is exact for polynomials of second degree: only rounding remains.
    a = (-3.0 + 1.0 + 7.0) / 500.0
    x, v = chaser.get("position", "velocity")
    assert x == pytest.approx(-0.1 + 0.02 + a / 2, rel=1e-12)
    assert v == pytest.approx(0.02 + a, rel=1e-12)


def test_defaults_of_the_bodies(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    chaser = open_fmu(shipped_fmus["Chaser"]).initialize()
    target = open_fmu(shipped_fmus["Target"]).initialize()
    assert chaser.get("m", "position", "velocity") == [750.0, 0.0, 0.03]
    assert target.get("m", "position", "velocity") == [1e6, 0.0, 0.0]
    assert "thrust" not in target.references


@pytest.mark.parametrize(("bandwidth", "zeta", "x0"), [(15.0, 0.7, 0.0), (5.0, 0.3, 0.2)])
def test_axis_step_response(
    bandwidth: float,
    zeta: float,
    x0: float,
    shipped_fmus: dict[str, Path],
    open_fmu: Callable[..., Any],
) -> None:
    axis = open_fmu(shipped_fmus["PositionAxis"]).initialize(bandwidth=bandwidth, zeta=zeta, x0=x0)
    axis.set(position_command=1.0)
    axis.step(0.002, 50)
    w = 2 * math.pi * bandwidth
    damped, t = w * math.sqrt(1 - zeta**2), 0.1
    decay = math.exp(-zeta * w * t)
    offset = x0 - 1.0
    ratio = zeta / math.sqrt(1 - zeta**2)
    expected = 1.0 + offset * decay * (math.cos(damped * t) + ratio * math.sin(damped * t))
    # RK4 with h = 1 ms: the error is of the order (w h)^4 / 120 per radian, here below 1e-6.
    assert axis.get("position")[0] == pytest.approx(expected, abs=2e-6)


def test_axis_converges_with_fourth_order(tmp_path: Path, shipped_fmus: dict[str, Path]) -> None:
    from orchestrator.export import Solver

    def final(max_step: float) -> float:
        fmu = build_model(
            "SpaceDocking.Examples.AxisStep",
            ROOT,
            tmp_path / f"{max_step}",
            solver=Solver("rk4", max_step),
        ).path
        result = simulate_fmu(
            str(fmu),
            stop_time=0.04,
            step_size=0.004,
            output_interval=0.004,
            output=["axis.position"],
            fmi_type="CoSimulation",
        )
        return float(result["axis.position"][-1])

    def right(t: float, y: np.ndarray[Any, Any]) -> list[float]:
        w = 30 * math.pi
        return [y[1], w**2 * (0.01 - y[0]) - 1.4 * w * y[1]]

    exact = solve_ivp(right, (0, 0.04), [0, 0], rtol=1e-12, atol=1e-15, method="DOP853").y[0, -1]
    coarse, fine = abs(final(2e-3) - exact), abs(final(1e-3) - exact)
    assert 12 < coarse / fine < 20  # 2^4 for a method of fourth order


@pytest.mark.parametrize(
    ("latched", "delta", "rate", "force"),
    [
        (False, 0.01, 0.0, 10.0),
        (False, 0.01, 0.1, 10.5),
        (False, 0.01, -10.0, 0.0),  # would pull
        (False, -0.01, 0.0, 0.0),
        (False, -0.01, 100.0, 0.0),  # approaching, but no contact yet
        (True, -0.01, 0.0, -10.0),
        (True, -0.01, 0.1, -9.5),
    ],
)
def test_compliance_law(
    latched: bool,
    delta: float,
    rate: float,
    force: float,
    shipped_fmus: dict[str, Path],
    open_fmu: Callable[..., Any],
) -> None:
    sheet = open_fmu(shipped_fmus["Compliance"]).initialize(latched=latched, d=5.0)
    sheet.set(position_a=0.3 + delta, velocity_a=rate, position_b=0.3, velocity_b=0.0)
    force_a, force_b, compression = sheet.get("force_a", "force_b", "compression")
    assert force_a == pytest.approx(-force, rel=1e-12, abs=1e-12)
    assert force_b == -force_a
    assert compression == pytest.approx(delta, rel=1e-12)


def test_outputs_follow_inputs_before_and_after_a_step(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    contact = open_fmu(shipped_fmus["SpringDashpot"]).initialize()
    contact.set(position_a=0.01)
    assert contact.get("force_a") == [pytest.approx(-30.0)]
    contact.step(0.1)
    assert contact.get("force_a") == [pytest.approx(-30.0)]
    contact.set(velocity_a=0.1)
    assert contact.get("force_a") == [pytest.approx(-34.0)]


def test_two_bodies_bounce_off(tmp_path: Path) -> None:
    fmu = build_model("SpaceDocking.Examples.TwoBodyImpact", ROOT, tmp_path).path
    assert validate_fmu(str(fmu)) == []
    names = ["chaser.position", "chaser.velocity", "target.velocity", "contact.force_a"]
    result = simulate_fmu(
        str(fmu),
        stop_time=4.0,
        step_size=1e-3,
        output_interval=1e-3,
        output=names,
        fmi_type="CoSimulation",
    )
    mass = 1 / (1 / 750 + 1 / 1e6)
    # No step hits the change of contact exactly; the force is near zero there, so little is lost.
    expected = (750 - 1e6) / (750 + 1e6) * 0.03
    assert result["chaser.velocity"][-1] == pytest.approx(expected, rel=1e-5)
    momentum = 750 * result["chaser.velocity"] + 1e6 * result["target.velocity"]
    np.testing.assert_allclose(momentum, 750 * 0.03, rtol=1e-12)
    peak = 0.03 * math.sqrt(1000 * mass)
    assert -result["contact.force_a"].min() == pytest.approx(peak, rel=1e-5)
    contact = result["time"][result["contact.force_a"] < 0]
    # Half a period of the reduced mass on the spring; seen at a grid of 1 ms.
    assert contact[-1] - contact[0] == pytest.approx(math.pi * math.sqrt(mass / 1000), abs=2e-3)
