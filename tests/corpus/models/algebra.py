"""Linear and nonlinear systems of equations."""

from __future__ import annotations

from math import exp

from corpus.case import Case, X

CASES: dict[str, Case] = {
    "implicit pair": Case(
        "Real x(start=1, fixed=true), y(start=0, fixed=true);\nequation\n"
        "der(x) + der(y) = -x - y; der(x) - der(y) = -x + y;",
        {"x": exp(-1), "y": 0.0},
    ),
    "state dependent mass": Case(X + "equation\n(1 + x^2)*der(x) = -x*(1 + x^2);", {"x": exp(-1)}),
    "linear loop": Case(
        "Real a, b;\nequation\na + 2*b = 5*time; 3*a - b = time;", {"a": 1.0, "b": 2.0}
    ),
    "linear loop of nine": Case(
        "Real y[9];\nequation\nfor i in 1:9 loop sum(y) + y[i] = 10*i*time; end for;",
        {"y[1]": 10 - 45.0, "y[9]": 90 - 45.0},
    ),
    "derivative of algebraic": Case(
        X + "Real y, dy;\nequation\nder(x) = -x; y = x^2; dy = der(y);", {"dy": -2 * exp(-2)}
    ),
    "derivative of expression": Case(X + "equation\nder(2*x) = -2*x;", refused=r"der\("),
    "square root": Case("Real y(start=1);\nequation\ny*y = 4*time + 5;", {"y": 3.0}),
    "other branch": Case("Real y(start=-1);\nequation\ny*y = 4*time + 5;", {"y": -3.0}),
    "exponential": Case("Real y(start=0);\nequation\nexp(y) + y = exp(time) + time;", {"y": 1.0}),
    "coupled pair": Case(
        "Real a(start=1), b(start=2);\nequation\na*b = 5 + time; a + b = 5;", {"a": 2.0, "b": 3.0}
    ),
    "nonlinear derivative": Case(
        X + "Real d(start=-1);\nequation\nd = der(x); d^3 + d = -(x^3 + x);", {"x": exp(-1)}
    ),
    "implicit derivative": Case(X + "equation\nder(x) + exp(der(x) + x) = 1 - x;", {"x": exp(-1)}),
    "two blocks": Case(
        "Real a(start=1), b(start=1);\nequation\na^3 = 8; b^2 + b = a + 4*time;", {"a": 2, "b": 2}
    ),
    "steep": Case("Real y(start=0);\nequation\natan(10*y) = atan(30*time);", {"y": 3.0}),
}
