"""Modelica functions, evaluated symbolically: assignments, for loops and if statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from orchestrator.export.refusal import Refusal
from orchestrator.export.tensor import Tensor

if TYPE_CHECKING:
    from orchestrator.export.expression import Interpreter, Json, Scope

_MAX_DEPTH = 50


class FunctionBody:
    """Runs the body of a function on symbolic arguments; relations in it never make events.

    Parameters
    ----------
    functions
        The flat model's functions by qualified name.
    """

    def __init__(self, functions: Json) -> None:
        self._functions = functions
        self._depth = 0
        self.interpreter: Interpreter | None = None

    def call(self, name: str, arguments: list[Tensor]) -> Tensor:
        """Value of ``name(arguments)``; only the first output is used."""
        function = self._find(name)
        if function["external"] is not None or function["is_constructor"]:
            raise Refusal(f"the external function or record constructor '{name}'")
        if self._depth >= _MAX_DEPTH:
            raise Refusal(f"the function '{name}', which calls itself")
        self._depth += 1
        try:
            names = self._inputs(function, arguments)
            for entry in (*function["outputs"], *function["locals"]):
                names[entry["name"]] = self._declared(entry, names)
            self._run(function["body"], names)
        finally:
            self._depth -= 1
        if len(function["outputs"]) != 1:
            raise Refusal(f"the function '{name}' with {len(function['outputs'])} outputs")
        return names[function["outputs"][0]["name"]]

    def _find(self, name: str) -> Json:
        if name in self._functions:
            return self._functions[name]
        matches = [full for full in self._functions if full.endswith(f".{name}")]
        if len(matches) != 1:
            raise Refusal(f"the function '{name}', of which {len(matches)} definitions were found")
        return self._functions[matches[0]]

    def _inputs(self, function: Json, arguments: list[Tensor]) -> dict[str, Tensor]:
        names: dict[str, Tensor] = {}
        for position, entry in enumerate(function["inputs"]):
            if position < len(arguments):
                names[entry["name"]] = arguments[position]
            elif entry["default"] is not None:
                names[entry["name"]] = self._evaluate(entry["default"], names)
            else:
                raise Refusal(f"a call of '{function['name']}' without its input '{entry['name']}'")
        return names

    def _declared(self, entry: Json, names: dict[str, Tensor]) -> Tensor:
        if entry["default"] is not None:
            return self._evaluate(entry["default"], names)
        sizes = entry["effective_type"]["dimensions"]
        if entry["shape_expr"]:
            sizes = [
                self._interpreter.subscripts([size], _scope(names))[0]
                for size in entry["shape_expr"]
            ]
        shape = tuple(sizes)
        if not all(isinstance(size, int) for size in shape):
            raise Refusal(f"the array '{entry['name']}' of unknown size in a function")
        count = 1
        for size in shape:
            count *= size
        return Tensor(shape, (ca.SX.nan(1, 1),) * count)

    def _run(self, statements: Json, names: dict[str, Tensor]) -> None:
        for statement in statements:
            tag, body = (
                next(iter(statement.items())) if isinstance(statement, dict) else (statement, {})
            )
            if tag == "Assignment":
                self._assign(body, names)
            elif tag == "If":
                self._branch(body, names)
            elif tag == "For":
                self._loop(body["indices"], body["equations"], names)
            elif tag != "Empty":
                raise Refusal(f"a {tag} statement in a function", "use assignments, for and if")

    def _assign(self, body: Json, names: dict[str, Tensor]) -> None:
        parts = body["comp"]["parts"]
        if len(parts) != 1:
            raise Refusal("an assignment to a record's field in a function")
        name, value = parts[0]["ident"], self._evaluate(body["value"], names)
        if parts[0]["subs"]:
            place = self._interpreter.subscripts(parts[0]["subs"], _scope(names))
            value = names[name].replace(place, value)
        names[name] = value

    def _branch(self, body: Json, names: dict[str, Tensor]) -> None:
        from orchestrator.export.expression import choose

        branches: list[tuple[Json, Json]] = [(None, body["else_block"] or [])]
        branches += [(block["cond"], block["stmts"]) for block in reversed(body["cond_blocks"])]
        before, result = dict(names), dict(names)
        for condition, statements in branches:
            inside = dict(before)
            if condition is None:
                self._run(statements, inside)
                result = inside
                continue
            switch = self._evaluate(condition, before).item
            self._run(statements, inside)
            result = {name: choose(switch, inside[name], result[name]) for name in before}
        names.update({name: result[name] for name in before})

    def _loop(self, indices: Json, body: Json, names: dict[str, Tensor]) -> None:
        if not indices:
            self._run(body, names)
            return
        index, *rest = indices
        name = index["ident"] if isinstance(index["ident"], str) else index["ident"]["text"]
        values = self._evaluate(index["range"], names)
        hidden = names.get(name)
        for item in values.items:
            names[name] = Tensor((), (item,))
            self._loop(rest, body, names)
        names.pop(name, None)
        if hidden is not None:
            names[name] = hidden

    @property
    def _interpreter(self) -> Interpreter:
        if self.interpreter is None:
            raise Refusal("a function call outside an interpreter")
        return self.interpreter

    def _evaluate(self, node: Json, names: dict[str, Tensor]) -> Tensor:
        return self._interpreter.evaluate(node, _scope(names))


def _scope(names: dict[str, Tensor]) -> Scope:
    from orchestrator.export.expression import Scope

    return Scope(names, event_free=True)
