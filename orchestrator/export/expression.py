"""Interpreter of rumoca's JSON expressions: from a tree to scalar CasADi expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from orchestrator.export.builtin import BUILTINS, EVENT_GENERATING, REFUSED
from orchestrator.export.event_collector import EventCollector
from orchestrator.export.refusal import Refusal
from orchestrator.export.tensor import Scalar, Subscript, Tensor

Json = Any
FunctionCaller = Callable[[str, list[Tensor]], Tensor]

_ELEMENTWISE: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Add": lambda a, b: a + b,
    "AddElem": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "SubElem": lambda a, b: a - b,
    "MulElem": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "DivElem": lambda a, b: a / b,
    "Exp": lambda a, b: a**b,
    "ExpElem": lambda a, b: a**b,
    "And": ca.logic_and,
    "Or": ca.logic_or,
}
_RELATIONS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Lt": lambda a, b: a < b,
    "Le": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "Ge": lambda a, b: a >= b,
    "Eq": lambda a, b: a == b,
    "Neq": lambda a, b: a != b,
}
_UNARY: dict[str, Callable[[Scalar], Scalar]] = {
    "Minus": lambda a: -a,
    "DotMinus": lambda a: -a,
    "Plus": lambda a: a,
    "DotPlus": lambda a: a,
    "Not": ca.logic_not,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Names that an expression can see, and whether relations may switch without an event."""

    names: Mapping[str, Tensor]
    event_free: bool = False


class Interpreter:
    """Evaluates expression trees.

    Parameters
    ----------
    derivative
        Gives ``der(symbol)`` of a scalar symbol; raises :class:`Refusal` where there is none.
    is_continuous
        Whether a symbol varies continuously, so that a relation on it is an event.
    call
        Evaluates a user's function.
    events
        Takes note of relations, pre(), sample() and the like.
    """

    def __init__(
        self,
        derivative: Callable[[Scalar], Scalar],
        is_continuous: Callable[[str], bool],
        call: FunctionCaller,
        events: EventCollector,
    ) -> None:
        self._derivative = derivative
        self.is_continuous = is_continuous
        self._call = call
        self._events = events
        self._event_builtins: dict[str, Callable[..., Tensor]] = {
            "Pre": lambda value: value.map(events.pre),
            "Edge": lambda value: value.map(events.edge),
            "Change": lambda value: value.map(events.change),
            "Sample": lambda start, interval: start.zip(interval, events.sample),
            "Initial": lambda: Tensor((), (events.initial,)),
        }
        self._rounding: dict[str, Callable[..., Tensor]] = {
            "Floor": lambda value: value.map(events.floor),
            "Integer": lambda value: value.map(events.floor),
            "Ceil": lambda value: value.map(lambda v: -events.floor(-v)),
            "Div": lambda x, y: x.zip(y, lambda a, b: events.truncate(a / b)),
            "Mod": lambda x, y: x.zip(y, lambda a, b: a - events.floor(a / b) * b),
            "Rem": lambda x, y: x.zip(y, lambda a, b: a - events.truncate(a / b) * b),
        }

    def evaluate(self, node: Json, scope: Scope) -> Tensor:
        """Value of an expression tree."""
        if not isinstance(node, dict) or len(node) != 1:
            raise Refusal(f"an expression of an unknown form: {str(node)[:80]}")
        tag, body = next(iter(node.items()))
        visit = getattr(self, f"_visit_{_snake(tag)}", None)
        if visit is None:
            raise Refusal(f"an expression of the kind {tag}")
        result: Tensor = visit(body, scope)
        return result

    def subscripts(self, listed: list[Json], scope: Scope) -> list[Subscript | None]:
        """1-based subscripts; ``None`` for a colon."""
        return [self._subscript(entry, scope) for entry in listed]

    def _subscript(self, entry: Json, scope: Scope) -> Subscript | None:
        tag = entry if isinstance(entry, str) else next(iter(entry))
        if tag == "Colon":
            return None
        if tag == "Index":
            return int(entry["Index"]["value"])
        value = self.evaluate(entry["Expr"]["expr"], scope)
        if value.shape:
            return tuple(Tensor((), (item,)).integer for item in value.items)
        return value.integer

    def _visit_literal(self, body: Json, _: Scope) -> Tensor:
        tag, value = next(iter(body["value"].items()))
        if tag not in {"Real", "Integer", "Boolean"}:
            raise Refusal(f"a {tag} value", "only Real, Integer and Boolean are exported")
        return Tensor.scalar(float(value))

    def _visit_var_ref(self, body: Json, scope: Scope) -> Tensor:
        name = body["name"]["name"]
        value = scope.names.get(name)
        if value is None:
            raise Refusal(
                f"the name '{name}', which is no Real, Integer or Boolean variable",
                "enumerations, strings and slices of component arrays are not exported yet",
            )
        return value.select(self.subscripts(body["subscripts"], scope))

    def _visit_index(self, body: Json, scope: Scope) -> Tensor:
        return self.evaluate(body["base"], scope).select(self.subscripts(body["subscripts"], scope))

    def _visit_binary(self, body: Json, scope: Scope) -> Tensor:
        operation = body["op"]
        left, right = self.evaluate(body["lhs"], scope), self.evaluate(body["rhs"], scope)
        if operation == "Mul":
            return left.multiply(right)
        if operation in _RELATIONS:
            if scope.event_free:
                return left.zip(right, _RELATIONS[operation])
            return left.zip(right, lambda a, b: self._relation(operation, a, b))
        if operation not in _ELEMENTWISE:
            raise Refusal(f"the operator {operation}")
        if operation == "Exp" and (left.shape or right.shape):
            raise Refusal("a power of an array", "use .^ for elementwise powers")
        return left.zip(right, _ELEMENTWISE[operation])

    def _visit_unary(self, body: Json, scope: Scope) -> Tensor:
        if body["op"] not in _UNARY:
            raise Refusal(f"the operator {body['op']}")
        return self.evaluate(body["rhs"], scope).map(_UNARY[body["op"]])

    def _visit_if(self, body: Json, scope: Scope) -> Tensor:
        result = self.evaluate(body["else_branch"], scope)
        for condition_node, node in reversed(body["branches"]):
            condition = self.evaluate(condition_node, scope).item
            chosen = self.evaluate(node, scope)
            if chosen.shape != result.shape:
                raise Refusal(f"an if-expression of shapes {chosen.shape} and {result.shape}")
            result = choose(condition, chosen, result)
        return result

    def _visit_array(self, body: Json, scope: Scope) -> Tensor:
        parts = [self.evaluate(element, scope) for element in body["elements"]]
        if body["kind"] == "Vertical":  # [a, b; c, d]: rows that are themselves Horizontal
            return Tensor.stack(parts)
        if body["kind"] == "Horizontal" and any(part.shape for part in parts):
            raise Refusal("a matrix built of blocks [A, B]", "write the elements")
        return Tensor.stack(parts)

    def _visit_range(self, body: Json, scope: Scope) -> Tensor:
        step = self.evaluate(body["step"], scope).integer if body["step"] else 1
        first, last = (self.evaluate(body[key], scope).integer for key in ("start", "end"))
        values = range(first, last + (1 if step > 0 else -1), step)
        return Tensor((len(values),), tuple(ca.SX(value) for value in values))

    def _visit_array_comprehension(self, body: Json, scope: Scope) -> Tensor:
        if body["filter"] is not None:
            raise Refusal("an array comprehension with a filter")
        return self._comprehend(body["expr"], body["indices"], scope)

    def _comprehend(self, node: Json, indices: list[Json], scope: Scope) -> Tensor:
        if not indices:
            return self.evaluate(node, scope)
        *outer, last = indices  # {e for i in I, j in J} is {{e for i in I} for j in J}
        values = self.evaluate(last["range"], scope)
        inner = (
            replace(scope, names={**scope.names, last["name"]: Tensor((), (value,))})
            for value in values.items
        )
        return Tensor.stack([self._comprehend(node, outer, one) for one in inner])

    def _visit_builtin_call(self, body: Json, scope: Scope) -> Tensor:
        function, nodes = body["function"], body["args"]
        if function in {"NoEvent", "Smooth"}:
            return self.evaluate(nodes[-1], replace(scope, event_free=True))
        if function in REFUSED:
            raise Refusal(f"{function.lower()}()", REFUSED[function])
        arguments = [self.evaluate(node, scope) for node in nodes]
        if function == "Der":
            return arguments[0].map(self._total_derivative)
        if function in self._event_builtins:
            return self._event_builtins[function](*arguments)
        if function in EVENT_GENERATING and not scope.event_free:
            if any(self._moves(item) for value in arguments for item in value.items):
                return self._rounding[function](*arguments)
        if function not in BUILTINS:
            raise Refusal(f"the built-in function {function}")
        return BUILTINS[function](*arguments)

    def _visit_function_call(self, body: Json, scope: Scope) -> Tensor:
        arguments = [self.evaluate(node, scope) for node in body["args"]]
        return self._call(body["name"]["name"], arguments)

    def _total_derivative(self, expression: Scalar) -> Scalar:
        if expression.is_symbolic():
            return self._derivative(expression)
        return sum(
            (ca.gradient(expression, s) * self._derivative(s) for s in ca.symvar(expression)),
            ca.SX(0),
        )

    def _relation(self, operation: str, left: Scalar, right: Scalar) -> Scalar:
        if self._moves(left) or self._moves(right):
            return self._events.relation(operation, left, right)
        return _RELATIONS[operation](left, right)

    def _moves(self, expression: Scalar) -> bool:
        """Whether it can change between events."""
        return any(self.is_continuous(symbol.name()) for symbol in ca.symvar(expression))


def choose(condition: Scalar, chosen: Tensor, otherwise: Tensor) -> Tensor:
    """``if condition then chosen else otherwise``; a constant condition is decided now."""
    if condition.is_constant():
        return chosen if float(condition) != 0.0 else otherwise
    return chosen.zip(otherwise, lambda a, b: ca.if_else(condition, a, b))


def _snake(tag: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tag).lower()
