"""Arrays, slices and loops."""

from __future__ import annotations

from math import cos, exp, sin

from corpus.case import Case

CASES: dict[str, Case] = {
    "array state": Case(
        "Real x[3](each start=1, each fixed=true);\nequation\n"
        "for i in 1:3 loop der(x[i]) = -i*x[i]; end for;",
        {f"x[{i}]": exp(-i) for i in (1, 2, 3)},
    ),
    "matrix": Case(
        "parameter Real A[2,2] = {{0, 1}, {-1, 0}}; Real x[2](start={1, 0}, each fixed=true);\n"
        "equation\nder(x) = A*x;",
        {"x[1]": cos(1), "x[2]": -sin(1)},
    ),
    "scalar product": Case("Real y;\nequation\ny = {1, time}*{2, 3};", {"y": 5.0}),
    "comprehension": Case("Real y;\nequation\ny = sum({i*time for i in 1:4});", {"y": 10.0}),
    "slices": Case(
        "Real y[4], z[2];\nequation\ny = {1, 2, 3, 4}*time; z = y[2:3];", {"z[1]": 2, "z[2]": 3}
    ),
    "cross": Case(
        "Real y[3];\nequation\ny = cross({1.0, 0.0, 0.0}, {0.0, time, 0.0});", {"y[3]": 1.0}
    ),
    "transpose": Case(
        "Real A[2,2], y[2];\nequation\nA = {{1, 2}, {3, 4}}; y = transpose(A)*{1, time};",
        {"y[1]": 4.0, "y[2]": 6.0},
    ),
    "block matrix": Case(
        "Real A[3,3], B[2,2];\nequation\nB = {{1, 2}, {3, 4}}*time; A = [B, {{5}, {6}}; 7, 8, 9];",
        {"A[1,2]": 2.0, "A[2,3]": 6.0, "A[3,1]": 7.0},
    ),
    "matrix row": Case(
        "Real A[1,3], B[3,1];\nequation\nA = [1, 2, time]; B = [1; 2; time];",
        {"A[1,3]": 1.0, "B[3,1]": 1.0},
    ),
    "block of vectors": Case(
        "Real a[2], A[2,2];\nequation\na = {1, 2}*time; A = [a, 3*a];", {"A[2,2]": 6.0}
    ),
    "cat": Case(
        "Real y[5], A[3,2];\nequation\ny = cat(1, {1, 2}, {3}*time, {4, 5}); A = cat(1, "
        "[1, 2; 3, 4], [time, 6]);",
        {"y[3]": 3.0, "y[5]": 5.0, "A[3,1]": 1.0, "A[2,1]": 3.0},
    ),
    "cat columns": Case(
        "Real A[2,3];\nequation\nA = cat(2, [1, 2; 3, 4], [5*time; 6]);",
        {"A[1,3]": 5.0, "A[2,2]": 4.0},
    ),
    "linspace": Case(
        "Real y[5];\nequation\ny = linspace(0, time, 5);", {"y[2]": 0.25, "y[5]": 1.0}
    ),
    "ndims": Case(
        "Real y; Real A[2,3] = fill(time, 2, 3);\nequation\ny = ndims(A) + size(A, 2);",
        refused="ndims",
    ),
    "outerProduct": Case(
        "Real A[2,3];\nequation\nA = outerProduct({1, 2}, {3, 4, time});",
        {"A[2,2]": 8.0, "A[2,3]": 2.0},
    ),
    "symmetric": Case(
        "Real A[2,2];\nequation\nA = symmetric([1, 2; 3, 4*time]);", refused="symmetric"
    ),
    "skew": Case(
        "Real A[3,3];\nequation\nA = skew({1, 2, 3*time});",
        {"A[1,2]": -3.0, "A[1,3]": 2.0, "A[3,2]": 1.0},
    ),
    "identity diagonal": Case(
        "Real A[2,2], B[2,2];\nequation\nA = identity(2)*time; B = diagonal({2, 3*time});",
        {"A[2,2]": 1.0, "B[2,2]": 3.0},
    ),
    "fill zeros ones": Case(
        "Real A[2,2], b[2];\nequation\nA = fill(time, 2, 2) + zeros(2,2); b = ones(2)*time;",
        {"A[2,1]": 1.0, "b[2]": 1.0},
    ),
    "vector matrix scalar": Case(
        "Real v[2], A[2,1], s;\nequation\nv = vector([1; 2*time]); A = matrix({1, "
        "3*time}); s = scalar([5*time]);",
        refused="matrix",
    ),
    "reductions": Case(
        "Real a, b, c, d;\nequation\na = sum(i*time for i in 1:4); b = product(i + time "
        "for i in 1:3); c = max(i^2*time for i in {1, 3, 2}); d = min(i + time for i in "
        "{4, 2, 3});",
        refused="for-equation range",
    ),
    "reduction two iterators": Case(
        "Real a;\nequation\na = sum(i*j*time for i in 1:2, j in 1:3);", {"a": 18.0}
    ),
    "comprehension two iterators": Case(
        "Real A[3,2];\nequation\nA = {i + 10*j + time for i in 1:2, j in 1:3};",
        refused="cannot prove to be equal\n.*A = ",
    ),
    "comprehension nested": Case(
        "Real A[3,2];\nequation\nA = {{i + 10*j + time for i in 1:2} for j in 1:3};",
        {"A[3,2]": 33.0},
    ),
    "comprehension of vector": Case(
        "Real a[3], b[3];\nequation\na = {1, 2, 3}*time; b = {a[4 - i]^2 for i in 1:3};",
        {"b[1]": 9.0},
    ),
    "end subscript": Case(
        "Real a[3], y, A[2,3], z;\nequation\na = {1, 2, 3}*time; y = a[end] + a[end - 1];"
        " A = fill(time, 2, 3)*5; z = A[end, end];",
        {"y": 5.0, "z": 5.0},
    ),
    "range with step": Case(
        "Real a[3], y[3], z[3];\nequation\na = {1, 2, 3}*time; y = a[3:-1:1]; z = "
        "0.5*(1:2:5)*time;",
        {"y[1]": 3.0, "z[3]": 2.5},
    ),
    "index vector": Case(
        "Real a[3], y[2];\nequation\na = {1, 2, 3}*time; y = a[{3, 1}];", {"y[1]": 3.0, "y[2]": 1.0}
    ),
    "row and column slices": Case(
        "Real A[2,3], r[3], c[2];\nequation\nA = [1, 2, 3; 4, 5, 6]*time; r = A[2, :]; c "
        "= A[:, 3];",
        {"r[1]": 4.0, "c[1]": 3.0},
    ),
    "matrix product chain": Case(
        "Real y[2];\nparameter Real A[2,2] = [1, 2; 3, 4];\nequation\ny = A*A*{time, 0};",
        {"y[1]": 7.0, "y[2]": 15.0},
    ),
    "row times matrix": Case(
        "Real y[2], s;\nparameter Real A[2,2] = [1, 2; 3, 4];\nequation\ny = {1, time}*A;"
        " s = {1, time}*A*{1, 1};",
        {"y[1]": 4.0, "y[2]": 6.0, "s": 10.0},
    ),
    "matrix power": Case(
        "Real y[2];\nparameter Real A[2,2] = [1, 2; 3, 4];\nequation\ny = A^2*{time, 0};",
        {"y[1]": 7.0, "y[2]": 15.0},
    ),
    "elementwise": Case(
        "Real y[2], z[2], w[2];\nequation\ny = {1, 2} .* {3, time}; z = {1, 2} ./ {2, "
        "3 + time}; w = {2, 3} .^ {2, 3*time};",
        {"y[2]": 2.0, "z[2]": 0.5, "w[2]": 27.0},
    ),
    "array plus scalar": Case("Real y[2];\nequation\ny = {1, 2} .+ time;", {"y[2]": 3.0}),
    "array parameter": Case(
        "parameter Real k[3] = {1, 2, 3}; Real y;\nequation\ny = k*k*time;", {"y": 14.0}
    ),
    "array size from parameter": Case(
        "parameter Integer n = 4; Real y[n];\nequation\nfor i in 1:n loop y[i] = i*time; end for;",
        {"y[4]": 4.0},
    ),
    "array size from array": Case(
        "parameter Real k[:] = {1, 2, 3}; Real y[size(k, 1)];\nequation\ny = k*time;", {"y[3]": 3.0}
    ),
    "three dimensions": Case(
        "Real A[2,2,2];\nequation\nfor i in 1:2 loop for j in 1:2 loop for k in 1:2 loop "
        "A[i,j,k] = i + 10*j + 100*k*time; end for; end for; end for;",
        {"A[2,1,2]": 212.0},
    ),
    "each": Case(
        "Lag a[3](each k=2);",
        {"a[3].x": exp(-2)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "each nested": Case(
        "Lag a[2](each x(start=3));",
        {"a[2].x": 3 * exp(-1)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "modifier array nested": Case(
        "Lag a[2](x(start={3, 4}));",
        {"a[2].x": 4 * exp(-1), "a[1].x": 3 * exp(-1)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "component slice": Case(
        "Lag a[3](k={1, 2, 3}); Real y[3], z[2];\nequation\ny = a.x; z = a[2:3].x;",
        {"y[3]": exp(-3), "z[1]": exp(-2)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "component slice sum": Case(
        "Lag a[3](k={1, 2, 3}); Real y;\nequation\ny = sum(a.x);",
        {"y": exp(-1) + exp(-2) + exp(-3)},
        before=(
            "model Lag parameter Real k = 1;Real x(start=1, fixed=true);\nequation\nder(x) = "
            "-k*x; end Lag;\n"
        ),
    ),
    "array state by vector": Case(
        "Real x[2](start={1, 2}, each fixed=true);\nequation\nder(x) = -x;", {"x[2]": 2 * exp(-1)}
    ),
    "array parameter of component": Case(
        "A a(k={1, 2});",
        {"a.y": 3.0},
        before="model A parameter Real k[:] = {1}; Real y;\nequation\ny = sum(k)*time; end A;",
    ),
    "array equation with if": Case(
        "parameter Boolean b = true; Real y[2];\nequation\ny = if b then {1, 2}*time else {3, 4};",
        {"y[2]": 2.0},
    ),
    "for over array": Case(
        "Real y[3];\nequation\nfor i in {1, 3, 2} loop y[i] = i*time; end for;",
        refused="for-equation range",
    ),
    "for with condition": Case(
        "Real y[3];\nequation\nfor i in 1:3 loop if i == 2 then y[i] = 0; else y[i] = "
        "i*time; end if; end for;",
        {"y[3]": 3.0, "y[2]": 0.0},
    ),
    "for with neighbours": Case(
        "Real T[5](each start=0, each fixed=true);\nequation\nder(T[1]) = 1 - T[1]; for "
        "i in 2:5 loop der(T[i]) = T[i-1] - T[i]; end for;",
        {"T[1]": 1 - exp(-1), "T[2]": 1 - 2 * exp(-1)},
    ),
    "for with neighbours both sides": Case(
        "Real y[5];\nequation\ny[1] = time; for i in 2:4 loop y[i] = (y[i-1] + y[i+1])/2;"
        " end for; y[5] = 5*time;",
        {"y[3]": 3.0},
    ),
    "empty array": Case(
        "parameter Integer n = 0; Real y[n]; Real z;\nequation\nfor i in 1:n loop y[i] = "
        "i; end for; z = sum(y) + time;",
        {"z": 1.0},
    ),
    "max of array": Case(
        "Real a[3], y;\nequation\na = {1, 5, 3}*time; y = max(a) - min(a);", {"y": 4.0}
    ),
    "array comparison": Case(
        "parameter Real a[2] = {1, 2}; Real y;\nequation\ny = if a[1] < a[2] then time else 0;",
        {"y": 1.0},
    ),
}
