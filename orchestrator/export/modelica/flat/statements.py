"""Statements of functions and algorithms, when clauses, asserts and terminate, as symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import casadi as ca

from orchestrator.core.structs import replace
from orchestrator.export.dae.events import Assertion, Message, Reinit, Termination
from orchestrator.export.dae.residual_dae import column
from orchestrator.export.modelica.flat.expression import (
    EventCollector,
    ExpressionScope,
    Interpreter,
    Json,
    RecordValue,
    gather,
)
from orchestrator.export.modelica.flat.model import Refusal, tag_of
from orchestrator.export.modelica.flat.tensor import Tensor, choose, reachable

Names = dict[str, Tensor]
Hook = Callable[[Json, Names], None]
_MAX_ROUNDS = 10_000
# What break and return leave behind, among the names so that branches merge it as everything else.
_BROKEN, _RETURNED = "break ", "return "
UNASSIGNED = ca.SX.nan(1, 1)


class StatementRunner:
    """Runs statements on names and their values so far.

    interpreter: Evaluates the expressions.
    event_free: Relations make no events, as in functions.
    hooks: Further kinds of statements by their tag; each changes the names it is given.
    """

    def __init__(
        self, interpreter: Interpreter, *, event_free: bool, hooks: Mapping[str, Hook] | None = None
    ) -> None:
        self._interpreter = interpreter
        self._event_free = event_free
        self._kinds: dict[str, Hook] = {
            "Assignment": lambda body, names: self._set(
                body["comp"]["parts"], self.evaluate(body["value"], names), names
            ),
            "FunctionCall": self._call,
            "If": self._branch,
            "For": lambda body, names: self._for(body["indices"], body["equations"], names),
            "While": self._while,
            "Break": lambda _, names: names.update({_BROKEN: Tensor.scalar(1)}),
            "Return": lambda _, names: names.update({_RETURNED: Tensor.scalar(1)}),
            "Empty": lambda *_: None,
            **(hooks or {}),
        }

    def run(self, statements: Json, names: Names) -> None:
        """Run statements; ``names`` is changed in place."""
        for statement in statements:
            _unless_left(partial(self._run, statement), names)

    def _run(self, statement: Json, names: Names) -> None:
        tag = tag_of(statement)
        if tag not in self._kinds:
            raise Refusal(f"a {tag} statement")
        self._kinds[tag](statement[tag] if isinstance(statement, dict) else {}, names)

    def evaluate(self, node: Json, names: Names) -> Tensor:
        """Value of an expression."""
        return self._interpreter.evaluate(node, ExpressionScope(names, self._event_free))

    def _call(self, body: Json, names: Names) -> None:
        if not body["outputs"]:
            raise Refusal(f"a call of '{body['comp']['name']}' that uses none of its outputs")
        scope = ExpressionScope(names, self._event_free)
        values = self._interpreter.call(body["comp"]["name"], body["args"], scope)
        if len(body["outputs"]) > len(values):
            raise Refusal(f"a call of '{body['comp']['name']}', which has {len(values)} outputs")
        for target, value in zip(body["outputs"], values, strict=False):
            if target is not None:
                self._set(target["parts"], value, names)

    def _set(self, parts: Json, value: Tensor, names: Names) -> None:
        numbers = (item for item in value.items if not isinstance(item, str))
        if any(item.is_constant() and float(item) != float(item) for item in numbers):
            raise Refusal("a value that is read before it is assigned")
        name, subscripts, path = self._target(parts, names)
        before = names.get(name)
        if path:
            before = gather(names, name) if before is None else before
            if not isinstance(before, RecordValue):
                raise Refusal(f"an assignment to '{path[0]}' of '{name}', which is no record")
            if subscripts:
                positions = self._interpreter.subscripts(subscripts, ExpressionScope(names))
                value = before.at(path).replace(positions, value)
            names[name] = before.with_field(path, value)
            return
        if subscripts:
            if before is None:
                raise Refusal(f"an assignment to '{name}', which is no array")
            value = before.replace(
                self._interpreter.subscripts(subscripts, ExpressionScope(names)), value
            )
        elif (
            before is not None
            and not isinstance(value, RecordValue)
            and before.shape != value.shape
        ):
            raise Refusal(f"an assignment of shape {value.shape} to '{name}' of {before.shape}")
        names[name] = value

    @staticmethod
    def _target(parts: Json, names: Names) -> tuple[str, Json, list[str]]:
        """Name, subscripts and field path: ``a.b.x[2]`` is one name, or the field of a record."""
        idents = [part["ident"] for part in parts]
        full_name = ".".join(idents)
        if any(part["subs"] for part in parts[:-1]):
            raise Refusal(f"an assignment to '{full_name}' with a subscript inside")
        if full_name in names or len(parts) == 1:
            return full_name, parts[-1]["subs"], []
        return idents[0], parts[-1]["subs"], idents[1:]

    def _branch(self, body: Json, names: Names) -> None:
        before = dict(names)
        cases, result = reachable(
            ((block["cond"], block["stmts"]) for block in body["cond_blocks"]),
            lambda node: self.evaluate(node, before).item,
            lambda statements: self._inside(statements, before),
            body["else_block"] or [],
        )
        for condition, inside in reversed(cases):
            result = merged(condition, inside, result)
        names.update(result)

    def _inside(self, statements: Json, before: Names) -> Names:
        names = {_BROKEN: Tensor.scalar(0), _RETURNED: Tensor.scalar(0), **before}
        self.run(statements, names)
        return names

    def _for(self, indices: Json, body: Json, names: Names) -> None:
        if not indices:
            self.run(body, names)
            return
        index, *inner_indices = indices
        name = index["ident"] if isinstance(index["ident"], str) else index["ident"]["text"]
        values = self.evaluate(index["range"], names)
        hidden = {key: names.pop(key) for key in (name, _BROKEN) if key in names}
        for item in values.items:
            names[name] = Tensor((), (item,))
            _unless_left(partial(self._for, inner_indices, body), names)
        for key in (name, _BROKEN):
            names.pop(key, None)
        names.update(hidden)

    def _while(self, body: Json, names: Names) -> None:
        block = body.get("block", body)
        hidden = {_BROKEN: names.pop(_BROKEN)} if _BROKEN in names else {}
        for _ in range(_MAX_ROUNDS):
            has_left = _has_left(names)
            condition = self.evaluate(block["cond"], names).item
            if not condition.is_constant() or not has_left.is_constant():
                raise Refusal(
                    "a while loop whose end depends on variables",
                    "use a for loop with a constant range",
                )
            if float(has_left) or not float(condition):
                names.pop(_BROKEN, None)
                names.update(hidden)
                return
            self.run(block["stmts"], names)
        raise Refusal(f"a while loop of more than {_MAX_ROUNDS} rounds")


def _unless_left(run: Callable[[Names], None], names: Names) -> None:
    """Run a statement, or one round of a loop, unless break or return has been met."""
    has_left = _has_left(names)
    if not has_left.is_constant():
        after = dict(names)
        run(after)
        names.update(merged(has_left, names, after))
    elif not float(has_left):
        run(names)


def merged(condition: Any, if_true: Names, if_false: Names) -> Names:
    """Values after a branch: of the one if the condition holds, else of the other."""
    return {
        name: value if value is if_false[name] else choose(condition, value, if_false[name])
        for name, value in if_true.items()
        if name in if_false
    }


def _has_left(names: Names) -> Any:
    """Whether break or return has been met."""
    flags = [names[name].item for name in (_BROKEN, _RETURNED) if name in names]
    if any(flag.is_constant() and float(flag) for flag in flags):
        return ca.SX(1)
    moving = [flag for flag in flags if not flag.is_constant()]
    return ca.logic_or(*moving) if len(moving) == 2 else (moving or [ca.SX(0)])[0]


def may_be_unassigned(item: Any) -> bool:
    """Whether an expression contains the mark of a variable that no statement has set."""
    if isinstance(item, str):
        return False
    function = ca.Function("f", [column(ca.symvar(item))], [item])
    return any(
        function.instruction_id(step) == ca.OP_CONST
        and (value := function.instruction_constant(step)) != value
        for step in range(function.n_instructions())
    )


_Scalar = Any
_ERROR_LEVEL = ca.SX(2)  # AssertionLevel.error


class WhenReader:
    """Reads the bodies of when clauses.

    target: Gives the symbols of an assigned variable from its name, which may have subscripts.
    values: Name of each assigned scalar to its value at events; without an active clause it keeps
        its value.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        collector: EventCollector,
        scope: ExpressionScope,
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

    def condition(self, node: Json, scope: ExpressionScope) -> tuple[_Scalar, bool]:
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
        target = self._target(body["target"])
        if value.shape not in {target.shape, ()}:
            raise Refusal(f"an assignment of shape {value.shape} to shape {target.shape}")
        items = value.items if value.shape else value.items * len(target.items)
        for symbol, item in zip(target.items, items, strict=True):
            otherwise = assigned.get(symbol.name(), self._collector.pre(symbol))
            assigned_value = choose(active, Tensor((), (item,)), Tensor((), (otherwise,)))
            assigned[symbol.name()] = assigned_value.item

    def _when_conditional(self, body: Json, active: _Scalar, assigned: dict[str, _Scalar]) -> None:
        remaining = active
        for condition, equations in body["branches"]:
            holds = self._evaluate(condition).item
            self._body(equations, ca.logic_and(remaining, holds), assigned)
            remaining = ca.logic_and(remaining, ca.logic_not(holds))
        self._body(body["else_branch"] or [], remaining, assigned)

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

    def assertion(self, body: Json, scope: ExpressionScope) -> Assertion:
        """An ``assert``, of a when clause or of the model."""
        condition = self._interpreter.evaluate(body["condition"], scope).item
        level = _ERROR_LEVEL
        if body["level"] is not None:
            level = self._interpreter.evaluate(body["level"], scope).item
        message = self._message(body["message"], scope)
        return Assertion(condition, message, level, instant=False, origin="")

    def _evaluate(self, node: Json) -> Tensor:
        return self._interpreter.evaluate(node, self._inside)

    def _message(self, node: Json, scope: ExpressionScope) -> Message:
        return Message(tuple(self._pieces(node, scope)))

    def _pieces(self, node: Json, scope: ExpressionScope) -> Iterator[Any]:
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
    targets = set()
    for chain in chains:
        for clause in (chain["first"], *chain["else_when"]):
            targets |= set(_targets(clause["equations"]))
    for algorithm in algorithms:
        for statement in algorithm["statements"]:
            if isinstance(statement, dict) and "When" in statement:
                targets |= {output["name"] for output in algorithm["outputs"]}
    return targets


def _targets(equations: Json) -> Iterator[str]:
    for equation in equations:
        tag, body = next(iter(equation.items()))
        if tag == "Assign":
            yield body["target"]
        elif tag == "Conditional":
            for _, inner in body["branches"]:
                yield from _targets(inner)
            yield from _targets(body["else_branch"] or [])
