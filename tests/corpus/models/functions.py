"""Built-in functions and functions of the user."""

from __future__ import annotations

from math import cosh, exp, log, pi, sinh, sqrt, tanh

from corpus.case import Case, X

CASES: dict[str, Case] = {
    "elementary": Case(
        "Real a, b, c, d, e;\nequation\na = sqrt(1 + time); b = log(1 + time); c = tanh(time);"
        " d = atan2(time, 1); e = sinh(time) + cosh(time);",
        {"a": sqrt(2), "b": log(2), "c": tanh(1), "d": pi / 4, "e": sinh(1) + cosh(1)},
    ),
    "abs and sign": Case(
        "Real a, b;\nequation\na = abs(-time); b = noEvent(sign(time - 3));", {"a": 1.0, "b": -1.0}
    ),
    "no event": Case("Real y;\nequation\ny = noEvent(if time > 0.5 then 2 else 1);", {"y": 2.0}),
    "smooth": Case("Real y;\nequation\ny = smooth(0, max(time, 0.25));", {"y": 1.0}),
    "max": Case(
        "Real y;\nequation\ny = noEvent(max(time, 5)) + noEvent(min(time, 5));", {"y": 6.0}
    ),
    "user function": Case(
        X + "equation\nder(x) = f(x);",
        {"x": exp(-1)},
        before="function f input Real a; output Real b; algorithm b := -a; end f;",
    ),
    "function with loop": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": 6.0},
        before="function f input Real a; output Real b; algorithm b := 0;"
        " for i in 1:3 loop b := b + i*a; end for; end f;",
    ),
    "function of array": Case(
        "Real y;\nequation\ny = f({time, 2, 3});",
        {"y": 6.0},
        before="function f input Real a[3]; output Real b; algorithm b := sum(a); end f;",
    ),
    "nested functions": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": 5.0},
        before="function g input Real a; output Real b; algorithm b := a + 1; end g;\n"
        "function f input Real a; output Real b; algorithm b := g(a)^2 + 1; end f;",
    ),
}
