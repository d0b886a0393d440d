"""Small feature models: declarations and equations, and values at the end time in closed form.

Each entry: body of ``model M``, classes before it, and the expected values at t = 1, or the pattern
of the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, cosh, exp, log, pi, sin, sinh, sqrt, tanh

E = exp(-1)


@dataclass(frozen=True)
class Case:
    """One model of the corpus."""

    body: str
    expected: dict[str, float] = field(default_factory=dict)
    before: str = ""
    refused: str = ""


X = "Real x(start=1, fixed=true);\n"
LAG = "equation\nder(x) = -x;\n"
F = "connector P Real s; flow Real f; end P;\n"
PARTS = (
    F + "model Ground P p; equation p.s = 0; end Ground;\n"
    "model Mass P p; parameter Real m = 1; Real v(start=1, fixed=true);"
    " equation v = der(p.s); m*der(v) = p.f; end Mass;\n"
    "model Spring P a; P b; parameter Real k = 1;"
    " equation a.f + b.f = 0; b.f = k*(b.s - a.s); end Spring;\n"
)

CASES: dict[str, Case] = {
    # --- explicit equations -----------------------------------------------------------------
    "decay": Case(X + LAG, {"x": E}),
    "growth": Case(X + "equation\nder(x) = x;", {"x": exp(1)}),
    "oscillator": Case(
        X + "Real v(start=0, fixed=true);\nequation\nder(x) = v; der(v) = -x;",
        {"x": cos(1), "v": -sin(1)},
    ),
    "forced": Case("Real x(start=0, fixed=true);\nequation\nder(x) = cos(time);", {"x": sin(1)}),
    "time": Case("Real y;\nequation\ny = time^2;", {"y": 1.0}),
    "no state": Case("Real y; Real z;\nequation\ny = 3; z = y/2;", {"y": 3.0, "z": 1.5}),
    "output": Case("output " + X + LAG, {"x": E}),
    "declaration equation": Case(X + "Real y = 2*x;\n" + LAG, {"y": 2 * E}),
    "parameter": Case("parameter Real k = 2;" + X + "equation\nder(x) = -k*x;", {"x": E * E}),
    "calculated parameter": Case(
        "parameter Real a = 2; parameter Real b = a^2;" + X + "equation\nder(x) = -b*x;",
        {"x": exp(-4)},
    ),
    "constant": Case("constant Real k = 0.5;" + X + "equation\nder(x) = -k*x;", {"x": exp(-0.5)}),
    "final parameter": Case(
        "final parameter Real k = 3;" + X + "equation\nder(x) = -k*x;", {"x": exp(-3)}
    ),
    "integer parameter": Case(
        "parameter Integer n = 2;" + X + "equation\nder(x) = -n*x;", {"x": E * E}
    ),
    "boolean parameter": Case(
        "parameter Boolean b = true;" + X + "equation\nder(x) = if b then -x else x;", {"x": E}
    ),
    "if equation": Case(
        "parameter Boolean b = false;"
        + X
        + "equation\nif b then der(x) = x; else der(x) = -x; end if;",
        {"x": E},
    ),
    "start from parameter": Case(
        "parameter Real s = 5; Real x(start=s, fixed=true);\n" + LAG, {"x": 5 * E}
    ),
    # --- functions ---------------------------------------------------------------------------
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
        {"x": E},
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
    # --- arrays --------------------------------------------------------------------------------
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
    # --- structure -----------------------------------------------------------------------------
    "component": Case(
        "Lag a; Lag b(k=2);",
        {"a.x": E, "b.x": E * E},
        before="model Lag parameter Real k = 1;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "extends": Case(
        "extends Base(k=3);\nequation\nder(x) = -k*x;",
        {"x": exp(-3)},
        before="partial model Base parameter Real k = 1;" + X + "end Base;",
    ),
    "component array": Case(
        "Lag a[2](k={1, 2});",
        {"a[1].x": E, "a[2].x": E * E},
        before="model Lag parameter Real k = 1;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "conditional component": Case(
        "parameter Boolean c = true; Lag a if c;",
        {"a.x": E},
        before="model Lag\n" + X + LAG + "end Lag;",
    ),
    "inner outer": Case(
        "inner parameter Real k = 2; Lag a;",
        {"a.x": E * E},
        before="model Lag outer parameter Real k;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "replaceable": Case(
        "extends Plant(redeclare model L = Fast);",
        before=f"model Slow {X + LAG} end Slow; model Fast {X} equation der(x) = -2*x; end Fast;\n"
        "model Plant replaceable model L = Slow; L l; end Plant;",
        refused="constrainedby",  # by rumoca, though it is valid
    ),
    "spring and mass": Case(
        "Ground g; Spring s(k=4); Mass m(p(s(start=0, fixed=true)));\nequation\n"
        "connect(g.p, s.a); connect(s.b, m.p);",
        {"m.p.s": 0.5 * sin(2), "m.v": cos(2)},
        before=PARTS,
    ),
    # --- linear blocks -------------------------------------------------------------------------
    "implicit pair": Case(
        "Real x(start=1, fixed=true), y(start=0, fixed=true);\nequation\n"
        "der(x) + der(y) = -x - y; der(x) - der(y) = -x + y;",
        {"x": E, "y": 0.0},
    ),
    "state dependent mass": Case(X + "equation\n(1 + x^2)*der(x) = -x*(1 + x^2);", {"x": E}),
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
    # --- nonlinear blocks ----------------------------------------------------------------------
    "square root": Case("Real y(start=1);\nequation\ny*y = 4*time + 5;", {"y": 3.0}),
    "other branch": Case("Real y(start=-1);\nequation\ny*y = 4*time + 5;", {"y": -3.0}),
    "exponential": Case("Real y(start=0);\nequation\nexp(y) + y = exp(time) + time;", {"y": 1.0}),
    "coupled pair": Case(
        "Real a(start=1), b(start=2);\nequation\na*b = 5 + time; a + b = 5;", {"a": 2.0, "b": 3.0}
    ),
    "nonlinear derivative": Case(
        X + "Real d(start=-1);\nequation\nd = der(x); d^3 + d = -(x^3 + x);", {"x": E}
    ),
    "implicit derivative": Case(X + "equation\nder(x) + exp(der(x) + x) = 1 - x;", {"x": E}),
    "two blocks": Case(
        "Real a(start=1), b(start=1);\nequation\na^3 = 8; b^2 + b = a + 4*time;", {"a": 2, "b": 2}
    ),
    "steep": Case("Real y(start=0);\nequation\natan(10*y) = atan(30*time);", {"y": 3.0}),
    # --- index reduction -----------------------------------------------------------------------
    "alias states": Case(
        X + "Real y, f;\nequation\nder(x) = -x + f; y = x; der(y) = -x - f;", {"x": E, "f": 0.0}
    ),
    "masses in contact": Case(
        "Real x(start=0, fixed=true), v(start=1, fixed=true), y, w, f;\nequation\n"
        "der(x) = v; der(v) = -x + f; der(y) = w; 3*der(w) = -f; y = x + 2;",
        {"x": 2 * sin(0.5), "v": cos(0.5), "y": 2 + 2 * sin(0.5)},
    ),
    "prescribed motion": Case(
        "Real x, v, f;\nequation\nx = sin(time); der(x) = v; 2*der(v) = f;", {"f": -2 * sin(1)}
    ),
    "capacitors in parallel": Case(
        "Real a(start=1, fixed=true), b, i, j;\nequation\n"
        "der(a) = i; 3*der(b) = j; a = b; i + j = -a;",
        {"a": exp(-0.25)},
    ),
    "circle": Case(
        "Real x(start=1), y(start=0, fixed=true), v(start=0), w(start=1, fixed=true), f;\n"
        "equation\nder(x) = v; der(y) = w; der(v) = -f*x; der(w) = -f*y; x^2 + y^2 = 1;",
        {"x": cos(1), "y": sin(1), "f": 1.0},
    ),
    # --- initial system ------------------------------------------------------------------------
    "steady start": Case(
        "Real x;\ninitial equation\nder(x) = 0;\nequation\nder(x) = 3 - x;", {"x": 3.0}
    ),
    "initial equation": Case("Real x;\ninitial equation\nx = 2;\n" + LAG, {"x": 2 * E}),
    "initial slope": Case("Real x;\ninitial equation\nder(x) = -2;\n" + LAG, {"x": 2 * E}),
    "initial loop": Case(
        "Real x, y;\ninitial equation\nx + y = 3; x - y = 1;\nequation\nder(x) = -x; der(y) = -y;",
        {"x": 2 * E, "y": E},
    ),
    "initial nonlinear": Case("Real x(start=1);\ninitial equation\nx^3 = 8;\n" + LAG, {"x": 2 * E}),
    "fixed output": Case(
        "Real x, y(start=4, fixed=true);\nequation\nder(x) = -x; y = 2*x;", {"x": 2 * E}
    ),
    "free parameter": Case(
        "parameter Real k(fixed=false, start=1);"
        + X
        + "initial equation\nder(x) = -2;\nequation\nder(x) = -k*x;",
        {"k": 2.0, "x": E * E},
    ),
    "redundant start": Case(
        X + "Real y(start=2, fixed=true);\nequation\nder(x) = -x; y = 2*x;", {"y": 2 * E}
    ),
    # --- refused ---------------------------------------------------------------------------------
    "when": Case(X + LAG + "when x < 0.5 then reinit(x, 1); end when;", refused="when-equation"),
    "event": Case("Real y;\nequation\ny = if time > 0.5 then 1 else 0;", refused="noEvent"),
    "delay": Case(X + "Real y;\n" + LAG + "y = delay(x, 0.1);", refused="delay"),
    "sample": Case(
        "discrete Real n(start=0);\nequation\nwhen sample(0, 0.1) then n = pre(n) + 1; end when;",
        refused="when-equation|discrete",
    ),
    "floor": Case("Real y;\nequation\ny = floor(time);", refused="floor"),
    "string": Case('parameter String s = "a";' + X + LAG, refused="String"),
    "singular": Case(
        "Real x, y, z;\nequation\nx = 1; x = time; y + z = 3;", refused="singular.*y, z"
    ),
    "unbalanced": Case(
        "Real x, y;\nequation\nx + y = 1;", refused="1 equations for 2 unknowns; .* 1 of x, y"
    ),
    "syntax": Case("Real x\nequation\nx = 1;", refused="not valid Modelica"),
    "undeclared": Case("Real x;\nequation\nx = nowhere;", refused="not valid Modelica"),
}
