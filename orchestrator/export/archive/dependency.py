"""Which knowns an unknown depends on, for ModelStructure, also in models that are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from orchestrator.export.codegen.layout import Layout, Region, Slot, is_exact
from orchestrator.export.dae.block_triangular import EquationBlock, switched_symbols
from orchestrator.export.dae.events import Events
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import Sampled, column

Dependencies = list[tuple[Slot, str]]  # known and its dependenciesKind
_UNKNOWNS = (
    Region.STATE,
    Region.CALCULATED,
    Region.DISCRETE,
    Region.OUTPUT,
    Region.DERIVATIVE,
)


@dataclass(frozen=True)
class _DependencyTable:
    """Unknowns as functions of knowns, one row for each unknown."""

    knowns: tuple[Slot, ...]
    values: Any
    jacobian: Any
    switches: bool  # any comparison or rounding at all; they are looked for row by row

    @classmethod
    def of(cls, values: Any, knowns: tuple[Slot, ...]) -> _DependencyTable:
        symbols = column(slot.variable.symbol for slot in knowns)
        return cls(knowns, values, ca.jacobian(values, symbols), bool(switched_symbols(values)))

    def row(self, index: int) -> list[tuple[Slot, Any]]:
        """Knowns of a row with the derivative by each; None where a switch depends on it."""
        switched = switched_symbols(self.values[index]) if self.switches else set()
        row = self.jacobian[index, :]
        _, columns = row.sparsity().get_triplet()
        return [
            (known := self.knowns[place], None if known.name in switched else row[0, place])
            for place in columns
        ]


class DependencyTable:
    """Dependencies of outputs, derivatives and initial unknowns.

    layout: The model with its value references.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        ode = layout.ode
        _, _, x, _, c, _ = ode.arguments
        unknowns = [slot for region in _UNKNOWNS for slot in layout.of(region)]
        self._rows = {slot.reference: index for index, slot in enumerate(unknowns)}
        discrete = column(variable.symbol for variable in ode.discrete)
        values = ca.vertcat(x, c, discrete, ode.y, ode.xdot)
        self._values = _without(_without_modes(ode.events, values, ode.blocks), ode.blocks)
        settable = (*layout.of(Region.PARAMETER), *layout.of(Region.CALCULATED))
        self._parameters = {slot.name for slot in settable}
        self._tunable = {slot.name for slot in settable if layout.tunable(slot)}

    def continuous(self, unknown: Slot) -> Dependencies:
        """Dependencies on inputs and states while the simulation runs."""
        row = self._continuous.row(self._rows[unknown.reference])
        return [(known, self._kind(slope)) for known, slope in row]

    def initial(self, unknown: Slot) -> Dependencies:
        """Dependencies on inputs, parameters and exact start values at initialisation."""
        return [
            (known, "constant" if slope is not None and slope.is_constant() else "dependent")
            for known, slope in self._initial.row(self._rows[unknown.reference])
        ]

    @cached_property
    def _continuous(self) -> _DependencyTable:
        knowns = (*self._layout.of(Region.INPUT), *self._layout.of(Region.STATE))
        return _DependencyTable.of(self._values, knowns)

    @cached_property
    def _initial(self) -> _DependencyTable:
        ode = self._layout.ode
        values: Any = self._values
        _, _, x, _, c, _ = ode.arguments
        states = self._layout.of(Region.STATE)
        free = [index for index in range(len(states)) if is_exact(ode, index)]
        followers = [index for index in range(len(states)) if index not in free]
        if followers:
            places = ca.vertcat(*(x[index] for index in followers))
            starts = _initial_dependencies(ode)
            starts = ca.vertcat(*(starts[index] for index in followers))
            values = ca.substitute(values, places, starts)
        values = ca.substitute(values, c, ode.c)
        knowns = (
            *self._layout.of(Region.INPUT),
            *(states[index] for index in free),
            *self._layout.of(Region.PARAMETER),
        )
        return _DependencyTable.of(values, knowns)

    def _kind(self, slope: Any) -> str:
        if slope is None:
            return "dependent"
        names = {symbol.name() for symbol in ca.symvar(slope)}
        if not names:
            return "constant"
        if not names <= self._parameters:
            return "dependent"
        return "tunable" if names & self._tunable else "fixed"


def _without_modes(events: Events, values: Any, blocks: Sequence[EquationBlock]) -> Any:
    """The expressions with every symbol of an event replaced by something that depends alike."""
    if not events:
        return values
    sources = {r.symbol.name(): r.margin for r in events.relations}
    sources |= {d.symbol.name(): d.value for d in events.discrete}
    modes = {symbol.name() for symbol in events.symbols}
    replacements = []
    for symbol in events.symbols:
        found: dict[str, Any] = {}
        waiting, seen = [symbol.name()], {symbol.name()}
        while waiting:
            source = sources.get(waiting.pop(), ca.SX(0))
            for other in ca.symvar(_without(source, blocks)):
                if other.name() not in modes:
                    found[other.name()] = other
                elif other.name() not in seen:
                    seen.add(other.name())
                    waiting.append(other.name())
        replacements.append(ca.sin(sum(map(ca.sin, found.values()), ca.SX(1))))
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
        given = ca.substitute(block.residual, unknowns, replacements)
        knowns = [symbol for symbol in ca.symvar(given) if symbol.name() not in block.names]
        surrogate = ca.sin(sum((ca.sin(symbol) for symbol in knowns), ca.SX(1)))
        unknowns = ca.vertcat(unknowns, block.unknowns)
        replacements = ca.vertcat(replacements, ca.repmat(surrogate, block.unknowns.numel(), 1))
    return ca.substitute(values, unknowns, replacements)


class SampledDependencies:
    """Dependencies of outputs on the inputs of a step, and at the start.

    layout: The model with its value references.
    sampled: Its steps.
    """

    def __init__(self, layout: Layout, sampled: Sampled) -> None:
        self._layout = layout
        self._sampled = sampled

    def continuous(self, unknown: Slot) -> Dependencies:
        """Inputs of a step that act on an output at its end."""
        direct = self._sampled.direct[unknown.name]
        inputs = self._layout.of(Region.INPUT)
        return [(slot, "dependent") for slot in inputs if slot.name in direct]

    def initial(self, unknown: Slot) -> Dependencies:
        """Inputs and parameters that form an output at the start."""
        place = unknown.reference - self._layout.of(Region.OUTPUT)[0].reference
        knowns = (*self._layout.of(Region.INPUT), *self._layout.of(Region.PARAMETER))
        u, p, _ = self._sampled.columns
        pattern = ca.jacobian_sparsity(self._sampled.first[place], ca.vertcat(u, p))
        return [(knowns[place], "dependent") for place in sorted(set(pattern.get_triplet()[1]))]


def dependencies_of(layout: Layout) -> DependencyTable | SampledDependencies:
    """The dependencies of a model."""
    sampled = layout.ode.sampled
    return DependencyTable(layout) if sampled is None else SampledDependencies(layout, sampled)
