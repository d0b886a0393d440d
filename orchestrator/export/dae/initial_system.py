"""The initial system: what holds at the start besides the equations, solved by the same blocks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.export.dae.block_triangular import EquationBlock, Solution, solve
from orchestrator.export.dae.residual_dae import (
    Kind,
    Residual,
    ResidualDae,
    Variable,
    calculated_values,
    column,
    start_point,
)

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class InitialSystem:
    """Initial values that follow from equations: functions of t, u, x, p, c, and of zi.

    solved: Names of the states and parameters that are solved for. In the arguments x and c their
        places hold guesses, under the symbols of ``guesses``.
    blocks: Equations for zi that are left to Newton's method.
    x, c, z: All states, calculated parameters and unknowns of the running system's blocks.
    checks: Residuals of superfluous equations, relative to the size of their terms.
    check_origins: Where these come from.
    """

    solved: frozenset[str]
    guesses: dict[str, Any]
    blocks: tuple[EquationBlock, ...]
    x: Any
    c: Any
    z: Any
    checks: Any
    check_origins: tuple[str, ...]


def initial_system(
    dae: ResidualDae, states: Sequence[Variable], running: Solution
) -> InitialSystem | None:
    """Collect and order the initial equations; ``None`` if every state has a given start."""
    return _Builder(dae, states, running).build()


class _Builder:
    def __init__(self, dae: ResidualDae, states: Sequence[Variable], running: Solution) -> None:
        self._dae = dae
        self._states = states
        self._running = running
        self._calculated = dae.of_kind(Kind.CALCULATED)
        self._free = [variable for variable in self._calculated if variable.free]
        self._bound = [variable for variable in self._calculated if not variable.free]
        values = calculated_values(dae, self._calculated)
        self._values = {v.name: values[i] for i, v in enumerate(self._calculated)}

    def build(self) -> InitialSystem | None:
        dae = self._dae
        algebraic = [
            v for v in dae.of_kind(Kind.OUTPUT, Kind.LOCAL) if v.name not in dae.derivatives
        ]
        always = [*(dae.derivatives[s.name] for s in self._states), *(v.symbol for v in algebraic)]
        open_states = [state for state in self._states if not self._is_given(state)]
        extra = [
            Residual(v.symbol - v.start, f"fixed start of '{v.name}'")
            for v in (*algebraic, *open_states)
            if v.fixed
        ]
        candidates = [v.symbol for v in (*open_states, *self._free)]
        equations = [self._expanded(r) for r in (*dae.residuals, *extra, *dae.initial)]
        matching = _Matching(always)
        for equation in equations[: len(always)]:
            matching.add(equation)
        matching.offer(candidates)
        independent = _Independence(dae, equations, always, candidates)
        checks = [
            equation
            for index, equation in enumerate(equations[len(always) :])
            if not (independent.allows(index) and matching.add(equation) and independent.add(index))
        ]
        for variable in (*open_states, *self._free):
            if not matching.is_matched(variable.name):
                self._warn(variable)
        unknowns = [s for s in (*always, *candidates) if matching.is_matched(s.name())]
        solved = [s for s in candidates if matching.is_matched(s.name())]
        if not solved and not checks:
            return None
        shown = dae.of_kind(Kind.OUTPUT, Kind.LOCAL, Kind.CALCULATED)
        started = {v.name for v in shown if not (v.start.is_constant() and v.start.is_zero())}
        solution = solve(dae.name, matching.equations, unknowns, started, start_point(dae))
        return InitialSystem(
            frozenset(symbol.name() for symbol in solved),
            {s.name(): ca.SX.sym(f"guess of {s.name()}") for s in solved},
            solution.blocks,
            solution.insert(column(state.symbol for state in self._states)),
            solution.insert(column(self._values[v.name] for v in self._calculated)),
            solution.insert(self._running.unknowns),
            solution.insert(column(_relative(check.expression) for check in checks)),
            tuple(check.origin for check in checks),
        )

    def _is_given(self, state: Variable) -> bool:
        return state.fixed and not ca.depends_on(
            self._insert(state.start), column(v.symbol for v in self._free)
        )

    def _expanded(self, residual: Residual) -> Residual:
        """Without calculated parameters that depend on those to be solved for."""
        if not self._free:
            return residual
        return Residual(self._insert(residual.expression), residual.origin)

    def _insert(self, expression: Any) -> Any:
        return ca.substitute(
            ca.SX(expression),
            column(v.symbol for v in self._bound),
            column(self._values[v.name] for v in self._bound),
        )

    def _warn(self, variable: Variable) -> None:
        what = "parameter" if variable.kind is Kind.CALCULATED else "state"
        _LOGGER.warning(
            "%s: the start value of %s '%s' is not fixed; it is used as if it were",
            self._dae.name,
            what,
            variable.name,
        )


class _Matching:
    """A maximum matching that grows by one equation at a time."""

    def __init__(self, unknowns: Sequence[Any]) -> None:
        self._names = {symbol.name() for symbol in unknowns}
        self._equation: dict[str, int] = {}
        self._known: list[tuple[Residual, list[str]]] = []

    def offer(self, unknowns: Sequence[Any]) -> None:
        """Let further unknowns take part."""
        self._names |= {symbol.name() for symbol in unknowns}

    def add(self, equation: Residual) -> bool:
        """Match an equation; if that is impossible it is superfluous and left out."""
        names = [symbol.name() for symbol in ca.symvar(equation.expression)]
        self._known.append((equation, names))
        if self._augment(len(self._known) - 1, set()):
            return True
        self._known.pop()
        return False

    def is_matched(self, name: str) -> bool:
        """Whether an equation determines the unknown."""
        return name in self._equation

    @property
    def equations(self) -> list[Residual]:
        """All matched equations."""
        return [equation for equation, _ in self._known]

    def _augment(self, index: int, seen: set[str]) -> bool:
        names = [n for n in self._known[index][1] if n in self._names and n not in seen]
        for name in names:
            if name not in self._equation:
                self._equation[name] = index
                return True
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            if self._augment(self._equation[name], seen):
                self._equation[name] = index
                return True
        return False


class _Independence:
    """Which further equations are independent of those before, by numbers, near the start values.

    The rows are the derivatives of the further equations by the candidates, while the model's own
    equations determine everything else. Where those are singular, nothing is ruled out.
    """

    def __init__(
        self,
        dae: ResidualDae,
        equations: Sequence[Residual],
        always: Sequence[Any],
        candidates: Sequence[Any],
    ) -> None:
        count = len(always)
        unknowns = column((*always, *candidates))
        jacobian = ca.jacobian(column(e.expression for e in equations), unknowns)
        symbols = ca.symvar(jacobian)
        point = start_point(dae)
        # Off the start values, where a derivative may vanish by chance.
        spread = np.random.default_rng(0).uniform(0.5e-3, 1e-3, len(symbols))
        start = np.array([point.get(symbol.name(), 0.0) for symbol in symbols])
        values = ca.Function("J", [column(symbols)], [jacobian])(start + spread * (1 + abs(start)))
        matrix = values.full()
        self._rows: Any = None
        self._basis: list[Any] = []
        try:
            inner = np.linalg.solve(matrix[:count, :count], matrix[:count, count:])
        except np.linalg.LinAlgError:
            return
        rows = matrix[count:, count:] - matrix[count:, :count] @ inner
        if np.isfinite(rows).all():
            self._rows = rows

    def allows(self, index: int) -> bool:
        """Whether an equation says something new."""
        if self._rows is None:
            return True
        return bool(np.linalg.norm(self._rest(index)) > 1e-9 * np.linalg.norm(self._rows[index]))

    def add(self, index: int) -> bool:
        """Take an equation in."""
        if self._rows is not None:
            rest = self._rest(index)
            self._basis.append(rest / np.linalg.norm(rest))
        return True

    def _rest(self, index: int) -> Any:
        rest = self._rows[index]
        for direction in self._basis * 2:  # twice: against rounding
            rest = rest - (rest @ direction) * direction
        return rest


def _relative(expression: Any) -> Any:
    """The residual divided by one plus the size of what it is made of."""
    size = ca.SX(1)
    for symbol in ca.symvar(expression):
        size += ca.fabs(ca.gradient(expression, symbol) * symbol)
    return expression / size
