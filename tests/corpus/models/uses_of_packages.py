"""Packages that are used in several ways: each use has constants and functions of its own."""

from __future__ import annotations

from corpus.case import Case

FLUID = """package Fluid constant Real rho = 1; constant Real twice = 2*rho;
 function weigh input Real v; output Real m; algorithm m := rho*v; end weigh;
 model Tank Real m = rho*time; end Tank; end Fluid;
package Water extends Fluid(rho=1000); end Water;
package Oil extends Fluid(rho=900); end Oil;
model A replaceable package Medium = Water constrainedby Fluid;
 Real m = Medium.weigh(time); Real r = Medium.rho; Real d = Medium.twice; Medium.Tank t; end A;
"""
PARTIAL = """partial package Base constant Real rho; constant String name = "none";
 replaceable partial function weigh input Real v; output Real m; end weigh;
 replaceable record State Real p; Real T; end State;
 replaceable function density input State s; output Real d; algorithm d := rho; end density;
 function mass input State s; input Real v; output Real m; algorithm m := density(s)*v; end mass;
 end Base;
package Water extends Base(rho=1000);
 redeclare function extends weigh algorithm m := rho*v; end weigh; end Water;
package Gas extends Base(rho=2);
 redeclare function extends weigh algorithm m := rho*v + 1; end weigh;
 redeclare function density input State s; output Real d; algorithm d := s.p/(rho*s.T);
 end density; end Gas;
model Part replaceable package Medium = Water constrainedby Base; Real m = Medium.weigh(time);
 Medium.State s(p=8*time, T=2); Real n = Medium.mass(s, 3); end Part;
"""
VECTOR = """package V constant Integer n = 2; constant Real w[n] = fill(1.5, n);
 record S Real x[n]; end S;
 function total input S s; output Real y; algorithm y := sum(s.x) + sum(w); end total;
 function pick input Real x[n]; output Real y; algorithm y := x[n]*n; end pick; end V;
package V3 extends V(n=3); end V3;
package W = V(n=4, w={1, 2, 3, 4});
model Use replaceable package P = V; P.S s(x=fill(time, P.n)); Real y = P.total(s);
 Real z = P.pick(s.x); Real q[P.n] = P.w*time; end Use;
"""
NEST = """package Top constant Real a = 2;
 package Mid constant Real b = 3*a;
  package Low constant Real c = b + a;
   function g input Real x; output Real y; algorithm y := c*x; end g; end Low;
  function h input Real x; output Real y; algorithm y := Low.g(x) + b; end h; end Mid;
 model Part Real y = Mid.h(time); Real z = Mid.Low.c; end Part; end Top;
package Top5 = Top(a=5);
package TopM extends Top(Mid(b=1)); end TopM;
"""

CASES: dict[str, Case] = {
    "two_media": Case(
        "A w; A o(redeclare package Medium = Oil);",
        {
            "w.m": 1000,
            "w.r": 1000,
            "w.d": 2000,
            "w.t.m": 1000,
            "o.m": 900,
            "o.d": 1800,
            "o.t.m": 900,
        },
        before=FLUID,
    ),
    "three_media": Case(
        "A w; A o(redeclare package Medium = Oil(rho=9)); A f(redeclare package Medium = Fluid);",
        {"w.m": 1000, "o.m": 9, "o.r": 9, "o.d": 18, "o.t.m": 9, "f.m": 1, "f.d": 2},
        before=FLUID,
    ),
    "modified_medium": Case(
        "A o(redeclare package Medium = Oil(rho=7));",
        {"o.m": 7, "o.d": 14},
        before=FLUID,
    ),
    "medium_in_extends": Case(
        "extends A(redeclare package Medium = Oil); A w;",
        {"m": 900, "t.m": 900, "w.m": 1000},
        before=FLUID,
    ),
    "medium_as_element": Case(
        "extends A; redeclare package Medium = Oil(rho=8); A w;",
        {"m": 8, "d": 16, "w.m": 1000},
        before=FLUID,
    ),
    "medium_nested": Case(
        "B b(a(redeclare package Medium = Oil)); B c;",
        {"b.a.m": 900, "c.a.m": 1000},
        before=FLUID + ("model B A a; end B;"),
    ),
    "medium_propagated": Case(
        "T t(redeclare package M = Oil); T u;",
        {"t.a.m": 900, "t.b.d": 1800, "u.a.m": 1000, "t.y": 900, "u.y": 1000},
        before=FLUID
        + (
            "model T replaceable package M = Water constrainedby Fluid; A a(redeclare package"
            " Medium = M); A b(redeclare package Medium = M); Real y = M.weigh(time); end T;"
        ),
    ),
    "medium_modified_in_place": Case(
        "A a(Medium(rho=3)); A b;",
        {"a.m": 3, "a.d": 6, "b.m": 1000},
        before=FLUID,
    ),
    "medium_local": Case(
        "package Mine = Oil(rho=5); A a(redeclare package Medium = Mine); Real r = Mine.rho;",
        {"a.m": 5, "r": 5},
        before=FLUID,
    ),
    "medium_in_arrays": Case(
        "A a[2](redeclare package Medium = Oil); A b;",
        {"a[1].m": 900, "a[2].d": 1800, "b.m": 1000},
        before=FLUID,
    ),
    "short_package_twice": Case(
        "Real a = P2.weigh(time), b = P3.weigh(time), c = Fluid.weigh(time), d = P3.twice;",
        {"a": 2, "b": 3, "c": 1, "d": 6},
        before=FLUID + ("package P2 = Fluid(rho=2); package P3 = P2(rho=3);"),
    ),
    "extended_package_twice": Case(
        "Real a = P2.weigh(time), b = P3.weigh(time);",
        {"a": 2, "b": 3},
        before=FLUID
        + ("package P2 extends Fluid(rho=2); end P2; package P3 extends P2(rho=3); end P3;"),
    ),
    "redeclared_constant": Case(
        "Real a = R.weigh(time), b = Fluid.weigh(time), c = R.twice;",
        {"a": 6, "b": 1, "c": 12},
        before=FLUID
        + (
            "package R extends G; redeclare constant Real rho = 6; end R;package G replaceable"
            " constant Real rho = 1; constant Real twice = 2*rho; function weigh input Real v;"
            " output Real m; algorithm m := rho*v; end weigh; end G;"
        ),
    ),
    "constant_by_package": Case(
        "Real a = C.weigh(time), d = C.twice;",
        {"a": 901, "d": 1802},
        before=FLUID + ("package C extends Fluid(rho=Oil.rho + 1); end C;"),
    ),
    "media_of_functions": Case(
        "Part w; Part g(redeclare package Medium = Gas);",
        {"w.m": 1000, "w.n": 3000, "g.m": 3, "g.n": 6},
        before=PARTIAL,
    ),
    "media_of_functions_nested": Case(
        "Two t(redeclare package M2 = Gas);",
        {"t.a.m": 1000, "t.b.m": 3, "t.b.n": 6},
        before=PARTIAL
        + (
            "model Two replaceable package M1 = Water constrainedby Base; replaceable package M2"
            " = Water constrainedby Base; Part a(redeclare package Medium = M1); Part b(redeclare"
            " package Medium = M2); end Two;"
        ),
    ),
    "medium_with_modified_constant": Case(
        "Part g(redeclare package Medium = Gas(rho=4)); Part h(redeclare package Medium = Gas);",
        {"g.m": 5, "g.n": 3, "h.m": 3, "h.n": 6},
        before=PARTIAL,
    ),
    "redeclared_twice": Case(
        "Real a = D.weigh(time), b = Gas.weigh(time);",
        refused=r"M\.mo:\d+: 'weigh' is redeclared here, but it is not replaceable",
        before=PARTIAL
        + (
            "package D extends Gas; redeclare function weigh input Real v; output Real m;"
            " protected Real k = 10; algorithm m := rho*v + 1 + k; end weigh; end D;"
        ),
    ),
    "redeclared_record": Case(
        "Part p(redeclare package Medium = Big); Part w;",
        {"p.n": 33, "w.n": 3000},
        before=PARTIAL
        + (
            "package Big extends Water; redeclare record extends State Real h = 1; end State;"
            " redeclare function density input State s; output Real d; algorithm d := s.h + 10;"
            " end density; end Big;"
        ),
    ),
    "sizes_of_media": Case(
        "Use a; Use b(redeclare package P = V3); Use c(redeclare package P = W);",
        {"a.y": 5, "a.z": 2, "b.y": 7.5, "b.z": 3, "b.q[3]": 1.5, "c.y": 14, "c.z": 4, "c.q[4]": 4},
        before=VECTOR,
    ),
    "size_modified": Case(
        "Use a(redeclare package P = V(n=3)); Use b;",
        {"a.y": 7.5, "a.z": 3, "b.y": 5},
        before=VECTOR,
    ),
    "array_of_constants": Case(
        "Real y = T.look(2) + U.look(3);",
        {"y": 62.0},
        before=(
            "package T constant Real t[3] = {1, 2, 3}; function look input Integer i; output Real"
            " y; algorithm y := t[i]; end look; end T; package U extends T(t={20, 40, 60}); end"
            " U;"
        ),
    ),
    "constant_records": Case(
        "Real a = P.k.a*time + Q.k.b; Real b = P.f(time) + Q.f(time);",
        {"a": 5, "b": 12},
        before=(
            "record R Real a; Real b; end R; package P constant R k(a=1, b=2); function f input"
            " Real x; output Real y; algorithm y := (k.a + k.b)*x; end f; end P; package Q"
            " extends P(k(a=5, b=4)); end Q;"
        ),
    ),
    "constant_record_value": Case(
        "Real b = P.f(time) + Q.f(time);",
        {"b": 12},
        before=(
            "record R Real a; Real b; end R; package P constant R k = R(1, 2); function f input"
            " Real x; output Real y; algorithm y := (k.a + k.b)*x; end f; end P; package Q"
            " extends P(k=R(a=5, b=4)); end Q;"
        ),
    ),
    "nested_packages": Case(
        "Real a = Top.Mid.h(time), b = Top5.Mid.h(time), c = TopM.Mid.h(time);",
        {"a": 14, "b": 35, "c": 4},
        before=NEST,
    ),
    "nested_package_models": Case(
        "Top.Part a; Top5.Part b; TopM.Part c;",
        {"a.y": 14, "a.z": 8, "b.y": 35, "b.z": 20, "c.y": 4, "c.z": 3},
        before=NEST,
    ),
    "package_of_packages": Case(
        "Real a = P.I.f(time), b = Q.I.f(time), c = Q.g(time);",
        {"a": 1, "b": 7, "c": 8},
        before=(
            "package P replaceable package I = J; function g input Real x; output Real y;"
            " algorithm y := I.f(x) + 1; end g; end P; package J constant Real k = 1; function f"
            " input Real x; output Real y; algorithm y := k*x; end f; end J; package Q extends"
            " P(redeclare package I = J(k=7)); end Q;"
        ),
    ),
    "enclosing_constant_hidden": Case(
        "constant Real k = 9; Real a = P.f(time) + k; Real b = P2.f(time);",
        {"a": 12, "b": 4},
        before=(
            "package P constant Real k = 3; function f input Real x; output Real y; algorithm y"
            " := k*x; end f; end P; package P2 = P(k=4);"
        ),
    ),
    "import_of_copies": Case(
        "import A = P2; import P2.k; import P3 = P2; Real a = A.f(time) + k, b = P.f(time);",
        {"a": 8, "b": 3},
        before=(
            "package P constant Real k = 3; function f input Real x; output Real y; algorithm y"
            " := k*x; end f; end P; package P2 = P(k=4);"
        ),
    ),
    "iterator_hides_constant": Case(
        "Real a = P2.f(time), b = P.f(time);",
        {"a": 11, "b": 9},
        before=(
            "package P constant Real i = 3; function f input Real x; output Real y; algorithm y"
            " := i*x; for i in 1:3 loop y := y + i; end for; end f; end P; package P2 = P(i=5);"
        ),
    ),
    "named_argument_like_constant": Case(
        "Real a = P2.g(time), b = P.g(time);",
        {"a": 5, "b": 3},
        before=(
            "package P constant Real k = 3; function f input Real x; input Real k; output Real y;"
            " algorithm y := k*x; end f; function g input Real x; output Real y; algorithm y :="
            " f(x, k = k); end g; end P; package P2 = P(k=5);"
        ),
    ),
}
