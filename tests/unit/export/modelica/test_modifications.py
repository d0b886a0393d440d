"""Modifications that rumoca drops arrive in plain classes; others go to it as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.frontend import flatten, flatten_source

LAWS = """partial model Law parameter Real k = 1; Real y; end Law;
model Lin extends Law; equation y = k*time; end Lin;
model Cub extends Law; equation y = k*time^3; end Cub;
model Cub7 extends Cub(k=7); end Cub7;
model Plant replaceable model L = Lin constrainedby Law; L l; end Plant;
model Held replaceable model L = Lin constrainedby Law(k=3); L l; end Held;
model Part replaceable Lin l constrainedby Law; end Part;
model HeldPart replaceable Lin l constrainedby Law(k=3); end HeldPart;
model OwnPart replaceable Lin l(k=4) constrainedby Law; end OwnPart;
model Open replaceable Lin l(k=4); end Open;
model Box Plant p; end Box;
model PartBox Part p(l(k=4)); end PartBox;
"""
NESTED = """model A parameter Real k = 1; parameter Real b = 2; Real x(start=1, fixed=true);
equation der(x) = k; end A;
model B A a; A a2; parameter Real m = 1; end B;
model C B b(a(b=5)); end C;
model D extends C(b(a2(b=7))); end D;
model E B b[2](a(each b=5)); end E;
model S B b(a(x(start=5))); end S;
"""
ATTRIBUTES = """type Length = Real(quantity="Length", unit="m");
partial model I Length y; end I;
model L1 extends I; equation y = time; end L1;
model L2 extends I; Real z(unit="m"); Real x(start=0); equation y = time; z = y; der(x) = z; end L2;
model H replaceable model L = L1 constrainedby I; L l; end H;
model K replaceable model L = L1 constrainedby I(y(unit="km")); L l; end K;
model F parameter Boolean f = true; Real x(start=1, fixed=f); equation der(x) = 1; end F;
"""
FUNCTIONS = """partial function base input Real u; output Real y; end base;
function f extends base; algorithm y := 2*u; end f;
function h extends base; input Real q = 3; algorithm y := q*u; end h;
model F replaceable function g = f constrainedby base; Real y; equation y = g(time); end F;
model G F a; end G;
"""
PACKAGES = """partial package PM constant Real rho = 1; end PM;
package Water extends PM(rho=5); end Water;
package Oil extends PM(rho=7); end Oil;
model P replaceable package Medium = Water constrainedby PM; parameter Real r = Medium.rho; end P;
model Q P a; end Q;
"""
LIBRARY = {
    "package.mo": "package Lib extends Lib.Inner.Icon; end Lib;",
    "Inner/package.mo": (
        "within Lib; package Inner extends Inner.Icon; partial package Icon end Icon; end Inner;"
    ),
    "Inner/Gain.mo": (
        "within Lib.Inner; model Gain parameter Real k = 1, m = 1; Real y = k*m*time; end Gain;"
    ),
    "Inner/Pair.mo": "within Lib.Inner; model Pair Gain g; end Pair;",
    "Twice.mo": (
        "within Lib;\nmodel Twice\n  import I = Lib.Inner;\n  I.Pair p(g(m=2));\nend Twice;"
    ),
    "Right.mo": "within Lib; model Right Twice t(p(g(k=3))); end Right;",
    "Wrong.mo": "within Lib; model Wrong extends Twice(p(g(k=3))); end Wrong;",
}


def flattened(classes: str, body: str) -> dict[str, Any]:
    """Values of parameters and starts of variables, where they are literals."""
    found = {}
    tree = flatten_source("M", f"{classes}model M\n{body}\nend M;").tree
    for name, entry in tree["variables"].items():
        value = entry["binding"] or entry["start"]
        if "Literal" in value:
            found[name] = next(iter(value["Literal"]["value"].values()))
    return found


@pytest.mark.parametrize(
    ("classes", "body", "values"),
    [
        # modifications in a redeclaration of a class
        (LAWS, "Plant p(redeclare model L = Cub(k=2)); Plant q;", {"p.l.k": 2, "q.l.k": 1}),
        (LAWS, "extends Plant(redeclare model L = Cub(k=2));", {"l.k": 2}),
        (LAWS, "Plant p(redeclare model L = Cub(y(start=3)));", {"p.l.y": 3}),
        (LAWS, "Plant p(redeclare replaceable model L = Cub(k=2));", {"p.l.k": 2}),
        # modifications of a constraint
        (LAWS, "Held p;", {"p.l.k": 3}),
        (LAWS, "Held p(redeclare model L = Cub);", {"p.l.k": 3}),
        (LAWS, "HeldPart p;", {"p.l.k": 3}),
        (LAWS, "extends HeldPart; redeclare Cub l;", {"l.k": 3}),
        # and what has no place any more
        (LAWS, "OwnPart p(redeclare Cub l);", {"p.l.k": 1}),
        # of a class that is not redeclared
        (LAWS, "Plant p(L(k=2));", {"p.l.k": 2}),
        # redeclarations that do not reach siblings
        (LAWS, "extends Plant(redeclare model L = Cub7); Plant q;", {"l.k": 7, "q.l.k": 1}),
        (LAWS, "extends Plant; redeclare model L = Cub7; Box q;", {"l.k": 7, "q.p.l.k": 1}),
        # nested redeclarations
        (LAWS, "Box b(p(redeclare model L = Cub7));", {"b.p.l.k": 7}),
        (LAWS, "extends Box(p(redeclare model L = Cub7));", {"p.l.k": 7}),
        (LAWS, "PartBox b(p(redeclare Cub l));", {"b.p.l.k": 4}),
        # modifications of two levels in extends
        (NESTED, "extends C(b(a(k=6)));", {"b.a.k": 6, "b.a.b": 5}),
        (NESTED, "extends D(b(a(k=6)));", {"b.a.k": 6, "b.a.b": 5, "b.a2.b": 7}),
        (NESTED, "extends E(b(a(each k=6)));", {"b[1].a.k": 6, "b[2].a.b": 5}),
        (NESTED, "extends S(b(a(x(nominal=2))));", {"b.a.x": 5}),
        (NESTED, "C c(b.a.k=6);", {"c.b.a.k": 6, "c.b.a.b": 5}),
        (LAWS, "Plant p(l.k = 2);", {"p.l.k": 2}),
        (LAWS, "Plant p[2](each l.k = 2);", {"p[1].l.k": 2, "p[2].l.k": 2}),
        # packages
        (PACKAGES, "extends P; redeclare package Medium = Water(rho=9);", {"r": 9}),
        (PACKAGES, "P a(Medium(rho=3));", {"a.r": 3}),
        (PACKAGES, "Q q(a(redeclare package Medium = Oil));", {"q.a.r": 7}),
    ],
)
def test_a_modification_that_the_front_end_loses_arrives_in_plain_classes(
    classes: str, body: str, values: dict[str, float]
) -> None:
    found = flattened(classes, body)
    assert {name: found[name] for name in values} == values


def test_a_value_of_a_redeclared_class_names_a_parameter_further_out() -> None:
    body = "parameter Real n=6; Plant p(redeclare model L = Cub(k=n));"
    tree = flatten_source("M", f"{LAWS}model M {body} end M;").tree
    assert tree["variables"]["p.l.k"]["binding"]["VarRef"]["name"]["name"] == "n"


@pytest.mark.parametrize(
    ("body", "name", "attribute", "value"),
    [
        ('H h(redeclare model L = L2(z(unit="mm")));', "h.l.z", "unit", "mm"),
        ('H h(redeclare model L = L2(z(quantity="q")));', "h.l.z", "quantity", "q"),
        ('H h(redeclare model L = L2(z(displayUnit="mm")));', "h.l.z", "display_unit", "mm"),
        ("K k;", "k.l.y", "unit", "km"),
        (
            "H h(redeclare model L = L2(x(stateSelect=StateSelect.always)));",
            "h.l.x",
            "state_select",
            "Always",
        ),
        ("H h(redeclare model L = L2(x(fixed=true)));", "h.l.x", "fixed", [True]),
    ],
)
def test_attributes_of_a_redeclared_class_arrive(
    body: str, name: str, attribute: str, value: object
) -> None:
    variables = flatten_source("M", f"{ATTRIBUTES}model M\n{body}\nend M;").tree["variables"]
    assert variables[name][attribute] == value


@pytest.mark.parametrize(
    ("classes", "body", "values"),
    [
        (LAWS, "Plant p(redeclare model L = Cub7); Plant q;", {"p.l.k": 7, "q.l.k": 1}),
        (LAWS, "extends Plant(redeclare model L = Cub7);", {"l.k": 7}),
        (LAWS, "extends Plant; redeclare model L = Cub(k=2);", {"l.k": 2}),
        (LAWS, "Plant p(redeclare model L = Cub, l(k=2));", {"p.l.k": 2}),
        (LAWS, "model Cub2 = Cub(k=2); Plant p(redeclare model L = Cub2);", {"p.l.k": 2}),
        (LAWS, "Plant p[2](redeclare model L = Cub7);", {"p[2].l.k": 7}),
        (LAWS, "HeldPart p(redeclare Cub l);", {"p.l.k": 3}),
        (LAWS, "HeldPart p(redeclare Cub l(k=5));", {"p.l.k": 5}),
        (LAWS, "OwnPart p;", {"p.l.k": 4}),
        (LAWS, "Open p(redeclare Cub l);", {"p.l.k": 4}),
        (LAWS, "extends Part(redeclare Cub7 l); Part q;", {"l.k": 7, "q.l.k": 1}),
        (LAWS, "extends Plant(redeclare model L = Cub7); Part q;", {"l.k": 7, "q.l.k": 1}),
        (LAWS, "PartBox b(p(l(k=6)));", {"b.p.l.k": 6}),
        (NESTED, "C c(b(a(k=6)));", {"c.b.a.k": 6, "c.b.a.b": 5}),
        (NESTED, "D d(b(a(k=6)));", {"d.b.a.k": 6, "d.b.a.b": 5, "d.b.a2.b": 7}),
        (NESTED, "extends C(b(a2(k=6), m=3));", {"b.a.b": 5, "b.a2.k": 6, "b.m": 3}),
        (NESTED, "extends C(b(a(b=6)));", {"b.a.b": 6}),
        (NESTED, "S s(b(a(x(nominal=2))));", {"s.b.a.x": 5}),
        (NESTED, "extends B(a(x(start=3)));", {"a.x": 3}),
        (FUNCTIONS, "F a(redeclare function g = h); F b;", {}),
        (FUNCTIONS, "extends F(redeclare function g = h);", {}),
        (PACKAGES, "P a(redeclare package Medium = Oil(rho=9)); P b;", {"a.r": 9, "b.r": 5}),
        (PACKAGES, "extends P(redeclare package Medium = Oil); P b;", {"r": 7, "b.r": 5}),
        # not used, so not refused
        (LAWS + "model Wrong Plant p(redeclare model L = Cub(k=2)); end Wrong;", "Lin l;", {}),
    ],
)
def test_a_modification_that_arrives_is_built(
    classes: str, body: str, values: dict[str, float]
) -> None:
    found = flattened(classes, body)
    assert {name: found[name] for name in values} == values


def test_classes_in_files_of_packages(tmp_path: Path) -> None:
    for name, text in LIBRARY.items():
        file = tmp_path / "Lib" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    right = flatten("Lib.Right", tmp_path).tree["variables"]
    assert right["t.p.g.m"]["binding"]["Literal"]["value"] == {"Integer": 2}
    merged = flatten("Lib.Wrong", tmp_path).tree["variables"]
    assert merged["p.g.m"]["binding"]["Literal"]["value"] == {"Integer": 2}
    assert merged["p.g.k"]["binding"]["Literal"]["value"] == {"Integer": 3}


def test_what_the_parser_does_not_know_is_not_checked(caplog: pytest.LogCaptureFixture) -> None:
    """It is rumoca that decides what is valid; a file that only we cannot read is said."""
    from orchestrator.export.modelica.source.parser import ClassLibrary

    assert ClassLibrary([(1, "a.mo", "model A Real x( end A;")]).find("A") is None
    assert "a.mo': the modifications in it were not checked" in caplog.text


def test_attributes_that_arrive_are_built() -> None:
    text = f"""{ATTRIBUTES}model M
      constant String none = "";
      F a(f=true); F b[2](f={{true, false}});
      H h(l(y(unit="mm", displayUnit="m")));
      Real v(unit=none, quantity="a \\"b\\"", stateSelect=StateSelect.never) = time;
      Real w[2](each unit="m", each quantity="L" + "M", each displayUnit="") = {{time, time}};
      parameter StateSelect s = StateSelect.prefer; Real x(start=0, stateSelect=s);
      Integer n(quantity="count") = 3;
      equation der(x) = 1; end M;"""
    variables = flatten_source("M", text).tree["variables"]
    assert variables["h.l.y"]["unit"] == "mm"
    assert variables["b[2].x"]["fixed"] == [False]


REDECLARED = """package P constant Real k = 1;
 replaceable function f input Real u; output Real y; algorithm y := k*u; end f;
 function fixed_ input Real u; output Real y; algorithm y := u; end fixed_; end P;
function g input Real u; output Real y; algorithm y := u + 5; end g;
model L Real y = time; end L;
model A replaceable model X = L; X x; end A;
model V replaceable package M = P; Real y = M.f(time); end V;
package H extends P; redeclare function h = g; end H;
package J extends P; redeclare constant Real j = 2; end J;
package N redeclare function h = g; constant Real k = 1; end N;
package O package Q extends P; redeclare function extends h end h; end Q; end O;
package MF = P(redeclare function h = g);
package MV = P(j=4);
package EV extends P(j=4); end EV;
package MN = P(redeclare function fixed_ = g);
function gw = g(w=3);
function ge extends g(w=3); end ge;
"""


@pytest.mark.parametrize(
    "body",
    [
        "Real y = H.k*time;",
        "Real y = H.f(time);",
        "Real y = J.k*time;",
        "Real y = N.k*time;",
        "Real y = O.Q.k*time;",
        "Real y = MF.k*time;",
        "Real y = MF.f(time);",
        "Real y = MV.k*time;",
        "Real y = EV.f(time);",
        "Real y = MN.fixed_(time);",
        "A a(redeclare model Z = L);",
        "V v(redeclare package M = P(j=3));",
        "V v(M(j=3));",
        "Real y = gw(time);",
        "Real y = ge(time);",
    ],
)
def test_what_is_not_there_cannot_be_redeclared_or_modified(body: str, wording) -> None:
    text = f"{REDECLARED}model M {body} end M;"
    with wording.raises(ModelicaError):
        flatten_source("M", text, "M.mo")


def test_what_is_there_can_be_redeclared() -> None:
    text = f"""{REDECLARED}package Q extends P(redeclare function f = g); end Q;
      package R extends P(k=3); redeclare function f = g; end R;
      model M Real y = Q.f(time) + R.k; V v(M(k=2)); end M;"""
    assert "v.y" in flatten_source("M", text).tree["variables"]


OUTER = """class A package P outer constant Integer T0;
 function f input Real u; output Real y; algorithm y := u*T0; end f; end P;
 Integer T = P.T0; Real y = P.f(1); end A;
class B inner constant Integer T0 = 10; A a; end B;
"""


def test_an_outer_constant_of_a_package_is_the_inner_one_around_each_instance() -> None:
    tree = flattened(OUTER, "B b; B c(T0=4); inner constant Integer T0 = 7; A a;")
    assert {name: tree[name] for name in ("b.a.T", "c.a.T", "a.T")} == {
        "b.a.T": 10,
        "c.a.T": 4,
        "a.T": 7,
    }


def test_an_outer_constant_without_an_inner_one_is_invalid(wording) -> None:
    with wording.raises(ModelicaError):
        flatten_source("M", f"{OUTER}model M A a; end M;")
