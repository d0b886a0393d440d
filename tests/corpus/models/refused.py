"""What is not valid, not solvable or not supported, each with its message."""

from __future__ import annotations

from corpus.case import LAG, Case, X

CASES: dict[str, Case] = {
    "delay": Case(X + "Real y;\n" + LAG + "y = delay(x, 0.1);", refused="delay"),
    "singular": Case(
        "Real x, y, z;\nequation\nx = 1; x = time; y + z = 3;", refused="singular.*y, z"
    ),
    "unbalanced": Case("Real x, y;\nequation\nx + y = 1;", refused="1 equation for 2 unknowns"),
    "syntax": Case("Real x\nequation\nx = 1;", refused="cannot read model"),
    "undeclared": Case("Real x;\nequation\nx = nowhere;", refused="cannot read model"),
}
