from __future__ import annotations

from typing import Any

import casadi as ca
import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.dae.residual_dae import DataType, Kind, Residual, ResidualDae, Variable


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


def test_nonlinear_block_is_left_to_newton(explicit: Any) -> None:
    ode = explicit("input Real u; Real y, z;\nequation\ny*z = u; y + z = 1;")
    assert sorted([*ode.blocks[0].names, *ode.blocks[0].inner]) == ["y", "z"]
    assert len(ode.blocks[0].origins) == 2


def test_large_linear_block_is_factorised_at_run_time(explicit: Any) -> None:
    ode = explicit("Real y[9];\nequation\nfor i in 1:9 loop sum(y) + i*y[i] = time; end for;")
    (block,) = ode.blocks
    assert (block.unknowns.numel(), len(block.inner), block.is_linear) == (8, 1, True)


def test_constraint_between_states_is_differentiated(explicit: Any, evaluate: Any) -> None:
    ode = explicit(
        "Real x(start=1, fixed=true), y(start=2), F;\nequation\n"
        "der(x) = 3 + F; y = 2*x; der(y) = 12 - F;"
    )
    assert [state.name for state in ode.states] == ["x"]
    assert evaluate(ode)["F"] == pytest.approx(2.0)


def test_state_select_decides_about_the_state(explicit: Any) -> None:
    body = "Real x(start=1{}), y(start=2{}), F;\nequation\nder(x) = F; y = 2*x; der(y) = -F - y;"
    for first, second, chosen in (
        (", stateSelect=StateSelect.prefer", "", "x"),
        ("", ", stateSelect=StateSelect.prefer", "y"),
        (", fixed=true", "", "x"),
        ("", ", fixed=true", "y"),
        (", fixed=true", ", stateSelect=StateSelect.always", "y"),
    ):
        assert [v.name for v in explicit(body.format(first, second)).states] == [chosen]


@pytest.mark.parametrize(
    "body",
    [
        "Real x, y, z;\nequation\nx = 1; x = time; y + z = 3;",
        "input Real u; Real x, y, F;\nequation\nder(x) = F; der(y) = -F; x + 2*y = u;",
        "Real x, y, F;\nequation\nder(x) = F; der(y) = -F; x*x + y*y = 1;",
    ],
)
def test_singular_model_names_equations_and_variables(body: str, explicit: Any, wording) -> None:
    with wording.raises(ModelicaError):
        explicit(body)


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
    assert float(right(0, 6, 1, 4, ca.DM(0, 1), 0)) == 1.0


def test_boundary_refuses_a_wrong_number_of_equations(wording) -> None:
    dae = ResidualDae("Short", ca.SX.sym("time"), (_variable("y", Kind.OUTPUT),), {}, ())
    with wording.raises(ModelicaError):
        make_explicit(dae)
