"""Two of the problems again with units exported from Modelica: the same orders and numbers."""

from dataclasses import replace

import numpy as np
import pytest
from benchmark_problems import oscillator, quarter_car
from benchmark_problems.problem import error, run, slope

from orchestrator.core.simunits import fmu
from orchestrator.core.system import System
from orchestrator.export import Solver, build_model

MS = 1_000_000
MASS = """model Mass
  input Real force(unit="N");
  output Real position(unit="m", start=x0, fixed=true);
  output Real velocity(unit="m/s", start=0, fixed=true);
  parameter Real x0(unit="m") = 1;
  parameter Real m(unit="kg") = 1;
  parameter Real k(unit="N/m") = 10;
  parameter Real c(unit="N.s/m") = 0.1;
equation
  der(position) = velocity;
  m*der(velocity) = force - k*position - c*velocity;
end Mass;
"""
JOINED = """model JoinedMass
  input Real position_a(unit="m");
  input Real velocity_a(unit="m/s");
  output Real force(unit="N");
  output Real position(unit="m", start=x0, fixed=true);
  output Real velocity(unit="m/s", start=0, fixed=true);
  parameter Real x0(unit="m") = -0.5;
  parameter Real m(unit="kg") = 2;
  parameter Real k(unit="N/m") = 15;
  parameter Real c(unit="N.s/m") = 0.2;
  parameter Real kj(unit="N/m") = 20;
  parameter Real cj(unit="N.s/m") = 0.5;
equation
  force = kj*(position - position_a) + cj*(velocity - velocity_a);
  der(position) = velocity;
  m*der(velocity) = -force - k*position - c*velocity;
end JoinedMass;
"""


@pytest.fixture(scope="session")
def units(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modelica")
    built = {}
    for name, text in {"Mass": MASS, "JoinedMass": JOINED}.items():
        source = folder / f"{name}.mo"
        source.write_text(text)
        built[name] = build_model(None, source, folder, solver=Solver(tolerance=1e-11)).path
    return built


@pytest.fixture
def problems(units):
    """The quarter car is the same two models with other numbers."""
    one, two = (f"{name}.velocity" for name in ("one", "two"))

    def system(**values):
        parts = System("from Modelica").add("one", fmu(units["Mass"]), **values.get("one", {}))
        return (
            parts.add("two", fmu(units["JoinedMass"]), **values.get("two", {}))
            .connect("one.position", "two.position_a")
            .connect(one, "two.velocity_a")
            .connect("two.force", "one.force")
        )

    kerb = -quarter_car.KERB
    car = {
        "one": {"m": quarter_car.BODY, "k": 0.0, "c": 0.0, "x0": kerb},
        "two": {
            "m": quarter_car.WHEEL,
            "k": quarter_car.TYRE,
            "c": 0.0,
            "kj": quarter_car.SPRING,
            "cj": quarter_car.DAMPER,
            "x0": kerb,
        },
    }
    return {
        "oscillator": replace(oscillator.BY_FORCE, make=system),
        "quarter car": replace(
            quarter_car.PROBLEM,
            make=lambda: system(**car),
            names=("one.position", one, "two.position", two),
        ),
    }


PYTHON = {
    "oscillator": (oscillator.BY_FORCE, 16 * MS),
    "quarter car": (quarter_car.PROBLEM, 2 * MS),
}


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [("jacobi", 1), ("gauss-seidel", 1), ("fixed-point", 2), ("newton", 2)],
)
@pytest.mark.parametrize("name", PYTHON)
def test_order_and_values_are_those_of_exact_units(problems, name, algorithm, expected):
    exact, longest = PYTHON[name]
    steps = [longest // 2**i for i in range(4)]
    runs = [run(problems[name], algorithm, step) for step in steps]
    errors = [error(problems[name], one) for one in runs]
    assert slope(steps, errors) == pytest.approx(expected, abs=0.06)
    blocks = run(exact, algorithm, longest).rows
    # The FMUs integrate to 1e-11 a step, loops to 1e-9; a car's wheel has 0.05 m and 2 m/s.
    np.testing.assert_allclose(runs[0].rows, blocks, rtol=0, atol=1e-8 * np.abs(blocks).max())
