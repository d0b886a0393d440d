"""Functions with several outputs."""

from __future__ import annotations

from corpus.case import Case

CASES: dict[str, Case] = {
    "multiple outputs equation": Case(
        "Real a, b;\nequation\n(a, b) = f(time);",
        {"a": 2.0, "b": 3.0},
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;"
        ),
    ),
    "multiple outputs first": Case(
        "Real a;\nequation\na = f(time);",
        {"a": 2.0},
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;"
        ),
    ),
    "multiple outputs skipped": Case(
        "Real b;\nequation\n(, b) = f(time);",
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;"
        ),
        refused="rumoca",
    ),
    "multiple outputs arrays": Case(
        "Real a[2], b;\nequation\n(a, b) = f(time);",
        {"a[2]": 2.0, "b": 3.0},
        before=(
            "function f input Real u; output Real p[2]; output Real q; algorithm p := {u, "
            "2*u}; q := 3*u; end f;"
        ),
    ),
    "multiple outputs statement": Case(
        "Real a, b;\nalgorithm\n(a, b) := f(time); a := a + 1;",
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;"
        ),
        refused="function-call output",
    ),
    "multiple outputs in function": Case(
        "Real y;\nequation\ny = g(time);",
        {"y": 6.0},
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;\nfunction g input Real u; output Real r; protected Real a, b; "
            "algorithm (a, b) := f(u); r := a*b; end g;"
        ),
    ),
    "multiple outputs partly": Case(
        "Real a;\nequation\n(a, ) = f(time);",
        {"a": 2.0},
        before=(
            "function f input Real u; output Real p; output Real q; algorithm p := 2*u; q := "
            "3*u; end f;"
        ),
    ),
}
