"""Statements of functions and algorithm sections, run symbolically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from orchestrator.export.modelica.flat.expression import Interpreter, Json, Record, Scope, gather
from orchestrator.export.modelica.flat.operators import choose
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.tensor import Tensor

Names = dict[str, Tensor]
Hook = Callable[[Json, Names], None]
_MAX_ROUNDS = 10_000
# What break and return leave behind, among the names so that branches merge it as everything else.
_BROKEN, _RETURNED = "break ", "return "
UNASSIGNED = ca.SX.nan(1, 1)


class StatementRunner:
    """Runs statements on names and their values so far.

    Parameters
    ----------
    interpreter
        Evaluates the expressions.
    event_free
        Relations make no events, as in functions.
    hooks
        Further kinds of statements by their tag; each changes the names it is given.
    """

    def __init__(
        self, interpreter: Interpreter, *, event_free: bool, hooks: Mapping[str, Hook] | None = None
    ) -> None:
        self._interpreter = interpreter
        self._event_free = event_free
        self._kinds: dict[str, Hook] = {
            "Assignment": self._assign,
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
            left = _left(names)
            if left.is_constant() and float(left):
                return
            tag, body = (
                next(iter(statement.items())) if isinstance(statement, dict) else (statement, {})
            )
            if tag not in self._kinds:
                raise Refusal(f"a {tag} statement")
            if left.is_constant():
                self._kinds[tag](body, names)
                continue
            after = dict(names)
            self._kinds[tag](body, after)
            names.update(merged(left, names, after))

    def evaluate(self, node: Json, names: Names) -> Tensor:
        """Value of an expression."""
        return self._interpreter.evaluate(node, Scope(names, self._event_free))

    def _assign(self, body: Json, names: Names) -> None:
        self._set(body["comp"]["parts"], self.evaluate(body["value"], names), names)

    def _call(self, body: Json, names: Names) -> None:
        if not body["outputs"]:
            raise Refusal(f"a call of '{body['comp']['name']}' that uses none of its outputs")
        scope = Scope(names, self._event_free)
        values = self._interpreter.call(body["comp"]["name"], body["args"], scope)
        if len(body["outputs"]) > len(values):
            raise Refusal(f"a call of '{body['comp']['name']}', which has {len(values)} outputs")
        for target, value in zip(body["outputs"], values, strict=False):
            if target is not None:
                self._set(target["parts"], value, names)

    def _set(self, parts: Json, value: Tensor, names: Names) -> None:
        if any(_is_unassigned(item) for item in value.items):
            raise Refusal("a value that is read before it is assigned")
        name, subscripts, path = self._place(parts, names)
        before = names.get(name)
        if path:
            before = gather(names, name) if before is None else before
            if not isinstance(before, Record):
                raise Refusal(f"an assignment to '{path[0]}' of '{name}', which is no record")
            if subscripts:
                chosen = self._interpreter.subscripts(subscripts, Scope(names))
                value = before.at(path).replace(chosen, value)
            names[name] = before.with_field(path, value)
            return
        if subscripts:
            if before is None:
                raise Refusal(f"an assignment to '{name}', which is no array")
            value = before.replace(self._interpreter.subscripts(subscripts, Scope(names)), value)
        elif before is not None and not isinstance(value, Record) and before.shape != value.shape:
            raise Refusal(f"an assignment of shape {value.shape} to '{name}' of {before.shape}")
        names[name] = value

    @staticmethod
    def _place(parts: Json, names: Names) -> tuple[str, Json, list[str]]:
        """Name, subscripts and field path: ``a.b.x[2]`` is one name, or the field of a record."""
        idents = [part["ident"] for part in parts]
        whole = ".".join(idents)
        if any(part["subs"] for part in parts[:-1]):
            raise Refusal(f"an assignment to '{whole}' with a subscript inside")
        if whole in names or len(parts) == 1:
            return whole, parts[-1]["subs"], []
        return idents[0], parts[-1]["subs"], idents[1:]

    def _branch(self, body: Json, names: Names) -> None:
        before = dict(names)
        cases: list[tuple[Any, Names]] = []
        for block in body["cond_blocks"]:
            condition = self.evaluate(block["cond"], before).item
            if condition.is_constant() and not float(condition):
                continue
            cases.append((condition, self._inside(block["stmts"], before)))
            if condition.is_constant():
                break
        else:
            cases.append((ca.SX(1), self._inside(body["else_block"] or [], before)))
        _, result = cases.pop()
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
        index, *rest = indices
        name = index["ident"] if isinstance(index["ident"], str) else index["ident"]["text"]
        values = self.evaluate(index["range"], names)
        hidden = {key: names.pop(key) for key in (name, _BROKEN) if key in names}
        for item in values.items:
            names[name] = Tensor((), (item,))
            self._round(lambda inside: self._for(rest, body, inside), names)
        for key in (name, _BROKEN):
            names.pop(key, None)
        names.update(hidden)

    def _while(self, body: Json, names: Names) -> None:
        block = body.get("block", body)
        hidden = {_BROKEN: names.pop(_BROKEN)} if _BROKEN in names else {}
        for _ in range(_MAX_ROUNDS):
            left = _left(names)
            condition = self.evaluate(block["cond"], names).item
            if not condition.is_constant() or not left.is_constant():
                raise Refusal(
                    "a while loop whose end depends on variables",
                    "use a for loop with a constant range",
                )
            if float(left) or not float(condition):
                names.pop(_BROKEN, None)
                names.update(hidden)
                return
            self.run(block["stmts"], names)
        raise Refusal(f"a while loop of more than {_MAX_ROUNDS} rounds")

    def _round(self, run: Callable[[Names], None], names: Names) -> None:
        """One round of a loop, unless it has been left."""
        left = _left(names)
        if left.is_constant():
            if not float(left):
                run(names)
            return
        after = dict(names)
        run(after)
        names.update(merged(left, names, after))


def merged(condition: Any, one: Names, other: Names) -> Names:
    """Values after a branch: of the one if the condition holds, else of the other."""
    return {
        name: value if value is other[name] else choose(condition, value, other[name])
        for name, value in one.items()
        if name in other
    }


def _left(names: Names) -> Any:
    """Whether break or return has been met."""
    flags = [names[name].item for name in (_BROKEN, _RETURNED) if name in names]
    if any(flag.is_constant() and float(flag) for flag in flags):
        return ca.SX(1)
    moving = [flag for flag in flags if not flag.is_constant()]
    return ca.logic_or(*moving) if len(moving) == 2 else (moving or [ca.SX(0)])[0]


def _is_unassigned(item: Any) -> bool:
    return not isinstance(item, str) and item.is_constant() and bool(float(item) != float(item))


def may_be_unassigned(item: Any) -> bool:
    """Whether an expression contains the mark of a variable that no statement has set."""
    if isinstance(item, str):
        return False
    function = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *ca.symvar(item))], [item])
    return any(
        function.instruction_id(step) == ca.OP_CONST
        and (value := function.instruction_constant(step)) != value
        for step in range(function.n_instructions())
    )
