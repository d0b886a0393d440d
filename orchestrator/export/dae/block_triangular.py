"""Block-lower-triangular solution: small linear blocks by formula, all others at run time.

Aliases are taken away first: connections and sums of two flows are of this kind, and would make
loops of equations several times as large. Nothing else is eliminated beforehand: long chains of
substitutions amplify rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.residual_dae import Residual
from orchestrator.export.dae.tearing import nonlinear_unknowns, tear


@dataclass(frozen=True)
class Aliases:
    """What is left of a system of equations.

    residuals, unknowns: Without the eliminated ones.
    eliminated: Value of each eliminated unknown: another unknown, or its negative.
    """

    residuals: list[Residual]
    unknowns: list[Any]
    eliminated: dict[str, Any]


def eliminate(
    residuals: Sequence[Residual], unknowns: Sequence[Any], kept: Collection[str]
) -> Aliases:
    """Eliminate aliases; of two unknowns the one in ``kept`` stays if it can."""
    symbols = {symbol.name(): symbol for symbol in unknowns}
    signs: dict[str, tuple[str, int]] = {}  # unknown to another one and the sign between them

    def root(name: str) -> tuple[str, int]:
        sign = 1
        while name in signs:
            name, factor = signs[name]
            sign *= factor
        return name, sign

    left: list[Residual] = []
    for residual in residuals:
        pair = _pair(residual.expression, symbols)
        if pair is not None:
            (one, sign_one), (two, sign_two) = root(pair[0]), root(pair[1])
            if one != two:
                gone, stays = (two, one) if one in kept else (one, two)
                signs[gone] = (stays, pair[2] * sign_one * sign_two)
                continue
        left.append(residual)
    if not signs:
        return Aliases(left, list(unknowns), {})
    roots = {name: root(name) for name in signs}
    values = {name: symbols[other] * sign for name, (other, sign) in roots.items()}
    places = ca.vertcat(*(symbols[name] for name in values))
    replaced = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *(residual.expression for residual in left)),
        places,
        ca.vertcat(*values.values()),
    )
    return Aliases(
        [Residual(replaced[row], residual.origin) for row, residual in enumerate(left)],
        [symbol for symbol in unknowns if symbol.name() not in signs],
        values,
    )


def _pair(expression: Any, unknowns: Any) -> tuple[str, str, int] | None:
    """Two unknowns whose sum or difference is the whole equation, and the sign between them."""
    found = ca.symvar(expression)
    if len(found) != 2 or not all(symbol.name() in unknowns for symbol in found):
        return None
    slopes = ca.gradient(expression, ca.vertcat(*found))
    if not slopes.is_constant():
        return None
    one, two = (float(slope) for slope in ca.vertsplit(ca.densify(slopes)))
    offset = ca.substitute(expression, ca.vertcat(*found), ca.SX.zeros(2))
    linear = ca.substitute(expression, ca.vertcat(*found), ca.SX([1.0, 3.0]))
    if {abs(one), abs(two)} != {1.0} or not (offset.is_constant() and linear.is_constant()):
        return None
    if float(offset) != 0.0 or float(linear) != one + 3.0 * two:
        return None
    return found[0].name(), found[1].name(), -1 if one == two else 1


_LARGEST_FORMULA = 3  # beyond, LU with pivoting takes as long, and names what is singular


class UnmatchedError(ModelicaError):
    """Unknowns that no equation is left for."""

    def __init__(self, message: str, unknowns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.unknowns = unknowns


@dataclass(frozen=True)
class EquationBlock:
    """Equations that are solved together at run time: ``0 = residual(t, u, x, p, c, z)``.

    The unknowns are elements of z; the residual may contain those of earlier blocks. A linear block
    is solved by factorising its matrix, any other by Newton's method.
    """

    unknowns: Any
    residual: Any
    origins: tuple[str, ...]
    is_linear: bool
    inner: tuple[str, ...] = ()  # unknowns that follow from the others explicitly

    @property
    def label(self) -> str:
        """Names of the unknowns."""
        names = [self.unknowns[i].name() for i in range(self.unknowns.numel())]
        return ", ".join([*names, *self.inner])


@dataclass(frozen=True)
class Solution:
    """Value of each unknown by name, in terms of knowns and of the unknowns of the blocks."""

    values: dict[str, Any]
    blocks: tuple[EquationBlock, ...]

    @property
    def unknowns(self) -> Any:
        """Column of the unknowns of all blocks."""
        return ca.vertcat(ca.SX(0, 1), *(block.unknowns for block in self.blocks))

    def insert(self, expression: Any) -> Any:
        """The expression with solved unknowns replaced by their values."""
        known = [s for s in ca.symvar(expression) if s.name() in self.values]
        if not known:
            return expression
        values = ca.vertcat(*(self.values[symbol.name()] for symbol in known))
        return ca.substitute(expression, ca.vertcat(*known), values)


def solve(
    model: str,
    residuals: Sequence[Residual],
    unknowns: Sequence[Any],
    kept: Collection[str],
    point: Mapping[str, float],
) -> Solution:
    """Order equations and unknowns and solve block after block."""
    if not unknowns and not residuals:
        return Solution({}, ())
    check_matching(model, residuals, unknowns, _incidence(residuals, unknowns))
    aliases = eliminate(residuals, unknowns, kept)
    blocks = _ordered(model, aliases.residuals, aliases.unknowns)
    solution = Solution({}, ())
    for equations, symbols in blocks:
        solution = _extend(model, solution, equations, symbols, point)
    others = {name: solution.insert(value) for name, value in aliases.eliminated.items()}
    return Solution(solution.values | others, solution.blocks)


def _incidence(residuals: Sequence[Residual], unknowns: Sequence[Any]) -> Any:
    expressions = ca.vertcat(ca.SX(0, 1), *(residual.expression for residual in residuals))
    return ca.jacobian(expressions, ca.vertcat(ca.SX(0, 1), *unknowns)).sparsity()


def _ordered(
    model: str, residuals: Sequence[Residual], unknowns: Sequence[Any]
) -> list[tuple[list[Residual], list[Any]]]:
    """Equations and unknowns of each block, in the order of solution."""
    incidence = _incidence(residuals, unknowns)
    check_matching(model, residuals, unknowns, incidence)  # a = b; b = a is singular only here
    count, rows, columns, row_ends, column_ends, _, _ = incidence.btf()
    return [
        (
            [residuals[row] for row in rows[row_ends[block] : row_ends[block + 1]]],
            [unknowns[name] for name in columns[column_ends[block] : column_ends[block + 1]]],
        )
        for block in range(count)
    ]


def _extend(
    model: str,
    solution: Solution,
    equations: Sequence[Residual],
    unknowns: Sequence[Any],
    point: Mapping[str, float],
) -> Solution:
    residual, column = _column(equations), ca.vertcat(*unknowns)
    matrix = ca.jacobian(residual, column)
    linear = not nonlinear_unknowns(residual, column, matrix)
    if linear:
        _check_regular(model, solution.insert(matrix), equations, unknowns)
    if linear and len(unknowns) == 1:
        return _with_formula(solution, residual, column)
    origins = tuple(equation.origin for equation in equations)
    torn = tear(equations, unknowns, point)
    residual, column = _column(torn.residuals), ca.vertcat(*torn.unknowns)
    if linear and len(torn.unknowns) <= _LARGEST_FORMULA:
        solution = _with_formula(solution, residual, column)
    else:
        inserted = ca.densify(solution.insert(residual))
        block = EquationBlock(column, inserted, origins, linear, tuple(torn.inner))
        values = {symbol.name(): symbol for symbol in torn.unknowns}
        solution = Solution(solution.values | values, (*solution.blocks, block))
    return Solution(solution.values | _inserted(solution, torn.inner), solution.blocks)


def _check_regular(
    model: str, matrix: Any, equations: Sequence[Residual], unknowns: Sequence[Any]
) -> None:
    if matrix.is_constant() and _is_singular(ca.DM(matrix).full()):
        names = ", ".join(symbol.name() for symbol in unknowns)
        raise ModelicaError(
            f"{model}: the equations for {names} contradict or repeat each other:"
            f" {'; '.join(equation.origin for equation in equations)}"
        )


def _column(equations: Sequence[Residual]) -> Any:
    return ca.vertcat(*(equation.expression for equation in equations))


def _inserted(solution: Solution, values: Mapping[str, Any]) -> dict[str, Any]:
    column = solution.insert(ca.vertcat(ca.SX(0, 1), *values.values()))
    return {name: column[place] for place, name in enumerate(values)}


def _with_formula(solution: Solution, residual: Any, column: Any) -> Solution:
    count = column.numel()
    matrix = solution.insert(ca.jacobian(residual, column))
    constant = solution.insert(ca.substitute(residual, column, ca.SX.zeros(count)))
    result = -constant / matrix if count == 1 else ca.solve(matrix, -constant)
    result = ca.densify(result)
    values = {column[place].name(): result[place] for place in range(count)}
    return Solution(solution.values | values, solution.blocks)


def _is_singular(matrix: NDArray[np.float64]) -> bool:
    """Whether rows depend on each other, whatever the units of equations and unknowns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = matrix / np.abs(matrix).max(axis=1, keepdims=True)
        scaled = rows / np.abs(rows).max(axis=0, keepdims=True)
    return not np.isfinite(scaled).all() or np.linalg.matrix_rank(scaled) < len(scaled)


def check_matching(
    model: str, residuals: Sequence[Residual], unknowns: Sequence[Any], incidence: Any
) -> None:
    """Refuse systems without one equation for each unknown, and name what is left over."""
    names = [symbol.name() for symbol in unknowns]
    rank = ca.sprank(incidence)
    if rank == len(names) == len(residuals):
        return
    # What can be left out without loss of rank names the culprits.
    rows, columns = list(range(len(residuals))), list(range(len(names)))
    superfluous = [
        residual.origin
        for row, residual in enumerate(residuals)
        if ca.sprank(incidence.sub([r for r in rows if r != row], columns)[0]) == rank
    ]
    free = [
        name
        for place, name in enumerate(names)
        if ca.sprank(incidence.sub(rows, [c for c in columns if c != place])[0]) == rank
    ]
    found = "the model is singular"
    if len(names) != len(residuals):
        found = f"{len(residuals)} equations for {len(names)} unknowns"
    left = len(names) - rank
    some = f"{left} of " if left < len(free) else ""
    missing = f"; the equations cannot be solved for {some}{', '.join(free)}" if free else ""
    surplus = f"; superfluous is one of: {'; '.join(superfluous)}" if superfluous else ""
    if len(residuals) - rank > 1:
        surplus = surplus.replace("is one of", f"are {len(residuals) - rank} of", 1)
    raise UnmatchedError(f"{model}: {found}{missing}{surplus}", free)
