"""Explicit equations, parameters and constants."""

from __future__ import annotations

from math import cos, exp, sin

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "decay": Case(X + LAG, {"x": exp(-1)}),
    "growth": Case(X + "equation\nder(x) = x;", {"x": exp(1)}),
    "oscillator": Case(
        X + "Real v(start=0, fixed=true);\nequation\nder(x) = v; der(v) = -x;",
        {"x": cos(1), "v": -sin(1)},
    ),
    "forced": Case("Real x(start=0, fixed=true);\nequation\nder(x) = cos(time);", {"x": sin(1)}),
    "time": Case("Real y;\nequation\ny = time^2;", {"y": 1.0}),
    "no state": Case("Real y; Real z;\nequation\ny = 3; z = y/2;", {"y": 3.0, "z": 1.5}),
    "output": Case("output " + X + LAG, {"x": exp(-1)}),
    "declaration equation": Case(X + "Real y = 2*x;\n" + LAG, {"y": 2 * exp(-1)}),
    "parameter": Case(
        "parameter Real k = 2;" + X + "equation\nder(x) = -k*x;", {"x": exp(-1) * exp(-1)}
    ),
    "calculated parameter": Case(
        "parameter Real a = 2; parameter Real b = a^2;" + X + "equation\nder(x) = -b*x;",
        {"x": exp(-4)},
    ),
    "constant": Case("constant Real k = 0.5;" + X + "equation\nder(x) = -k*x;", {"x": exp(-0.5)}),
    "final parameter": Case(
        "final parameter Real k = 3;" + X + "equation\nder(x) = -k*x;", {"x": exp(-3)}
    ),
    "integer parameter": Case(
        "parameter Integer n = 2;" + X + "equation\nder(x) = -n*x;", {"x": exp(-1) * exp(-1)}
    ),
    "boolean parameter": Case(
        "parameter Boolean b = true;" + X + "equation\nder(x) = if b then -x else x;",
        {"x": exp(-1)},
    ),
    "if equation": Case(
        "parameter Boolean b = false;"
        + X
        + "equation\nif b then der(x) = x; else der(x) = -x; end if;",
        {"x": exp(-1)},
    ),
    "start from parameter": Case(
        "parameter Real s = 5; Real x(start=s, fixed=true);\n" + LAG, {"x": 5 * exp(-1)}
    ),
}
