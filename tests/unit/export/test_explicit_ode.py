from __future__ import annotations

from typing import Any

import casadi as ca
import pytest

from orchestrator.errors import ModelicaError
from orchestrator.export.explicit_ode import make_explicit
from orchestrator.export.residual_dae import DataType, Kind, Residual, ResidualDae, Variable


def test_implicit_mass_matrix_is_solved(explicit: Any, evaluate: Any) -> None:
    values = evaluate(
        explicit(
            "Real x(start=1, fixed=true), y(start=1, fixed=true); parameter Real m = 2;\nequation\n"
            "m*der(x) + der(y) = -x; der(x) - der(y) = 3*y;"
        )
    )
    assert values["der(x)"] == pytest.approx(2 / 3, rel=1e-14)
    assert values["der(y)"] == pytest.approx(2 / 3 - 3, rel=1e-14)


def test_chain_of_blocks_is_solved_in_order(explicit: Any, evaluate: Any) -> None:
    values = evaluate(
        explicit("Real a, b, c;\nequation\nc = 2*b; b + a = 5; 3*a = 6*time;"), time=1.0
    )
    assert (values["a"], values["b"], values["c"]) == (2.0, 3.0, 6.0)


@pytest.mark.parametrize(
    "equation",
    [
        "y*y = u",
        "sin(y) = u",
        "y + noEvent(floor(y)) = u",
        "y + noEvent(if y > 0 then 1 else 0) = u",
        "y + noEvent(max(y, 0)) = u",
        "y + sign(y) = u",
        "y + abs(y) = u",
    ],
)
def test_nonlinear_equation_is_refused(equation: str, explicit: Any) -> None:
    with pytest.raises(ModelicaError, match="not linear in y"):
        explicit(f"input Real u; Real y;\nequation\n{equation};")


def test_nonlinear_loop_names_all_unknowns(explicit: Any) -> None:
    with pytest.raises(ModelicaError, match=r"loop of 2 equations for .*not linear in"):
        explicit("input Real u; Real y, z;\nequation\ny*z = u; y + z = 1;")


def test_constraint_between_states_asks_for_index_reduction(explicit: Any) -> None:
    with pytest.raises(ModelicaError, match=r"cannot be solved for .*index reduction"):
        explicit(
            "Real x(start=1, fixed=true), y(start=2, fixed=true), F;\nequation\n"
            "der(x) = F; y = 2*x; der(y) = -F;"
        )


def _variable(name: str, kind: Kind, start: Any = 0.0) -> Variable:
    return Variable(name, kind, DataType.REAL, ca.SX.sym(name), ca.SX(start))


def test_a_plant_in_python_enters_at_the_boundary() -> None:
    x, u, k = (
        _variable("x", Kind.OUTPUT, 1.0),
        _variable("u", Kind.INPUT),
        _variable("k", Kind.PARAMETER),
    )
    slope = ca.SX.sym("der(x)")
    residual = Residual(2 * slope + k.symbol * x.symbol - u.symbol, "Python")
    dae = ResidualDae("Lag", ca.SX.sym("time"), (x, u, k), {"x": slope}, (residual,))
    ode = make_explicit(dae)
    right = ca.Function("f", ode.arguments, [ode.xdot])
    assert float(right(0, 6, 1, 4, ca.DM(0, 1))) == 1.0


def test_boundary_refuses_a_wrong_number_of_equations() -> None:
    dae = ResidualDae("Short", ca.SX.sym("time"), (_variable("y", Kind.OUTPUT),), {}, ())
    with pytest.raises(ModelicaError, match="0 equations for 1 unknowns"):
        make_explicit(dae)
