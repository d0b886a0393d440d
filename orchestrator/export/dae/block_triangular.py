"""Block-lower-triangular solution: small linear blocks by formula, all others at run time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.alias import eliminate
from orchestrator.export.dae.linearity import nonlinear_unknowns
from orchestrator.export.dae.residual_dae import Residual
from orchestrator.export.dae.tearing import tear

_LARGEST_FORMULA = 3  # beyond, LU with pivoting takes as long, and names what is singular


class UnmatchedError(ModelicaError):
    """Unknowns that no equation is left for."""

    def __init__(self, message: str, unknowns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.unknowns = unknowns


@dataclass(frozen=True)
class Block:
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
    blocks: tuple[Block, ...]

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
        block = Block(column, inserted, origins, linear, tuple(torn.inner))
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
