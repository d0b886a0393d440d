"""Components, connectors, inheritance."""

from __future__ import annotations

from math import exp

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "component": Case(
        "Lag a; Lag b(k=2);",
        {"a.x": exp(-1), "b.x": exp(-1) * exp(-1)},
        before="model Lag parameter Real k = 1;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "extends": Case(
        "extends Base(k=3);\nequation\nder(x) = -k*x;",
        {"x": exp(-3)},
        before="partial model Base parameter Real k = 1;" + X + "end Base;",
    ),
    "component array": Case(
        "Lag a[2](k={1, 2});",
        {"a[1].x": exp(-1), "a[2].x": exp(-1) * exp(-1)},
        before="model Lag parameter Real k = 1;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "conditional component": Case(
        "parameter Boolean c = true; Lag a if c;",
        {"a.x": exp(-1)},
        before="model Lag\n" + X + LAG + "end Lag;",
    ),
    "inner outer": Case(
        "inner parameter Real k = 2; Lag a;",
        {"a.x": exp(-1) * exp(-1)},
        before="model Lag outer parameter Real k;" + X + "equation\nder(x) = -k*x; end Lag;",
    ),
    "inner outer model": Case(
        "inner W w(g=3); A a;",
        {"a.y": 3.0},
        before=(
            "model W parameter Real g = 1; Real s = time; end W; model A outer W w; Real y; "
            "equation y = w.g*w.s; end A;"
        ),
    ),
    "inner outer nested": Case(
        "inner W w(g=3); B b;",
        {"b.a.y": 3.0, "b.c.a.y": 5.0},
        before=(
            "model W parameter Real g = 1; end W; model A outer W w; Real y; equation y = "
            "w.g*time; end A; model C inner W w(g=5); A a; end C; model B A a; C c; end B;"
        ),
    ),
    "inner outer connector": Case(
        "inner G g; M1 a; M1 b;\n",
        {"a.p.f": -1.0, "b.p.f": -1.0, "g.p.f": 2.0},
        before=(
            "connector P Real s; flow Real f; end P; model G P p; equation p.s = time; end G;"
            " model M1 outer G g; P p; equation p.f = -1; connect(p, g.p); end M1;"
        ),
    ),
    "outer without inner": Case(
        "A a; Real z = time;",
        before="model A outer parameter Real k; Real y; equation y = k*time; end A;",
        refused="inner",
    ),
    "conditional component off": Case(
        "parameter Boolean c = false; Lag a if c; Real y = time;",
        {"y": 1.0},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "conditional array": Case(
        "parameter Integer n = 0; Lag a[n]; Real y = time;",
        {"y": 1.0},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "nested package constants": Case(
        "Real y = P.Q.a*time + P.b;",
        {"y": 5.0},
        before="package P constant Real b = 2; package Q constant Real a = b + 1; end Q; end P;",
    ),
    "import": Case(
        "import P.Q; import k = P.Q.a; Real y = Q.a*time + k;",
        {"y": 6.0},
        before="package P package Q constant Real a = 3; end Q; end P;",
    ),
    "import wildcard": Case(
        "import P.*; Real y = a*time;", {"y": 3.0}, before="package P constant Real a = 3; end P;"
    ),
    "protected": Case(
        "A a;",
        {"a.y": 2.0},
        before="model A Real y; protected Real z; equation z = 2*time; y = z; end A;",
    ),
    "final modifier": Case(
        "A a(final k=3);",
        {"a.y": 3.0},
        before="model A parameter Real k = 1; Real y = k*time; end A;",
    ),
    "derived type": Case(
        "L x(start=1, fixed=true); parameter Real T = 1; equation\nder(x) = -x/T;",
        {"x": exp(-1)},
        before='type L = Real(unit="m", min=0);',
    ),
    "derived array type": Case(
        "V v; equation\nv = {1,2,3}*time;", {"v[2]": 2.0}, before='type V = Real[3](each unit="m");'
    ),
    "unit arithmetic": Case(
        'Real v(unit="m/s"); Real s(unit="m", start=0, fixed=true); parameter Real '
        'k(unit="1/s") = 2;\nequation\nder(s) = v; v = k*(1 - s);',
        {"s": 1 - exp(-2)},
    ),
    "extends twice": Case(
        "extends A; extends B; Real y; equation\ny = a + b;\n",
        {"y": 3.0},
        before="model A Real a = time; end A; model B Real b = 2*time; end B;",
    ),
    "extends diamond": Case(
        "extends B; extends C; Real y = b + c;",
        {"y": 5.0},
        before=(
            "model A parameter Real k = 1; end A; model B extends A; Real b = 2*k*time; end "
            "B; model C extends A; Real c = 3*k*time; end C;"
        ),
    ),
    "extends with modification chain": Case(
        "C c(k=5);",
        {"c.y": 5.0, "c.z": 10.0},
        before=(
            "model A parameter Real k = 1; Real y = k*time; end A; model B extends A(k=2); "
            "end B; model C extends B(k=3); Real z = 2*y; end C;"
        ),
    ),
    "modification outermost wins": Case(
        "B b(a(k=7));",
        {"b.a.y": 7.0},
        before="model A parameter Real k = 1; Real y = k*time; end A; model B A a(k=2); end B;",
    ),
    "modification refers outside": Case(
        "parameter Real k = 3; A a(k=k);",
        {"a.y": 3.0},
        before="model A parameter Real k = 1; Real y = k*time; end A;",
    ),
    "modification in loop array": Case(
        "parameter Real k[2] = {3, 4}; A a[2](k=k);",
        {"a[2].y": 4.0},
        before="model A parameter Real k = 1; Real y = k*time; end A;",
    ),
    "array of arrays component": Case(
        "B b[2];",
        {"b[2].a[3].y": 3.0},
        before=(
            "model A parameter Real k = 1; Real y = k*time; end A; model B A a[3](k={1, 2, "
            "3}); end B;"
        ),
    ),
    "clock": Case(
        "discrete Real y;\nequation\nwhen Clock(0.1) then y = previous(y) + 1; end when;",
        refused="previous",
    ),
    "sampled hold": Case(
        "Real x(start=1,fixed=true); Real y; \nequation\nder(x) = -x; y = hold(sample(x, "
        "Clock(0.1)));",
        refused="hold",
    ),
    "spatialDistribution": Case(
        "Real y = spatialDistribution(time, 0, time, true)*1;", refused="spatialDistribution"
    ),
    "operator record": Case(
        "C a, b;\nequation\na.re = time; a.im = 2; b = a + a;",
        before=(
            "operator record C Real re; Real im; encapsulated operator function '+' import C;"
            " input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); "
            "end '+'; end C;"
        ),
        refused="the front end counts 3 equations for 4 unknowns",
    ),
}
