"""From residuals to explicit functions: block-lower-triangular order, linear blocks solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from orchestrator.errors import ModelicaError
from orchestrator.export.linearity import nonlinear_unknowns
from orchestrator.export.residual_dae import Kind, ResidualDae, Variable

_SX = Any  # casadi.SX column


@dataclass(frozen=True)
class ExplicitOde:
    """``xdot = f(t, x, u, p, c)``, ``y = g(..)``, ``w = h(..)``, ``c = c(p)``, ``x0 = s(p, c)``.

    The tuples of variables give the order of the elements in the columns of the same letter:
    states x, inputs u, parameters p, calculated parameters c, outputs y and locals w that are not
    states, constants with their values.
    """

    name: str
    description: str
    time: _SX
    constants: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    states: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    calculated: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    locals: tuple[Variable, ...]
    xdot: _SX
    y: _SX
    w: _SX
    c: _SX
    start: _SX

    @property
    def arguments(self) -> list[_SX]:
        """Columns t, u, x, p, c: the arguments of every function of time."""
        groups = (self.inputs, self.states, self.parameters, self.calculated)
        return [self.time, *(symbols(group) for group in groups)]


def symbols(variables: Sequence[Variable]) -> _SX:
    """Column of the variables' symbols."""
    return ca.vertcat(ca.SX(0, 1), *(variable.symbol for variable in variables))


def make_explicit(dae: ResidualDae) -> ExplicitOde:
    """Solve the residuals for the derivatives and all other unknowns.

    Raises
    ------
    ModelicaError
        If equations and unknowns do not match one to one (the model is singular or needs index
        reduction), or a block of equations is not linear in its unknowns.
    """
    free = dae.of_kind(Kind.OUTPUT, Kind.LOCAL)
    states = tuple(variable for variable in free if dae.is_state(variable))
    others = tuple(variable for variable in free if not dae.is_state(variable))
    unknowns = [dae.derivatives[state.name] for state in states] + [v.symbol for v in others]
    solved = _solve(dae, unknowns)
    calculated = dae.of_kind(Kind.CALCULATED)
    outputs = tuple(variable for variable in others if variable.kind is Kind.OUTPUT)
    shown = tuple(v for v in others if v.kind is Kind.LOCAL and not v.protected)
    column = ca.cse(
        ca.vertcat(
            ca.SX(0, 1),
            *(solved[dae.derivatives[state.name].name()] for state in states),
            *(solved[variable.name] for variable in (*outputs, *shown)),
        )
    )
    xdot, y, w = ca.vertsplit(column, [0, len(states), len(states) + len(outputs), column.numel()])
    return ExplicitOde(
        dae.name,
        dae.description,
        dae.time,
        tuple(v for v in dae.of_kind(Kind.CONSTANT) if not v.protected),
        dae.of_kind(Kind.INPUT),
        states,
        dae.of_kind(Kind.PARAMETER),
        calculated,
        outputs,
        shown,
        xdot,
        y,
        w,
        _calculated_values(dae, calculated),
        ca.vertcat(ca.SX(0, 1), *(state.start for state in states)),
    )


def _solve(dae: ResidualDae, unknowns: Sequence[Any]) -> dict[str, Any]:
    """Value of each unknown in terms of t, x, u, p and c, by name of its symbol."""
    residuals = ca.vertcat(ca.SX(0, 1), *(residual.expression for residual in dae.residuals))
    column = ca.vertcat(ca.SX(0, 1), *unknowns)
    if not unknowns and not dae.residuals:
        return {}
    incidence = ca.jacobian(residuals, column).sparsity()
    _check_matching(dae, unknowns, incidence)
    count, rows, columns, row_ends, column_ends, _, _ = incidence.btf()
    solved: dict[str, Any] = {}
    for block in range(count):
        equations = rows[row_ends[block] : row_ends[block + 1]]
        names = columns[column_ends[block] : column_ends[block + 1]]
        _solve_block(dae, equations, [unknowns[name] for name in names], solved)
    return solved


def _solve_block(
    dae: ResidualDae, equations: Sequence[int], unknowns: Sequence[Any], solved: dict[str, Any]
) -> None:
    block = ca.vertcat(*(dae.residuals[equation].expression for equation in equations))
    known = [symbol for symbol in ca.symvar(block) if symbol.name() in solved]
    if known:
        values = ca.vertcat(*(solved[symbol.name()] for symbol in known))
        block = ca.substitute(block, ca.vertcat(*known), values)
    column = ca.vertcat(*unknowns)
    matrix = ca.jacobian(block, column)
    bad = nonlinear_unknowns(block, column, matrix)
    if bad:
        origins = "; ".join(dae.residuals[equation].origin for equation in equations)
        raise ModelicaError(
            f"{dae.name}: {origins}: {_count(len(unknowns))} for"
            f" {', '.join(s.name() for s in unknowns)}, not linear in {', '.join(bad)}; this slice"
            " of the exporter solves linear equations only: solve by hand for the unknown, or make"
            " it a state with a fast time constant"
        )
    constant = ca.substitute(block, column, ca.SX.zeros(len(unknowns)))
    single = len(unknowns) == 1
    solution = -constant / matrix if single else ca.solve(matrix, -constant)
    for position, symbol in enumerate(unknowns):
        solved[symbol.name()] = solution[position]


def _check_matching(dae: ResidualDae, unknowns: Sequence[Any], incidence: Any) -> None:
    names = [symbol.name() for symbol in unknowns]
    if len(names) != len(dae.residuals):
        raise ModelicaError(
            f"{dae.name}: {len(dae.residuals)} equations for {len(names)} unknowns"
            f" ({', '.join(names)}); every unknown needs exactly one equation"
        )
    if ca.sprank(incidence) == len(names):
        return
    # Without the unknowns of a maximum matching, what is left over names the culprits.
    missing = [
        residual.origin
        for row, residual in enumerate(dae.residuals)
        if ca.sprank(_without_row(incidence, row)) == ca.sprank(incidence)
    ]
    free = [
        name
        for position, name in enumerate(names)
        if ca.sprank(_without_column(incidence, position)) == ca.sprank(incidence)
    ]
    raise ModelicaError(
        f"{dae.name}: the equations cannot be solved for {', '.join(free)}; the superfluous ones"
        f" are among: {'; '.join(missing)}. The model is singular or has a constraint between"
        " states, which needs index reduction: choose independent states (minimal coordinates)"
    )


def _without_row(incidence: Any, row: int) -> Any:
    kept = [index for index in range(incidence.size1()) if index != row]
    return incidence.sub(kept, list(range(incidence.size2())))[0]


def _without_column(incidence: Any, column: int) -> Any:
    kept = [index for index in range(incidence.size2()) if index != column]
    return incidence.sub(list(range(incidence.size1())), kept)[0]


def _calculated_values(dae: ResidualDae, calculated: Sequence[Variable]) -> Any:
    """Column of the bindings of calculated parameters, in terms of parameters only."""
    column = symbols(calculated)
    values = ca.vertcat(ca.SX(0, 1), *(variable.value for variable in calculated))
    for _ in calculated:
        if not ca.depends_on(values, column):
            break
        values = ca.substitute(values, column, values)
    if calculated and ca.depends_on(values, column):
        names = ", ".join(variable.name for variable in calculated)
        raise ModelicaError(
            f"{dae.name}: parameters depend on each other in a circle, among {names}"
        )
    return values


def _count(unknowns: int) -> str:
    return "an equation" if unknowns == 1 else f"a loop of {unknowns} equations"
