"""Interpreter of rumoca's JSON expressions: trees become CasADi scalars, and events are noted."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca

from orchestrator.core.structs import Struct, replace
from orchestrator.export.dae.events import DiscreteEquation, Relation, Sampler
from orchestrator.export.modelica.flat.model import Refusal
from orchestrator.export.modelica.flat.tensor import (
    BUILTINS,
    REFUSED,
    RELATIONS,
    UNARY,
    Scalar,
    Subscript,
    Tensor,
    arithmetic,
    choose,
    compare_texts,
    is_text,
    reachable,
    rounding,
)

_Scalar = Any
_SIGNS = {"Gt": ">", "Ge": ">=", "Lt": "<", "Le": "<="}


class EventCollector:
    """Gives every relation, pre() and sample() its symbol.

    is_discrete: Whether a variable changes at events only.
    initial: Symbol of the initial event.
    before: Names of continuous variables of which pre() was taken.
    has_homotopy: Whether homotopy() was used with two expressions.
    """

    def __init__(self, is_discrete: Callable[[str], bool]) -> None:
        self._is_discrete = is_discrete
        self.initial = ca.SX.sym("initial()")
        self.relations: list[Relation] = []
        self.samplers: list[Sampler] = []
        self.hidden: list[DiscreteEquation] = []
        self.before: set[str] = set()
        self.has_homotopy = False
        self._pre: dict[str, _Scalar] = {}

    def relation(self, operation: str, left: _Scalar, right: _Scalar) -> _Scalar:
        """Symbol of a comparison of continuous expressions; equal comparisons share one."""
        if operation not in _SIGNS:
            raise Refusal(
                f"the comparison {'==' if operation == 'Eq' else '<>'} of continuous expressions",
                "it holds at single points only; compare with >= or <=",
            )
        margin = left - right if operation in {"Gt", "Ge"} else right - left
        strict = operation in {"Gt", "Lt"}
        for relation in self.relations:
            if relation.strict == strict and ca.is_equal(relation.margin, margin, 100):
                return relation.symbol
        label = _shortened(f"{left} {_SIGNS[operation]} {right}")
        return self._add_relation(margin, ca.fabs(left) + ca.fabs(right), label, strict=strict)

    def _add_relation(self, margin: _Scalar, size: _Scalar, label: str, *, strict: bool) -> _Scalar:
        symbol = ca.SX.sym(f"relation {len(self.relations) + 1}")
        self.relations.append(Relation(symbol, margin, strict, size, label))
        return symbol

    def pre(self, symbol: _Scalar) -> _Scalar:
        """``pre(v)``; of a continuous variable its value just before the event."""
        if not symbol.is_symbolic():
            raise Refusal(f"pre({symbol})", "pre() takes a variable")
        name = symbol.name()
        if not self._is_discrete(name):
            self.before.add(name)
            return symbol
        return self._pre.setdefault(name, ca.SX.sym(f"pre({name})"))

    def of_pre(self, value: _Scalar) -> str | None:
        """The discrete variable whose ``pre()`` a value is."""
        text = str(value)
        return next((name for name in self._pre if text == f"pre({name})"), None)

    def edge(self, value: _Scalar, symbol: _Scalar) -> _Scalar:
        """``edge(b)``: b, of the present value, has just become true."""
        return ca.logic_and(value, ca.logic_not(self.pre(symbol)))

    def change(self, value: _Scalar, symbol: _Scalar) -> _Scalar:
        """``change(v)``: v, of the present value, has just changed."""
        return value != self.pre(symbol)

    def sample(self, start: _Scalar, interval: _Scalar) -> _Scalar:
        """Symbol of ``sample(start, interval)``."""
        if interval.is_constant() and not float(interval) > 0:
            raise Refusal(f"sample() with the interval {float(interval):g} s", "it must be > 0")
        symbol = ca.SX.sym(f"sample {len(self.samplers) + 1}")
        self.samplers.append(Sampler(symbol, start, interval))
        return symbol

    def homotopy(self, actual: _Scalar, simplified: _Scalar) -> _Scalar:
        """``homotopy(actual, simplified)``: the start is solved with the simple one first."""
        if ca.is_equal(actual, simplified, 100):
            return actual
        self.has_homotopy = True
        return ca.if_else(self.initial == 2, simplified, actual)

    def discrete(self, value: _Scalar, label: str) -> _Scalar:
        """A nameless discrete variable of that value; returns its symbol."""
        symbol = ca.SX.sym(f"hidden {len(self.hidden) + 1}")
        pre = ca.SX.sym(f"pre({symbol.name()})")
        self._pre[symbol.name()] = pre
        self.hidden.append(DiscreteEquation(symbol, pre, value, ca.SX(0), exact=False, label=label))
        return symbol

    def floor(self, value: _Scalar) -> _Scalar:
        """``floor(value)`` of a continuous value, with an event at each change."""
        label = _shortened(f"floor({value})")
        rounded = self.discrete(ca.floor(value), label)
        size = ca.fabs(value) + 1
        self._add_relation(value - rounded, size, f"{label} falls", strict=False)
        self._add_relation(rounded + 1 - value, size, f"{label} rises", strict=True)
        return rounded

    def truncate(self, value: _Scalar) -> _Scalar:
        """``value`` rounded towards zero, with an event at each change."""
        positive = self.relation("Ge", value, ca.SX(0))
        return ca.if_else(positive, self.floor(value), -self.floor(-value))


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."


_POINT = re.compile(r"\[(\d+(?:,\d+)*)\]")


class RecordValue(Tensor):
    """A record: its scalars in one row, and the names and values of its fields.

    An array of records is a record of arrays, so that ``a[2:3].x`` is ``a.x[2:3]``.
    """

    fields: Mapping[str, Tensor]

    @classmethod
    def of(cls, fields: Mapping[str, Tensor]) -> RecordValue:
        """Put fields together."""
        items = tuple(itertools.chain.from_iterable(part.items for part in fields.values()))
        return cls((len(items),), items, fields)

    def field(self, name: str) -> Tensor:
        """Value of one field."""
        if name not in self.fields:
            raise Refusal(f"the field '{name}' of a record with {', '.join(self.fields)}")
        return self.fields[name]

    def at(self, path: Sequence[str]) -> Tensor:
        """Value at a path of field names."""
        name, *inner_path = path
        inner = self.field(name)
        if not inner_path:
            return inner
        if not isinstance(inner, RecordValue):
            raise Refusal(f"the field '{inner_path[0]}' of '{name}', which is no record")
        return inner.at(inner_path)

    def with_field(self, path: Sequence[str], value: Tensor) -> RecordValue:
        """Copy with another value at a path of field names."""
        name, *inner_path = path
        inner = self.field(name)
        if inner_path:
            if not isinstance(inner, RecordValue):
                raise Refusal(f"the field '{inner_path[0]}' of '{name}', which is no record")
            value = inner.with_field(inner_path, value)
        return RecordValue.of({**self.fields, name: value})

    def map(self, operation: Callable[[Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to each scalar of each field."""
        return RecordValue.of({name: part.map(operation) for name, part in self.fields.items()})

    def zip(self, operand: Tensor, operation: Callable[[Scalar, Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to pairs of fields of the same name."""
        if not isinstance(operand, RecordValue) or set(self.fields) != set(operand.fields):
            raise Refusal("an operation on a record and something that has other fields")
        pairs = ((name, part, operand.fields[name]) for name, part in self.fields.items())
        return RecordValue.of({name: first.zip(two, operation) for name, first, two in pairs})

    def select(self, subscripts: Sequence[Subscript | None]) -> Tensor:
        """Element or slice of an array of records."""
        if not subscripts:
            return self
        return RecordValue.of({name: part.select(subscripts) for name, part in self.fields.items()})

    def replace(self, subscripts: Sequence[Subscript | None], value: Tensor) -> Tensor:
        """Copy of an array of records with other elements."""
        if not isinstance(value, RecordValue) or set(self.fields) != set(value.fields):
            raise Refusal("an assignment to an element of an array of records with other fields")
        parts = self.fields.items()
        return RecordValue.of({n: part.replace(subscripts, value.fields[n]) for n, part in parts})


def gather(names: Mapping[str, Tensor], name_of_whole: str) -> Tensor | None:
    """Value of a record or component array from the values of its scalar parts, if there are any.

    The flat model knows ``r.a`` and ``c[2].x`` but not ``r`` and ``c``.
    """
    if name_of_whole in names:
        return names[name_of_whole]
    if "." in name_of_whole and (owner := names.get(name_of_whole.rpartition(".")[0])) is not None:
        return (
            owner.field(name_of_whole.rpartition(".")[2])
            if isinstance(owner, RecordValue)
            else None
        )
    rests = [name[len(name_of_whole) :] for name in names if name.startswith(name_of_whole)]
    fields = _ordered(suffix[1:] for suffix in rests if suffix.startswith("."))
    if fields:
        fields_found = {field: gather(names, f"{name_of_whole}.{field}") for field in fields}
        return RecordValue.of(
            {field: value for field, value in fields_found.items() if value is not None}
        )
    points = _ordered(match[0] for suffix in rests if (match := _POINT.match(suffix)))
    if not points:
        return None
    elements = {
        tuple(map(int, point[1:-1].split(","))): gather(names, f"{name_of_whole}{point}")
        for point in points
    }
    return _stacked({k: value for k, value in elements.items() if value is not None})


def _ordered(rests: Iterable[str]) -> list[str]:
    """First parts ``field`` or ``[2]`` of what follows a name, each once."""
    return list(dict.fromkeys(re.match(r"\[[\d,]+\]|[^.\[]*", suffix)[0] for suffix in rests))  # type: ignore[index]


def _stacked(elements: Mapping[tuple[int, ...], Tensor]) -> Tensor:
    """One array of elements at points; scalars and records alike."""
    if () in elements:
        return elements[()]
    rows: dict[int, dict[tuple[int, ...], Tensor]] = {first: {} for first, *_ in sorted(elements)}
    for (first, *inner_index), value in elements.items():
        rows[first][tuple(inner_index)] = value
    return stack([_stacked(row) for row in rows.values()])


def stack(parts: Sequence[Tensor]) -> Tensor:
    """Join values along a new first dimension; records field by field."""
    if not any(isinstance(part, RecordValue) for part in parts):
        return Tensor.stack(parts)
    records = [part for part in parts if isinstance(part, RecordValue)]
    if len(records) != len(parts) or len({frozenset(r.fields) for r in records}) != 1:
        raise Refusal("an array of records with different fields")
    return RecordValue.of(
        {name: stack([r.fields[name] for r in records]) for name in records[0].fields}
    )


Json = Any
FunctionCaller = Callable[[str, list[Tensor]], list[Tensor]]


class ExpressionScope(Struct):
    """Names that an expression can see, and whether relations may switch without an event."""

    names: Mapping[str, Tensor]
    event_free: bool = False

    def in_loop(self, values: Mapping[str, int]) -> ExpressionScope:
        """The same with values of variables of loops."""
        inside = {name: Tensor.scalar(value) for name, value in values.items()}
        return replace(self, names={**self.names, **inside}) if values else self


class Interpreter:
    """Evaluates expression trees.

    derivative: Gives ``der(symbol)`` of a scalar symbol; raises :class:`Refusal` where there is
        none.
    is_continuous: Whether a symbol varies continuously, so that a relation on it is an event.
    call: Evaluates all outputs of a user's function.
    events: Takes note of relations, pre(), sample() and the like.
    variables: The model's variables: those of which pre(), edge() and change() may be taken.
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
        self.variables: Mapping[str, Tensor] = {}
        self._event_builtins: dict[str, Callable[..., Tensor]] = {
            "Pre": lambda _, variable: variable.map(events.pre),
            "Edge": lambda value, variable: value.zip(variable, events.edge),
            "Change": lambda value, variable: value.zip(variable, events.change),
            "Sample": lambda start, interval: start.zip(interval, events.sample),
            "Initial": lambda: Tensor((), (events.initial,)),
            "Homotopy": lambda actual, simple: actual.zip(simple, events.homotopy),
        }
        self._rounding = rounding(events.floor, events.truncate)

    def evaluate(self, node: Json, scope: ExpressionScope) -> Tensor:
        """Value of an expression tree."""
        if not isinstance(node, dict) or len(node) != 1:
            raise Refusal(f"an expression of an unknown form: {str(node)[:80]}")
        tag, body = next(iter(node.items()))
        visit = getattr(self, f"_visit_{tag.lower()}", None)
        if visit is None:
            raise Refusal(f"an expression of the kind {tag}")
        result: Tensor = visit(body, scope)
        return result

    def subscripts(self, listed: list[Json], scope: ExpressionScope) -> list[Subscript | None]:
        """1-based subscripts; ``None`` for a colon."""
        return [self._subscript(entry, scope) for entry in listed]

    def _subscript(self, entry: Json, scope: ExpressionScope) -> Subscript | None:
        tag = entry if isinstance(entry, str) else next(iter(entry))
        if tag == "Colon":
            return None
        if tag == "Index":
            return int(entry["Index"]["value"])
        value = self.evaluate(entry["Expr"]["expr"], scope)
        if value.shape:
            return tuple(Tensor((), (item,)).integer for item in value.items)
        return value.integer if value.item.is_constant() else value.item

    def _visit_literal(self, body: Json, _: ExpressionScope) -> Tensor:
        tag, value = next(iter(body["value"].items()))
        if tag == "String":
            return Tensor((), (value,))
        if tag not in {"Real", "Integer", "Boolean"}:
            raise Refusal(f"a {tag} value", "only Real, Integer, Boolean and String are exported")
        return Tensor.scalar(float(value))

    def _visit_varref(self, body: Json, scope: ExpressionScope) -> Tensor:
        name = body["name"]["name"]
        value = gather(scope.names, name)
        if value is None:
            raise Refusal(f"the name '{name}', which is no variable of a predefined type")
        return value.select(self.subscripts(body["subscripts"], scope))

    def _visit_fieldaccess(self, body: Json, scope: ExpressionScope) -> Tensor:
        owner = self.evaluate(body["base"], scope)
        if not isinstance(owner, RecordValue):
            raise Refusal(f"the field '{body['field']}' of something that is no record")
        return owner.field(body["field"])

    def _visit_index(self, body: Json, scope: ExpressionScope) -> Tensor:
        return self.evaluate(body["base"], scope).select(self.subscripts(body["subscripts"], scope))

    def _visit_binary(self, body: Json, scope: ExpressionScope) -> Tensor:
        operation = body["op"]
        if operation == "Sub" and "Tuple" in body["lhs"]:
            return self._outputs_equation(body, scope)
        left, right = self.evaluate(body["lhs"], scope), self.evaluate(body["rhs"], scope)
        if is_text(left) or is_text(right):
            return compare_texts(left, right, operation)
        if operation == "Mul":
            return left.multiply(right)
        if operation in RELATIONS:
            if scope.event_free:
                return left.zip(right, RELATIONS[operation])
            return left.zip(right, lambda a, b: self._relation(operation, a, b))
        return arithmetic(operation, left, right)

    def _outputs_equation(self, body: Json, scope: ExpressionScope) -> Tensor:
        """Residuals of ``(a, b) = f(x)``."""
        targets = body["lhs"]["Tuple"]["elements"]
        outputs = self.outputs(body["rhs"], scope)
        if len(targets) > len(outputs):
            raise Refusal(f"{len(targets)} results of a function that has {len(outputs)}")
        items: list[Scalar] = []
        for node, output in zip(targets, outputs, strict=False):
            if node != "Empty" and "Empty" not in node:  # (a, ) = f(x) leaves one out
                residual = self.evaluate(node, scope).zip(output, operator.sub)
                items.extend(residual.items)
        return Tensor((len(items),), tuple(items))

    def outputs(self, node: Json, scope: ExpressionScope) -> list[Tensor]:
        """All outputs of a function call."""
        if "FunctionCall" not in node:
            raise Refusal("several variables set at once by something that is no function call")
        body = node["FunctionCall"]
        return self.call(body["name"]["name"], body["args"], scope)

    def call(self, name: str, nodes: list[Json], scope: ExpressionScope) -> list[Tensor]:
        """All outputs of a user's function."""
        return self._call(name, [self.evaluate(node, scope) for node in nodes])

    def _visit_unary(self, body: Json, scope: ExpressionScope) -> Tensor:
        if body["op"] not in UNARY:
            raise Refusal(f"the operator {body['op']}")
        return self.evaluate(body["rhs"], scope).map(UNARY[body["op"]])

    def _visit_if(self, body: Json, scope: ExpressionScope) -> Tensor:
        cases, result = reachable(
            body["branches"],
            lambda node: self.evaluate(node, scope).item,
            lambda node: self.evaluate(node, scope),
            body["else_branch"],
        )
        for condition, branch in reversed(cases):
            if branch.shape != result.shape:
                raise Refusal(f"an if-expression of shapes {branch.shape} and {result.shape}")
            result = choose(condition, branch, result)
        return result

    def _visit_array(self, body: Json, scope: ExpressionScope) -> Tensor:
        parts = [self.evaluate(element, scope) for element in body["elements"]]
        if body["kind"] == "Array":
            return stack(parts)
        # [a, b; c, d]: the rows are Horizontal, inside of Vertical unless there is one only
        return Tensor.concatenate(body["kind"] == "Horizontal", [part.matrix for part in parts])

    def _visit_range(self, body: Json, scope: ExpressionScope) -> Tensor:
        step = self.evaluate(body["step"], scope).integer if body["step"] else 1
        first, last = (self.evaluate(body[key], scope).integer for key in ("start", "end"))
        values = range(first, last + (1 if step > 0 else -1), step)
        return Tensor((len(values),), tuple(ca.SX(value) for value in values))

    def _visit_arraycomprehension(self, body: Json, scope: ExpressionScope) -> Tensor:
        if body["filter"] is not None:
            raise Refusal("an array comprehension with a filter")
        return self._comprehend(body["expr"], body["indices"], scope)

    def _comprehend(self, node: Json, indices: list[Json], scope: ExpressionScope) -> Tensor:
        if not indices:
            return self.evaluate(node, scope)
        *outer, last = indices  # {e for i in I, j in J} is {{e for i in I} for j in J}
        values = self.evaluate(last["range"], scope)
        inner = (
            replace(scope, names={**scope.names, last["name"]: Tensor((), (value,))})
            for value in values.items
        )
        return stack([self._comprehend(node, outer, inner_scope) for inner_scope in inner])

    def _visit_builtincall(self, body: Json, scope: ExpressionScope) -> Tensor:
        function, nodes = body["function"], body["args"]
        if function in {"NoEvent", "Smooth"}:
            return self.evaluate(nodes[-1], replace(scope, event_free=True))
        if function in REFUSED:
            raise Refusal(f"{function.lower()}()", REFUSED[function])
        arguments = [self.evaluate(node, scope) for node in nodes]
        if any(is_text(argument) for argument in arguments):
            raise Refusal(f"{function.lower()}() of a String")
        if function == "Der":
            return arguments[0].map(self._total_derivative)
        if function in {"Pre", "Edge", "Change"}:  # in an algorithm a name may have got a new value
            variables = replace(scope, names={**scope.names, **self.variables})
            arguments.append(self.evaluate(nodes[0], variables))
        if function in self._event_builtins:
            return self._event_builtins[function](*arguments)
        items = (item for argument in arguments for item in argument.items)
        if function in self._rounding and not scope.event_free and any(map(self._moves, items)):
            return self._rounding[function](*arguments)
        if function not in BUILTINS:
            raise Refusal(f"the built-in function {function}")
        return BUILTINS[function](*arguments)

    def _visit_functioncall(self, body: Json, scope: ExpressionScope) -> Tensor:
        return self.call(body["name"]["name"], body["args"], scope)[0]

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
        return RELATIONS[operation](left, right)

    def _moves(self, expression: Scalar) -> bool:
        """Whether it can change between events."""
        return any(self.is_continuous(symbol.name()) for symbol in ca.symvar(expression))
