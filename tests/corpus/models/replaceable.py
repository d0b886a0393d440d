"""What is replaceable, and what it is redeclared as."""

from __future__ import annotations

from math import exp

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "replaceable": Case(
        "extends Plant(redeclare model L = Fast);",
        before=f"model Slow {X + LAG} end Slow; model Fast {X} equation der(x) = -2*x; end Fast;\n"
        "model Plant replaceable model L = Slow; L l; end Plant;",
        expected={"l.x": exp(-2)},
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
        refused="not a subtype of Real",
    ),
}
