"""Index reduction: Pantelides' algorithm, then static selection of dummy derivatives.

References
----------
Pantelides (1988), The consistent initialization of differential-algebraic systems, algorithm 4.1.
Mattsson and Söderlind (1993), Index reduction in DAEs using dummy derivatives, section 3.2; here
the columns are picked for all blocks at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.block_triangular import check_matching
from orchestrator.export.dae.residual_dae import (
    DataType,
    Kind,
    Residual,
    ResidualDae,
    SelectionGuard,
    StateSelect,
    Variable,
    column,
    selection_guards,
    start_point,
)

_MAX_ORDER = 6
_FEW = 4  # unknowns in an equation that may make one of them 0
_SMALLEST_PIVOT = 1e-8  # relative to the largest element


def reduce_index(dae: ResidualDae) -> ResidualDae:
    """Differentiate constraints between states and turn surplus states into plain unknowns."""
    dae = _without_vanished(dae)
    names = {v.name for v in dae.of_kind(Kind.OUTPUT, Kind.LOCAL)}
    free = [v.symbol for v in dae.variables if v.name in names]
    highest = [dae.derivatives.get(symbol.name(), symbol) for symbol in free]
    expressions = column(residual.expression for residual in dae.residuals)
    incidence = ca.jacobian(expressions, column(highest)).sparsity()
    if len(free) == len(dae.residuals) and ca.sprank(incidence) == len(free):
        return dae
    _check_solvable(dae, free, expressions)
    return _Reduction(dae, free).run()


def _without_vanished(dae: ResidualDae) -> ResidualDae:
    """Without derivatives whose factor is an unknown that is 0, such as a capacitance."""
    expressions = column(residual.expression for residual in dae.residuals)
    slopes = column(dae.derivatives.values())
    names = {v.name for v in dae.of_kind(Kind.OUTPUT, Kind.LOCAL)} - set(dae.derivatives)
    factors = [s for s in ca.symvar(ca.jacobian(expressions, slopes)) if s.name() in names]
    zeros = _zeros(dae, names) if factors else {}
    if not zeros:
        return dae
    zero_column = column(zeros[s.name()] for s in factors if s.name() in zeros)
    inserted = ca.substitute(expressions, zero_column, ca.SX.zeros(zero_column.numel()))
    residuals = tuple(
        replace(residual, expression=inserted[row])
        if ca.depends_on(residual.expression, slopes) and not ca.depends_on(inserted[row], slopes)
        else residual
        for row, residual in enumerate(dae.residuals)
    )
    return _without_unused(replace(dae, residuals=residuals))


def _without_unused(dae: ResidualDae) -> ResidualDae:
    """Variables whose derivative is in no equation any more are no states."""
    residuals = (*dae.residuals, *dae.initial)
    used = ca.vertcat(
        ca.SX(0, 1), *(r.expression for r in residuals), *map(ca.SX, dae.events.expressions())
    )
    names = {symbol.name() for symbol in ca.symvar(used)}
    derivatives = {v: slope for v, slope in dae.derivatives.items() if slope.name() in names}
    return replace(dae, derivatives=derivatives)


def _zeros(dae: ResidualDae, names: set[str]) -> dict[str, Any]:
    """Unknowns that an equation of theirs, with others of these, makes 0."""
    zeros: dict[str, Any] = {}
    remaining = [r.expression for r in dae.residuals if len(ca.symvar(r.expression)) <= _FEW]
    changed = True
    while changed:
        changed = False
        zero_column = column(zeros.values())
        for expression in remaining:
            inserted = ca.substitute(expression, zero_column, ca.SX.zeros(zero_column.numel()))
            inside = ca.symvar(inserted)
            if len(inside) != 1 or inside[0].name() not in names:
                continue
            at_zero = ca.substitute(inserted, inside[0], ca.SX(0))
            if not ca.gradient(inserted, inside[0]).is_constant():
                continue
            if at_zero.is_constant() and float(at_zero) == 0.0:
                zeros[inside[0].name()] = inside[0]
                changed = True
    return zeros


def _check_solvable(dae: ResidualDae, free: Sequence[Any], expressions: Any) -> None:
    """A variable counts as one unknown together with its derivative: that must match at least."""
    merged = expressions
    if dae.derivatives:
        states = [symbol for symbol in free if symbol.name() in dae.derivatives]
        slopes = ca.vertcat(*(dae.derivatives[symbol.name()] for symbol in states))
        merged = ca.vertcat(
            *(sum((s for s in ca.symvar(e)), ca.SX(0)) for e in ca.vertsplit(ca.SX(expressions)))
        )
        merged = ca.substitute(merged, slopes, ca.vertcat(*states))
    incidence = ca.jacobian(merged, column(free)).sparsity()
    check_matching(dae.name, dae.residuals, free, incidence)


def augment(
    equation: int,
    unknowns: Callable[[int], Iterable[str]],
    assigned: dict[str, int],
    equations: set[int],
    visited: set[str],
) -> bool:
    """Let an equation have one of its unknowns, by an augmenting path of a matching.

    assigned: The equation of each unknown that has one; changed if there is a path.
    equations, seen: Get the equations and unknowns that were tried.
    """
    equations.add(equation)
    names = list(unknowns(equation))
    for name in names:
        if name not in assigned:
            assigned[name] = equation
            return True
    for name in names:
        if name not in visited:
            visited.add(name)
            if augment(assigned[name], unknowns, assigned, equations, visited):
                assigned[name] = equation
                return True
    return False


class _Reduction:
    """Chains of variables and equations, each with its derivative."""

    def __init__(self, dae: ResidualDae, free: Sequence[Any]) -> None:
        self._dae = dae
        self._symbols = {symbol.name(): symbol for symbol in free}
        self._next: dict[str, str] = {}
        for name, slope in dae.derivatives.items():
            self._symbols[slope.name()] = slope
            self._next[name] = slope.name()
        self._previous = {slope: name for name, slope in self._next.items()}
        self._switching = {symbol.name() for symbol in dae.events.symbols}
        self._equations = list(dae.residuals)
        self._original: dict[int, int] = {}  # differentiated equation to the one before
        self._derived: dict[int, int] = {}
        self._guards: list[SelectionGuard] = []
        self._incidence = [self._unknowns(equation.expression) for equation in self._equations]
        self._assigned: dict[str, int] = {}

    def run(self) -> ResidualDae:
        """The reduced system."""
        for index in range(len(self._dae.residuals)):
            equation = index
            for _ in range(_MAX_ORDER + 1):
                colors: tuple[set[int], set[str]] = (set(), set())
                if augment(equation, self._highest, self._assigned, *colors):
                    break
                self._differentiate(*colors)
                equation = self._derived[equation]
            else:
                raise ModelicaError(
                    f"{self._dae.name}: {self._equations[index].origin}: this constraint would have"
                    f" to be differentiated more than {_MAX_ORDER} times"
                )
        return self._reduced(self._dummies())

    def _unknowns(self, expression: Any) -> list[str]:
        names = (symbol.name() for symbol in ca.symvar(expression))
        return [name for name in names if name in self._symbols]

    def _highest(self, equation: int) -> list[str]:
        return [name for name in self._incidence[equation] if name not in self._next]

    def _differentiate(self, equations: set[int], variables: set[str]) -> None:
        for name in sorted(variables):
            slope = ca.SX.sym(f"der({name})")
            self._symbols[slope.name()] = slope
            self._next[name], self._previous[slope.name()] = slope.name(), name
        for index in sorted(equations):
            residual = self._equations[index]
            derivative = Residual(self._total_derivative(residual), f"der of {residual.origin}")
            self._derived[index] = len(self._equations)
            self._original[len(self._equations)] = index
            self._equations.append(derivative)
            self._incidence.append(self._unknowns(derivative.expression))
        for name in variables:
            self._assigned[self._next[name]] = self._derived[self._assigned[name]]

    def _total_derivative(self, residual: Residual) -> Any:
        symbols, slopes = [], []
        for symbol in ca.symvar(residual.expression):
            name = symbol.name()
            if name in self._next:
                symbols.append(symbol)
                slopes.append(self._symbols[self._next[name]])
            elif name == self._dae.time.name():
                symbols.append(symbol)
                slopes.append(ca.SX(1))
            elif name in self._switching:
                continue  # constant between events
            elif self._dae.variable(name).kind is Kind.INPUT:
                raise ModelicaError(
                    f"{self._dae.name}: {residual.origin}: a constraint between states contains the"
                    f" input '{name}', so its derivative is needed: make it an input as well, or"
                    " choose independent states (minimal coordinates)"
                )
        return ca.jtimes(residual.expression, ca.vertcat(*symbols), ca.vertcat(*slopes))

    def _dummies(self) -> set[str]:
        equations = [e for e in self._original if e not in self._derived]
        candidates = [v for v in self._previous if v not in self._next]
        point = start_point(self._dae)
        dummies: set[str] = set()
        while equations:
            selection = self._select(equations, candidates, point)
            dummies |= set(selection)
            equations = [o for e in equations if (o := self._original[e]) in self._original]
            candidates = [p for v in selection if (p := self._previous[v]) in self._previous]
        return dummies

    def _select(
        self, equations: list[int], candidates: list[str], point: dict[str, float]
    ) -> list[str]:
        """Derivatives for which the equations can be solved best, unwanted states first."""
        symbols = column(self._symbols[name] for name in candidates)
        rows = ca.vertcat(*(self._equations[e].expression for e in equations))
        symbolic = ca.jacobian(rows, symbols)
        inside = ca.symvar(symbolic)
        values = [point.get(symbol.name(), 0.0) for symbol in inside]
        function = ca.Function("J", [column(inside)], [symbolic])
        matrix = np.nan_to_num(function(values).full())
        limit = _SMALLEST_PIVOT * max(float(np.abs(matrix).max(initial=0.0)), 1e-300)
        remaining = list(range(len(equations)))
        selection: list[int] = []
        wishes = [self._wish(name) for name in candidates]
        for wish in sorted(set(wishes)):
            columns = [i for i in range(len(candidates)) if wishes[i] == wish]
            while remaining and columns:
                part = np.abs(matrix[np.ix_(remaining, columns)])
                row, column_at = np.unravel_index(int(part.argmax()), part.shape)
                if part[row, column_at] <= limit:
                    break
                pivot_row, pivot = remaining.pop(int(row)), columns.pop(int(column_at))
                selection.append(pivot)
                for other_row in remaining:
                    factor = matrix[other_row, pivot] / matrix[pivot_row, pivot]
                    matrix[other_row] -= factor * matrix[pivot_row]
        if remaining:
            origins = "; ".join(self._equations[equations[row]].origin for row in remaining)
            raise ModelicaError(
                f"{self._dae.name}: at the start values the differentiated constraints do not"
                f" determine {', '.join(self._previous[name] for name in candidates)}: {origins};"
                " give other start values, or choose independent states (minimal coordinates)"
            )
        names = [self._previous[name] for name in candidates]
        rates = {name: self._symbols[slope] for name, slope in self._next.items()}
        rates[self._dae.time.name()] = ca.SX(1)
        for guard in selection_guards(symbolic, selection, names, rates):
            if not any(
                ca.is_equal(guard.margin, guard_selected.margin, 20)
                for guard_selected in self._guards
            ):
                self._guards.append(guard)
        return [candidates[index] for index in selection]

    def _wish(self, slope: str) -> tuple[int, bool]:
        """Preference of the variable below as a state; lowest for nameless ones."""
        name = self._previous[slope]
        if name in self._previous:
            return (-1, False)
        variable = self._dae.variable(name)
        return variable.state_select.value, variable.fixed

    def _reduced(self, dummies: set[str]) -> ResidualDae:
        derivatives = {
            name: self._symbols[slope] for name, slope in self._next.items() if slope not in dummies
        }
        derivative_names = {symbol.name() for symbol in derivatives.values()}
        nameless = [name for name in derivatives if name in self._previous]
        if nameless:
            raise ModelicaError(
                f"{self._dae.name}: {', '.join(nameless)} would have to be a state; introduce a"
                " variable for it"
            )
        extra = tuple(
            Variable(name, Kind.LOCAL, DataType.REAL, self._symbols[name], ca.SX(0), protected=True)
            for name in self._previous
            if name not in derivative_names
        )
        for variable in self._dae.variables:
            if variable.state_select is StateSelect.ALWAYS and variable.name not in derivatives:
                raise ModelicaError(
                    f"{self._dae.name}: {self._dae.placed(variable.name)} has stateSelect ="
                    " always, but it cannot be a state: a constraint determines it"
                )
        return replace(
            self._dae,
            variables=(*self._dae.variables, *extra),
            derivatives=derivatives,
            residuals=tuple(self._equations),
            guards=tuple(self._guards),
        )
