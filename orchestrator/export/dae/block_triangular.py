"""Block-lower-triangular solution: small linear blocks by formula, all others torn, at run time.

Aliases are taken away first: connections and sums of two flows are of this kind, and would make
loops of equations several times as large. Nothing else is eliminated beforehand: long chains of
substitutions amplify rounding.

In tearing, an equation that holds one new unknown with a constant factor gives it explicitly; where
there is none, an unknown becomes a tearing variable (F. E. Cellier and E. Kofman, Continuous System
Simulation, section 7.6). Unknowns in which the block is not linear are tearing variables from the
beginning: no exponential is ever inserted into another, and the start values that choose a solution
keep their effect.

Long recurrences can amplify rounding without bound, as along a ladder of resistors. So an unknown
is given explicitly only where the factor is no small pivot and the result is not too sensitive to
the tearing variables, in numbers at the start values and with rows and columns scaled to their
largest elements; else it is torn as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import ModelicaError, counted
from orchestrator.core.structs import Struct
from orchestrator.export.dae.residual_dae import Residual, column

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
    return [name for unknown in ca.vertsplit(unknowns) if (name := unknown.name()) in inside]


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
    function = ca.Function("f", [column(inputs)], [expression])
    taint: dict[int, frozenset[int]] = {}
    switched: set[int] = set()
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
                switched |= carried
            taint[targets[0]] = carried
    return {inputs[index].name() for index in switched}


_LARGEST_SENSITIVITY = 10.0
_SMALLEST_PIVOT = 0.05
_SWEEPS = 5  # of scaling


class Torn(Struct):
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
    left_sides = _expressions(residuals)
    symbols = column(unknowns)
    jacobian = ca.jacobian(left_sides, symbols)
    numbers = _scaled(near_start(jacobian, point))
    if not np.isfinite(numbers).all():
        return Torn(list(unknowns), list(residuals), {})
    nonlinear = set(nonlinear_unknowns(left_sides, symbols, jacobian))
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
    for row, column_index in order.inner:
        inside = [j for i, j, _ in entries if i == row and j in values]
        solved_symbols = ca.vertcat(*(unknowns[j] for j in inside), unknowns[column_index])
        replaced = ca.vertcat(*(values[j] for j in inside), 0)
        remainder = ca.substitute(residuals[row].expression, solved_symbols, replaced)
        values[column_index] = -remainder / factors[row, column_index]
    if not values:
        return Torn(list(unknowns), list(residuals), {})
    unused_rows = [row for row in range(len(residuals)) if row not in order.used]
    solved = ca.vertcat(*(unknowns[column_index] for column_index in values))
    remainder = ca.substitute(left_sides[unused_rows], solved, ca.vertcat(*values.values()))
    return Torn(
        [unknowns[column_index] for column_index in order.torn],
        [Residual(remainder[at], residuals[row].origin) for at, row in enumerate(unused_rows)],
        {unknowns[column_index].name(): value for column_index, value in values.items()},
    )


def near_start(jacobian: Any, point: Mapping[str, float]) -> NDArray[np.float64]:
    """Numbers of a Jacobian near the start values, where no derivative vanishes by chance."""
    symbols = ca.symvar(jacobian)
    start = np.array([point.get(symbol.name(), 0.0) for symbol in symbols])
    spread = np.random.default_rng(0).uniform(0.5e-3, 1e-3, len(symbols))
    function = ca.Function("J", [column(symbols)], [jacobian])
    numbers: NDArray[np.float64] = function(start + spread * (1 + abs(start))).full()
    return numbers


def _expressions(residuals: Iterable[Residual]) -> Any:
    return column(residual.expression for residual in residuals)


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
        for row, index, _ in entries:
            self._open[row].add(index)
            self._equations[index].append(row)
        self._sensitivity = np.zeros((count, count))  # of each unknown to tearing variables
        self._ready: list[int] = []
        self.used: set[int] = set()
        self.inner: list[tuple[int, int]] = []
        self.torn: list[int] = []

    def run(self, fixed: Sequence[int]) -> None:
        """Resolve every unknown, the fixed ones by tearing."""
        unknown = set(range(len(self._open))) - set(fixed)
        for index in fixed:
            self._tear(index)
        while unknown:
            while self._ready:
                row = self._ready.pop(0)
                if len(self._open[row]) == 1 and self._solve(row, next(iter(self._open[row]))):
                    unknown.remove(self.inner[-1][1])
            if not unknown:
                return
            index = max(sorted(unknown), key=self._gain)
            unknown.remove(index)
            self._tear(index)

    def _tear(self, index: int) -> None:
        self.torn.append(index)
        self._sensitivity[index, index] = 1.0
        self._resolve(index)

    def _solve(self, row: int, index: int) -> bool:
        pivot = self._numbers[row, index]
        if (row, index) not in self._factors or abs(pivot) < _SMALLEST_PIVOT:
            return False
        sensitivity = -(self._numbers[row] @ self._sensitivity) / pivot
        if abs(sensitivity).sum() > _LARGEST_SENSITIVITY:
            return False
        self._sensitivity[index] = sensitivity
        self.used.add(row)
        self.inner.append((row, index))
        self._resolve(index)
        return True

    def _resolve(self, index: int) -> None:
        for row in self._equations[index]:
            self._open[row].discard(index)
            if len(self._open[row]) == 1 and row not in self.used:
                self._ready.append(row)

    def _gain(self, index: int) -> tuple[int, int]:
        """How many equations would then give another unknown, and how many hold this one."""
        rows = [row for row in self._equations[index] if row not in self.used]
        following = {
            neighbour
            for row in rows
            if len(self._open[row]) == 2
            for neighbour in self._open[row] - {index}
            if (row, neighbour) in self._factors
        }
        return len(following), sum(len(self._open[row]) > 1 for row in rows)


def _without_aliases(
    residuals: Sequence[Residual], unknowns: Sequence[Any], retained: Collection[str]
) -> tuple[list[Residual], list[Any], dict[str, Any]]:
    """What is left, and for each alias another unknown or its negative; ``kept`` stay if can be."""
    symbols = {symbol.name(): symbol for symbol in unknowns}
    signs: dict[str, tuple[str, int]] = {}  # unknown to another one and the sign between them

    def root(name: str) -> tuple[str, int]:
        sign = 1
        while name in signs:
            name, factor = signs[name]
            sign *= factor
        return name, sign

    remaining: list[Residual] = []
    for residual in residuals:
        pair = _pair(residual.expression, symbols)
        if pair is not None:
            (first, sign_one), (second, sign_two) = root(pair[0]), root(pair[1])
            if first != second:
                gone, stays = (second, first) if first in retained else (first, second)
                signs[gone] = (stays, pair[2] * sign_one * sign_two)
                continue
        remaining.append(residual)
    if not signs:
        return remaining, list(unknowns), {}
    roots = {name: root(name) for name in signs}
    values = {name: symbols[root_name] * sign for name, (root_name, sign) in roots.items()}
    old_symbols = ca.vertcat(*(symbols[name] for name in values))
    replaced = ca.substitute(_expressions(remaining), old_symbols, ca.vertcat(*values.values()))
    return (
        [Residual(replaced[row], residual.origin) for row, residual in enumerate(remaining)],
        [symbol for symbol in unknowns if symbol.name() not in signs],
        values,
    )


def _pair(expression: Any, unknowns: Any) -> tuple[str, str, int] | None:
    """Two unknowns whose sum or difference is the whole equation, and the sign between them."""
    free_symbols = ca.symvar(expression)
    if len(free_symbols) != 2 or not all(symbol.name() in unknowns for symbol in free_symbols):
        return None
    slopes = ca.gradient(expression, ca.vertcat(*free_symbols))
    if not slopes.is_constant():
        return None
    first, second = (float(slope) for slope in ca.vertsplit(ca.densify(slopes)))
    offset = ca.substitute(expression, ca.vertcat(*free_symbols), ca.SX.zeros(2))
    linear = ca.substitute(expression, ca.vertcat(*free_symbols), ca.SX([1.0, 3.0]))
    if {abs(first), abs(second)} != {1.0} or not (offset.is_constant() and linear.is_constant()):
        return None
    if float(offset) != 0.0 or float(linear) != first + 3.0 * second:
        return None
    return free_symbols[0].name(), free_symbols[1].name(), -1 if first == second else 1


_LARGEST_FORMULA = 3  # beyond, LU with pivoting takes as long, and names what is singular


class UnmatchedError(ModelicaError):
    """Unknowns that no equation is left for."""

    def __init__(self, message: str, unknowns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.unknowns = unknowns


class EquationBlock(Struct):
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
    def names(self) -> list[str]:
        """Names of the unknowns that it is solved for."""
        return [unknown.name() for unknown in ca.vertsplit(self.unknowns)]


class Solution(Struct):
    """Value of each unknown by name, in terms of knowns and of the unknowns of the blocks."""

    values: dict[str, Any]
    blocks: tuple[EquationBlock, ...]

    @property
    def unknowns(self) -> Any:
        """Column of the unknowns of all blocks."""
        return column(block.unknowns for block in self.blocks)

    def insert(self, expression: Any) -> Any:
        """The expression with solved unknowns replaced by their values."""
        solved = [s for s in ca.symvar(expression) if s.name() in self.values]
        if not solved:
            return expression
        values = ca.vertcat(*(self.values[symbol.name()] for symbol in solved))
        return ca.substitute(expression, ca.vertcat(*solved), values)


def solve(
    model: str,
    residuals: Sequence[Residual],
    unknowns: Sequence[Any],
    retained: Collection[str],
    point: Mapping[str, float],
) -> Solution:
    """Order equations and unknowns and solve block after block."""
    if not unknowns and not residuals:
        return Solution({}, ())
    check_matching(model, residuals, unknowns, _incidence(residuals, unknowns))
    residuals, unknowns, aliases = _without_aliases(residuals, unknowns, retained)
    solution = Solution({}, ())
    for equations, symbols in _ordered(model, residuals, unknowns):
        solution = _extend(model, solution, equations, symbols, point)
    others = {name: solution.insert(value) for name, value in aliases.items()}
    return Solution(solution.values | others, solution.blocks)


def _incidence(residuals: Sequence[Residual], unknowns: Sequence[Any]) -> Any:
    return ca.jacobian(_expressions(residuals), column(unknowns)).sparsity()


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
    residual, symbols = _expressions(equations), column(unknowns)
    matrix = ca.jacobian(residual, symbols)
    linear = not nonlinear_unknowns(residual, symbols, matrix)
    if linear:
        _check_regular(model, solution.insert(matrix), equations, unknowns)
    if linear and len(unknowns) == 1:
        return _with_formula(solution, residual, symbols)
    origins = tuple(equation.origin for equation in equations)
    torn = tear(equations, unknowns, point)
    residual, symbols = _expressions(torn.residuals), column(torn.unknowns)
    if linear and len(torn.unknowns) <= _LARGEST_FORMULA:
        solution = _with_formula(solution, residual, symbols)
    else:
        inserted = ca.densify(solution.insert(residual))
        block = EquationBlock(symbols, inserted, origins, linear, tuple(torn.inner))
        values = {symbol.name(): symbol for symbol in torn.unknowns}
        solution = Solution(solution.values | values, (*solution.blocks, block))
    inner = ca.vertsplit(solution.insert(column(torn.inner.values())))
    values = solution.values | dict(zip(torn.inner, inner, strict=True))
    return Solution(values, solution.blocks)


def _check_regular(
    model: str, matrix: Any, equations: Sequence[Residual], unknowns: Sequence[Any]
) -> None:
    if matrix.is_constant() and _is_singular(ca.DM(matrix).full()):
        names = ", ".join(symbol.name() for symbol in unknowns)
        raise ModelicaError(
            f"{model}: the equations for {names} contradict or repeat each other:"
            f" {'; '.join(equation.origin for equation in equations)}"
        )


def _with_formula(solution: Solution, residual: Any, symbols: Any) -> Solution:
    count = symbols.numel()
    matrix = solution.insert(ca.jacobian(residual, symbols))
    constant = solution.insert(ca.substitute(residual, symbols, ca.SX.zeros(count)))
    result = -constant / matrix if count == 1 else ca.solve(matrix, -constant)
    result = ca.densify(result)
    values = {symbols[index].name(): result[index] for index in range(count)}
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
        for index, name in enumerate(names)
        if ca.sprank(incidence.sub(rows, [c for c in columns if c != index])[0]) == rank
    ]
    finding = "the model is singular"
    if len(names) != len(residuals):
        finding = f"{counted(len(residuals), 'equation')} for {counted(len(names), 'unknown')}"
    deficit = len(names) - rank
    some = f"{deficit} of " if deficit < len(free) else ""
    missing = f"; the equations cannot be solved for {some}{', '.join(free)}" if free else ""
    surplus = f"; superfluous is one of: {'; '.join(superfluous)}" if superfluous else ""
    if len(residuals) - rank > 1:
        surplus = surplus.replace("is one of", f"are {len(residuals) - rank} of", 1)
    raise UnmatchedError(f"{model}: {finding}{missing}{surplus}", free)
