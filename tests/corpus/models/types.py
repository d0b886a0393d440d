"""Enumerations and Strings."""

from __future__ import annotations

from corpus.case import Case

CASES: dict[str, Case] = {
    "enumeration parameter": Case(
        "parameter G g = G.second; Real y;\nequation\ny = if g == G.second then time else 0;",
        {"y": 1.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "enumeration by default start": Case(
        "parameter G g = G.third; Real y;\nequation\nif g == G.third then y = 3*time; "
        "else y = 0; end if;",
        {"y": 3.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "enumeration constant": Case(
        "constant G g = G.third; Real y;\nequation\ny = if g >= G.second then "
        "Integer(g)*time else 0;",
        {"y": 3.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "enumeration variable": Case(
        "G g; Real y;\nequation\ng = G.second; y = if g == G.second then time else 0;",
        {"y": 1.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "enumeration array size": Case(
        "Real y[G];\nequation\ny[G.first] = time; y[G.second] = 2*time; y[G.third] = 3;",
        {"y[2]": 2.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "enumeration loop": Case(
        "Real y[3];\nequation\nfor g in G loop y[Integer(g)] = Integer(g)*time; end for;",
        before="type G = enumeration(first, second, third);\n",
        refused="for-equation range",
    ),
    "enumeration function": Case(
        "parameter G g = G.second; Real y;\nequation\ny = f(g)*time;",
        {"y": 5.0},
        before=(
            "type G = enumeration(first, second, third);\nfunction f input G g; output Real "
            "y; algorithm if g == G.first then y := 4; elseif g == G.second then y := 5; "
            "else y := 6; end if; end f;"
        ),
    ),
    "enumeration in package": Case(
        "parameter P.G g = P.G.b; Real y;\nequation\ny = if g == P.G.b then time else 0;",
        {"y": 1.0},
        before="package P type G = enumeration(a, b); end P;",
    ),
    "enumerations of one name": Case(
        "type G = enumeration(a, b); parameter G g = G.b; parameter P.G h = P.G.b; Real x, y;\n"
        "equation\nx = if g == G.b then time else 0; y = if h == P.G.c then 0 else 2*time;",
        {"x": 1.0, "y": 2.0},
        before="package P type G = enumeration(c, a, b); end P;",
        start={"g": 2, "h": 3},
    ),
    "enumeration array set": Case(
        "parameter G g[2] = {G.first, G.third}; Real y;\nequation\n"
        "y = (if g[1] == G.second then 1 else 0) + (if g[2] == G.second then time else 0);",
        {"y": 2.0},
        before="type G = enumeration(first, second, third);\n",
        start={"g[1]": 2, "g[2]": 2},
    ),
    "discrete enumeration": Case(
        "Real x(start=0, fixed=true); discrete output G g; output Real y;\nequation\nder(x) = 1;\n"
        "when x > 0.5 then g = G.third; end when; y = if g == G.first then 1 elseif "
        "g == G.third then 3 else 2;",
        {"y": 3.0, "g": 3.0},
        before="type G = enumeration(first, second, third);\n",
    ),
    "string parameter": Case('parameter String s = "abc"; Real y = time;', {"y": 1.0}),
    "string comparison": Case(
        'parameter String s = "abc"; Real y = if s == "abc" then time else 0;', {"y": 1.0}
    ),
    "string constant choice": Case(
        'constant String s = "abc"; Real y = if s == "abc" then time else 0;', {"y": 1.0}
    ),
    "settable enumeration": Case(
        "type G = enumeration(one, two); parameter G g = G.one; Real y = if g == G.two "
        "then time else 0;",
        {"y": 1.0},
        start={"g": 2},
    ),
}
