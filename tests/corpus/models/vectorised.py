"""Functions of scalars that are called with arrays."""

from __future__ import annotations

from corpus.case import Case

CASES: dict[str, Case] = {
    "vectorised function": Case(
        "Real y[2];\nequation\ny = f({time, 2});",
        {"y[1]": 2.0, "y[2]": 4.0},
        before="function f input Real u; output Real y; algorithm y := 2*u; end f;",
    ),
    "vectorised builtin": Case(
        "Real y[2];\nequation\ny = sqrt({4*time, 9});", {"y[1]": 2.0, "y[2]": 3.0}
    ),
    "vectorised product": Case(
        "Real y[2];\nequation\ny = f({time, 2});",
        {"y[1]": 1.0, "y[2]": 4.0},
        before="function f input Real u; output Real y; algorithm y := u*u; end f;\n",
    ),
    "vectorised matrix": Case(
        "Real y[2,2];\nequation\ny = f([time, 2; 3, 4]);",
        {"y[2,1]": 9.0},
        before="function f input Real u; output Real y; algorithm y := u*u; end f;\n",
    ),
    "vectorised two": Case(
        "Real y[2];\nequation\ny = f({time, 2}, {3, 4});",
        {"y[2]": 8.0},
        before="function f input Real u; input Real v; output Real y; algorithm y := u*v; end f;",
    ),
    "vectorised mixed": Case(
        "Real y[2];\nequation\ny = f({time, 2}, 4);",
        {"y[2]": 8.0, "y[1]": 4.0},
        before="function f input Real u; input Real v; output Real y; algorithm y := u*v; end f;",
    ),
}
