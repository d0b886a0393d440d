"""Algorithm sections."""

from __future__ import annotations

from math import exp

from corpus.case import Case

CASES: dict[str, Case] = {
    "algorithm section": Case("Real y;\nalgorithm\ny := 2*time; y := y + 1;", {"y": 3.0}),
    "algorithm of a state": Case(
        "Real x(start=1, fixed=true);\nReal r;\nequation\nder(x) = r;\nalgorithm\nr := "
        "-x; r := r*2;",
        {"x": exp(-2)},
    ),
    "algorithm with loop": Case(
        "Real y;\nalgorithm\ny := 0;\nfor i in 1:4 loop y := y + i*time; end for;",
        refused="declarative algorithm",
    ),
    "algorithm with if": Case(
        "parameter Boolean b = false; Real y;\nalgorithm\nif b then y := 1; elseif time "
        "> -1 then y := 2; else y := 3; end if;",
        {"y": 2.0},
    ),
    "algorithm with noEvent if": Case(
        "Real y;\nalgorithm\nif noEvent(time > 0.5) then y := time; else y := -time; end if;",
        {"y": 1.0},
    ),
    "algorithm on an array": Case(
        "Real y[3];\nalgorithm\nfor i in 1:3 loop y[i] := i*time; end for; y[2] := y[1] + y[3];",
        refused="array algorithm",
    ),
    "algorithm with while": Case(
        "Real y; Integer i;\nalgorithm\ni := 0; y := 0;\nwhile i < 5 loop i := i + 1; y "
        ":= y + i*time; end while;",
        refused="model algorithm",
    ),
    "algorithm with derivative": Case(
        "Real x(start=1, fixed=true);\nReal y;\nequation\nder(x) = -x;\nalgorithm\ny := "
        "der(x); y := y + x;",
        {"y": 0.0},
    ),
    "algorithm gives der": Case(
        "Real x(start=1, fixed=true);\nalgorithm\nder(x) := -x;", refused="reserved keyword"
    ),
    "two algorithms": Case("Real y, z;\nalgorithm\ny := time;\nalgorithm\nz := 2*y;", {"z": 2.0}),
    "algorithm in component": Case(
        "A a(k=3);",
        {"a.y": 3.0},
        before="model A parameter Real k = 1; Real y;\nalgorithm\ny := k*time; end A;",
    ),
    "algorithm in component array": Case(
        "A a[2](k={3,4});",
        before="model A parameter Real k = 1; Real y;\nalgorithm\ny := k*time; end A;",
        refused="whole writable",
    ),
    "algorithm in loop with equations": Case(
        "Real y, z;\nequation\nz = y/2 + 1;\nalgorithm\ny := z*time;", {"y": 2.0}
    ),
    "algorithm reads start first": Case(
        "Real y(start=3);\nalgorithm\nif noEvent(time > 2) then y := 1; end if;",
        refused="does not define `y`",
    ),
    "swap in algorithm": Case(
        "Real a, b; Real h;\nalgorithm\na := time; b := 2; h := a; a := b; b := h;",
        refused="multi-output algorithm",
    ),
}
