"""From residuals to explicit functions: index reduction, blocks, initial system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.block_triangular import EquationBlock, Solution, UnmatchedError, solve
from orchestrator.export.dae.events import Events, Relation
from orchestrator.export.dae.index_reduction import reduce_index
from orchestrator.export.dae.initial_system import InitialSystem, initial_system
from orchestrator.export.dae.residual_dae import (
    Kind,
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

_SX = Any  # casadi.SX column
_SHOWN = 4  # places in a message


@dataclass(frozen=True)
class Inner:
    """Everything that has a name and is computed, protected or not: no part of the interface.

    The functions of time are made of these expressions, and their names say which are alike.
    """

    names: tuple[str, ...] = ()
    values: _SX = field(default_factory=lambda: ca.SX(0, 1))


@dataclass(frozen=True)
class ExplicitOde:
    """``xdot = f(t, u, x, p, c, q)``, ``y = g(..)``, ``w = h(..)``, ``c = c(p)``, ``x0 = s(p, c)``.

    The tuples of variables give the order of the elements in the columns of the same letter:
    states x, inputs u, parameters p, calculated parameters c, outputs y and locals w that are not
    states, constants with their values. The column q of modes is that of ``events``.

    The functions of time may also contain z, the unknowns of the blocks, which Newton's method
    solves at run time; ``guess`` holds its start values, in terms of t, u, x, p and c. Parameters
    that the initial system determines stand in c: as guesses in ``c``, as symbols in ``c_running``.
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
    c_running: _SX
    blocks: tuple[EquationBlock, ...] = ()
    guess: _SX = field(default_factory=lambda: ca.SX(0, 1))
    initial: InitialSystem | None = None
    initial_guess: _SX = field(default_factory=lambda: ca.SX(0, 1))
    discrete: tuple[Variable, ...] = ()
    events: Events = field(default_factory=Events)
    guards: tuple[SelectionGuard, ...] = ()
    sampled: Sampled | None = None  # what happens at each step instead, if there is no equation
    inner: Inner = field(default_factory=Inner)
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
        return [self.time, *(symbols(group) for group in groups), self.events.modes]

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
    empty = column(())
    outputs = tuple(v for v in sampled.memory if v.kind is Kind.OUTPUT)
    shown = sampled.memory[len(outputs) :]
    return ExplicitOde(
        name,
        description,
        sampled.time,
        (),
        sampled.inputs,
        (),
        sampled.parameters,
        (),
        outputs,
        shown,
        empty,
        ca.SX.zeros(len(outputs)),
        ca.SX.zeros(len(shown)),
        empty,
        empty,
        empty,
        sampled=sampled,
    )


def symbols(variables: Sequence[Variable]) -> _SX:
    """Column of the variables' symbols."""
    return ca.vertcat(ca.SX(0, 1), *(variable.symbol for variable in variables))


def make_explicit(dae: ResidualDae) -> ExplicitOde:
    """Solve the residuals for the derivatives and all other unknowns."""
    try:
        return _made_explicit(dae)
    except UnmatchedError as error:
        known = [name for name in error.unknowns if name in dae.places]
        if not known:
            raise
        shown = ", ".join(f"{name} at {dae.places[name]}" for name in known[:_SHOWN])
        raise ModelicaError(f"{error}; declared are {shown}") from error


def _made_explicit(dae: ResidualDae) -> ExplicitOde:
    dae = reduce_index(dae)
    free = dae.of_kind(Kind.OUTPUT, Kind.LOCAL)
    for variable in free:
        if variable.state_select is StateSelect.NEVER and dae.is_state(variable):
            raise ModelicaError(
                f"{dae.name}: '{variable.name}' has stateSelect = never, but it has to be a state:"
                " no constraint determines it"
            )
    states = tuple(variable for variable in free if dae.is_state(variable))
    others = tuple(variable for variable in free if not dae.is_state(variable))
    unknowns = [dae.derivatives[state.name] for state in states] + [v.symbol for v in others]
    started = frozenset(v.name for v in others if not (v.start.is_constant() and v.start.is_zero()))
    solution = solve(dae.name, dae.residuals, unknowns, started, start_point(dae))
    calculated = dae.of_kind(Kind.CALCULATED)
    outputs = tuple(variable for variable in others if variable.kind is Kind.OUTPUT)
    shown = tuple(v for v in others if v.kind is Kind.LOCAL and not v.protected)
    hidden = tuple(v for v in others if v.kind is Kind.LOCAL and v.protected)
    named = (*outputs, *shown, *hidden)
    columns = ca.cse(
        ca.densify(
            column(
                (
                    *(solution.values[dae.derivatives[state.name].name()] for state in states),
                    *(solution.values[variable.name] for variable in named),
                    _of_events(dae, states, solution),
                )
            )
        )
    )
    counts = [len(states), len(outputs), len(shown), len(hidden)]
    ends = [0, *accumulate(counts), columns.numel()]
    xdot, y, w, protected, of_events = ca.vertsplit(columns, ends)
    one_by_one = iter(ca.vertsplit(of_events))
    running = calculated_values(dae, calculated)
    initial = initial_system(dae, states, solution)
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
        guessed_values(dae, running),
        column(state.start for state in states),
        running,
        solution.blocks,
        _guesses(dae, solution.blocks, {}),
        initial,
        _guesses(dae, initial.blocks, initial.guesses) if initial else column(()),
        dae.of_kind(Kind.DISCRETE),
        dae.events.map(lambda _: next(one_by_one)),
        tuple(
            replace(g, margin=solution.insert(g.margin), slope=solution.insert(g.slope))
            for g in dae.guards
        ),
        inner=Inner(tuple(v.name for v in named), ca.vertcat(y, w, protected)),
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
    names = [block.unknowns[i].name() for block in blocks for i in range(block.unknowns.numel())]
    return ca.densify(column(starts.get(name, ca.SX(0)) for name in names))
