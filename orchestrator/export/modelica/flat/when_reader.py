"""When clauses, asserts and terminate: from rumoca's tree to equations of discrete variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import casadi as ca

from orchestrator.export.dae.events import Assertion, Message, Reinit, Termination
from orchestrator.export.modelica.flat.event_collector import EventCollector
from orchestrator.export.modelica.flat.expression import Interpreter, Scope
from orchestrator.export.modelica.flat.operators import choose
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.tensor import Tensor

Json = Any
_Scalar = Any
_ERROR_LEVEL = ca.SX(2)  # AssertionLevel.error


class WhenReader:
    """Reads the bodies of when clauses.

    Parameters
    ----------
    target
        Gives the symbols of an assigned variable from its name, which may have subscripts.

    Attributes
    ----------
    values
        Name of each assigned scalar to its value at events; without an active clause it keeps its
        value.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        collector: EventCollector,
        scope: Scope,
        target: Callable[[str], Tensor],
    ) -> None:
        self._interpreter = interpreter
        self._collector = collector
        self._scope = scope
        self._inside = replace(scope, event_free=True)
        self._target = target
        self.values: dict[str, _Scalar] = {}
        self.reinits: list[Reinit] = []
        self.assertions: list[Assertion] = []
        self.terminations: list[Termination] = []
        self.initially: set[str] = set()  # assigned in a clause with initial()

    def chain(self, chain: Json) -> None:
        """One ``when .. elsewhen .. end when``."""
        earlier: _Scalar = ca.SX(0)
        assigned: dict[str, _Scalar] = {}
        for clause in (chain["first"], *chain["else_when"]):
            fires, initially = self.condition(clause["condition"], self._scope)
            active = ca.logic_and(fires, ca.logic_not(earlier))
            self._body(clause["equations"], active, assigned)
            if initially:
                targets = (self._target(name) for name in _targets(clause["equations"]))
                self.initially |= {s.name() for target in targets for s in target.items}
            earlier = ca.logic_or(earlier, fires)
        for name, value in assigned.items():
            if name in self.values:
                raise Refusal(f"'{name}' assigned in two when-clauses", "join them with elsewhen")
            self.values[name] = value

    def condition(self, node: Json, scope: Scope) -> tuple[_Scalar, bool]:
        """Whether a clause fires, and whether it does so at initialisation."""
        elements = node["Array"]["elements"] if "Array" in node else [node]
        fires: _Scalar = ca.SX(0)
        initially = False
        for element in elements:
            call = element.get("BuiltinCall", {}).get("function")
            if call == "Initial":
                fires, initially = ca.logic_or(fires, self._collector.initial), True
            elif call == "Terminal":
                raise Refusal("terminal()", "an FMU is not told what its last instant is")
            else:
                value = self._interpreter.evaluate(element, scope)
                for item in value.items:
                    fires = ca.logic_or(fires, self.edge(item))
        return fires, initially

    def edge(self, condition: _Scalar) -> _Scalar:
        """Whether a condition has just become true; never at initialisation."""
        label = next(
            (
                relation.label
                for relation in self._collector.relations
                if ca.is_equal(relation.symbol, condition)
            ),
            str(condition)[:120],
        )
        symbol = self._collector.discrete(condition, label)
        rising = self._collector.edge(symbol, symbol)
        return ca.logic_and(rising, ca.logic_not(self._collector.initial))

    def _body(self, equations: Json, active: _Scalar, assigned: dict[str, _Scalar]) -> None:
        for equation in equations:
            tag, body = next(iter(equation.items()))
            visit = getattr(self, f"_when_{tag.lower()}", None)
            if visit is None:
                raise Refusal(f"a {tag} in a when-clause")
            visit(body, active, assigned)

    def _when_assign(self, body: Json, active: _Scalar, assigned: dict[str, _Scalar]) -> None:
        value = self._evaluate(body["value"])
        self.assign(self._target(body["target"]), value, active, assigned)

    def assign(
        self, target: Tensor, value: Tensor, active: _Scalar, assigned: dict[str, _Scalar]
    ) -> None:
        """``target = value`` where ``active``."""
        if value.shape not in {target.shape, ()}:
            raise Refusal(f"an assignment of shape {value.shape} to shape {target.shape}")
        items = value.items if value.shape else value.items * len(target.items)
        for symbol, item in zip(target.items, items, strict=True):
            otherwise = assigned.get(symbol.name(), self._collector.pre(symbol))
            assigned[symbol.name()] = choose(
                active, Tensor((), (item,)), Tensor((), (otherwise,))
            ).item

    def _when_conditional(self, body: Json, active: _Scalar, assigned: dict[str, _Scalar]) -> None:
        left = active
        for condition, equations in body["branches"]:
            chosen = self._evaluate(condition).item
            self._body(equations, ca.logic_and(left, chosen), assigned)
            left = ca.logic_and(left, ca.logic_not(chosen))
        self._body(body["else_branch"] or [], left, assigned)

    def _when_reinit(self, body: Json, active: _Scalar, _: object) -> None:
        symbols = self._target(body["state"]).items
        values = self._evaluate(body["value"]).items
        for symbol, value in zip(symbols, values, strict=True):
            origin = body.get("origin") or f"reinit({symbol.name()})"
            self.reinits.append(Reinit(symbol.name(), active, value, str(origin)))

    def _when_assert(self, body: Json, active: _Scalar, _: object) -> None:
        assertion = self.assertion(body, self._inside)
        condition = ca.logic_or(ca.logic_not(active), assertion.condition)
        self.assertions.append(replace(assertion, condition=condition, instant=True))

    def _when_terminate(self, body: Json, active: _Scalar, _: object) -> None:
        self.terminations.append(Termination(active, self._message(body["message"], self._inside)))

    def assertion(self, body: Json, scope: Scope) -> Assertion:
        """An ``assert``, of a when clause or of the model."""
        condition = self._interpreter.evaluate(body["condition"], scope).item
        level = _ERROR_LEVEL
        if body["level"] is not None:
            level = self._interpreter.evaluate(body["level"], scope).item
        message = self._message(body["message"], scope)
        return Assertion(condition, message, level, instant=False, origin="")

    def _evaluate(self, node: Json) -> Tensor:
        return self._interpreter.evaluate(node, self._inside)

    def _message(self, node: Json, scope: Scope) -> Message:
        return Message(tuple(self._pieces(node, scope)))

    def _pieces(self, node: Json, scope: Scope) -> Iterator[Any]:
        tag, body = next(iter(node.items()))
        if tag == "Literal" and "String" in body["value"]:
            yield str(body["value"]["String"])
        elif tag == "Binary" and body["op"] == "Add":
            yield from self._pieces(body["lhs"], scope)
            yield from self._pieces(body["rhs"], scope)
        elif tag == "StringConversion":
            yield self._interpreter.evaluate(body["value"], scope).item
        else:
            raise Refusal("a message that is not made of texts, + and String(number)")


def when_targets(chains: Json, algorithms: Json) -> set[str]:
    """Names, as written, of all variables that are assigned in when clauses."""
    found = set()
    for chain in chains:
        for clause in (chain["first"], *chain["else_when"]):
            found |= set(_targets(clause["equations"]))
    for algorithm in algorithms:
        for statement in algorithm["statements"]:
            if isinstance(statement, dict) and "When" in statement:
                found |= {output["name"] for output in algorithm["outputs"]}
    return found


def _targets(equations: Json) -> Iterator[str]:
    for equation in equations:
        tag, body = next(iter(equation.items()))
        if tag == "Assign":
            yield body["target"]
        elif tag == "Conditional":
            for _, inner in body["branches"]:
                yield from _targets(inner)
            yield from _targets(body["else_branch"] or [])
