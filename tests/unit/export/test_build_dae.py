"""A plant written in Python becomes an FMU without any Modelica."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu

from orchestrator.core.diagnostics import DescriptionError, ModelicaError
from orchestrator.export import (
    DataType,
    Experiment,
    Kind,
    Residual,
    ResidualDae,
    Solver,
    Variable,
    build_dae,
)


def real(name: str, kind: Kind, start: float = 0.0, **facts: object) -> Variable:
    return Variable(name, kind, DataType.REAL, ca.SX.sym(name), ca.SX(start), **facts)


@pytest.fixture
def oscillator() -> Callable[..., ResidualDae]:
    """``m*a + k*x = f``: made anew by each call, as another process would."""

    def make(stiffness: float = 16.0, power: int = 1) -> ResidualDae:
        x = real("x", Kind.OUTPUT, 1.0, fixed=True, unit="m")
        v = real("v", Kind.LOCAL, 0.0, fixed=True, unit="m/s")
        k = real("k", Kind.PARAMETER, stiffness, unit="N/m")
        f = real("f", Kind.INPUT, unit="N")
        rates = {name: ca.SX.sym(f"der({name})") for name in ("x", "v")}
        balance = 4 * rates["v"] + k.symbol * x.symbol**power - f.symbol
        return ResidualDae(
            "Lab.Oscillator",
            ca.SX.sym("time"),
            (x, v, k, f),
            rates,
            (Residual(rates["x"] - v.symbol, "kinematics"), Residual(balance, "balance")),
            "Mass on a spring",
        )

    return make


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_it_swings_as_it_should(
    oscillator: Callable[..., ResidualDae], tmp_path: Path, fmi: str
) -> None:
    built = build_dae(
        oscillator(), tmp_path, fmi=[fmi], experiment=Experiment(stop_time=3.0, step_size=0.1)
    )
    assert validate_fmu(str(built.path)) == []
    assert float(read_model_description(str(built.path)).defaultExperiment.stopTime) == 3.0
    result = simulate_fmu(str(built.path), fmi_type="CoSimulation", output_interval=0.1)
    # Tolerance 1e-8 of the solver over one period.
    np.testing.assert_allclose(result["x"], np.cos(2 * result["time"]), atol=1e-6)
    assert result["time"][-1] == pytest.approx(3.0)


@pytest.mark.usefixtures("checked_sources")
def test_equal_equations_are_not_built_again(
    oscillator: Callable[..., ResidualDae], tmp_path: Path
) -> None:
    assert not build_dae(oscillator(), tmp_path).cached
    assert build_dae(oscillator(), tmp_path).cached
    for changed in (
        oscillator(power=3),
        oscillator(stiffness=17.0),
        replace(oscillator(), description="Another"),
        replace(oscillator(), initial=(Residual(ca.SX(0), "nothing"),)),
    ):
        assert not build_dae(changed, tmp_path).cached
    assert not build_dae(oscillator(), tmp_path, solver=Solver(max_step=0.1)).cached


@pytest.mark.slow
@pytest.mark.usefixtures("checked_sources")
def test_deep_expressions_have_hashes_of_their_own(tmp_path: Path) -> None:
    def chain(last: float) -> ResidualDae:
        x = real("x", Kind.LOCAL, 1.0, fixed=True)
        rate, deep = ca.SX.sym("der(x)"), x.symbol
        for _ in range(2000):
            deep = ca.sin(deep) + deep * 1e-3
        residual = Residual(rate + deep + last, "chain")
        return ResidualDae("Chain", ca.SX.sym("time"), (x,), {"x": rate}, (residual,))

    build_dae(chain(1.0), tmp_path)
    assert build_dae(chain(1.0), tmp_path).cached
    assert not build_dae(chain(math.nextafter(1.0, 2.0)), tmp_path).cached


def test_missing_equation_is_named(
    oscillator: Callable[..., ResidualDae], tmp_path: Path, wording
) -> None:
    dae = oscillator()
    with wording.raises(ModelicaError):
        build_dae(replace(dae, residuals=dae.residuals[:1]), tmp_path)
    with wording.raises(DescriptionError):
        build_dae(dae, tmp_path, name="a-b")
    assert list(tmp_path.iterdir()) == []
