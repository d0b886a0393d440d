"""Arrays, slices and loops."""

from __future__ import annotations

from math import cos, exp, sin

from corpus.case import Case

CASES: dict[str, Case] = {
    "array state": Case(
        "Real x[3](each start=1, each fixed=true);\nequation\n"
        "for i in 1:3 loop der(x[i]) = -i*x[i]; end for;",
        {f"x[{i}]": exp(-i) for i in (1, 2, 3)},
    ),
    "matrix": Case(
        "parameter Real A[2,2] = {{0, 1}, {-1, 0}}; Real x[2](start={1, 0}, each fixed=true);\n"
        "equation\nder(x) = A*x;",
        {"x[1]": cos(1), "x[2]": -sin(1)},
    ),
    "scalar product": Case("Real y;\nequation\ny = {1, time}*{2, 3};", {"y": 5.0}),
    "comprehension": Case("Real y;\nequation\ny = sum({i*time for i in 1:4});", {"y": 10.0}),
    "slices": Case(
        "Real y[4], z[2];\nequation\ny = {1, 2, 3, 4}*time; z = y[2:3];", {"z[1]": 2, "z[2]": 3}
    ),
    "cross": Case(
        "Real y[3];\nequation\ny = cross({1.0, 0.0, 0.0}, {0.0, time, 0.0});", {"y[3]": 1.0}
    ),
    "transpose": Case(
        "Real A[2,2], y[2];\nequation\nA = {{1, 2}, {3, 4}}; y = transpose(A)*{1, time};",
        {"y[1]": 4.0, "y[2]": 6.0},
    ),
}
