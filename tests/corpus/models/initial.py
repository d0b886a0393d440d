"""Initial equations, fixed starts, parameters with fixed=false."""

from __future__ import annotations

from math import exp

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "steady start": Case(
        "Real x;\ninitial equation\nder(x) = 0;\nequation\nder(x) = 3 - x;", {"x": 3.0}
    ),
    "initial equation": Case("Real x;\ninitial equation\nx = 2;\n" + LAG, {"x": 2 * exp(-1)}),
    "initial slope": Case("Real x;\ninitial equation\nder(x) = -2;\n" + LAG, {"x": 2 * exp(-1)}),
    "initial loop": Case(
        "Real x, y;\ninitial equation\nx + y = 3; x - y = 1;\nequation\nder(x) = -x; der(y) = -y;",
        {"x": 2 * exp(-1), "y": exp(-1)},
    ),
    "initial nonlinear": Case(
        "Real x(start=1);\ninitial equation\nx^3 = 8;\n" + LAG, {"x": 2 * exp(-1)}
    ),
    "fixed output": Case(
        "Real x, y(start=4, fixed=true);\nequation\nder(x) = -x; y = 2*x;", {"x": 2 * exp(-1)}
    ),
    "free parameter": Case(
        "parameter Real k(fixed=false, start=1);"
        + X
        + "initial equation\nder(x) = -2;\nequation\nder(x) = -k*x;",
        {"k": 2.0, "x": exp(-1) * exp(-1)},
    ),
    "redundant start": Case(
        X + "Real y(start=2, fixed=true);\nequation\nder(x) = -x; y = 2*x;", {"y": 2 * exp(-1)}
    ),
}
