"""Constraints between states: index reduction."""

from __future__ import annotations

from math import cos, exp, sin

from corpus.case import Case, X

CASES: dict[str, Case] = {
    "alias states": Case(
        X + "Real y, f;\nequation\nder(x) = -x + f; y = x; der(y) = -x - f;",
        {"x": exp(-1), "f": 0.0},
    ),
    "masses in contact": Case(
        "Real x(start=0, fixed=true), v(start=1, fixed=true), y, w, f;\nequation\n"
        "der(x) = v; der(v) = -x + f; der(y) = w; 3*der(w) = -f; y = x + 2;",
        {"x": 2 * sin(0.5), "v": cos(0.5), "y": 2 + 2 * sin(0.5)},
    ),
    "prescribed motion": Case(
        "Real x, v, f;\nequation\nx = sin(time); der(x) = v; 2*der(v) = f;", {"f": -2 * sin(1)}
    ),
    "capacitors in parallel": Case(
        "Real a(start=1, fixed=true), b, i, j;\nequation\n"
        "der(a) = i; 3*der(b) = j; a = b; i + j = -a;",
        {"a": exp(-0.25)},
    ),
    "circle": Case(
        "Real x(start=1), y(start=0, fixed=true), v(start=0), w(start=1, fixed=true), f;\n"
        "equation\nder(x) = v; der(y) = w; der(v) = -f*x; der(w) = -f*y; x^2 + y^2 = 1;",
        {"x": cos(1), "y": sin(1), "f": 1.0},
    ),
    "pendulum swinging": Case(
        "Real x(start=0.6, fixed=true), y(start=-0.8), vx(start=0, fixed=true), "
        "vy(start=0), F; Real e;\nequation\n e=(vx^2+vy^2)/2+9.81*y;der(x) = vx; der(y) "
        "= vy; der(vx) = F*x; der(vy) = F*y - 9.81; x^2 + y^2 = 1;",
        {"e": -0.8 * 9.81},
        stop=3.0,
    ),
    "pendulum turning over": Case(
        "Real x(start=0.99498743710662), y(start=0.1, fixed=true), vx(start=0), "
        "vy(start=0, fixed=true), F;\nequation\nder(x) = vx; der(y) = vy; der(vx) = F*x; "
        "der(vy) = F*y - 9.81; x^2 + y^2 = 1;",
        fails="selection of states does not hold",
        stop=3.0,
    ),
    "pendulum turning over with long steps": Case(
        "Real x(start=0.99498743710662), y(start=0.1, fixed=true), vx(start=0), "
        "vy(start=0, fixed=true), F;\nequation\nder(x) = vx; der(y) = vy; der(vx) = F*x; "
        "der(vy) = F*y - 9.81; x^2 + y^2 = 1;",
        fails="selection of states does not hold|no solution of the equations for x",
        stop=3.0,
        tolerance=1e-2,
    ),
    "pendulum turning over upside down": Case(
        "Real x(start=0.99498743710662), y(start=-0.1, fixed=true), vx(start=0), "
        "vy(start=5, fixed=true), F;\nequation\nder(x) = vx; der(y) = vy; der(vx) = F*x; "
        "der(vy) = F*y - 9.81; x^2 + y^2 = 1;",
        fails="selection of states does not hold",
        stop=3.0,
    ),
}
