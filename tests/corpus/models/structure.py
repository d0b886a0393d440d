"""Components, connectors, inheritance."""

from __future__ import annotations

from math import cos, exp, sin

from corpus.case import LAG, PARTS, Case, X

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
    "replaceable constrained": Case(
        "extends Plant(redeclare model L = Fast);",
        {"l.x": exp(-2)},
        before=(
            "partial model B Real x; end B; model Slow extends B(x(start=1,fixed=true)); "
            "equation der(x)=-x; end Slow; model Fast extends B(x(start=1,fixed=true)); "
            "equation der(x) = -2*x; end Fast;\nmodel Plant replaceable model L = Slow "
            "constrainedby B; L l; end Plant;"
        ),
    ),
    "replaceable component": Case(
        "Plant p(redeclare Fast l);",
        {"p.l.x": exp(-2)},
        before=(
            "partial model B Real x; end B; model Slow extends B(x(start=1,fixed=true)); "
            "equation der(x)=-x; end Slow; model Fast extends B(x(start=1,fixed=true)); "
            "equation der(x) = -2*x; end Fast;\nmodel Plant replaceable Slow l constrainedby "
            "B; end Plant;"
        ),
    ),
    "replaceable component default": Case(
        "Plant p;",
        {"p.l.x": exp(-1)},
        before=(
            "partial model B Real x; end B; model Slow extends B(x(start=1,fixed=true)); "
            "equation der(x)=-x; end Slow;\nmodel Plant replaceable Slow l constrainedby B; "
            "end Plant;"
        ),
    ),
    "replaceable function": Case(
        "A a(redeclare function g = h);",
        {"a.y": 3.0},
        before=(
            "partial function base input Real u; output Real y; end base; function f extends "
            "base; algorithm y := 2*u; end f; function h extends base; algorithm y := 3*u; "
            "end h;\nmodel A replaceable function g = f constrainedby base; Real y; equation "
            "y = g(time); end A;"
        ),
    ),
    "replaceable function twice": Case(
        "A a(redeclare function g = h); A b;",
        {"a.y": 3.0, "b.y": 2.0},
        before=(
            "partial function base input Real u; output Real y; end base; function f extends "
            "base; algorithm y := 2*u; end f; function h extends base; algorithm y := 3*u; "
            "end h;\nmodel A replaceable function g = f constrainedby base; Real y; equation "
            "y = g(time); end A;"
        ),
    ),
    "replaceable package": Case(
        "A a(redeclare package Medium = Oil); A b(redeclare package Medium = Water);",
        {"a.y": 7.0, "b.y": 5.0},
        before=(
            "partial package PM constant Real rho = 1; end PM; package Water extends "
            "PM(rho=5); end Water; package Oil extends PM(rho=7); end Oil;\nmodel A "
            "replaceable package Medium = Water constrainedby PM; Real y; equation y = "
            "Medium.rho*time; end A;"
        ),
    ),
    "replaceable package function": Case(
        "A a(redeclare package Medium = Oil); A b(redeclare package Medium = Water);",
        {"a.y": 7.0, "b.y": 5.0},
        before=(
            "partial package PM replaceable partial function d input Real t; output Real r; "
            "end d; end PM; package Water extends PM; redeclare function extends d algorithm "
            "r := 5*t; end d; end Water; package Oil extends PM; redeclare function extends "
            "d algorithm r := 7*t; end d; end Oil;\nmodel A replaceable package Medium = "
            "Water constrainedby PM; Real y; equation y = Medium.d(time); end A;"
        ),
    ),
    "redeclared parameter type": Case(
        "A a(redeclare parameter Integer n = 3);",
        before="model A replaceable parameter Real n = 2; Real y; equation y = n*time; end A;",
        refused="not a subtype",
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
    "conditional connection": Case(
        "parameter Boolean c = false; S a if c; S b; K k; \nequation\nconnect(a.u, k.u); "
        "connect(b.u, k.u);",
        {"k.u.f": 1.0},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.f = -1; end S; "
            "model K P u; equation u.s = u.f; end K;"
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
        "L x(start=1, fixed=true); equation\nder(x) = -x;",
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
    "connect arrays": Case(
        "S s[3]; K k[3];\nequation\nconnect(s.u, k.u);",
        {"k[2].u.f": 1.0},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.f = -1; end S; "
            "model K P u; equation u.s = u.f; end K;"
        ),
    ),
    "connect in loop": Case(
        "S s[3]; K k;\nequation\nfor i in 1:3 loop connect(s[i].u, k.u); end for;",
        {"k.u.f": 3.0},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.f = -1; end S; "
            "model K P u; equation u.s = u.f; end K;"
        ),
    ),
    "unconnected flow": Case(
        "S s; K k;\nequation\n",
        {"k.u.f": 0.0},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.s = time; end S;"
            " model K P u; equation u.s = 2*time; end K;"
        ),
    ),
    "connector with array": Case(
        "S s; K k;\nequation\nconnect(s.u, k.u);",
        {"k.u.f[2]": 2.0},
        before=(
            "connector P Real s[2]; flow Real f[2]; end P; model S P u; equation u.f = -{1, "
            "2}; end S; model K P u; equation u.s = u.f; end K;"
        ),
    ),
    "signal connector": Case(
        "A a; B b;\nequation\nconnect(a.y, b.u);",
        {"b.z": 2.0},
        before=(
            "connector I = input Real; connector O = output Real; model A O y; equation y = "
            "time; end A; model B I u; Real z; equation z = 2*u; end B;"
        ),
    ),
    "hierarchical connection": Case(
        "W w; K k;\nequation\nconnect(w.u, k.u);",
        {"k.u.f": 2.0},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.f = -1; end S; "
            "model K P u; equation u.s = u.f; end K; model W P u; S a; S b; equation "
            "connect(a.u, u); connect(b.u, u); end W;"
        ),
    ),
    "connector potential three": Case(
        "K a(k=1); K b(k=3); S s;\nequation\nconnect(a.u, s.u); connect(s.u, b.u);",
        {"a.u.f": 0.25, "b.u.f": 0.75},
        before=(
            "connector P Real s; flow Real f; end P; model S P u; equation u.f = -1; end S; "
            "model K P u; parameter Real k; equation u.f = k*u.s; end K;"
        ),
    ),
    "expandable connector": Case(
        "expandable connector E end E; E e; Real y;\nequation\ny = e.v; connect(e.v, s); "
        "output Real s = time;",
        refused=".",
    ),
    "expandable bus": Case(
        "B b; B c; A a; Z z;\nequation\nconnect(a.y, b.speed); connect(b, c); "
        "connect(c.speed, z.u);",
        before=(
            "connector I = input Real; connector O = output Real; expandable connector B end "
            "B; model A O y; equation y = time; end A; model Z I u; Real z; equation z = 2*u;"
            " end Z;"
        ),
        refused="expandable",
    ),
    "stream connector": Case(
        "A a; B b; \nequation\nconnect(a.p, b.p);",
        {"b.t": 10.0},
        before=(
            "connector P Real p; flow Real m; stream Real h; end P; model A P p; equation "
            "p.m = -1; p.h = 10; end A; model B P p; Real t; equation p.p = 1; p.h = 20; t = "
            "inStream(p.h); end B;"
        ),
    ),
    "stream junction": Case(
        "A a(h=10,m=-1); A c(h=40,m=-2); B b; \nequation\nconnect(a.p, b.p); connect(c.p, b.p);",
        {"b.t": 30.0},
        before=(
            "connector P Real p; flow Real m; stream Real h; end P; model A P p; parameter "
            "Real h; parameter Real m; equation p.m = m; p.h = h; end A; model B P p; Real t;"
            " equation p.p = 1; p.h = 20; t = inStream(p.h); end B;"
        ),
    ),
    "actualStream": Case(
        "A a(h=10,m=-1); B b; \nequation\nconnect(a.p, b.p);",
        {"b.t": 10.0},
        before=(
            "connector P Real p; flow Real m; stream Real h; end P; model A P p; parameter "
            "Real h; parameter Real m; equation p.m = m; p.h = h; end A; model B P p; Real t;"
            " equation p.p = 1; p.h = 20; t = actualStream(p.h); end B;"
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
