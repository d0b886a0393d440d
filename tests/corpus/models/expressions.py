"""Operators, built-in functions, parameters and if-equations."""

from __future__ import annotations

from math import cos, exp, pi, tan

from corpus.case import Case

CASES: dict[str, Case] = {
    "homotopy that chooses a solution": Case(
        "Real y;\nequation\ny = homotopy(smooth(0, noEvent(if 9*y > 5 then 5 else if 9*y < -5 then"
        " -5 else 9*y)), -5);",
        {"y": -5.0},
    ),
    "homotopy": Case("Real y(start=1);\nequation\nhomotopy(y^2, y) = 4*time + 5;", {"y": 3.0}),
    "semiLinear": Case("Real y;\nequation\ny = noEvent(semiLinear(time - 2, 3, 5));", {"y": -5.0}),
    "getInstanceName": Case(
        "Real y = time; parameter String s = getInstanceName();", refused="getInstanceName"
    ),
    "div mod rem": Case(
        "parameter Integer a = -7; Real y, z, w;\nequation\ny = div(a, 2)*time; z = "
        "mod(a, 2)*time; w = rem(a, 2)*time;",
        {"y": -3.0, "z": 1.0, "w": -1.0},
    ),
    "integer constant functions": Case(
        "Real y;\nequation\ny = time*(integer(2.7) + floor(-2.5) + ceil(2.1));", {"y": 2.0}
    ),
    "abs of negative": Case("Real y;\nequation\ny = abs(-3*time) + sign(-2);", {"y": 2.0}),
    "power of negative": Case(
        "Real y, z;\nequation\ny = (-2*time)^3; z = 2^(-time);", {"y": -8.0, "z": 0.5}
    ),
    "exp log10": Case(
        "Real y,z;\nequation\ny = exp(log(2*time + 1)); z=log10(100*time + 1e-30);",
        {"y": 3.0, "z": 2.0},
    ),
    "asin acos": Case(
        "Real y,z;\nequation\ny = asin(time/2); z=acos(time/2)+tan(time);",
        {"y": pi / 6, "z": pi / 3 + tan(1)},
    ),
    "precedence": Case("Real y;\nequation\ny = -time^2 + 2 - 3 - 4*2/4*2;", {"y": -6.0}),
    "unary in products": Case("Real y;\nequation\ny = 2*(-3)*time - (-time)^2;", {"y": -7.0}),
    "if expression chain": Case(
        "Real y;\nequation\ny = noEvent(if time < 0.3 then 1 elseif time < 0.7 then 2 "
        "elseif time < 0.9 then 3 else 4);",
        {"y": 4.0},
    ),
    "logical": Case(
        "parameter Boolean a = true, b = false; Real y;\nequation\ny = if (a or b) and "
        "not b then time else 0;",
        {"y": 1.0},
    ),
    "der of product": Case(
        "Real x(start=1, fixed=true);\nReal y;\nequation\nder(x) = -x; y = der(x)*2;",
        {"y": -2 * exp(-1)},
    ),
    "der of parameter array": Case(
        "Real x[2](start={1, 2}, each fixed=true), v[2];\nequation\nv = der(x); v = -x;",
        {"v[2]": -2 * exp(-1)},
    ),
    "der of sin": Case("Real y, z;\nequation\ny = sin(time); z = der(y);", {"z": cos(1)}),
    "second derivative": Case(
        "Real x(start=1,fixed=true), v(start=0,fixed=true);\nequation\nv = der(x); der(v) = -x;",
        {"x": cos(1)},
    ),
    "start expression": Case(
        "parameter Real a = 2; Real x(start=a^2 + 1, fixed=true);\nequation\nder(x) = -x;",
        {"x": 5 * exp(-1)},
    ),
    "start array expression": Case(
        "parameter Real a[2] = {1, 2}; Real x[2](start=2*a, each fixed=true);"
        "\nequation\nder(x) = -x;",
        {"x[2]": 4 * exp(-1)},
    ),
    "parameter chain": Case(
        "parameter Real a = 2*b; parameter Real b = 3*c; parameter Real c = 1; Real y = a*time;",
        {"y": 6.0},
    ),
    "parameter by function": Case(
        "parameter Real a = f(3); Real y = a*time;",
        {"y": 9.0},
        before="function f input Real u; output Real y; algorithm y := u*u; end f;\n",
    ),
    "parameter by array function": Case(
        "parameter Real k[3] = {1,2,3}; parameter Real a = s(k); Real y = a*time;",
        {"y": 6.0},
        before="function s input Real u[:]; output Real y; algorithm y := sum(u); end s;",
    ),
    "parameter array from function": Case(
        "parameter Real k[2] = g(3); Real y = k[2]*time;",
        {"y": 6.0},
        before="function g input Real u; output Real y[2]; algorithm y := {u, 2*u}; end g;",
    ),
    "parameter if": Case(
        "parameter Boolean b = true; parameter Real a = if b then 2 else 3; Real y = a*time;",
        {"y": 2.0},
    ),
    "settable parameter chain": Case(
        "parameter Real a = 2; parameter Real b = 3*a; Real y = b*time;",
        {"y": 15.0},
        start={"a": 5.0},
    ),
    "settable record parameter": Case(
        "parameter R r; Real y = r.a*time;",
        {"y": 5.0},
        before="record R parameter Real a = 1; Real b = 2; end R;",
        start={"r.a": 5.0},
    ),
    "settable component parameter": Case(
        "Lag a;",
        {"a.x": exp(-3)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
        start={"a.k": 3.0},
    ),
    "settable start": Case(
        "Real x(start=1, fixed=true);\nequation\nder(x) = -x;", {"x": 4 * exp(-1)}, start={"x": 4.0}
    ),
    "settable array parameter": Case(
        "parameter Real k[2] = {1, 2}; Real y = k[2]*time;", {"y": 7.0}, start={"k[2]": 7.0}
    ),
    "constant sized": Case(
        "constant Integer k = 2; parameter Integer n = k; Real y[n];\nequation\nfor i in "
        "1:n loop y[i] = i*time; end for;",
        {"y[2]": 2.0},
    ),
    "integer variable": Case("Integer n; Real y;\nequation\nn = 3; y = n*time;", {"y": 3.0}),
    "boolean variable": Case(
        "Boolean b; Real y;\nequation\nb = true; y = if b then time else 0;", {"y": 1.0}
    ),
    "input with start": Case("input Real u(start=2); Real y;\nequation\ny = u*time;", {"y": 2.0}),
    "input connector": Case(
        "I u(start=3); Real y;\nequation\ny = u*time;",
        {"y": 3.0},
        before="connector I = input Real;",
    ),
    "output array": Case("output Real y[2];\nequation\ny = {1, 2}*time;", {"y[2]": 2.0}),
    "quoted identifier": Case(
        "Real 'a b'; Real y;\nequation\n'a b' = 2*time; y = 'a b' + 1;", {"y": 3.0}
    ),
    "comments and annotations": Case(
        'Real y "text" annotation(Dialog(group="x")); // c\nequation\ny = /* k */ 2*time;',
        {"y": 2.0},
    ),
    "if equation nested": Case(
        "parameter Integer k = 2; Real y;\nequation\nif k == 1 then y = 1; elseif k == 2 "
        "then if true then y = 2*time; else y = 3; end if; else y = 4; end if;",
        {"y": 2.0},
        warns="parameter 'k' is frozen at 2",
    ),
    "if equation two": Case(
        "parameter Boolean b = false; Real y, z;\nequation\nif b then y = 1; z = 2; else "
        "z = 3*time; y = 4*time; end if;",
        {"y": 4.0, "z": 3.0},
        warns="parameter 'b' is frozen at false",
    ),
    "if equation moving": Case(
        "Real y, z;\nequation\nif noEvent(time > 0.5) then y = 1; z = 2; else z = 3; y = "
        "z + 1; end if;",
        {"y": 1.0, "z": 2.0},
    ),
    "if equation in loop array": Case(
        "parameter Boolean b[2] = {true, false}; Real y[2];\nequation\nfor i in 1:2 loop "
        "if b[i] then y[i] = 1; else y[i] = 2*time; end if; end for;",
        {"y[1]": 1.0, "y[2]": 2.0},
    ),
    "sum of empty": Case("Real y = time + sum({i for i in 1:0});", {"y": 1.0}),
    "integer overflow of literals": Case("Real y = 3000000000*time;", {"y": 3000000000.0}),
    "real power": Case("Real y = (1 + time)^0.5; Real z = 2^3^1*time;", refused="exponentiation"),
    "negative exponent literal": Case("Real y = 2e-3*time + 1.5E1;", {"y": 15.002}),
    "division of integers": Case(
        "Real y = (1/2)*time; parameter Integer a = 3; Real z = a/2*time;", {"y": 0.5, "z": 1.5}
    ),
    "mod of real": Case(
        "parameter Real a = -5.5; Real y = mod(a, 2)*time; Real z = rem(a, 2)*time;",
        {"y": 0.5, "z": -1.5},
    ),
    "div negative": Case("parameter Integer a = -7; Real y = div(a, -2)*time;", {"y": 3.0}),
    "max of three": Case(
        "parameter Real a[3] = {1,3,2}; Real y = max(a)*time + max(1, 2);", {"y": 5.0}
    ),
    "array literals of integers and reals": Case("Real y[3] = {1, 2.5, time};", {"y[2]": 2.5}),
    "size of matrix": Case(
        "parameter Real A[2,3] = fill(1.0, 2, 3); Real y = size(A, 1)*size(A, 2)*time + "
        "sum(size(A));",
        {"y": 11.0},
    ),
    "transpose product": Case(
        "parameter Real A[2,3] = [1,2,3;4,5,6]; Real y[3];\nequation\ny = transpose(A)*{time, 1};",
        {"y[3]": 9.0},
    ),
    "matrix solve implicit": Case(
        "parameter Real A[2,2] = [2, 1; 1, 3]; Real x[2];\nequation\nA*x = {3, 4}*time;",
        {"x[1]": 1.0, "x[2]": 1.0},
    ),
}
