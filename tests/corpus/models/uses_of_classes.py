"""Functions and classes that are used in several ways, and inner ones: each use has its own."""

from __future__ import annotations

from corpus.case import Case

F = """function f input Real x; input Real k = 1; output Real y; algorithm y := k*x; end f;
function f2 extends f(k=2); end f2;
function f3 = f(k=3);
function f4 = f3(k=4);
partial function Map input Real x; output Real y; end Map;
function square extends Map; algorithm y := x^2; end square;
function cube extends Map; algorithm y := x^3; end cube;
"""
LAWS = """partial model Law parameter Real k = 1; Real y; end Law;
model Lin extends Law; equation y = k*time; end Lin;
model Sq extends Law; parameter Real e = 0; equation y = k*time^2 + e; end Sq;
model Plant replaceable model L = Lin constrainedby Law; L l; parameter Real g = 10; end Plant;
model Box Plant p; Plant q; end Box;
"""
CONST = """model K constant Real k = 1; parameter Real p = 2;
 function f input Real x; output Real y; algorithm y := k*x; end f;
 function g input Real x; output Real y; algorithm y := f(x) + k; end g;
 Real y = f(time) + p; Real z = g(time); end K;
"""
WORLD = """function g0 input Real r; input Real k = 1; output Real g; algorithm g := -k*r; end g0;
function g1 input Real r; input Real k = 1; input Real a = 0; output Real g;
 algorithm g := a - k*r; end g1;
model W parameter Real k = 4; replaceable function grav = g0(k=k);
 Real own = grav(2); end W;
model B outer W world; Real a = world.grav(time); end B;
"""
INNER = """partial function Pf input Real x; output Real y; end Pf;
function zero extends Pf; algorithm y := 0; end zero;
function four extends Pf; algorithm y := 4*x; end four;
model L outer function f = zero; Real y = f(time); end L;
partial model Env Real T; end Env;
model Cold extends Env; equation T = time; end Cold;
model Hot extends Env; parameter Real d = 100; equation T = time + d; end Hot;
model Sensor outer Env env; Real y = 2*env.T; end Sensor;
model House replaceable model E = Cold constrainedby Env; inner E env; Sensor s; end House;
"""

CASES: dict[str, Case] = {
    "short_functions": Case(
        "Real a = f(time), b = f2(time), c = f3(time), d = f4(time), e = f4(time, 9);",
        {"a": 1, "b": 2, "c": 3, "d": 4, "e": 9},
        before=F,
    ),
    "protected_of_function": Case(
        "Real a = q(time), b = p(time);",
        {"a": 5, "b": 2},
        before=(
            "function b input Real x; output Real y; protected Real k = 2; algorithm y := k*x;"
            " end b; function q extends b(k=5); end q; function p = b;"
        ),
    ),
    "default_of_default": Case(
        "Real a = h(time), b = g(time);",
        {"a": 55, "b": 11},
        before=(
            "function g input Real x; input Real k = x; input Real l = 10*k; output Real y;"
            " algorithm y := k + l; end g; function h = g(k=5);"
        ),
    ),
    "redeclared_function": Case(
        "P a; P b(redeclare function g = cube);",
        {"a.y": 4, "b.y": 8},
        before=F
        + ("model P replaceable function g = square constrainedby Map; Real y = g(2*time); end P;"),
    ),
    "redeclared_function_modified": Case(
        "P a; P b(redeclare function g = f(k=5)); P c(redeclare function g = f4);",
        {"a.y": 1, "b.y": 5, "c.y": 4},
        before=F + ("model P replaceable function g = f; Real y = g(time); end P;"),
    ),
    "redeclared_function_extends": Case(
        "extends P(redeclare function g = cube); P b;",
        {"y": 8, "b.y": 4},
        before=F
        + ("model P replaceable function g = square constrainedby Map; Real y = g(2*time); end P;"),
    ),
    "function_two_levels": Case(
        "Q a; Q b(p(redeclare function g = cube)); R c(q(p(redeclare function g = cube)));",
        {"a.p.y": 4, "b.p.y": 8, "c.q.p.y": 8},
        before=F
        + (
            "model P replaceable function g = square constrainedby Map; Real y = g(2*time); end"
            " P; model Q P p; end Q; model R Q q; end R;"
        ),
    ),
    "function_of_package_redeclared": Case(
        "Real a = S.twice(time), b = C.twice(time);",
        {"a": 2, "b": 16},
        before=(
            "package S replaceable function g input Real x; output Real y; algorithm y := x^2;"
            " end g; function twice input Real x; output Real y; algorithm y := 2*g(x); end"
            " twice; end S; package C extends S; redeclare function g input Real x; output Real"
            " y; algorithm y := (2*x)^3; end g; end C;"
        ),
    ),
    "function_modified_by_constant": Case(
        "P a(k=3); P b;",
        {"a.y": 3, "b.y": 2},
        before=F + ("model P constant Real k = 2; function g = f(k=k); Real y = g(time); end P;"),
    ),
    "function_modified_by_parameter": Case(
        "P a(p=3); P b;",
        {"a.y": 3, "b.y": 2, "a.z": 18},
        before=F
        + (
            "model P parameter Real p = 2; function g = f(k=p); Real y = g(time); Real z ="
            " g(2*time)*p; end P;"
        ),
    ),
    "function_of_constants": Case(
        "K a(k=2); K b(k=3); K c;",
        {"a.y": 4, "b.y": 5, "c.y": 3, "a.z": 4, "b.z": 6, "c.z": 2},
        before=CONST,
    ),
    "function_of_constants_extends": Case(
        "extends K(k=5); K c;",
        {"y": 7, "z": 10, "c.z": 2},
        before=CONST,
    ),
    "derivative_function": Case(
        "Real a = fx(time, 2), b = fy(time, 2), c = fxy(time, 2), d = f(time, 2);",
        {"a": 4, "b": 1, "c": 2, "d": 2},
        before=(
            "function f input Real x; input Real y; output Real z; algorithm z := x^2*y; end f;"
            " function fx = der(f, x); function fy = der(f, y); function fxy = der(f, x, y);"
        ),
    ),
    "derivative_in_package": Case(
        "Real a = P.df(time), b = P2.df(time);",
        {"a": 2, "b": 10},
        before=(
            "package P constant Real k = 1; function f input Real x; output Real y; algorithm y"
            " := k*x^2; end f; function df = der(f, x); end P; package P2 = P(k=5);"
        ),
    ),
    "several_outputs": Case(
        "Real a, b, c, d; equation (a, b) = P.f(time); (c, d) = P2.f(time);",
        {"a": 1, "b": 2, "c": 4, "d": 8},
        before=(
            "package P constant Real k = 1; function f input Real x; output Real y; output Real"
            " z; algorithm y := k*x; z := 2*k*x; end f; end P; package P2 = P(k=4);"
        ),
    ),
    "recursive_function": Case(
        "Real a = P.f(time), b = P2.f(time);",
        {"a": 3, "b": 4},
        before=(
            "package P constant Real k = 1; function f input Real x; output Real y; algorithm y"
            " := g(x, 2) + k; end f; function g input Real x; input Real n; output Real y;"
            " algorithm y := n*x; end g; end P; package P2 = P(k=2);"
        ),
    ),
    "function_with_record": Case(
        "Real a = P.f(P.R(1, time)), b = P2.f(P2.R(1, time));",
        {"a": 2, "b": 6},
        before=(
            "package P constant Real k = 1; record R Real a; Real b = k; end R; function f input"
            " R r; output Real y; algorithm y := k*r.a + r.b*k; end f; end P; package P2 ="
            " P(k=3);"
        ),
    ),
    "default_of_record": Case(
        "P.R a; P2.R b; Real y = a.b + 10*b.b;",
        {"a.b": 1, "b.b": 3, "y": 31},
        before=(
            "package P constant Real k = 1; record R parameter Real a = 0; parameter Real b = k;"
            " end R; end P; package P2 = P(k=3);"
        ),
    ),
    "class_modified_in_redeclaration": Case(
        "Plant p(redeclare model L = Sq(k=2, e=1)); Plant q;",
        {"p.l.y": 3, "q.l.y": 1},
        before=LAWS,
    ),
    "class_modified_by_parameter": Case(
        "parameter Real n = 6; Plant p(redeclare model L = Sq(k=n)); Plant q;",
        {"p.l.y": 6, "q.l.y": 1},
        before=LAWS,
    ),
    "class_modified_by_set_parameter": Case(
        "parameter Real n = 6; Plant p(redeclare model L = Sq(k=n));",
        {"p.l.y": 8},
        before=LAWS,
        start={"n": 8.0},
    ),
    "class_two_levels": Case(
        "Box b(p(redeclare model L = Sq(e=5))); Box c;",
        {"b.p.l.y": 6, "b.q.l.y": 1, "c.p.l.y": 1},
        before=LAWS,
    ),
    "class_in_extends": Case(
        "extends Box(q(redeclare model L = Sq(e=5))); Plant r;",
        {"p.l.y": 1, "q.l.y": 6, "r.l.y": 1},
        before=LAWS,
    ),
    "constraint_modified": Case(
        "H h; H i(redeclare model L = Sq); H j(redeclare model L = Sq(k=9));",
        {"h.l.y": 3, "i.l.y": 3, "j.l.y": 9},
        before=LAWS + ("model H replaceable model L = Lin constrainedby Law(k=3); L l; end H;"),
    ),
    "component_redeclared": Case(
        "H h; H i(redeclare Sq l(e=2)); G g(h(redeclare Sq l(e=4)));",
        {"h.l.y": 7, "i.l.y": 9, "g.h.l.y": 11},
        before=LAWS
        + ("model H replaceable Lin l constrainedby Law(k=7); end H; model G H h; end G;"),
    ),
    "deep_values": Case(
        "extends C(b(a(k=6)));",
        {"b.a.y": 11},
        before=(
            "model A parameter Real k = 1; parameter Real b = 2; Real y = (k + b)*time; end A;"
            " model B A a; end B; model C B b(a(b=5)); end C;"
        ),
    ),
    "dotted_values": Case(
        "C c(b.a.k=6);",
        {"c.b.a.y": 11},
        before=(
            "model A parameter Real k = 1; parameter Real b = 2; Real y = (k + b)*time; end A;"
            " model B A a; end B; model C B b(a(b=5)); end C;"
        ),
    ),
    "local_class_by_parameter": Case(
        "parameter Real p = 4; model Mine = Lin(k=p); Mine a; Plant b(redeclare model L = Mine);",
        {"a.y": 4, "b.l.y": 4},
        before=LAWS,
    ),
    "world": Case(
        "inner W world; B b;",
        {"b.a": -4, "world.own": -8},
        before=WORLD,
    ),
    "world_redeclared": Case(
        "inner W world(k=3, redeclare function grav = g1(a=7)); B b;",
        {"b.a": 4, "world.own": 1},
        before=WORLD,
    ),
    "world_set": Case(
        "inner W world; B b;",
        {"b.a": -5, "world.own": -10},
        before=WORLD,
        start={"world.k": 5.0},
    ),
    "two_worlds": Case(
        "S s; inner W world; B b;",
        {"b.a": -4, "s.b.a": -9},
        before=WORLD + ("model S inner W world(k=9); B b; end S;"),
    ),
    "inner_function": Case(
        "inner function f = four; L l;",
        {"l.y": 4},
        before=INNER,
    ),
    "inner_functions": Case(
        "inner function f = four; L l; N n;",
        {"l.y": 4, "n.l.y": 1},
        before=INNER
        + (
            "function one extends Pf; algorithm y := 1; end one; model N inner function f = one;"
            " L l; end N;"
        ),
    ),
    "inner_model": Case(
        "inner model Y = Sq2; U u;",
        {"u.y.z": 2},
        before=(
            "model X Real z = time; end X; model Sq2 Real z = 2*time^2; end Sq2; model U outer"
            " model Y = X; Y y; end U;"
        ),
    ),
    "inner_redeclared": Case(
        "House h; House i(redeclare model E = Hot(d=3));",
        {"h.s.y": 2, "i.s.y": 8},
        before=INNER,
    ),
    "media_in_a_circle": Case(
        "A a;",
        before=("package P = Q; package Q = P; model A package M = P; Real y = M.f(time); end A;"),
        refused=r"circular inheritance",
    ),
    "redeclared_by_another_signature": Case(
        "P p(redeclare function g = two);",
        before=F
        + (
            "function two input Real a; input Real b; output Real y; algorithm y := a + b; end"
            " two; model P replaceable function g = square constrainedby Map; Real y = g(2*time);"
            " end P;"
        ),
        refused=r"M\.mo:\d+: 'g' is of class two here, which is not a subtype of Map: .*input",
    ),
    "medium_without_the_function": Case(
        "P p(redeclare package Medium = Q);",
        before=(
            "partial package B replaceable partial function f input Real x; output Real y; end f;"
            " end B; package Q extends B; end Q; model P replaceable package Medium = B; Real y ="
            " Medium.f(time); end P;"
        ),
        refused=r"M\.mo:\d+.*partial",
    ),
    "medium_lacks_the_function": Case(
        "P p(redeclare package Medium = Q);",
        before=(
            "package B function f input Real x; output Real y; algorithm y := x; end f; end B;"
            " package Q constant Real k = 1; end Q; model P replaceable package Medium = B; Real"
            " y = Medium.f(time); end P;"
        ),
        refused=r"M\.mo:\d+: 'Medium\.f': package Q has no 'f'",
    ),
    "constant_without_value": Case(
        "P p(redeclare package Medium = Q);",
        before=(
            "package B constant Real k; function f input Real x; output Real y; algorithm y :="
            " k*x; end f; end B; package Q extends B; end Q; model P replaceable package Medium ="
            " B(k=1) constrainedby B; Real y = Medium.f(time); end P;"
        ),
        refused=r"M\.mo:\d+.*constant.*k.* no value",
    ),
    "outer_function_alone": Case(
        "L l;",
        before=INNER,
        refused=r"M\.mo:\d+: .*outer function 'f' has no inner",
    ),
    "constant_by_parameter": Case(
        "parameter Real p = 2; K k(k=p);",
        before=CONST,
        refused=r"M\.mo:\d+",
    ),
    "derivative_by_no_input": Case(
        "Real y = g(time);",
        before=(
            "function f input Real x; output Real y; algorithm y := x; end f; function g = der(f,"
            " z);"
        ),
        refused=r"M\.mo:\d+.*'z'.*no input",
    ),
    "derivative_annotation": Case(
        "Real y = f(time); Real d = der(y);",
        before=(
            "function f input Real x; output Real y; algorithm y := x^2;"
            " annotation(derivative=fd); end f; function fd input Real x; output Real dy;"
            " algorithm dy := 7*x; end fd;"
        ),
        refused=r"M\.mo:\d+.*derivative.*fd",
    ),
}
