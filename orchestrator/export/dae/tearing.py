"""Tearing: most unknowns of a block follow from few others; and whether an expression is linear.

An equation that holds one new unknown with a constant factor gives it explicitly; where there is
none, an unknown becomes a tearing variable (F. E. Cellier and E. Kofman, Continuous System
Simulation, section 7.6). Unknowns in which the block is not linear are tearing variables from the
beginning: no exponential is ever inserted into another, and the start values that choose a solution
keep their effect.

Long recurrences can amplify rounding without bound, as along a ladder of resistors. So an unknown
is given explicitly only where the factor is no small pivot and the result is not too sensitive to
the tearing variables, in numbers at the start values and with rows and columns scaled to their
largest elements; else it is torn as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.export.dae.residual_dae import Residual

# Their derivative is zero almost everywhere, so a Jacobian alone would call them linear.
_SWITCHES = frozenset(
    {
        ca.OP_LT,
        ca.OP_LE,
        ca.OP_EQ,
        ca.OP_NE,
        ca.OP_NOT,
        ca.OP_AND,
        ca.OP_OR,
        ca.OP_FLOOR,
        ca.OP_CEIL,
        ca.OP_SIGN,
        ca.OP_FMOD,
        ca.OP_COPYSIGN,
    }
)


def nonlinear_unknowns(expression: Any, unknowns: Any, jacobian: Any) -> list[str]:
    """Names of the symbols in which a column of expressions is not linear."""
    if unknowns.numel() == 1 and _is_definition(expression, unknowns):
        return []
    inside = {symbol.name() for symbol in ca.symvar(jacobian)} | switched_symbols(expression)
    return [name for index in range(unknowns.numel()) if (name := unknowns[index].name()) in inside]


def _is_definition(expression: Any, unknown: Any) -> bool:
    """Whether it is ``unknown - value``, as most equations are, so that nothing need be walked."""
    return (
        expression.is_scalar()
        and expression.is_op(ca.OP_SUB)
        and ca.is_equal(expression.dep(0), unknown)
        and not ca.depends_on(expression.dep(1), unknown)
    )


def switched_symbols(expression: Any) -> set[str]:
    """Names of the symbols that an operand of a comparison or rounding depends on."""
    inputs = ca.symvar(expression)
    function = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *inputs)], [expression])
    taint: dict[int, frozenset[int]] = {}
    found: set[int] = set()
    for step in range(function.n_instructions()):
        operation = function.instruction_id(step)
        sources, targets = function.instruction_input(step), function.instruction_output(step)
        if operation == ca.OP_INPUT:
            taint[targets[0]] = frozenset({sources[1]})
        elif operation != ca.OP_OUTPUT:
            carried: frozenset[int] = frozenset()
            if operation != ca.OP_CONST:
                carried = carried.union(*(taint.get(source, frozenset()) for source in sources))
            if operation in _SWITCHES:
                found |= carried
            taint[targets[0]] = carried
    return {inputs[index].name() for index in found}


_LARGEST_SENSITIVITY = 10.0
_SMALLEST_PIVOT = 0.05
_SWEEPS = 5  # of scaling


@dataclass(frozen=True)
class Torn:
    """A block with fewer unknowns.

    unknowns, residuals: Tearing variables, and the equations left for them.
    inner: Value of every other unknown, in terms of tearing variables.
    """

    unknowns: list[Any]
    residuals: list[Residual]
    inner: dict[str, Any]


def tear(
    residuals: Sequence[Residual], unknowns: Sequence[Any], point: Mapping[str, float]
) -> Torn:
    """Choose tearing variables and solve for all others."""
    column = ca.vertcat(*(residual.expression for residual in residuals))
    symbols = ca.vertcat(*unknowns)
    jacobian = ca.jacobian(column, symbols)
    numbers = _scaled(_evaluate(jacobian, point))
    if not np.isfinite(numbers).all():
        return Torn(list(unknowns), list(residuals), {})
    nonlinear = set(nonlinear_unknowns(column, symbols, jacobian))
    fixed = [j for j, symbol in enumerate(unknowns) if symbol.name() in nonlinear]
    rows, columns = jacobian.sparsity().get_triplet()
    entries = list(zip(rows, columns, range(jacobian.nnz()), strict=True))
    factors = {
        (i, j): float(jacobian.nz[n])
        for i, j, n in entries
        if j not in fixed and jacobian.nz[n].is_constant()
    }
    order = _Order(numbers, entries, factors)
    order.run(fixed)
    values: dict[int, Any] = {}
    for row, place in order.inner:
        inside = [j for i, j, _ in entries if i == row and j in values]
        known = ca.vertcat(*(unknowns[j] for j in inside), unknowns[place])
        replaced = ca.vertcat(*(values[j] for j in inside), 0)
        rest = ca.substitute(residuals[row].expression, known, replaced)
        values[place] = -rest / factors[row, place]
    if not values:
        return Torn(list(unknowns), list(residuals), {})
    left = [row for row in range(len(residuals)) if row not in order.used]
    places = ca.vertcat(*(unknowns[place] for place in values))
    rest = ca.substitute(column[left], places, ca.vertcat(*values.values()))
    return Torn(
        [unknowns[place] for place in order.torn],
        [Residual(rest[at], residuals[row].origin) for at, row in enumerate(left)],
        {unknowns[place].name(): value for place, value in values.items()},
    )


def _evaluate(jacobian: Any, point: Mapping[str, float]) -> Any:
    """Numbers near the start values, where no derivative vanishes by chance."""
    symbols = ca.symvar(jacobian)
    start = np.array([point.get(symbol.name(), 0.0) for symbol in symbols])
    spread = np.random.default_rng(0).uniform(0.5e-3, 1e-3, len(symbols))
    function = ca.Function("J", [ca.vertcat(ca.SX(0, 1), *symbols)], [jacobian])
    return function(start + spread * (1 + abs(start))).full()


def _scaled(matrix: Any) -> Any:
    """Rows and columns divided until the largest element of each is near 1."""
    for _ in range(_SWEEPS):
        for axis in (0, 1):
            largest = abs(matrix).max(axis=axis, keepdims=True)
            with np.errstate(invalid="ignore"):  # of what is infinite; nothing is torn then
                matrix = matrix / np.sqrt(np.where(largest > 0, largest, 1))
    return matrix


class _Order:
    """Which unknown follows from which equation, one after the other, and which are torn."""

    def __init__(
        self,
        numbers: Any,
        entries: Sequence[tuple[int, int, int]],
        factors: Collection[tuple[int, int]],
    ) -> None:
        count = len(numbers)
        self._numbers = numbers
        self._factors = factors
        self._open: list[set[int]] = [set() for _ in range(count)]  # unknowns of each equation
        self._equations: list[list[int]] = [[] for _ in range(count)]  # of each unknown
        for row, place, _ in entries:
            self._open[row].add(place)
            self._equations[place].append(row)
        self._sensitivity = np.zeros((count, count))  # of each unknown to tearing variables
        self._ready: list[int] = []
        self.used: set[int] = set()
        self.inner: list[tuple[int, int]] = []
        self.torn: list[int] = []

    def run(self, fixed: Sequence[int]) -> None:
        """Resolve every unknown, the fixed ones by tearing."""
        unknown = set(range(len(self._open))) - set(fixed)
        for place in fixed:
            self._tear(place)
        while unknown:
            while self._ready:
                row = self._ready.pop(0)
                if len(self._open[row]) == 1 and self._solve(row, next(iter(self._open[row]))):
                    unknown.remove(self.inner[-1][1])
            if not unknown:
                return
            place = max(sorted(unknown), key=self._gain)
            unknown.remove(place)
            self._tear(place)

    def _tear(self, place: int) -> None:
        self.torn.append(place)
        self._sensitivity[place, place] = 1.0
        self._resolve(place)

    def _solve(self, row: int, place: int) -> bool:
        pivot = self._numbers[row, place]
        if (row, place) not in self._factors or abs(pivot) < _SMALLEST_PIVOT:
            return False
        sensitivity = -(self._numbers[row] @ self._sensitivity) / pivot
        if abs(sensitivity).sum() > _LARGEST_SENSITIVITY:
            return False
        self._sensitivity[place] = sensitivity
        self.used.add(row)
        self.inner.append((row, place))
        self._resolve(place)
        return True

    def _resolve(self, place: int) -> None:
        for row in self._equations[place]:
            self._open[row].discard(place)
            if len(self._open[row]) == 1 and row not in self.used:
                self._ready.append(row)

    def _gain(self, place: int) -> tuple[int, int]:
        """How many equations would then give another unknown, and how many hold this one."""
        rows = [row for row in self._equations[place] if row not in self.used]
        following = {
            other
            for row in rows
            if len(self._open[row]) == 2
            for other in self._open[row] - {place}
            if (row, other) in self._factors
        }
        return len(following), sum(len(self._open[row]) > 1 for row in rows)
