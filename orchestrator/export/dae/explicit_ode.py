"""From residuals to explicit functions: index reduction, blocks, initial system."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, field, replace
from orchestrator.export.dae.block_triangular import (
    EquationBlock,
    Solution,
    UnmatchedError,
    near_start,
    solve,
)
from orchestrator.export.dae.events import Events, Relation
from orchestrator.export.dae.index_reduction import augment, reduce_index
from orchestrator.export.dae.residual_dae import (
    Column,
    Kind,
    Residual,
    ResidualDae,
    Sampled,
    SelectionGuard,
    StateSelect,
    Variable,
    calculated_values,
    column,
    guessed_values,
    start_point,
)

_LOGGER = logging.getLogger(__name__)


class InitialSystem(Struct):
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


def _initial_system(
    dae: ResidualDae, states: Sequence[Variable], running: Solution
) -> InitialSystem | None:
    """Collect and order the initial equations; ``None`` if every state has a given start."""
    calculated = dae.of_kind(Kind.CALCULATED)
    values = calculated_values(dae, calculated)
    free = [variable for variable in calculated if variable.free]
    bound = [i for i, variable in enumerate(calculated) if not variable.free]
    bindings = column(calculated[i].symbol for i in bound), column(values[i] for i in bound)
    unbound = column(variable.symbol for variable in free)
    algebraic = [v for v in dae.of_kind(Kind.OUTPUT, Kind.LOCAL) if v.name not in dae.derivatives]
    always = [*(dae.derivatives[s.name] for s in states), *(v.symbol for v in algebraic)]
    open_states = [
        s
        for s in states
        if not s.fixed or ca.depends_on(ca.substitute(ca.SX(s.start), *bindings), unbound)
    ]
    extra = [
        Residual(v.symbol - v.start, f"fixed start of '{v.name}'")
        for v in (*algebraic, *open_states)
        if v.fixed
    ]
    candidates = [v.symbol for v in (*open_states, *free)]
    equations = [*dae.residuals, *extra, *dae.initial]
    if free:  # without calculated parameters that depend on those to be solved for
        equations = [
            Residual(ca.substitute(ca.SX(r.expression), *bindings), r.origin) for r in equations
        ]
    matching = _Matching(symbol.name() for symbol in always)
    for equation in equations[: len(always)]:
        matching.add(equation)
    matching.offered.update(symbol.name() for symbol in candidates)
    independent = _Independence(dae, equations, always, candidates)
    checks = [
        equation
        for index, equation in enumerate(equations[len(always) :])
        if not (independent.allows(index) and matching.add(equation) and independent.add(index))
    ]
    for variable in (*open_states, *free):
        if variable.name not in matching.matched:
            _LOGGER.warning(
                "%s: the start value of %s '%s' is not fixed; it is used as if it were",
                dae.name,
                "parameter" if variable.kind is Kind.CALCULATED else "state",
                variable.name,
            )
    unknowns = [s for s in (*always, *candidates) if s.name() in matching.matched]
    solved = [s for s in candidates if s.name() in matching.matched]
    if not solved and not checks:
        return None
    outputs = dae.of_kind(Kind.OUTPUT, Kind.LOCAL, Kind.CALCULATED)
    solution = solve(dae.name, matching.equations, unknowns, _started(outputs), start_point(dae))
    return InitialSystem(
        frozenset(symbol.name() for symbol in solved),
        {s.name(): ca.SX.sym(f"guess of {s.name()}") for s in solved},
        solution.blocks,
        solution.insert(column(state.symbol for state in states)),
        solution.insert(values),
        solution.insert(running.unknowns),
        solution.insert(column(_relative(check.expression) for check in checks)),
        tuple(check.origin for check in checks),
    )


def _started(variables: Iterable[Variable]) -> set[str]:
    """Names of those whose start value is not just zero."""
    return {v.name for v in variables if not (v.start.is_constant() and v.start.is_zero())}


class _Matching:
    """A maximum matching of equations and unknowns that grows by one equation at a time."""

    def __init__(self, names: Iterable[str]) -> None:
        self.offered = set(names)
        self.matched: dict[str, int] = {}
        self.equations: list[Residual] = []
        self._inside: list[list[str]] = []  # names in each equation

    def add(self, equation: Residual) -> bool:
        """Match an equation; if that is impossible it is superfluous and left out."""
        self._inside.append([symbol.name() for symbol in ca.symvar(equation.expression)])
        if augment(len(self.equations), self._unknowns, self.matched, set(), set()):
            self.equations.append(equation)
            return True
        self._inside.pop()
        return False

    def _unknowns(self, index: int) -> list[str]:
        return [name for name in self._inside[index] if name in self.offered]


class _Independence:
    """Which further equations are independent of those before, by numbers near the start."""

    # The rows are their derivatives by the candidates, while the model's own equations determine
    # everything else. Where those are singular, nothing is ruled out.

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
        matrix = near_start(jacobian, start_point(dae))
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
        return bool(
            np.linalg.norm(self._residual(index)) > 1e-9 * np.linalg.norm(self._rows[index])
        )

    def add(self, index: int) -> bool:
        """Take an equation in."""
        if self._rows is not None:
            residual = self._residual(index)
            self._basis.append(residual / np.linalg.norm(residual))
        return True

    def _residual(self, index: int) -> Any:
        residual = self._rows[index]
        for direction in self._basis * 2:  # twice: against rounding
            residual = residual - (residual @ direction) * direction
        return residual


def _relative(expression: Any) -> Any:
    """The residual divided by one plus the size of what it is made of."""
    size = ca.SX(1)
    for symbol in ca.symvar(expression):
        size += ca.fabs(ca.gradient(expression, symbol) * symbol)
    return expression / size


_SX = Any  # casadi.SX column
_SHOWN = 4  # places in a message


class ExplicitOde(Struct):
    """``xdot = f(t, u, x, p, c, q)``, ``y = g(..)``, ``w = h(..)``, ``c = c(p)``, ``x0 = s(p, c)``.

    The tuples of variables give the order of the elements in the columns of the same letter:
    states x, inputs u, parameters p, calculated parameters c, outputs y and locals w that are not
    states, constants with their values. The column q of modes is that of ``events``.

    The functions of time may also contain z, the unknowns of the blocks, which Newton's method
    solves at run time; ``guess`` holds its start values, in terms of t, u, x, p and c. Parameters
    that the initial system determines stand in c: as guesses in ``c``, as symbols in ``c_running``.
    They are made of the expressions of ``inner``: everything that has a name and is computed,
    protected or not, which is no part of the interface.
    """

    name: str
    description: str
    time: _SX
    constants: tuple[Variable, ...] = ()
    inputs: tuple[Variable, ...] = ()
    states: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    calculated: tuple[Variable, ...] = ()
    outputs: tuple[Variable, ...] = ()
    locals: tuple[Variable, ...] = ()
    xdot: _SX = field(default_factory=column)
    y: _SX = field(default_factory=column)
    w: _SX = field(default_factory=column)
    c: _SX = field(default_factory=column)
    start: _SX = field(default_factory=column)
    c_running: _SX = field(default_factory=column)
    blocks: tuple[EquationBlock, ...] = ()
    guess: _SX = field(default_factory=column)
    initial: InitialSystem | None = None
    initial_guess: _SX = field(default_factory=column)
    discrete: tuple[Variable, ...] = ()
    events: Events = field(default_factory=Events)
    guards: tuple[SelectionGuard, ...] = ()
    sampled: Sampled | None = None  # what happens at each step instead, if there is no equation
    inner: Column = field(default_factory=Column)
    nominals: Mapping[str, float] = field(default_factory=dict)  # of variables that declare one

    @property
    def z(self) -> _SX:
        """Column of the unknowns of all blocks."""
        return column(block.unknowns for block in self.blocks)

    @property
    def is_explicit(self) -> bool:
        """No block is left to Newton's method at run time."""
        return not self.blocks

    @property
    def arguments(self) -> list[_SX]:
        """Columns t, u, x, p, c, q: the arguments of every function of time."""
        groups = (self.inputs, self.states, self.parameters, self.calculated)
        return [
            self.time,
            *(column(v.symbol for v in group) for group in groups),
            self.events.modes,
        ]

    @property
    def indicating(self) -> tuple[Relation, ...]:
        """Relations whose changes have to be looked for; the times of others are known."""
        moving = ca.vertcat(*self.arguments[1:3], self.z)
        return tuple(
            relation
            for relation in self.events.relations
            if not self.events.is_time_event(relation, self.time, moving)
        )


def without_equations(name: str, description: str, sampled: Sampled) -> ExplicitOde:
    """A model that only changes at the ends of communication steps."""
    outputs = tuple(v for v in sampled.memory if v.kind is Kind.OUTPUT)
    hidden = sampled.memory[len(outputs) :]
    return ExplicitOde(
        name,
        description,
        sampled.time,
        inputs=sampled.inputs,
        parameters=sampled.parameters,
        outputs=outputs,
        locals=hidden,
        y=ca.SX.zeros(len(outputs)),
        w=ca.SX.zeros(len(hidden)),
        sampled=sampled,
    )


def make_explicit(dae: ResidualDae) -> ExplicitOde:
    """Solve the residuals for the derivatives and all other unknowns."""
    try:
        return _made_explicit(dae)
    except UnmatchedError as error:
        located = [name for name in error.unknowns if name in dae.locations]
        if not located:
            raise
        listed = ", ".join(f"{name} at {dae.locations[name]}" for name in located[:_SHOWN])
        raise ModelicaError(f"{error}; declared are {listed}") from error


def _jumps(dae: ResidualDae, variable: Variable) -> bool:
    """Whether the equation of a variable that is no state changes at events."""
    if dae.is_state(variable):
        return False
    events = [relation.symbol.name() for relation in dae.events.relations]
    events += [sampler.symbol.name() for sampler in dae.events.samplers]
    residuals = [r for r in dae.residuals if ca.depends_on(ca.SX(r.expression), variable.symbol)]
    used = {symbol.name() for residual in residuals for symbol in ca.symvar(residual.expression)}
    return len(residuals) == 1 and not used.isdisjoint(events)


def _made_explicit(dae: ResidualDae) -> ExplicitOde:
    dae = reduce_index(dae)
    free = dae.of_kind(Kind.OUTPUT, Kind.LOCAL)
    for variable in free:
        if variable.state_select is StateSelect.NEVER and dae.is_state(variable):
            raise ModelicaError(
                f"{dae.name}: {dae.placed(variable.name)} has stateSelect = never, but it has to be"
                " a state: no constraint determines it"
            )
        if variable.state_select is StateSelect.ALWAYS and _jumps(dae, variable):
            raise ModelicaError(
                f"{dae.name}: {dae.placed(variable.name)} has stateSelect = always, but it jumps at"
                " events, so it cannot be a state"
            )
    states = tuple(variable for variable in free if dae.is_state(variable))
    others = tuple(variable for variable in free if not dae.is_state(variable))
    unknowns = [dae.derivatives[state.name] for state in states] + [v.symbol for v in others]
    solution = solve(dae.name, dae.residuals, unknowns, _started(others), start_point(dae))
    calculated = dae.of_kind(Kind.CALCULATED)
    outputs = tuple(variable for variable in others if variable.kind is Kind.OUTPUT)
    visible = tuple(v for v in others if v.kind is Kind.LOCAL and not v.protected)
    hidden = tuple(v for v in others if v.kind is Kind.LOCAL and v.protected)
    variables = (*outputs, *visible, *hidden)
    columns = ca.cse(
        ca.densify(
            column(
                (
                    *(solution.values[dae.derivatives[state.name].name()] for state in states),
                    *(solution.values[variable.name] for variable in variables),
                    _of_events(dae, states, solution),
                )
            )
        )
    )
    counts = [len(states), len(outputs), len(visible), len(hidden)]
    ends = [0, *accumulate(counts), columns.numel()]
    xdot, y, w, protected, of_events = ca.vertsplit(columns, ends)
    one_by_one = iter(ca.vertsplit(of_events))
    running = calculated_values(dae, calculated)
    initial = _initial_system(dae, states, solution)
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
        visible,
        xdot,
        y,
        w,
        guessed_values(dae, running),
        column(state.start for state in states),
        running,
        solution.blocks,
        _guesses(dae, solution.blocks, {}),
        initial,
        _guesses(dae, initial.blocks, initial.guesses) if initial else column(),
        dae.of_kind(Kind.DISCRETE),
        dae.events.map(lambda _: next(one_by_one)),
        tuple(
            replace(g, margin=solution.insert(g.margin), slope=solution.insert(g.slope))
            for g in dae.guards
        ),
        inner=Column(ca.vertcat(y, w, protected), tuple(v.name for v in variables)),
        nominals={v.name: abs(v.nominal) for v in dae.variables if v.nominal},
    )


def _of_events(dae: ResidualDae, states: Sequence[Variable], solution: Solution) -> _SX:
    """The expressions of the events in terms of knowns and unknowns of blocks."""
    names = {state.name for state in states}
    for reinit in dae.events.reinits:
        if reinit.state not in names:
            raise ModelicaError(
                f"{dae.name}: {reinit.origin}: '{reinit.state}' is not a state of the reduced"
                " system; give it stateSelect = StateSelect.always"
            )
    if strangers := sorted(dae.events.before - names):
        raise ModelicaError(
            f"{dae.name}: pre({strangers[0]}): pre() of a continuous variable is exported for"
            f" states only ({', '.join(sorted(names)) or 'the model has none'})"
        )
    return solution.insert(column(ca.SX(expression) for expression in dae.events.expressions()))


def _guesses(dae: ResidualDae, blocks: Sequence[EquationBlock], solved: Mapping[str, _SX]) -> _SX:
    """Start values of the blocks' unknowns, 0 for derivatives."""
    starts = {v.name: v.start for v in dae.of_kind(Kind.OUTPUT, Kind.LOCAL)} | dict(solved)
    names = (name for block in blocks for name in block.names)
    return ca.densify(column(starts.get(name, ca.SX(0)) for name in names))
