"""Connectors and what their connections are."""

from __future__ import annotations

from math import cos, sin

from corpus.case import PARTS, Case

CASES: dict[str, Case] = {
    "spring and mass": Case(
        "Ground g; Spring s(k=4); Mass m(p(s(start=0, fixed=true)));\nequation\n"
        "connect(g.p, s.a); connect(s.b, m.p);",
        {"m.p.s": 0.5 * sin(2), "m.v": cos(2)},
        before=PARTS,
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
}
