from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError

_LAG = "Real x(start=1, fixed=true);\nequation\nder(x) = -x;\n"

REFUSED = {
    "delay": ("input Real u; Real y;\nequation\ny = delay(u, 0.1);", r"delay\(\).*connection"),
    "equality": (
        "Real y;\nequation\ny = if sin(time) == time then 1 else 2;",
        "==|equality comparison",
    ),
    "pre": (
        "Real y; Real d(start=0);\nequation\ny = time;\nwhen time > 1 then d = pre(y); end when;",
        "pre",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unsupported_construct_is_named_with_model(case: str, explicit: Any) -> None:
    body, pattern = REFUSED[case]
    with pytest.raises(ModelicaError, match=pattern) as caught:
        explicit(body)
    assert str(caught.value).startswith("A: ")


def test_refused_equation_is_located(explicit: Any, wording) -> None:
    with wording.raises(ModelicaError):  # the fixture puts two lines before
        explicit("input Real u; Real y;\nequation\ny = delay(u, 0.1);")


def test_multiple_outputs(explicit: Any, evaluate: Any) -> None:
    function = "function f input Real a; output Real b, c; algorithm b := a; c := 2*a; end f;"
    ode = explicit("Real x, y;\nequation\n(x, y) = f(time);", before=function)
    values = evaluate(ode, time=3.0)
    assert (values["x"], values["y"]) == (3.0, 6.0)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_loops_of_any_length_keep_all_points(size: int, explicit: Any, evaluate: Any) -> None:
    # rumoca leaves der(x[i]) = 0 in place of inner points; see FlatModel.equations.
    ode = explicit(
        f"Real x[{size}](each start=1, each fixed=true); parameter Real k = 2;\nequation\n"
        f"for i in 1:{size} loop der(x[i]) = -k*i*x[i]; end for;"
    )
    values = evaluate(ode)
    assert [values[f"der(x[{i}])"] for i in range(1, size + 1)] == [
        -2.0 * i for i in range(1, size + 1)
    ]


def test_nested_loops_keep_all_points(explicit: Any, evaluate: Any) -> None:
    values = evaluate(
        explicit(
            "Real x[3,4](each start=1, each fixed=true);\nequation\n"
            "for i in 1:3 loop for j in 1:4 loop der(x[i,j]) = i*10 + j; end for; end for;"
        )
    )
    assert all(values[f"der(x[{i},{j}])"] == 10 * i + j for i in range(1, 4) for j in range(1, 5))


def test_arrays_functions_and_matrices(explicit: Any, evaluate: Any) -> None:
    function = """function f input Real a[2]; output Real b[2]; protected Real s; algorithm
      s := 0; for i in 1:2 loop s := s + a[i]; end for;
      if s > 2.5 then b := {s, a[1]}; else b := {-s, 0}; end if; end f;"""
    ode = explicit(
        "parameter Real M[2,2] = [1, 2; 3, 4]; Real y[2], z[2], c[3]; Real s;\nequation\n"
        "y = M*{1, time}; z = f(y); s = sum({i*time for i in 1:3}) + M[2,1];\n"
        "c = cross({1.0, 0.0, 0.0}, {0.0, time, 0.0});",
        before=function,
    )
    values = evaluate(ode, time=1.0)
    assert [values["y[1]"], values["y[2]"]] == [3.0, 7.0]
    assert [values["z[1]"], values["z[2]"]] == [10.0, 3.0]
    assert values["s"] == 9.0
    assert [values[f"c[{i}]"] for i in (1, 2, 3)] == [0.0, 0.0, 1.0]


def test_comprehension_in_a_start_value(explicit: Any, evaluate: Any) -> None:
    ode = explicit(
        "parameter Real l = 0.5;\n"
        "Real x[2,2](start={{i*l, 3.0} for i in 1:2}, each fixed=true);\n"
        "equation\nder(x) = zeros(2, 2);"
    )
    values = evaluate(ode)
    assert [values[f"x[{i},{j}]"] for i in (1, 2) for j in (1, 2)] == [0.5, 3.0, 1.0, 3.0]


def test_if_expressions_follow_parameters(explicit: Any, evaluate: Any) -> None:
    ode = explicit(
        "parameter Boolean c = false; parameter Integer n = 2; Real y;\nequation\n"
        "y = if c then 10 elseif n == 2 then 20 else 30;"
    )
    assert evaluate(ode)["y"] == 20.0
    assert evaluate(ode, c=1.0)["y"] == 10.0
    assert evaluate(ode, n=3.0)["y"] == 30.0


def test_derived_parameters_and_starts_follow(explicit: Any, evaluate: Any) -> None:
    ode = explicit(
        "constant Real two = 2; parameter Real a = two*3; parameter Real c = 2*b;"
        " parameter Real b = a + 1; Real x(start=c, fixed=true); Real z(start=0);\n"
        "initial equation\nz = a;\nequation\n"
        "der(x) = b; der(z) = 0;"
    )
    assert [v.name for v in ode.parameters] == ["a"]
    values = evaluate(ode, a=10.0)
    assert (values["b"], values["c"], values["x"], values["z"]) == (11.0, 22.0, 22.0, 10.0)


def test_start_that_is_not_fixed_is_reported(
    explicit: Any, caplog: pytest.LogCaptureFixture
) -> None:
    explicit("Real x(start=1);\nequation\nder(x) = -x;")
    assert "start value of state 'x' is not fixed" in caplog.text


def test_physical_connectors(explicit: Any, evaluate: Any) -> None:
    library = """connector F Real s; flow Real f; end F;
    model Ground F p; equation p.s = 0; end Ground;
    model Source F p; parameter Real s = 6; equation p.s = s; end Source;
    model Spring F a; F b; parameter Real k = 1;
    equation a.f + b.f = 0; a.f = k*(a.s - b.s); end Spring;"""
    ode = explicit(
        "Source u; Spring one(k=1); Spring two(k=2); Ground g;\nequation\n"
        "connect(u.p, one.a); connect(one.b, two.a); connect(two.b, g.p);",
        before=library,
    )
    values = evaluate(ode)  # two springs in series: 6 = f/1 + f/2
    assert values["one.a.f"] == pytest.approx(4.0, rel=1e-14)
    assert values["one.b.s"] == pytest.approx(2.0, rel=1e-14)
