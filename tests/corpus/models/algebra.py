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
    "aliases in a circle": Case("Real a, b;\nequation\na = b; b = a;", refused="singular"),
    "opposite aliases": Case("Real a, b;\nequation\na = b; a = -b + 2*time;", {"a": 1.0}),
    "only zero": Case("Real a, b;\nequation\na = b; a = -b;", {"a": 0.0, "b": 0.0}),
    "alias with the start value": Case(
        "Real a, b(start=-2), c;\nequation\na = b; b + c = 0; a*c = -(4 + 5*time);",
        {"a": -3.0, "c": 3.0},
    ),
    "resistor ladder": Case(  # n equal sections of 1 and 2 ohm, at the end 2 ohm: seen as 2 ohm
        "S s; R a[10]; R b[10](each r=2); R z(r=1); R y(r=1); G g;\nequation\n"
        "connect(s.p, a[1].a);\n"
        "for i in 1:10 loop connect(a[i].b, b[i].a); connect(b[i].b, g.p); end for;\n"
        "for i in 1:9 loop connect(a[i].b, a[i+1].a); end for;\n"
        "connect(a[10].b, z.a); connect(z.b, y.a); connect(y.b, g.p);",
        {"s.p.i": -0.5, "a[10].b.v": 0.5**10, "g.p.i": 0.5},
        before="connector P Real v; flow Real i; end P;\n"
        "model R P a; P b; parameter Real r = 1;"
        " equation a.i + b.i = 0; a.v - b.v = r*a.i; end R;\n"
        "model S P p; equation p.v = 1; end S; model G P p; equation p.v = 0; end G;",
    ),
    "four bar": Case(
        "Real q(start=0, fixed=true), a(start=1), b(start=1.5), e;\n"
        "Real x1, y1, x2, y2, x3, y3;\nequation\nder(q) = 1; x1 = cos(q); y1 = sin(q);\n"
        "x2 = x1 + 3*cos(a); y2 = y1 + 3*sin(a); x3 = 4 + 2.5*cos(b); y3 = 2.5*sin(b);\n"
        "x2 = x3; y2 = y3; e = (x3 - x1)^2 + (y3 - y1)^2;",
        {"e": 9.0},
    ),
}
