"""The discrete part of a flat model: equations of discrete variables, when clauses, asserts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import replace
from orchestrator.export.dae.events import DiscreteEquation, Events
from orchestrator.export.dae.residual_dae import Kind, Residual, Variable
from orchestrator.export.modelica.flat.expression import (
    EventCollector,
    ExpressionScope,
    Interpreter,
)
from orchestrator.export.modelica.flat.model import (
    FlatEquation,
    FlatModel,
    Refusal,
    without_subscripts,
)
from orchestrator.export.modelica.flat.statements import WhenReader
from orchestrator.export.modelica.flat.tensor import Tensor
from orchestrator.export.modelica.flat.variable import VariableReader

Json = Any


#: A variable that an equation may define, what it is equal to, and whether it stands right.
_Choice = tuple[Tensor, Json, bool]


class DiscreteReader:
    """Sorts out what changes at events only.

    A Boolean or Integer equation without any event, such as ``b = noEvent(x > 0)``, is left to the
    continuous part.

    names: Scalar variables with a discrete equation.
    when: Reader of when clauses.
    """

    def __init__(
        self,
        flat: FlatModel,
        interpreter: Interpreter,
        collector: EventCollector,
        scope: ExpressionScope,
        variables: VariableReader,
    ) -> None:
        self._flat = flat
        self._interpreter = interpreter
        self._collector = collector
        self._scope = scope
        self._variables = variables
        self.when = WhenReader(interpreter, collector, scope, variables.target)
        self._definitions: dict[str, tuple[Any, str]] = {}  # value and origin
        self._starts: dict[str, Any] = {}
        self._kept: set[str] = set()  # of algorithms: they may keep their value
        self.names: set[str] = set()

    def take(self, equations: Sequence[FlatEquation]) -> set[int]:
        """Keep equations ``v = ..`` of discrete variables; returns which these were.

        An equation of two variables defines the one that has no other equation.
        """
        waiting = {index: self._choices(equation) for index, equation in enumerate(equations)}
        taken = set()
        while waiting:
            for index, choices in waiting.items():
                waiting[index] = [choice for choice in choices if not self._is_defined(choice[0])]
            waiting = {index: choices for index, choices in waiting.items() if choices}
            clear = [index for index, choices in waiting.items() if len(choices) == 1]
            for index in clear or list(waiting)[:1]:
                if self._take(equations[index], waiting[index].pop(0)):
                    taken.add(index)
                    del waiting[index]
        return taken

    def _choices(self, equation: FlatEquation) -> list[_Choice]:
        """What an equation may define."""
        sides = _sides(equation.residual)
        choices: list[_Choice] = []
        with self._flat.reporting(equation.origin):
            for side, node in enumerate(sides or ()):
                target = self._discrete_target(node, self._scope.in_loop(equation.loop))
                if target is not None and sides:
                    choices.append((target, sides[1 - side], side == 1))
        return choices

    def _take(self, equation: FlatEquation, choice: _Choice) -> bool:
        target, node, is_right = choice
        if self._is_defined(target):
            return False
        with self._flat.reporting(equation.origin):
            value = self._interpreter.evaluate(node, self._scope.in_loop(equation.loop))
            if is_right and any(map(self._moves, value.items)):
                return False  # x = n: an equation for x
            self._define(target, value, equation.origin)
        return True

    def take_binding(self, name: str, binding: Json, origin: str) -> bool:
        """Keep a declaration equation of a discrete variable; whether it was one."""
        target = self._variables.names[name]
        first = target.items[0] if target.items else ca.SX(0)
        if not first.is_symbolic() or not self.is_discrete(first.name()):
            return False
        with self._flat.reporting(origin):
            self._define(target, self._interpreter.evaluate(binding, self._scope), origin)
        return True

    def is_discrete(self, name: str) -> bool:
        """Whether a scalar variable of the model changes at events only."""
        return self._variables.kind(name) is Kind.DISCRETE

    def take_value(self, target: Tensor, value: Tensor, origin: str, *, initial: bool) -> bool:
        """Keep what an algorithm section gives a discrete variable; whether it is one."""
        if not all(item.is_symbolic() and self.is_discrete(item.name()) for item in target.items):
            return False
        if initial:
            self._starts.update((symbol.name(), item) for symbol, item in _pairs(target, value))
        else:
            self._define(target, value, origin)
            self._kept |= {symbol.name() for symbol in target.items}
        return True

    def take_initial(self, equation: FlatEquation) -> bool:
        """Keep an initial equation ``v = ..`` or ``pre(v) = ..``; whether it was one."""
        sides = _sides(equation.residual)
        scope = replace(self._scope, event_free=True)
        for target_node, value_node in (sides, sides[::-1]) if sides else ():
            with self._flat.reporting(equation.origin):
                call = target_node.get("BuiltinCall", {})
                node = call["args"][0] if call.get("function") == "Pre" else target_node
                target = self._discrete_target(node, scope)
                if target is None:
                    continue
                value = self._interpreter.evaluate(value_node, scope)
                for symbol, item in _pairs(target, value):
                    name: str | None = symbol.name()
                    if node is target_node and name not in self._kept.union(self.when.values):
                        name = self._kept_in(symbol)
                    if name is None:
                        raise Refusal(
                            f"an initial equation for '{symbol.name()}', which has an equation of"
                            " its own that also holds at the start",
                            "remove one of them",
                        )
                    self._starts[name] = item
            return True
        return False

    def _kept_in(self, symbol: Any) -> str | None:
        """The variable whose ``pre()`` another one is, by equations ``a = b; b = pre(c)``."""
        value = symbol
        for _ in self._definitions:
            if not (value.is_symbolic() and value.name() in self._definitions):
                break
            value = self._definitions[value.name()][0]
        return self._collector.of_pre(value)

    def read_when_clauses(self) -> None:
        """Read all when clauses and asserts."""
        for chain in self._flat.tree["when_chains"]:
            location = self._flat.placed("when-clause", chain)
            first_new = len(self.when.assertions)
            with self._flat.reporting(location):
                self.when.chain(chain)
            new = self.when.assertions[first_new:]
            self.when.assertions[first_new:] = [
                replace(assertion_read, origin=location) for assertion_read in new
            ]
        for key in ("assert_equations", "initial_assert_equations"):
            for entry in self._flat.tree[key]:
                location = self._flat.placed("assert", entry)
                with self._flat.reporting(location):
                    scope = replace(self._scope, event_free=True)
                    assertion = self.when.assertion(entry, scope)
                    if key.startswith("initial"):
                        has_begun = ca.logic_not(self._collector.initial)
                        condition = ca.logic_or(has_begun, assertion.condition)
                        assertion = replace(assertion, condition=condition, instant=True)
                    self.when.assertions.append(replace(assertion, origin=location))
        for name, value in self.when.values.items():
            if name in self._definitions:
                raise ModelicaError(
                    f"{self._flat.name}: '{name}' is assigned in a when-clause and by"
                    f" {self._definitions[name][1]}"
                )
            self.names.add(name)
            self._definitions[name] = value, "when-clause"

    def continuous(self) -> Iterator[Residual]:
        """Equations of Boolean and Integer variables that need no event.

        They hold between events as well, or follow from parameters alone.
        """
        for name, (value, origin) in self._definitions.items():
            keeps = name in self.when.values or name in self._kept
            if keeps or self._changes_at_events_only(value):
                self.names.add(name)
            else:
                self._refuse_moving(name, value, origin)
                yield Residual(self._variables.target(name).items[0] - value, origin)

    def _refuse_moving(self, name: str, value: Any, origin: str) -> None:
        """Refuse what may change at events only, and is given what moves between them."""
        tree, plain = self._flat.tree, without_subscripts(name)
        kind = tree["variable_type_names"].get(name) or tree["variable_type_names"].get(plain)
        if not self._moves(value) or kind == "Boolean":
            return
        kind_text = "an Integer" if kind == "Integer" else f"a discrete {kind}"
        raise ModelicaError(
            f"{self._flat.name}: {origin}: '{name}' is {kind_text}, so it changes at events only,"
            " but"
            " its value moves between them; assign it in a when clause, or round the value in the"
            " model by integer(..)"
        )

    def events(self, variables: Iterable[Variable]) -> Events:
        """Everything that happens at instants, in terms of the model's variables."""
        collector, when = self._collector, self.when
        equations = [self._equation(v) for v in variables if v.kind is Kind.DISCRETE]
        return Events(
            collector.initial,
            tuple(collector.relations),
            tuple(collector.samplers),
            (*equations, *collector.hidden),
            tuple(when.reinits),
            tuple(when.assertions),
            tuple(when.terminations),
            frozenset(collector.before),
            collector.has_homotopy,
        )

    def _equation(self, variable: Variable) -> DiscreteEquation:
        name = variable.name
        start = self._starts.get(name, variable.start)
        keeps_value = name in self.when.values and name not in self.when.initially
        return DiscreteEquation(
            variable.symbol,
            self._collector.pre(variable.symbol),
            self._definitions[name][0],
            start,
            exact=keeps_value and name not in self._starts and ca.SX(start).is_constant(),
            label=name,
        )

    def _changes_at_events_only(self, value: Any) -> bool:
        fixed = {Kind.PARAMETER, Kind.CALCULATED, Kind.CONSTANT}
        kinds = [self._variables.kind(symbol.name()) for symbol in ca.symvar(value)]
        return not self._moves(value) and any(kind not in fixed for kind in kinds)

    def _moves(self, value: Any) -> bool:
        names = (symbol.name() for symbol in ca.symvar(value))
        return any(self._interpreter.is_continuous(name) for name in names)

    def _define(self, target: Tensor, value: Tensor, origin: str) -> None:
        for symbol, item in _pairs(target, value):
            name = symbol.name()
            if name in self._definitions:
                raise Refusal(
                    f"a second equation for the discrete variable '{name}' (the first:"
                    f" {self._definitions[name][1]})"
                )
            self._definitions[name] = item, origin

    def _is_defined(self, target: Tensor) -> bool:
        names = [item.name() for item in target.items]
        return any(
            name in self._definitions or self._variables.is_assigned_in_when(name) for name in names
        )

    def _discrete_target(self, node: Json, scope: ExpressionScope) -> Tensor | None:
        """Symbols of a discrete variable, or of an array of them, if the node is one."""
        nodes = node["Array"]["elements"] if "Array" in node else [node]
        names = [entry["VarRef"]["name"]["name"] for entry in nodes if "VarRef" in entry]
        if len(names) != len(nodes) or not scope.names.keys() >= set(names):
            return None
        target = self._interpreter.evaluate(node, scope)
        for item in target.items:
            if not item.is_symbolic() or self._variables.kind(item.name()) is not Kind.DISCRETE:
                return None
        return target if target.items else None


def _sides(residual: Json) -> tuple[Json, Json] | None:
    body = residual.get("Binary") if isinstance(residual, dict) else None
    return (body["lhs"], body["rhs"]) if body and body["op"] == "Sub" else None


def _pairs(target: Tensor, value: Tensor) -> Iterator[tuple[Any, Any]]:
    if value.shape not in {target.shape, ()}:
        raise Refusal(f"a value of shape {value.shape} for shape {target.shape}")
    items = value.items if value.shape else value.items * len(target.items)
    return zip(target.items, items, strict=True)
