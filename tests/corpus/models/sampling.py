"""Events at sampled times."""

from __future__ import annotations

from math import exp

from corpus.case import COUNT, LAG, Case, X

E = exp(-1)

CASES: dict[str, Case] = {
    # --- sample ----------------------------------------------------------------------------------
    "sample": Case(
        COUNT + "when sample(0, 0.2) then n = pre(n) + 1; end when;",
        {"n": 5},
        stop=0.95,
    ),
    "sample with offset": Case(
        COUNT + "when sample(0.25, 0.25) then n = pre(n) + 1; end when;",
        {"n": 3},
        stop=0.9,
    ),
    "sample of parameter": Case(
        "parameter Real T = 0.125;" + COUNT + "when sample(T, T) then n = pre(n) + 1; end when;",
        {"n": 7},
        stop=0.95,
    ),
    "sampled state": Case(
        "discrete Real d(start=0);" + X + LAG + "when sample(0.5, 1) then d = x; end when;",
        {"d": exp(-0.5)},
    ),
    "zero order hold controller": Case(
        "discrete Real u(start=0); Real x(start=0, fixed=true);\nequation\nder(x) = u;"
        " when sample(0, 0.25) then u = 1 - x; end when;",
        {"x": 1 - 0.75**3.0 * (1 - 0.2)},
        stop=0.95,
    ),
    "two samplers": Case(
        "Integer a(start=0), b(start=0);\nequation\nwhen sample(0, 0.1) then a = pre(a) + 1;"
        " end when; when sample(0, 0.25) then b = pre(b) + a; end when;",
        {"a": 10, "b": 1 + 3 + 6 + 8},
        stop=0.95,
    ),
    "discrete filter": Case(
        "discrete Real y(start=0);\nequation\nwhen sample(0, 0.25) then y = 0.5*pre(y) + 1;"
        " end when;",
        {"y": 1.875},
        stop=0.9,
    ),
    "interval of sample": Case(
        COUNT + "when sample(0, 0) then n = pre(n) + 1; end when;",
        refused="strictly positive",
    ),
    "interval of sample set": Case(
        "parameter Real T = 0.1;" + COUNT + "when sample(0, T) then n = pre(n) + 1; end when;",
        start={"T": -1.0},
        fails="interval must be positive",
    ),
}
