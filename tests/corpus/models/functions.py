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
    "function while": Case(
        "Real y;\nequation\ny = f(time, 5);",
        before=(
            "function f input Real u; input Integer n; output Real y; protected Integer i; "
            "algorithm i := 0; y := 0; while i < n loop i := i + 1; y := y + i*u; end while; "
            "end f;"
        ),
        refused="loop whose end depends on values",
    ),
    "function endless while": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; algorithm y := 0; while true loop y := "
            "y + u; end while; end f;"
        ),
        refused="loop whose end depends on values",
    ),
    "function undecidable while": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; algorithm y := u; while y < 10 loop y "
            ":= y + 1; end while; end f;"
        ),
        refused="loop whose end depends on values",
    ),
    "function break": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; algorithm y := 0; for i in 1:10 loop if "
            "i > 3 then break; end if; y := y + i*u; end for; end f;"
        ),
        refused="loop whose end depends on values",
    ),
    "function break undecided": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; algorithm y := 0; for i in 1:10 loop if "
            "i > 2*u then break; end if; y := y + i*u; end for; end f;"
        ),
        refused="loop whose end depends on values",
    ),
    "function return": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; algorithm y := u; if u > 0.5 then "
            "return; end if; y := 7; end f;"
        ),
        refused="function return",
    ),
    "function return in loop": Case(
        "Real y;\nequation\ny = f(time, {0.2, 0.5, 1.5, 2.5});",
        before=(
            "function f input Real u; input Real t[:]; output Integer y; algorithm y := 1; "
            "for i in 1:size(t,1) loop if t[i] > u then y := i; return; end if; end for; y "
            ":= 0; end f;"
        ),
        refused="function return",
    ),
    "function local default": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": 4.0},
        before=(
            "function f input Real u; output Real y; protected Real a = 3*u; algorithm y := "
            "a + u; end f;"
        ),
    ),
    "function constant": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": pi},
        before=(
            "function f input Real u; output Real y; protected constant Real k = "
            "3.14159265358979323846; algorithm y := k*u; end f;"
        ),
    ),
    "function default input": Case(
        "Real y, z;\nequation\ny = f(time); z = f(time, 5);",
        {"y": 2.0, "z": 5.0},
        before=(
            "function f input Real u; input Real k = 2; output Real y; algorithm y := k*u; end f;"
        ),
    ),
    "function named argument": Case(
        "Real y;\nequation\ny = f(u=time, k=3) + f(time, k=4);",
        {"y": 7.0},
        before=(
            "function f input Real u; input Real j = 0; input Real k = 2; output Real y; "
            "algorithm y := k*u + j; end f;"
        ),
    ),
    "function default from input": Case(
        "Real y;\nequation\ny = f(time + 1);",
        {"y": 6.0},
        before=(
            "function f input Real u; input Real k = u + 1; output Real y; algorithm y := "
            "k*u; end f;"
        ),
    ),
    "function of arrays of unknown size": Case(
        "Real y, z;\nequation\ny = f({time, 2}); z = f({time, 2, 3});",
        {"y": 3.0, "z": 6.0},
        before=(
            "function f input Real u[:]; output Real y; algorithm y := 0; for i in 1:size(u, "
            "1) loop y := y + u[i]; end for; end f;"
        ),
    ),
    "function result of input size": Case(
        "Real y[3];\nequation\ny = f({time, 2, 3});",
        {"y[1]": 3.0, "y[3]": 1.0},
        before=(
            "function f input Real u[:]; output Real y[size(u, 1)]; algorithm for i in "
            "1:size(u, 1) loop y[i] := u[size(u, 1) + 1 - i]; end for; end f;"
        ),
    ),
    "function of matrix": Case(
        "Real y;\nequation\ny = f({{time, 2}, {3, 4}});",
        {"y": -2.0},
        before=(
            "function f input Real A[2,2]; output Real d; algorithm d := A[1,1]*A[2,2] - "
            "A[1,2]*A[2,1]; end f;"
        ),
    ),
    "function range of array": Case(
        "Real y;\nequation\ny = f({time, 2, 3});",
        before=(
            "function f input Real u[:]; output Real y; algorithm y := 0; for v in u loop y "
            ":= y + v; end for; end f;"
        ),
        refused="function loop",
    ),
    "function implicit range": Case(
        "Real y;\nequation\ny = f({time, 2, 3});",
        before=(
            "function f input Real u[:]; output Real y; algorithm y := 0; for i loop y := y "
            "+ u[i]; end for; end f;"
        ),
        refused="parse error",
    ),
    "recursive function": Case(
        "Real y;\nequation\ny = time*f(5);",
        {"y": 120.0},
        before=(
            "function f input Integer n; output Integer y; algorithm if n <= 1 then y := 1; "
            "else y := n*f(n - 1); end if; end f;"
        ),
    ),
    "function with annotation": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": 2.0},
        before=(
            "function f input Real u; output Real y; algorithm y := 2*u; "
            "annotation(derivative=df, Inline=true, smoothOrder=2); end f;\nfunction df "
            "input Real u; input Real du; output Real dy; algorithm dy := 2*du; end df;"
        ),
    ),
    "function with inverse": Case(
        "Real y;\nequation\ntime = f(y);",
        {"y": 0.5},
        before=(
            "function f input Real u; output Real y; algorithm y := 2*u; "
            "annotation(inverse(u = g(y))); end f;\nfunction g input Real y; output Real u; "
            "algorithm u := y/2; end g;"
        ),
    ),
    "partial function": Case(
        "Real y;\nequation\ny = g(time);",
        {"y": 4.0},
        before=(
            "partial function base input Real u; output Real y; end base;\nfunction g "
            "extends base; algorithm y := 4*u; end g;"
        ),
    ),
    "function as argument": Case(
        "Real y;\nequation\ny = h(function g(k=3), time);",
        {"y": 4.0},
        before=(
            "partial function base input Real u; output Real y; end base;\nfunction g "
            "extends base; input Real k; algorithm y := k*u; end g;\nfunction h input base f;"
            " input Real u; output Real y; algorithm y := f(u) + 1; end h;"
        ),
    ),
    "function in package": Case(
        "Real y;\nequation\ny = P.Q.f(time);",
        {"y": 5.0},
        before=(
            "package P constant Real k = 2; package Q constant Real j = 3; function f input "
            "Real u; output Real y; algorithm y := (k + j)*u; end f; end Q; end P;"
        ),
    ),
    "function in model": Case(
        "function f input Real u; output Real y; algorithm y := 3*u; end f; Real y;"
        "\nequation\ny = f(time);",
        {"y": 3.0},
    ),
    "function if without else": Case(
        "Real y;\nequation\ny = f(time);",
        {"y": 2.0},
        before=(
            "function f input Real u; output Real y; algorithm y := u; if u > 0.5 then y := "
            "y + 1; end if; end f;"
        ),
    ),
    "function input assigned": Case(
        "Real y;\nequation\ny = f(time);",
        before="function f input Real u; output Real y; algorithm u := 2; y := u; end f;",
        refused="cannot assign to input",
    ),
    "external function": Case(
        "Real y;\nequation\ny = f(time);",
        before='function f input Real u; output Real y; external "C"; end f;',
        refused="external",
    ),
    "impure function": Case(
        "Real y;\nequation\ny = f(time);",
        before="impure function f input Real u; output Real y; algorithm y := u; end f;",
        refused="impure",
    ),
    "uninitialised local": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "function f input Real u; output Real y; protected Real a; algorithm y := u + a; end f;"
        ),
        refused="missing function value",
    ),
    "assert in function": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            'function f input Real u; output Real y; algorithm assert(u > -1, "neg"); y := '
            "u; end f;"
        ),
        expected={"y": 1.0},
        warns="not checked at run time",
    ),
    "integer division in function": Case(
        "Real y;\nequation\ny = f(7, 2)*time;",
        {"y": 3.0},
        before=(
            "function f input Integer a; input Integer b; output Integer c; algorithm c := "
            "div(a, b); end f;"
        ),
    ),
    "boolean function": Case(
        "Real y;\nequation\ny = if f(2) then time else 0;",
        {"y": 1.0},
        before=(
            "function f input Real u; output Boolean b; algorithm b := u > 1 and not u > 3; end f;"
        ),
    ),
    "cross in function": Case(
        "Real y[3] = f({1,0,0}, {0,time,0});",
        {"y[3]": 1.0},
        before=(
            "function f input Real a[3]; input Real b[3]; output Real c[3]; algorithm c := "
            "cross(a, b); end f;"
        ),
    ),
}
