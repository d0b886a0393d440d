"""Records and functions of records."""

from __future__ import annotations

from math import cos

from corpus.case import Case

CASES: dict[str, Case] = {
    "record variable": Case(
        "R r;\nequation\nr.a = time; r.b = 2*r.a;",
        {"r.b": 2.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record equation": Case(
        "R r, s;\nequation\nr.a = time; r.b = 2*time; s = r;",
        {"s.b": 2.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record constructor": Case(
        "R r;\nequation\nr = R(time, 3*time);",
        {"r.b": 3.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record constructor named": Case(
        "R r;\nequation\nr = R(b=time, a=3*time);",
        {"r.b": 1.0, "r.a": 3.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record constructor defaults": Case(
        "R r;\nequation\nr = R(b=3*time);",
        before="record R Real a = 1; Real b = 2; end R;\n",
        refused="equations for",
    ),
    "record binding": Case(
        "R r = R(time, 3*time);", {"r.b": 3.0}, before="record R Real a; Real b; end R;\n"
    ),
    "record modification": Case(
        "R r(a=time, b=5*time);", {"r.b": 5.0}, before="record R Real a; Real b; end R;\n"
    ),
    "record parameter": Case(
        "parameter R r(a=2, b=3); Real y;\nequation\ny = r.a*r.b*time;",
        {"y": 6.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record parameter by constructor": Case(
        "parameter R r = R(2, 3); Real y;\nequation\ny = r.a*r.b*time;",
        {"y": 6.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record parameter defaults": Case(
        "parameter R r; Real y;\nequation\ny = r.a*r.b*time;",
        {"y": 2.0},
        before="record R Real a = 1; Real b = 2; end R;\n",
    ),
    "record constant": Case(
        "constant R r = R(2, 3); Real y;\nequation\ny = r.a*r.b*time;",
        {"y": 6.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record parameter passed on": Case(
        "parameter R r = R(2, 3); A a(r=r);",
        {"a.y": 6.0},
        before=(
            "record R Real a; Real b; end R;\nmodel A parameter R r; Real y;\nequation\ny = "
            "r.a*r.b*time; end A;"
        ),
    ),
    "array of records": Case(
        "R r[2];\nequation\nfor i in 1:2 loop r[i].a = i*time; r[i].b = r[i].a + 1; end for;",
        {"r[2].b": 3.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "array of record slice": Case(
        "R r[3]; Real y[3];\nequation\nfor i in 1:3 loop r[i].a = i*time; r[i].b = "
        "r[i].a + 1; end for; y = r.b;",
        {"y[3]": 4.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "array of records constructor": Case(
        "R r[2] = {R(time, 2*time), R(3*time, 4*time)};",
        {"r[2].b": 4.0},
        before="record R Real a; Real b; end R;\n",
    ),
    "record with array": Case(
        "V v; Real y;\nequation\nv.a = {1, 2, 3}*time; y = v.a[2] + sum(v.a);",
        {"y": 8.0},
        before="record V Real a[3]; end V;",
    ),
    "nested records": Case(
        "S s;\nequation\ns.r.a = time; s.r.b = 2*time; s.c = s.r.b + 1;",
        {"s.c": 3.0},
        before="record R Real a; Real b; end R;\nrecord S R r; Real c; end S;",
    ),
    "record function argument": Case(
        "R r; Real y;\nequation\nr.a = time; r.b = 2*time; y = f(r);",
        {"y": 3.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input R r; output Real y; algorithm "
            "y := r.a + r.b; end f;"
        ),
    ),
    "record function result": Case(
        "R r;\nequation\nr = f(time);",
        {"r.b": 2.0, "r.a": 1.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input Real u; output R r; algorithm "
            "r.a := u; r.b := 2*u; end f;"
        ),
    ),
    "record function result constructed": Case(
        "R r;\nequation\nr = f(time);",
        {"r.b": 2.0, "r.a": 1.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input Real u; output R r; algorithm "
            "r := R(u, 2*u); end f;"
        ),
    ),
    "record function result field": Case(
        "Real y;\nequation\ny = f(time).b;",
        before=(
            "record R Real a; Real b; end R;\nfunction f input Real u; output R r; algorithm "
            "r := R(u, 2*u); end f;"
        ),
        refused="unexpected",
    ),
    "record both ways": Case(
        "R r, s;\nequation\nr = R(time, 2*time); s = f(r);",
        {"s.a": 2.0, "s.b": 1.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input R u; output R r; algorithm r "
            ":= R(u.b, u.a); end f;"
        ),
    ),
    "record functions nested": Case(
        "R r, s;\nequation\nr = R(time, 2*time); s = f(f(r));",
        {"s.a": 1.0, "s.b": 2.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input R u; output R r; algorithm r "
            ":= R(u.b, u.a); end f;"
        ),
    ),
    "record constructor as argument": Case(
        "Real y;\nequation\ny = f(R(time, 2*time));",
        {"y": 3.0},
        before=(
            "record R Real a; Real b; end R;\nfunction f input R r; output Real y; algorithm "
            "y := r.a + r.b; end f;"
        ),
    ),
    "record and multiple outputs": Case(
        "R r; Real y;\nequation\n(r, y) = f(time);",
        before=(
            "record R Real a; Real b; end R;\nfunction f input Real u; output R r; output "
            "Real y; algorithm r := R(u, 2*u); y := 5*u; end f;"
        ),
        refused="multi-output equation",
    ),
    "record local in function": Case(
        "Real y;\nequation\ny = f(time);",
        before=(
            "record R Real a; Real b; end R;\nfunction f input Real u; output Real y; "
            "protected R r; algorithm r.a := u; r.b := 2*u; r.a := 3*r.b; y := r.a; end f;"
        ),
        refused="record output",
    ),
    "record extends": Case(
        "S s;\nequation\ns.a = time; s.b = 2; s.c = s.a + s.b;",
        {"s.c": 3.0},
        before="record R Real a; Real b; end R;\nrecord S extends R; Real c; end S;",
    ),
    "record of states": Case(
        "R r(a(start=1, fixed=true), b(start=0, fixed=true));\nequation\nder(r.a) = r.b; "
        "der(r.b) = -r.a;",
        {"r.a": cos(1)},
        before="record R Real a; Real b; end R;\n",
    ),
}
