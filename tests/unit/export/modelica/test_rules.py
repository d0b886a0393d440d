"""What Modelica forbids, or rumoca drops, is refused with its line; what is legal is built."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.explicit_ode import ExplicitOde, make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten_source

FLANGES = (
    "connector P Real s; flow Real f; end P; connector Q Real z; flow Real g; end Q;"
    " connector More extends P; Real extra; flow Real more; end More; connector In = input Real;"
    " model Fixed P p; equation p.s = 0; end Fixed; model Push P p; equation p.f = 1; end Push;"
)
REFUSED = {
    "more potentials than flows, in a connector of a size that a parameter gives": (
        f"{FLANGES} connector N parameter Integer m = 3; P p[m]; Real x; end N;",
        "N n(p.s={1, 2, 3}, x=4);",
        r":1: connector N has flow variables of 3 and potentials of 4 scalars",
    ),
    "fewer flows than potentials, for the size of one instance": (
        "connector N parameter Integer m = 2; Real v[m]; flow Real i[2]; end N;",
        "N a(v={1, 2}); N b(m=3, v={1, 2, 3});",
        r":1: connector N has flow variables of 2 and potentials of 3 scalars",
    ),
    "members of other names": (
        f"{FLANGES} model Mass Q q; end Mass;",
        "Fixed g; Mass m; equation\nconnect(g.p, m.q);",
        r":2: connect\(g\.p, m\.q\): connector P and connector Q do not match: Q has no 's'",
    ),
    "members of other names, nested": (
        (
            f"{FLANGES} connector N P p; end N; connector O Q p; end O; model A N n; end A;"
            " model B O n; end B;"
        ),
        "A a; B b; equation\nconnect(a.n, b.n);",
        r":2: .*connector N and connector O do not match: 'p': Q has no 's'",
    ),
    "members of other names, arrays": (
        f"{FLANGES} model Mass Q q; end Mass;",
        "Fixed g[2]; Mass m[2]; equation\nfor i in 1:2 loop connect(g[i].p, m[i].q); end for;",
        r":2: .*do not match",
    ),
    "a redeclaration of what is not replaceable": (
        "model X Real z = 1; end X; model A model L = X; L l; end A;",
        "A a(redeclare model L = X);",
        r":2?.*'L' is redeclared here, but it is not replaceable",
    ),
    "a redeclaration of what is not replaceable in a package": (
        (
            "package P function f input Real x; output Real y; algorithm y := x; end f; end P;"
            " package N extends P; redeclare function f input Real x; output Real y;"
            " algorithm y := 2*x; end f; end N;"
        ),
        "Real y = N.f(time);",
        r":1: 'f' is redeclared here, but it is not replaceable",
    ),
    "a value that is given twice": (
        "model X parameter Real k = 1; end X; model Y = X(k=1, k=2);",
        "Y y;",
        r":1: 'k' is given a value twice",
    ),
    "a wider constraint": (
        (
            "class A Real x = 1; end A; class B Real x = 2; Real y = 2; end B;"
            " class D replaceable B b constrainedby B; end D;"
            " class E extends D(redeclare replaceable B b constrainedby A); end E;"
        ),
        "E e;",
        r":1: 'b' is constrained by A here, which is not a subtype of B: it has no 'y'",
    ),
    "a connect of plain Reals": (
        "model A Real x; end A;",
        "A a; A b; equation\na.x = time; connect(a.x, b.x);",
        r":2: connect\(a\.x, b\.x\): 'a\.x' is a Real, expected a connector",
    ),
    "a connector with a record and fewer flows": (
        (
            "record R Real a; Real b; end R; connector C R r; flow Real f; end C;"
            " model A C c; equation c.f = 1; c.r.a = 1; c.r.b = 1; end A;"
        ),
        "A a;",
        r":1: connector C has flow variables of 1 and potentials of 2 scalars",
    ),
    "a discrete Real that moves": (
        "",
        "Real x = time;\ndiscrete Real d; equation\nd = 2*x;",
        r":3: 'd' is a discrete Real, so it changes at events only",
    ),
    "an Integer that moves": (
        "function f input Real x; output Integer n; algorithm n := integer(x); end f;",
        "Integer n; equation\nn = f(time);",
        r":2: 'n' is an Integer, so it changes at events only",
    ),
    "a state that jumps": (
        "",
        (
            "Real x(start=0, fixed=true);\nReal y(stateSelect=StateSelect.always);"
            " equation der(x) = 1; y = if x > 0.5 then 1 else 0;"
        ),
        r"'y' at <text>:2 has stateSelect = always, but it jumps",
    ),
    "an extra member": (
        f"{FLANGES} model A More p; equation p.extra = 1; end A;",
        "Fixed g; A a; equation\nconnect(g.p, a.p);",
        r":2: .*P has no 'extra', which More has",
    ),
    "arrays of other sizes": (
        f"{FLANGES} model A P p[2]; end A; model B P p[3]; end B;",
        "A a; B b; equation\nconnect(a.p, b.p);",
        r":2: .*2 and 3 elements",
    ),
    "a connector of a component of a component": (
        f"{FLANGES} model A Push l; Push r; end A;",
        "A a; Fixed g; equation\nconnect(a.l.p, g.p);",
        r":2: .*'a\.l\.p' is no connector of this class",
    ),
    "an outer that is modified": (
        "model A outer parameter Real g; Real y = g; end A;",
        "inner parameter Real g = 1;\nA a(g = 2);",
        r":2: outer 'a\.g' is modified",
    ),
    "an outer of another size": (
        "model A outer Real g[3]; Real y = g[1]; end A;",
        "inner Real g[2] = {time, time}; A a;",
        r":1: outer 'a\.g' does not fit inner 'g': it is \[3\], and the inner one \[2\]",
    ),
    "inherited components that differ": (
        "model A Real k = 1; end A;",
        "Real k = 2;\nextends A;",
        r":1: 'k' is declared here and inherited from model A, and both differ",
    ),
    "a protected component": (
        "model A protected Real x = 1; end A;",
        "A a; Real y;\nequation y = a.x;",
        r"protected component 'a\.x'|'a\.x': 'x' is protected in model A",
    ),
    "a modification of a protected component": (
        "model A protected parameter Real x = 1; end A;",
        "\nA a(x = 2);",
        r":2: 'a\.x': 'x' is protected",
    ),
    "a default that is no subtype": (
        "model A Real x = 1; end A; model B Real y = 1; end B;",
        "\nreplaceable A a constrainedby B;",
        r":2: 'a' is of class A here, which is not a subtype of B: it has no 'y'",
    ),
    "a record that extends a model": (
        "model A Real x = 1; end A; record R extends A; end R;",
        "R r;",
        r":1: record R extends model A",
    ),
    "a conditional component in an equation": (
        "block B output Real y = 3; end B;",
        "B b if true; Real z;\nequation z = b.y;",
        r":2: 'b\.y': 'b' is a conditional component",
    ),
    "a parameter of what changes": (
        "",
        (
            "discrete Real x(start=0, fixed=true);\nparameter Real y = x;"
            " equation when sample(0, 1) then x = time; end when;"
        ),
        r":2: 'y' does not change in a run, but is given 'x', which does",
    ),
    "a constant without a value": ("", "\nconstant Real k; Real y = k;", r":2: .*'k' has no value"),
    "an attribute as literal": (
        "",
        "\ntype E = enumeration(a, max); E e = E.a;",
        r":2: 'max' is an attribute of enumerations",
    ),
    "a class that is inherited and differs": (
        (
            "model B model A Real x = 2; end A; end B; model M0 model A Real x = 3; end A;"
            " extends B; A a; end M0;"
        ),
        "\nM0 m;",
        r":1: 'A' is declared here and inherited from model B, and both differ",
    ),
    "a base that is inherited": (
        "model A model B Real y = 1; end B; end A;",
        "extends A;\nextends B;",
        r":2: M extends B, which it inherits itself",
    ),
    "a redeclaration against a later constraint": (
        (
            "model A Real x = 1; end A; model B Real x = 2; Real y = 2; end B;"
            " model D replaceable B b constrainedby A; end D;"
            " model E extends D(replaceable B b constrainedby B); end E;"
        ),
        "\nE e(redeclare A b);",
        r":2: 'b' is of class A here, which is not a subtype of B: it has no 'y'",
    ),
    "a function of an array of components": (
        "class A function f input Real x; output Real y = x; algorithm end f; end A;",
        "\nA a[3]; Real x = a.f(2.0);",
        r":2: 'a\.f': functions are looked up in a scalar component",
    ),
    "a value for a member of a bus": (
        "expandable connector C Real x; end C; connector O = output Real;",
        "O o = time;\nC c(x = 1); equation connect(o, c.x);",
        r":2: 'c' is an expandable connector, whose members cannot be given values",
    ),
    "a partial package": (
        "partial package L constant Real k = 1; end L;",
        "\nReal y = L.k;",
        r":2: 'L\.k': package L is partial",
    ),
    "a statement that rumoca does not place": (
        "",
        "Real x; algorithm x := 1;\nfor i in 1:3 loop x := x*2; break; end for;",
        r"this is about <text>:2: for i in 1:3 loop",
    ),
    "a value that rumoca does not place": (
        "",
        "Real a[2];\nReal c[3] = cross({1, 0, 0}, {0, 1, 0}); equation a = {1, 2};",
        r"this is about <text>:2: = cross",
    ),
    "a connection with an annotation": (
        f"{FLANGES} model Mass Q q; end Mass;",
        (
            "Fixed g; Mass m; equation\nconnect(g.p, m.q) annotation (Line(points = {{0, 1}}));"
            "\nconnect(g.p, m.q) annotation (Line);"
        ),
        r":2: .*do not match.*:3: .*do not match",
    ),
    "unknowns without equations": (
        "model A Real x; end A;",
        "\nA a; Real y = a.x;",
        r"cannot be solved for .*a\.x.*; declared are a\.x at <text>:1",
    ),
}
SIGNALS = (
    "connector In = input Real; connector Out = output Real;"
    " block Two Out y = 2; end Two; block Twice In u; Out y = 2*u; end Twice;"
)
REFUSED |= {
    "two outputs of components": (
        f"{SIGNALS}",
        "Two a; Two b; Twice c; equation connect(a.y, c.u);\nconnect(b.y, c.u);",
        r":2: connections let both 'a\.y' and 'b\.y' give one signal",
    ),
    "an input of the class and an output of a component": (
        (
            f"{SIGNALS} block A In u; Two b; Twice c; equation connect(u, c.u);\nconnect(c.u, b.y);"
            " end A;"
        ),
        "A a(u = 1);",
        r":2: connections let both 'u' and 'b\.y' give one signal",
    ),
    "members of connectors": (
        "connector C output Real x; input Real z; end C; model A C c; equation c.x = 1; end A;",
        "A a; A b; equation\nconnect(a.c, b.c);",
        r":2: connections let both 'a\.c\.x' and 'b\.c\.x' give one signal",
    ),
    "items of enumerations as numbers": (
        "type E = enumeration(one, two);",
        "parameter Real a =\nif E.two >= 1 then 1 else 2;",
        r":\d: 'E\.two', an item of an enumeration, is no number",
    ),
    "items of another enumeration": (
        "",
        (
            "type E = enumeration(one, two); type F = enumeration(one, two, three);\n"
            "parameter F f = E.one;"
        ),
        r":2: 'f' is of an enumeration of one, two, three, but 'E\.one' is an item of another one",
    ),
    "numbers as indices of items": (
        "type E = enumeration(one, two);",
        "Real a[E] = {1, 2}; Real x =\na[1];",
        r"'a\[1\]': the index is an item of E, no number",
    ),
    "a power as an Integer": (
        "",
        "\nparameter Integer n = 8^3;",
        r":2: 'n' is an Integer, but '8 \^ 3' is a Real",
    ),
    "a discrete Real with a value": (
        "",
        "\ndiscrete Real x = 1;",
        r":2: 'x' is a discrete Real with a value",
    ),
    "a number as a range": (
        "",
        "Real x; equation\nfor i in 3 loop x = time; end for;",
        r":2: the range of this loop is the number 3",
    ),
    "a value and other elements": (
        "connector C Real e; flow Real f; end C;\nconnector D extends Real; extends C; end D;",
        "D d;",
        r"connector D extends Real, which is a value, .* has other elements beside it",
    ),
    "a state that may be none": (
        "",
        "Real x(stateSelect = StateSelect.never, start = 1); equation der(x) = -x;",
        r"'x' at .* has stateSelect = never, but it has to be a state",
    ),
}
LEGAL = {
    "signals from outside and to the outside": (
        (
            f"{SIGNALS} block A In u; Out y; Twice b; Twice c; Out[2] z; equation connect(u, b.u);"
            " connect(b.y, c.u); connect(c.y, y); connect(c.y, z[1]); connect(b.y, z[2]); end A;"
        ),
        "Two a; A b; Twice c; equation connect(a.y, b.u); connect(b.y, c.u);",
        {"c.y": 16.0, "b.z[1]": 8.0, "b.z[2]": 4.0},
    ),
    "items compared with items, quotients in brackets, ranges that are vectors": (
        "type E = enumeration(one, two); type G = E;",
        (
            "parameter G g = E.two; parameter Integer n = integer(7/2); Real a[E] = {1, 2};"
            " Real x = if g >= E.two and g == G.two then a[E.two]*n else 0; Real y = a[g];"
        ),
        {"x": 6.0, "y": 2.0},
    ),
    "extra parameters": (
        (
            f"{FLANGES} connector Wide extends P; parameter Real w = 1; end Wide;"
            " model A Wide p; equation p.f = 1; end A;"
        ),
        "Fixed g; A a; equation connect(g.p, a.p);",
        {"a.p.s": 0.0},
    ),
    "loops and whole arrays": (
        FLANGES,
        (
            "Fixed g[2]; Push m[2]; Fixed h[2]; Push n[2]; equation connect(g.p, m.p);"
            " for i in 1:2 loop connect(h[i].p, n[i].p); end for;"
        ),
        {"g[2].p.f": -1.0, "h[1].p.f": -1.0},
    ),
    "equal inherited components": (
        "model A Real k = 1; end A; model B Real k = 1; end B;",
        "extends A; extends B; Real y = k;",
        {"y": 1.0},
    ),
    "outers through another": (
        (
            "model Spring outer Real c; Real f = 2*c; end Spring; model Box inner outer Real c;"
            " Spring s; end Box;"
        ),
        "inner Real c = time; Box b;",
        {"b.s.f": 6.0},
    ),
    "an outer component with equations": (
        (
            "model World parameter Real k = 1; Real v; equation v = k*time; end World;"
            " model A outer World w; Real y = w.v; end A;"
        ),
        "inner World w(k = 3); A a[2];",
        {"a[2].y": 9.0},
    ),
    "an inner that is redeclared": (
        (
            "model A outer Real x; Real y = x; end A;"
            " model B inner replaceable Real x; A a; equation x = 2; end B;"
        ),
        "B b(redeclare Real x);",
        {"b.a.y": 2.0},
    ),
    "flow of a redeclared member": (
        (
            "connector C Real e; replaceable flow Real f; end C;"
            " model A C c(redeclare Real f); equation c.e = 1; end A;"
            " model B C c; equation c.f = 1; end B;"
        ),
        "A a; B b; equation connect(a.c, b.c);",
        {"a.c.f": -1.0},
    ),
}


def _explicit(before: str, body: str) -> ExplicitOde:
    return make_explicit(read(flatten_source("M", f"{before} model M {body} end M;")))


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_line(case: str) -> None:
    before, body, pattern = REFUSED[case]
    with pytest.raises(ModelicaError, match=re.compile(pattern, re.DOTALL)):
        _explicit(before, body)


@pytest.mark.parametrize("case", LEGAL)
def test_legal_model_has_its_values(case: str, evaluate: Any) -> None:
    before, body, wanted = LEGAL[case]
    values = evaluate(_explicit(before, body), time=3.0)
    assert {name: values[name] for name in wanted} == wanted


def test_outer_is_found_past_an_inner_component_of_another_class(evaluate: Any) -> None:
    source = (
        "model A outer Real i; Real own = i; inner Real j = 100; end A;"
        " model C outer A a; Real x = a.i; end C; model B inner A a(j = 200); C c; end B;"
    )
    values = evaluate(_explicit(source, "inner Real i = 10; B b;"))
    assert (values["b.c.x"], values["b.a.j"]) == (10.0, 200.0)


_UNITS = 'Real x(unit="m"); Real v(unit="m/s"); Real F(unit="N"); parameter Real m(unit="kg") = 1;'
UNITS = {
    "v = F; F = time; x = v*time;": ["<text>:1: units do not match: 'm/s' and 'kg.m/s2'"],
    "v = der(x); F = m*der(v) + 2*m*v/time; x = 3;": [],
    "x + v = 1; F = 1; v = 3;": ["<text>:1: units do not match: 'm' and 'm/s'"],
    "x = if time > 1 then 2*x else v; F = 1; v = 3;": [
        "<text>:1: units do not match: 'm/s' and 'm'"
    ],
    "x = 1; v = m*sin(x); F = m;": [
        "<text>:1: sin() of a value in 'm'",
        "<text>:1: units do not match: 'kg.m/s2' and 'kg'",
    ],
}


@pytest.mark.parametrize("equations", UNITS)
def test_units_in_equations_are_warned_of(equations: str, caplog: pytest.LogCaptureFixture) -> None:
    flatten_source("M", f"model M {_UNITS} equation {equations} end M;")
    assert [record.getMessage() for record in caplog.records] == UNITS[equations]


def test_units_in_connections_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    flatten_source(
        "M",
        'connector A = input Real(unit="m"); connector B = output Real(unit="rad");'
        " model S B b = time; end S; model T A a; end T;"
        " model M S s; T t; equation connect(s.b, t.a); end M;",
    )
    assert "units do not match: " in caplog.text


_FROZEN = {
    "parameter Boolean c = true; Real y, z; equation if c then y = time; z = 1; else z = time;"
    " y = z; end if;": ["parameter 'c' is frozen at true"],
    "parameter Integer i = 1; Real x(start=1); initial equation if i == 1 then x = 2;"
    " else der(x) = 0; end if; equation der(x) = -x + 1;": ["parameter 'i' is frozen at 1"],
    "parameter Integer n = 2; parameter Real v[n] = fill(3, n); Real y = v[1]*time;": [],
    "model B Real y = time; end B; parameter Boolean c = true; B b if c;": [],
    "parameter Integer unused = 1; Real y = time;": [],
}


@pytest.mark.parametrize("body", _FROZEN)
def test_what_the_front_end_folds_is_frozen_with_a_warning(
    body: str, caplog: pytest.LogCaptureFixture
) -> None:
    ode = make_explicit(read(flatten_source("M", f"model M {body} end M;")))
    told = [record.getMessage() for record in caplog.records]
    assert [each.partition(":")[0] for each in told] == _FROZEN[body]
    assert not {v.name for v in ode.parameters} & {"c", "i", "n"}
