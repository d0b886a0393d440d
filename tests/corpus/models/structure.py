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
}
