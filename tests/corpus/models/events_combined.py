"""Events together with arrays, components, records, implicit equations and each other."""

from __future__ import annotations

from math import cos, exp, pi

from corpus.case import COUNT, LAG, STEP, Case, X

E = exp(-1)

CASES: dict[str, Case] = {
    "greater at the moment itself": Case(
        COUNT + "when time > 0.5 then n = pre(n) + 1; end when;", {"n": 1}, stop=0.6, rk4=True
    ),
    "not yet at the moment": Case(COUNT + "when time > 1 then n = pre(n) + 1; end when;", {"n": 0}),
    "moment at the end": Case(COUNT + "when time >= 1 then n = pre(n) + 1; end when;", {"n": 1}),
    "moment at the start": Case(COUNT + "when time >= 0 then n = pre(n) + 1; end when;", {"n": 0}),
    "rounded moment": Case(
        COUNT + "when time - 0.2 >= 0.5 then n = pre(n) + 1; end when;", {"n": 1}, rk4=True
    ),
    "moment minus time": Case(
        "Real x(start=0, fixed=true);\nequation\nder(x) = if 0.75 - time > 0.5 then 1 else 3;",
        {"x": 0.25 + 2.25},
    ),
    "next moment is discrete": Case(
        "discrete Real t(start=0.125, fixed=true); Integer n(start=0);\nequation\n"
        "when time >= pre(t) then t = pre(t) + 0.125*(pre(n) + 1); n = pre(n) + 1; end when;",
        {"n": 4, "t": 0.125 * 11},
    ),
    "state at its boundary": Case(
        "Real x(start=0, fixed=true); Integer n(start=0);\nequation\nder(x) = 1;"
        " when x > 0 then n = pre(n) + 1; end when;",
        {"n": 1},
    ),
    "reinit to the boundary": Case(
        "Real x(start=1, fixed=true); Integer n(start=0);\nequation\nder(x) = -2;"
        " when x <= 0 then reinit(x, 0.5); n = pre(n) + 1; end when;",
        {"n": 2, "x": 0.25},
        stop=0.875,
        rk4=True,
    ),
    "reinit onto another relation": Case(
        "Real x(start=1, fixed=true); Integer n(start=0);\nequation\nder(x) = -1;"
        " when x < 0.5 then reinit(x, -1); end when; when x <= -1 then n = pre(n) + 1; end when;",
        {"n": 1, "x": -1.5},
    ),
    "one event causes the next": Case(
        "Real x(start=0, fixed=true), y(start=0, fixed=true), z(start=0, fixed=true);\nequation\n"
        "der(x) = 1; der(y) = 0; der(z) = 0; when x > 0.5 then reinit(y, 1); end when;"
        " when y > 0.5 then reinit(z, y + 1); end when;",
        {"x": 1.0, "y": 1.0, "z": 2.0},
    ),
    "two states at one instant": Case(
        "Real x(start=0, fixed=true), y(start=1, fixed=true); Integer n(start=0);\nequation\n"
        "der(x) = 1; der(y) = -1; when x >= 0.5 then n = pre(n) + 1; reinit(x, 0); end when;"
        " when y <= 0.5 then reinit(y, 1); end when;",
        {"x": 0.25, "y": 0.75, "n": 1},
        stop=0.75,
    ),
    "elsewhen of another instant": Case(
        COUNT + "when time >= 0.25 then n = pre(n) + 1; elsewhen time >= 0.5 then"
        " n = pre(n) + 10; elsewhen time >= 0.75 then n = pre(n) + 100; end when;",
        {"n": 111},
    ),
    "and of two edges": Case(
        COUNT + "when time > 0.25 and time < 0.5 then n = pre(n) + 1; end when;", {"n": 1}
    ),
    "short window": Case(
        COUNT + "when time >= 0.5 and time < 0.501 then n = pre(n) + 1; end when;", {"n": 1}
    ),
    "not of a relation": Case(
        "Integer n(start=0);" + X + LAG + "when not x > 0.5 then n = pre(n) + 1; end when;",
        {"n": 1},
    ),
    "nested if of discrete": Case(
        "Integer m; Real x(start=0, fixed=true);\nequation\nder(x) = 1;"
        " m = if x < 0.25 then 1 else if x < 0.75 then 2 else 3;",
        {"m": 3},
    ),
    "nested if in when": Case(
        COUNT + "when {time >= 0.25, time >= 0.75} then if time < 0.5 then"
        " if pre(n) == 0 then n = 5; else n = 6; end if; else n = pre(n) + 1; end if; end when;",
        {"n": 6},
    ),
    "vector of conditions at once": Case(
        COUNT + "when {time >= 0.5, time > 0.25, time >= 0.5} then n = pre(n) + 1; end when;",
        {"n": 2},
    ),
    "noEvent has no event": Case(STEP + "noEvent(if time > 0.5 then 1 else 1);", {"x": 1.0}),
    "smooth in a state equation": Case(
        STEP + "smooth(0, if x > 0.5 then x + 0.5 else 1);", {"x": exp(0.5) - 0.5}
    ),
    "if equation of states": Case(
        "Real x(start=1, fixed=true), y;\nequation\nif x > 0.5 then y = -1; elseif x > 0.25 then"
        " y = -0.5; else y = 0; end if; der(x) = y;",
        {"x": 0.25, "y": 0.0},
        stop=2.0,
    ),
    "min and max of states": Case(
        "Real x(start=0, fixed=true), y(start=1, fixed=true), a, b;\nequation\nder(x) = 1;"
        " der(y) = -1; a = max(x, y); b = min(x, y);",
        {"a": 1.0, "b": 0.0},
    ),
    "discrete chain": Case(
        "Boolean a, b, c; Integer n(start=0);\nequation\na = time >= 0.5; b = a and time < 0.75;"
        " c = not b; when c then n = pre(n) + 1; end when;",
        {"n": 1, "c": 1},
    ),
    "pre in a chain": Case(
        "Integer a(start=1), b(start=2);\nequation\nwhen sample(0.1, 0.2) then a = pre(b);"
        " b = pre(a); end when;",
        {"a": 2, "b": 1},
        stop=0.95,
    ),
    "pre of an array": Case(
        "Integer a[3](start={1, 2, 3});\nequation\nwhen sample(0.1, 0.2) then"
        " a = {pre(a[3]), pre(a[1]), pre(a[2])}; end when;",
        {"a[1]": 2, "a[2]": 3, "a[3]": 1},
        stop=0.95,
    ),
    "pre of an enumeration": Case(
        "G g(start=G.low, fixed=true);\nequation\ng = if pre(g) == G.low and time >= 0.5 then"
        " G.high else pre(g);",
        {"g": 2},
        before="type G = enumeration(low, high);",
    ),
    "shift register": Case(
        "discrete Real r[3](each start=0);\nequation\nwhen sample(0, 0.1) then"
        " r = {time, pre(r[1]), pre(r[2])}; end when;",
        {"r[1]": 0.9, "r[2]": 0.8, "r[3]": 0.7},
        stop=0.95,
    ),
    "discrete record": Case(
        "R r;\nequation\nwhen time >= 0.5 then r.a = 3; r.n = pre(r.n) + 2; end when;",
        {"r.a": 3.0, "r.n": 2},
        before="record R discrete Real a(start=0); Integer n(start=0); end R;",
    ),
    "limiter component": Case(
        "L l(k=0.5);\nequation\nl.u = 2*time;",
        {"l.y": 0.5, "l.s": 0.0625 + 0.375},
        before="model L parameter Real k; Real u, y, s(start=0, fixed=true); equation"
        " y = if u > k then k elseif u < -k then -k else u; der(s) = y; end L;",
    ),
    "two balls": Case(
        "B a(h(start=1)), b(h(start=0.25));",
        {"a.h": 0.16, "a.n": 1, "b.n": 2, "b.h": 0.01},
        before="model B Real h(fixed=true), v(start=0, fixed=true); Integer n(start=0); equation"
        " der(h) = v; der(v) = -8; when h <= 0 then reinit(v, -0.5*pre(v)); n = pre(n) + 1;"
        " end when; end B;",
        stop=0.6,
    ),
    "array of thermostats": Case(
        "T t[2](c={1, 2});",
        {"t[1].x": 0.6, "t[1].on": 0, "t[2].x": 0.225, "t[2].on": 0},
        before="model T parameter Real c; Boolean on(start=true, fixed=true);"
        " Real x(start=0, fixed=true); equation der(x) = if on then c else -1;"
        " on = x < 0.125 or pre(on) and x < 0.75; end T;",
        stop=0.9,
    ),
    "event after an initial system": Case(
        "parameter Real a(fixed=false); Real x(start=1), y;\ninitial equation\nder(x) = -2; y = 3;"
        "\nequation\nder(x) = -a*x; y = x + 1; when x < 1 then reinit(x, 2*pre(x)); end when;",
        {"a": 1.0, "x": 4 * E},
    ),
    "relation in an initial equation": Case(
        "Real x;\ninitial equation\nx = if time >= 0 then 2 else 5;\nequation\nder(x) = -x;",
        {"x": 2 * E},
    ),
    "nonlinear block that switches": Case(
        "Real y(start=1), x(start=0, fixed=true);\nequation\nder(x) = 1;"
        " y^3 + y = if x < 0.5 then 2 else 10;",
        {"y": 2.0},
    ),
    "sampled unknown of a block": Case(
        "Real y(start=1); discrete Real d(start=0);\nequation\ny^3 + y = 2 + 16*time;"
        " when sample(0.5, 1) then d = y; end when;",
        {"d": 2.0},
    ),
    "constraint with events": Case(
        "Real x(start=1, fixed=true), y, v; Integer n(start=0);\nequation\ny = 2*x; v = der(y);"
        " der(x) = if y > 1 then -1 else -0.5; when y < 0.7 then n = pre(n) + 1; end when;",
        {"x": 0.25, "v": -1.0, "n": 1},
    ),
    "sliding pair hits a stop": Case(
        "Real a(start=0, fixed=true, stateSelect=StateSelect.always), b, v(start=1, fixed=true,"
        " stateSelect=StateSelect.always), w, f;\nequation\nder(a) = v; der(b) = w; der(v) = f;"
        " 2*der(w) = -f; a = b + 1; when a >= 0.5 then reinit(v, -pre(v)); end when;",
        {"a": 0.0, "b": -1.0, "v": -1.0, "w": -1.0},
    ),
    "integrator with reset": Case(
        "Real x(start=0, fixed=true); discrete Real peak(start=0);\nequation\nder(x) = 1;"
        " when sample(0.3, 0.3) then peak = x; reinit(x, 0); end when;",
        {"x": 0.1, "peak": 0.3},
    ),
    "pulse train": Case(
        "Boolean b; Real x(start=0, fixed=true);\nequation\nb = mod(time, 0.25) < 0.125;"
        " der(x) = if b then 1 else 0;",
        {"x": 0.5},
        tolerance=1e-6,
    ),
    "quantizer": Case(
        "Real q, x(start=0, fixed=true);\nequation\nq = 0.25*floor(2*time/0.25); der(x) = q;",
        {"x": 0.875},
    ),
    "sawtooth of a state": Case(
        "Real x(start=0, fixed=true), s;\nequation\nder(x) = 3; s = x - floor(x);",
        {"s": 0.3},
        stop=1.1,
    ),
    "rectifier": Case(
        "Real x(start=0, fixed=true);\nequation\nder(x) = abs(sin(10*time));",
        {"x": (7 - cos(10 - 3 * pi)) / 10},
        tolerance=1e-6,
    ),
    "warning and end": Case(
        'Real x(start=0, fixed=true);\nequation\nder(x) = 1; assert(x < 2, "never");'
        " when x > 0.5 then reinit(x, -1); end when;",
        {"x": -0.5},
    ),
    "when not changing anything": Case(
        X + LAG + "when x < 0.5 then reinit(x, x); end when;", {"x": E}
    ),
    "start of when at true condition later false": Case(
        "Integer n(start=0);" + STEP + "1 - 2*x; when x < 0.25 then n = pre(n) + 1; end when;",
        {"n": 0},
    ),
    "algorithm with if and event": Case(
        "Integer m; Real x(start=0, fixed=true);\nalgorithm\nm := 0; if x > 0.5 then m := 2;"
        " end if;\nequation\nder(x) = 1;",
        {"m": 2},
    ),
    "algorithm reads pre": Case(
        "Integer n(start=3, fixed=true), m(start=0);\nalgorithm\nwhen sample(0.1, 0.2) then"
        " m := n; n := pre(n) + 1; end when;",
        {"n": 8, "m": 7},
        stop=0.95,
    ),
    "reinit twice": Case(
        X + LAG + "when x < 0.5 then reinit(x, 1); end when; when x < 0.2 then reinit(x, 2);"
        " end when;",
        refused="reinit",
    ),
    "rumoca agrees on a hysteresis": Case(
        "Boolean on(start=true, fixed=true); Real x(start=0.5, fixed=true);\nequation\n"
        "on = x < 0.25 or pre(on) and x < 0.75; der(x) = (if on then 1 else 0) - x;",
        compare=("x",),
    ),
    "rumoca agrees on a bouncing ball": Case(
        "Real h(start=1, fixed=true), v(start=0, fixed=true);\nequation\nder(h) = v;"
        " der(v) = -9.81 - 0.1*v; when h <= 0 then reinit(v, -0.7*pre(v)); end when;",
        compare=("h", "v"),
    ),
}
