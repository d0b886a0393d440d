"""Events: relations, when clauses, reinit, sample, pre, discrete equations, asserts, terminate."""

from __future__ import annotations

from math import exp, sqrt

from corpus.case import COUNT, FALL, LAG, STEP, Case, X

E = exp(-1)

CASES: dict[str, Case] = {
    "equations of discrete variables, turned round": Case(
        "P p[2]; Boolean a = time > 0.5, b, c;\nInteger n(start=0);\nequation\nb = p[1].set;"
        " c = p[2].set; p.set = fill(a, 2); p.occupied = {b, c};"
        " when p[2].occupied then n = pre(n) + 1; end when;",
        {"b": 1.0, "n": 1.0},
        before="model P Boolean set, occupied; end P;",
    ),
    "an initial equation of what pre() is": Case(
        "Boolean active, kept, new;\ninitial equation\nactive = true;\nequation\nkept = pre(new);"
        " active = kept; new = active and time < 2;",
        {"active": 1.0, "new": 1.0},
    ),
    # --- relations -------------------------------------------------------------------------------
    "time relation": Case(STEP + "if time > 0.3 then 2 else 1;", {"x": 0.3 + 1.4}),
    "time relation at the moment": Case(
        STEP + "if time >= 0.3 then 2 else 1;", {"x": 0.3 + 1.4}, rk4=True
    ),
    "time relation less": Case(STEP + "if time < 0.3 then 1 else 2;", {"x": 1.7}),
    "time relation less equal": Case(STEP + "if time <= 0.3 then 1 else 2;", {"x": 1.7}),
    "time relation of parameter": Case(
        "parameter Real T = 0.25;" + STEP + "if time >= 2*T then 0 else 1;", {"x": 0.5}
    ),
    "state relation": Case(X + "equation\nder(x) = if x > 0.5 then -1 else -2;", {"x": -0.5}),
    "state relation at start": Case(
        X + "equation\nder(x) = if x >= 1 then -1 else -2;", {"x": -1.0}, tolerance=1e-6
    ),
    "relation of two states": Case(
        "Real x(start=0, fixed=true), y(start=1, fixed=true);\nequation\nder(x) = 1;"
        " der(y) = if x > y then 1 else -1;",
        {"x": 1.0, "y": 1.0},
    ),
    "nested relations": Case(
        STEP + "if time > 0.2 then (if time > 0.6 then 3 else 2) else 1;", {"x": 0.2 + 0.8 + 1.2}
    ),
    "elseif": Case(
        STEP + "if time < 0.2 then 1 elseif time < 0.6 then 2 else 3;", {"x": 0.2 + 0.8 + 1.2}
    ),
    "and or not": Case(
        STEP + "if time > 0.2 and not (time > 0.6 or time > 2) then 1 else 0;", {"x": 0.4}
    ),
    "if equation with event": Case(
        "Real x(start=0, fixed=true), y;\nequation\nif time > 0.5 then der(x) = 1; y = 2;"
        " else der(x) = 3; y = 4; end if;",
        {"x": 2.0, "y": 2.0},
    ),
    "smooth relation": Case(
        "Real y;\nequation\ny = smooth(1, if time > 0.5 then (time - 0.5)^2 else 0);", {"y": 0.25}
    ),
    "relation in algebraic loop": Case(
        "Real y, z;\nequation\ny + z = 3; y - z = if y > 1.5 then 1 else 1 + 0*z;",
        {"y": 2.0, "z": 1.0},
    ),
    "relation of an unknown of a nonlinear block": Case(
        "Real y(start=1), a(start=0, fixed=true);\nequation\ny^3 + y = 2 + 28*time;"
        " der(a) = if y > 2 then 1 else 0;",
        {"y": 3.0, "a": 1 - 8 / 28},
    ),
    "ideal diode": Case(
        "Real q(start=0, fixed=true), i, u, s; Boolean off;\nequation\nder(q) = i;"
        " i + u = 1 - 2*time; off = s < 0; u = if off then s else 0; i = if off then 0 else s;",
        {"q": 0.25, "off": 1, "u": -1.0},
    ),
    # --- when ------------------------------------------------------------------------------------
    "when": Case(X + LAG + "when x < 0.5 then reinit(x, 1); end when;", {"x": 2 * E}),
    "when repeatedly": Case(
        FALL + "when h <= 0 then reinit(v, 2); end when;", {"h": 0.75, "v": 1.0}, stop=3.5
    ),
    "when counts": Case(
        "Integer n(start=0);" + X + LAG + "when x < 0.5 then n = pre(n) + 1; end when;", {"n": 1}
    ),
    "bouncing ball": Case(
        "Integer n(start=0); Real h(start=1, fixed=true), v(start=0, fixed=true);\nequation\n"
        "der(h) = v; der(v) = -8; when h <= 0 then reinit(v, -0.5*pre(v)); n = pre(n) + 1;"
        " end when;",
        {"h": 0.25, "v": 0.0, "n": 1},
        stop=0.75,
    ),
    "elsewhen": Case(
        COUNT + "when time > 0.7 then n = 1; elsewhen time > 0.3 then n = 2; end when;",
        {"n": 1},
    ),
    "elsewhen yields": Case(
        COUNT + "when time >= 0.5 then n = 1; elsewhen time >= 0.5 then n = 2; end when;",
        {"n": 1},
    ),
    "when of several": Case(
        COUNT + "when {time > 0.3, time > 0.6} then n = pre(n) + 1; end when;",
        {"n": 2},
    ),
    "when initial": Case(
        "Real d(start=0);" + X + LAG + "when initial() then d = 4*x; end when;", {"d": 4.0, "x": E}
    ),
    "when initial or": Case(
        COUNT + "when {initial(), time > 0.5} then n = pre(n) + 1; end when;",
        {"n": 2},
    ),
    "true from the start is no edge": Case(
        "Integer n(start=0);" + X + LAG + "when x > 0.5 then n = pre(n) + 1; end when;", {"n": 0}
    ),
    "when with if": Case(
        "Integer n(start=0);" + X + LAG + "when x < 0.5 then if time > 0.9 then n = 1; else n = 2;"
        " end if; end when;",
        {"n": 2},
    ),
    "when of discrete": Case(
        "Integer n(start=0), m(start=0);\nequation\nwhen time > 0.5 then n = pre(n) + 1; end when;"
        " when n > 0 then m = pre(m) + 10; end when;",
        {"n": 1, "m": 10},
    ),
    "discrete Real holds": Case(
        "discrete Real d(start=7);" + X + LAG + "when x < 0.5 then d = x; end when;",
        {"d": 0.5, "x": E},
    ),
    "discrete array": Case(
        "discrete Real d[2](each start=7);" + X + LAG + "when x < 0.5 then d = {x, 2*x}; end when;",
        {"d[1]": 0.5, "d[2]": 1.0},
    ),
    "discrete drives continuous": Case(
        "discrete Real k(start=1); Real x(start=0, fixed=true);\nequation\nder(x) = k;"
        " when time >= 0.5 then k = 3; end when;",
        {"x": 2.0},
        rk4=True,
    ),
    "simultaneous reinit": Case(
        "Real x(start=1, fixed=true), y(start=5, fixed=true);\nequation\nder(x) = 0; der(y) = 0;"
        " when time > 0.5 then reinit(x, y); reinit(y, x); end when;",
        {"x": 5.0, "y": 1.0},
    ),
    "reinit of component": Case(
        "A a[2](h(start={1, 2}));\nequation\nwhen a[1].h < 0.5 then reinit(a[2].h, 10); end when;",
        {"a[1].h": E, "a[2].h": 20 * E},
        before="model A Real h(start=1, fixed=true); equation der(h) = -h; end A;",
    ),
    "when in component array": Case(
        "A a[2](T={0.3, 0.6});",
        {"a[1].n": 1, "a[2].n": 1, "a[1].x": 0.7, "a[2].x": 0.4},
        before="model A parameter Real T; Integer n(start=0); Real x(start=0, fixed=true); equation"
        " der(x) = n; when time >= T then n = pre(n) + 1; end when; end A;",
    ),
    # --- pre, edge, change, discrete equations ----------------------------------------------------
    "boolean equation": Case(
        "Boolean b; Real x(start=0, fixed=true);\nequation\nb = time > 0.25;"
        " der(x) = if b then 1 else 0;",
        {"x": 0.75, "b": 1},
    ),
    "integer equation": Case(
        "Integer n; Boolean b; Real x(start=0, fixed=true);\nequation\nb = time > 0.25;"
        " n = if b then 2 else 1; der(x) = n;",
        {"x": 0.25 + 1.5, "n": 2},
    ),
    "declared boolean": Case(
        "Boolean b = time > 0.25;" + STEP + "if b then 1 else 0;",
        {"x": 0.75},
    ),
    "hysteresis": Case(
        "Boolean on(start=true, fixed=true); Real x(start=0.5, fixed=true);\nequation\n"
        "on = x < 0.25 or pre(on) and x < 0.75; der(x) = if on then 1 else -1;",
        {"x": 0.5, "on": 0},
        stop=0.5,
    ),
    "edge": Case(
        "Boolean b;" + COUNT + "b = time > 0.5; when edge(b) then n = pre(n) + 1; end when;",
        {"n": 1},
    ),
    "change": Case(
        "Integer m(start=0), n(start=0);\nequation\nwhen sample(0.1, 0.25) then m = pre(m) + 1;"
        " end when; when change(m) then n = pre(n) + 2; end when;",
        {"m": 4, "n": 8},
        stop=0.95,
    ),
    "state machine": Case(
        "Integer s(start=1, fixed=true); Real x(start=0, fixed=true);\nequation\n"
        "s = if pre(s) == 1 and x > 0.5 then 2 elseif pre(s) == 2 and x < 0.25 then 1 else pre(s);"
        " der(x) = if s == 1 then 2 else -1;",
        {"s": 1, "x": 0.45},
        stop=0.6,
    ),
    "initial equation of discrete": Case(
        "Integer n;\ninitial equation\npre(n) = 5;\nequation\nwhen time > 0.5 then n = pre(n) + 1;"
        " end when;",
        {"n": 6},
    ),
    "discrete start from parameter": Case(
        "parameter Integer k = 3; Integer n(start=k, fixed=true);\nequation\nwhen time > 0.5 then"
        " n = pre(n) + 1; end when;",
        {"n": 4},
    ),
    "start of discrete set": Case(
        "Integer n(start=0, fixed=true);\nequation\nwhen time > 0.5 then n = pre(n) + 1; end when;",
        {"n": 8},
        start={"n": 7},
    ),
    "parameter of relation set": Case(
        "parameter Real T = 0.3;" + STEP + "if time > T then 2 else 1;",
        {"x": 1.4},
        start={"T": 0.6},
    ),
    # --- functions with events --------------------------------------------------------------------
    "floor": Case("Real x(start=0, fixed=true);\nequation\nder(x) = floor(4*time);", {"x": 1.5}),
    "ceil": Case("Real x(start=0, fixed=true);\nequation\nder(x) = ceil(4*time);", {"x": 2.5}),
    "integer": Case(
        "Integer n; Real x(start=0, fixed=true);\nequation\nn = integer(4*time); der(x) = n;",
        {"x": 1.5},
    ),
    "mod": Case("Real x(start=0, fixed=true);\nequation\nder(x) = mod(time, 0.25);", {"x": 0.125}),
    "div": Case("Real x(start=0, fixed=true);\nequation\nder(x) = div(time, 0.25);", {"x": 1.5}),
    "rem": Case("Real x(start=0, fixed=true);\nequation\nder(x) = rem(time, 0.25);", {"x": 0.125}),
    "floor going down": Case(
        "Real x(start=0, fixed=true);\nequation\nder(x) = floor(1 - 4*time);", {"x": -1.5}
    ),
    "sign": Case("Real x(start=0, fixed=true);\nequation\nder(x) = sign(time - 0.25);", {"x": 0.5}),
    "abs": Case("Real x(start=0, fixed=true);\nequation\nder(x) = abs(time - 0.5);", {"x": 0.25}),
    # --- algorithms -------------------------------------------------------------------------------
    "when in algorithm": Case(
        "Integer n(start=0);"
        + X
        + "algorithm\nwhen x < 0.5 then n := pre(n) + 1; end when;\n"
        + LAG,
        {"n": 1},
    ),
    "elsewhen in algorithm": Case(
        "Integer n(start=0);\nalgorithm\nwhen time > 0.7 then n := n + 10; elsewhen time > 0.3 then"
        " n := n + 1; end when;",
        {"n": 11},
    ),
    "sequence in when of algorithm": Case(
        "Integer n(start=1); discrete Real d(start=0);\nalgorithm\nwhen time > 0.5 then"
        " n := pre(n) + 1; d := n*2; end when;",
        {"n": 2, "d": 4.0},
    ),
    # --- assert and terminate ---------------------------------------------------------------------
    "assert holds": Case(X + LAG + 'assert(x > 0, "never");', {"x": E}),
    "assert fails": Case(X + LAG + 'assert(x > 0.5, "x is too small");', fails="x is too small"),
    "assert with number": Case(
        X + LAG + 'assert(x > 0.5, "x = " + String(x) + " m");', fails=r"x = 0\.\d+ m"
    ),
    "assert at the start": Case(
        "parameter Real k = 2;" + X + LAG + 'assert(k < 1, "k is too large");',
        fails="k is too large",
    ),
    "assert in when": Case(
        X + LAG + 'when time > 0.5 then assert(x > 0.9, "too late"); end when;', fails="too late"
    ),
    # --- never ending -----------------------------------------------------------------------------
    "chattering": Case(X + "equation\nder(x) = if x > 0.5 then -1 else 1;", fails="chattering"),
    "no settled state": Case(
        "Boolean b(start=false);" + X + LAG + "b = not pre(b);", fails="without end|does not settle"
    ),
    "reinit to nothing": Case(
        X + LAG + "when x < 0.5 then reinit(x, sqrt(-x)); end when;", fails="reinit.*'x' to -?nan"
    ),
    # --- refused ----------------------------------------------------------------------------------
    "equal reals": Case(
        X + "equation\nder(x) = if x == 0.5 then 1 else -1;", refused="equality comparison"
    ),
    "terminal": Case(COUNT + "when terminal() then n = 1; end when;", refused="terminal"),
    "pre of algebraic": Case(
        "Real y, d(start=0);\nequation\ny = time; when time > 0.5 then d = pre(y); end when;",
        refused="pre",
    ),
    "reinit of algebraic": Case(
        "Real y;\nequation\ny = time; when time > 0.5 then reinit(y, 1); end when;",
        refused="reinit",
    ),
    "assigned in two clauses": Case(
        COUNT + "when time > 0.5 then n = 1; end when; when time > 0.7 then n = 2; end when;",
        refused="n",
    ),
    "ballistic": Case(
        FALL + "when h < 0.5 then reinit(v, sqrt(2)); end when;",
        {"h": 0.5 + sqrt(2) * (1 - sqrt(0.5)) - (1 - sqrt(0.5)) ** 2},
    ),
}
