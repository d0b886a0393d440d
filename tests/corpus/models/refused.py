"""What is not valid, not solvable or not supported, each with its message."""

from __future__ import annotations

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "when": Case(X + LAG + "when x < 0.5 then reinit(x, 1); end when;", refused="when-equation"),
    "event": Case("Real y;\nequation\ny = if time > 0.5 then 1 else 0;", refused="noEvent"),
    "delay": Case(X + "Real y;\n" + LAG + "y = delay(x, 0.1);", refused="delay"),
    "sample": Case(
        "discrete Real n(start=0);\nequation\nwhen sample(0, 0.1) then n = pre(n) + 1; end when;",
        refused="when-equation|discrete",
    ),
    "floor": Case("Real y;\nequation\ny = floor(time);", refused="floor"),
    "singular": Case(
        "Real x, y, z;\nequation\nx = 1; x = time; y + z = 3;", refused="singular.*y, z"
    ),
    "unbalanced": Case("Real x, y;\nequation\nx + y = 1;", refused="equations for"),
    "syntax": Case("Real x\nequation\nx = 1;", refused="not valid Modelica"),
    "undeclared": Case("Real x;\nequation\nx = nowhere;", refused="not valid Modelica"),
}
