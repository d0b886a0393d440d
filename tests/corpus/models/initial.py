"""Initial equations, fixed starts, parameters with fixed=false."""

from __future__ import annotations

from math import exp, sqrt

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "a guess that follows from a calculated parameter": Case(
        "parameter Real m = 2; final parameter Real n = m;\nparameter Real i(start=n/10,"
        " fixed=false);\nReal x(start=1, fixed=true);\ninitial equation\ni^3 + i = n;\n"
        "equation\nder(x) = -i*x;",
        {"i": 1.0, "x": 0.36787944117144233},
    ),
    "start of an input from parameters": Case(
        "parameter Real p = 2; final parameter Real c = 3*p; input Real u(start=p + c);\n"
        "output Real y;\nequation\ny = u;",
        {"y": 8.0},
    ),
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
    "initial parameter": Case(
        "parameter Real k(fixed=false); Real x(start=1, fixed=true);\ninitial "
        "equation\nk = 2*x;\nequation\nder(x) = -k*x;",
        {"x": exp(-2)},
    ),
    "initial array": Case(
        "Real x[2];\ninitial equation\nx = {1, 2};\nequation\nder(x) = -x;", {"x[2]": 2 * exp(-1)}
    ),
    "initial loop over array": Case(
        "Real x[3];\ninitial equation\nfor i in 1:3 loop x[i] = i; end for;"
        "\nequation\nder(x) = -x;",
        {"x[3]": 3 * exp(-1)},
    ),
    "initial if": Case(
        "parameter Boolean s = true; Real x;\ninitial equation\nif s then der(x) = 0; "
        "else x = 1; end if;\nequation\nder(x) = 3 - x;",
        {"x": 3.0},
        warns="parameter 's' is frozen at true",
    ),
    "initial with output": Case(
        "Real x, y;\ninitial equation\ny = 6;\nequation\nder(x) = -x; y = 3*x;", {"x": 2 * exp(-1)}
    ),
    "initial algorithm": Case(
        "parameter Real k(fixed=false); Real x(start=1, fixed=true);\ninitial "
        "algorithm\nk := 2; \nequation\nder(x) = -k*x;",
        {"x": exp(-2)},
    ),
    "initial time dependent": Case(
        "Real x;\ninitial equation\nx = time + 2;\nequation\nder(x) = -x;", {"x": 2 * exp(-1)}
    ),
    "initial two states one equation": Case(
        "Real x(start=1, fixed=true), y;\ninitial equation\nx + y = 3;\nequation\nder(x) "
        "= -x; der(y) = -2*y;",
        {"y": 2 * exp(-2)},
    ),
    "initial redundant": Case(
        "Real x, y;\ninitial equation\nx + y = 3; 2*x + 2*y = 6; x = 1;"
        "\nequation\nder(x) = -x; der(y) = -y;",
        {"y": 2 * exp(-1)},
    ),
    "initial redundant two": Case(
        "Real x(start=1, fixed=true), y(start=2, fixed=true);\ninitial equation\nx + y = "
        "3;\nequation\nder(x) = -x; der(y) = -y;",
        {"y": 2 * exp(-1)},
    ),
    "initial numerically redundant": Case(
        "Real x(start=1), y(start=2);\ninitial equation\nx + y = 3; 2*x + 2*y = 6;"
        "\nequation\nder(x) = -x; der(y) = -y;",
        {"y": 2 * exp(-1)},
        warns="'y' is not fixed",
    ),
    "initial contradiction": Case(
        "Real x(start=1, fixed=true), y;\ninitial equation\ny = 2*x; y = 3;"
        "\nequation\nder(x) = -x; der(y) = -y;",
        fails="contradict each other.*M.mo:5",
    ),
    "initial numerical contradiction": Case(
        "Real x, y;\ninitial equation\nx + y = 3; 2*x + 2*y = 7; \nequation\nder(x) = -x;"
        " der(y) = -y;",
        fails="contradict each other.*M.mo:5",
        warns="'y' is not fixed",
    ),
    "fixed start of algebraic": Case(
        "Real x(start=1), y(start=6, fixed=true);\nequation\nder(x) = -x; y = 3*x;",
        {"x": 2 * exp(-1)},
    ),
    "two fixed starts of related": Case(
        "Real x(start=2, fixed=true), y(start=6, fixed=true);\nequation\nder(x) = -x; y = 3*x;",
        {"x": 2 * exp(-1)},
    ),
    "contradicting fixed starts": Case(
        "Real x(start=2, fixed=true), y(start=7, fixed=true);\nequation\nder(x) = -x; y = 3*x;",
        fails="contradict",
    ),
    "free parameter from output": Case(
        "parameter Real k(fixed=false, start=1); Real x(start=1, fixed=true), y;"
        "\ninitial equation\ny = 10;\nequation\nder(x) = -x; y = k^2 + k*x;",
        {"k": (-1 + sqrt(41)) / 2},
    ),
    "initial zero row": Case(
        "Real x(start=1, fixed=true), y(start=0);\ninitial equation\n0*y = x - 1;"
        "\nequation\nder(x) = -x; der(y) = -y;",
        {"y": 0.0},
        warns="'y' is not fixed",
    ),
}
