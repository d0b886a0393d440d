"""Which knowns an unknown depends on, for ModelStructure, also in models that are sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import networkx as nx

from orchestrator.export.codegen.layout import Layout, Region, Slot, is_exact
from orchestrator.export.dae.block_triangular import EquationBlock, switched_symbols
from orchestrator.export.dae.events import Events
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import Sampled, column

Dependencies = list[tuple[Slot, str]]  # known and its dependenciesKind
Dependent = Callable[[Slot], Dependencies]
_UNKNOWNS = (
    Region.STATE,
    Region.CALCULATED,
    Region.DISCRETE,
    Region.OUTPUT,
    Region.DERIVATIVE,
)


def _rows(values: Any, knowns: Sequence[Slot]) -> Callable[[int], list[tuple[Slot, Any]]]:
    """Knowns of a value with the derivative by each; None where a switch depends on it."""
    jacobian = ca.jacobian(values, column(slot.variable.symbol for slot in knowns))
    switches = bool(switched_symbols(values))  # any at all; they are looked for row by row

    def row(index: int) -> list[tuple[Slot, Any]]:
        switched = switched_symbols(values[index]) if switches else set()
        slopes = jacobian[index, :]
        _, columns = slopes.sparsity().get_triplet()
        return [
            (
                input_variable := knowns[column],
                None if input_variable.name in switched else slopes[0, column],
            )
            for column in columns
        ]

    return row


def _of_equations(layout: Layout) -> tuple[Dependent, Dependent]:
    ode = layout.ode
    _, _, x, _, c, _ = ode.arguments
    unknowns = [slot for region in _UNKNOWNS for slot in layout.of(region)]
    numbers = {slot.reference: index for index, slot in enumerate(unknowns)}
    discrete = column(variable.symbol for variable in ode.discrete)
    values = ca.vertcat(x, c, discrete, ode.y, ode.xdot)
    values = _without(_without_modes(ode.events, values, ode.blocks), ode.blocks)
    inputs, states = layout.of(Region.INPUT), layout.of(Region.STATE)
    running = _rows(values, (*inputs, *states))
    free = [index for index in range(len(states)) if is_exact(ode, index)]
    followers = [index for index in range(len(states)) if index not in free]
    if followers:
        starts = _initial_dependencies(ode)
        starts = ca.vertcat(*(starts[index] for index in followers))
        values = ca.substitute(values, ca.vertcat(*(x[index] for index in followers)), starts)
    values = ca.substitute(values, c, ode.c)
    exact = (states[index] for index in free)
    at_start = _rows(values, (*inputs, *exact, *layout.of(Region.PARAMETER)))
    settable = (*layout.of(Region.PARAMETER), *layout.of(Region.CALCULATED))
    parameters = {slot.name for slot in settable}
    tunable = {slot.name for slot in settable if layout.tunable(slot)}

    def kind(slope: Any) -> str:
        names = set() if slope is None else {symbol.name() for symbol in ca.symvar(slope)}
        if slope is None or not names <= parameters:
            return "dependent"
        if not names:
            return "constant"
        return "tunable" if names & tunable else "fixed"

    def continuous(unknown: Slot) -> Dependencies:
        return [(source, kind(slope)) for source, slope in running(numbers[unknown.reference])]

    def initial(unknown: Slot) -> Dependencies:
        return [
            (source, "constant" if slope is not None and slope.is_constant() else "dependent")
            for source, slope in at_start(numbers[unknown.reference])
        ]

    return continuous, initial


def _without_modes(events: Events, values: Any, blocks: Sequence[EquationBlock]) -> Any:
    """The expressions with every symbol of an event replaced by something that depends alike."""
    if not events:
        return values
    modes = {symbol.name() for symbol in events.symbols}
    sources = {r.symbol.name(): r.margin for r in events.relations}
    sources |= {d.symbol.name(): d.value for d in events.discrete}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(symbol.name() for symbol in events.symbols)
    knowns: dict[str, Any] = {}
    for name, source in sources.items():
        inside = {symbol.name(): symbol for symbol in ca.symvar(_without(source, blocks))}
        graph.add_edges_from((name, target) for target in inside)
        knowns |= inside
    replacements = []
    for symbol in events.symbols:
        reached = nx.descendants(graph, symbol.name()).difference(modes)
        replacements.append(ca.sin(sum((ca.sin(knowns[n]) for n in sorted(reached)), ca.SX(1))))
    return ca.substitute(values, ca.vertcat(*events.symbols), ca.vertcat(*replacements))


def _initial_dependencies(ode: ExplicitOde) -> Any:
    """Start values of the states; solved ones are replaced by something that depends alike."""
    if ode.initial is None:
        return ode.start
    guesses = column(ode.initial.guesses.values())
    starts = _without(ode.initial.x, ode.initial.blocks)
    return ca.substitute(starts, guesses, ca.SX.zeros(guesses.numel()))


def _without(values: Any, blocks: Sequence[EquationBlock]) -> Any:
    unknowns, replacements = ca.SX(0, 1), ca.SX(0, 1)
    for block in blocks:
        names = set(block.names)
        substituted = ca.substitute(block.residual, unknowns, replacements)
        knowns = [symbol for symbol in ca.symvar(substituted) if symbol.name() not in names]
        surrogate = ca.sin(sum((ca.sin(symbol) for symbol in knowns), ca.SX(1)))
        unknowns = ca.vertcat(unknowns, block.unknowns)
        replacements = ca.vertcat(replacements, ca.repmat(surrogate, len(names), 1))
    return ca.substitute(values, unknowns, replacements)


def _of_steps(layout: Layout, sampled: Sampled) -> tuple[Dependent, Dependent]:
    inputs = layout.of(Region.INPUT)
    knowns = (*inputs, *layout.of(Region.PARAMETER))
    u, p, _ = sampled.columns

    def continuous(unknown: Slot) -> Dependencies:
        """Inputs of a step that act on an output at its end."""
        direct = sampled.direct[unknown.name]
        return [(slot, "dependent") for slot in inputs if slot.name in direct]

    def initial(unknown: Slot) -> Dependencies:
        """Inputs and parameters that form an output at the start."""
        index = unknown.reference - layout.of(Region.OUTPUT)[0].reference
        pattern = ca.jacobian_sparsity(sampled.first[index], ca.vertcat(u, p))
        return [(knowns[at], "dependent") for at in sorted(set(pattern.get_triplet()[1]))]

    return continuous, initial


def dependencies_of(layout: Layout) -> tuple[Dependent, Dependent]:
    """What unknowns depend on while the simulation runs, and at initialisation.

    The first gives inputs and states, the second inputs, parameters and exact start values.
    """
    sampled = layout.ode.sampled
    return _of_equations(layout) if sampled is None else _of_steps(layout, sampled)
