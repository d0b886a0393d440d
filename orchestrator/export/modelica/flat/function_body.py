"""Modelica functions, evaluated symbolically."""

from __future__ import annotations

import logging
import math

from orchestrator.export.modelica.flat.expression import Interpreter, Json, Scope
from orchestrator.export.modelica.flat.record import Record, stack
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.statements import (
    UNASSIGNED,
    Names,
    StatementRunner,
    may_be_unassigned,
)
from orchestrator.export.modelica.flat.tensor import Tensor

_LOGGER = logging.getLogger(__name__)
_MAX_DEPTH = 50


class FunctionBody:
    """Runs the body of a function on symbolic arguments; relations in it never make events.

    Parameters
    ----------
    functions
        The flat model's functions by qualified name.
    constants
        Names that every function sees: literals of enumerations.
    """

    def __init__(self, functions: Json, constants: Names) -> None:
        self._functions = functions
        self._constants = constants
        self._depth = 0
        self._unchecked: set[str] = set()
        self.interpreter: Interpreter | None = None

    def call(self, name: str, arguments: list[Tensor]) -> list[Tensor]:
        """All outputs of ``name(arguments)``; a constructor has one, the record."""
        function = self._find(name)
        if function["external"] is not None:
            raise Refusal(f"the external function '{name}'", "write it in Modelica")
        if not function["pure"]:
            raise Refusal(f"the impure function '{name}'")
        elements = self._elements(function, arguments)
        if elements is not None:
            results = [self.call(name, one) for one in elements]
            return [stack(outputs) for outputs in zip(*results, strict=True)]
        if self._depth >= _MAX_DEPTH:
            raise Refusal(f"the function '{name}', which calls itself more than {_MAX_DEPTH} times")
        self._depth += 1
        try:
            inputs = self._inputs(function, arguments)
            if function["is_constructor"]:
                return [Record.of(inputs)]
            names = {**self._constants, **inputs}
            for entry in (*function["outputs"], *function["locals"]):
                names[entry["name"]] = self._declared(entry, names)
            hooks = {"Assert": lambda body, scope: self._assert(name, body, scope)}
            runner = StatementRunner(self._interpreter, event_free=True, hooks=hooks)
            runner.run(function["body"], names)
        finally:
            self._depth -= 1
        outputs = {entry["name"]: names[entry["name"]] for entry in function["outputs"]}
        for output, value in outputs.items():
            if any(map(may_be_unassigned, value.items)):
                raise Refusal(f"the function '{name}', which does not always set '{output}'")
        return list(outputs.values())

    def _assert(self, name: str, body: Json, names: Names) -> None:
        """Decided now if it can be: an FMU looks at the asserts of the model itself only."""
        condition = self._interpreter.evaluate(body["condition"], Scope(names, event_free=True))
        if not condition.item.is_constant():
            if name not in self._unchecked:
                _LOGGER.warning("an assert in the function %s is not checked at run time", name)
            self._unchecked.add(name)
        elif not float(condition.item):
            raise Refusal(f"a call of the function {name} against its assert")

    def _find(self, name: str) -> Json:
        if name in self._functions:
            return self._functions[name]
        matches = [full for full in self._functions if full.endswith(f".{name}")]
        if len(matches) != 1:
            raise Refusal(f"the function '{name}', of which {len(matches)} definitions were found")
        return self._functions[matches[0]]

    @staticmethod
    def _elements(function: Json, arguments: list[Tensor]) -> list[list[Tensor]] | None:
        """Arguments of each call if an array stands for a scalar (Modelica 3.6, section 12.4.6)."""
        wanted = [
            max(len(entry["shape_expr"]), len(entry["effective_type"]["dimensions"]))
            for entry in function["inputs"]
        ]
        pairs = list(zip(arguments, wanted, strict=False))
        is_array = [
            len(value.shape) > rank and not isinstance(value, Record) for value, rank in pairs
        ]
        sizes = {value.shape[0] for value, array in zip(arguments, is_array, strict=False) if array}
        if not sizes:
            return None
        if len(sizes) > 1:
            raise Refusal(f"a call of '{function['name']}' for arrays of different sizes")
        return [
            [
                value.select([index]) if array else value
                for value, array in zip(arguments, is_array, strict=True)
            ]
            for index in range(1, sizes.pop() + 1)
        ]

    def _inputs(self, function: Json, arguments: list[Tensor]) -> Names:
        names: Names = {}
        if len(arguments) > len(function["inputs"]):
            raise Refusal(f"a call of '{function['name']}' with {len(arguments)} arguments")
        for position, entry in enumerate(function["inputs"]):
            if position < len(arguments):
                names[entry["name"]] = arguments[position]
            elif entry["default"] is not None:
                names[entry["name"]] = self._evaluate(entry["default"], names)
            else:
                raise Refusal(f"a call of '{function['name']}' without its input '{entry['name']}'")
        return names

    def _declared(self, entry: Json, names: Names) -> Tensor:
        if entry["default"] is not None:
            return self._evaluate(entry["default"], names)
        sizes = entry["effective_type"]["dimensions"]
        if entry["shape_expr"]:
            scope = Scope({**self._constants, **names})
            sizes = self._interpreter.subscripts(entry["shape_expr"], scope)
        shape = tuple(sizes)
        if not all(isinstance(size, int) for size in shape):
            raise Refusal(f"the array '{entry['name']}' of unknown size in a function")
        if entry["type_class"] == "Record":
            if shape:
                raise Refusal(f"the array of records '{entry['name']}' in a function")
            fields = self._find(entry["type_name"])["inputs"]
            return Record.of({field["name"]: self._declared(field, {}) for field in fields})
        return Tensor(shape, (UNASSIGNED,) * math.prod(shape))

    @property
    def _interpreter(self) -> Interpreter:
        if self.interpreter is None:
            raise Refusal("a function call outside an interpreter")
        return self.interpreter

    def _evaluate(self, node: Json, names: Names) -> Tensor:
        scope = Scope({**self._constants, **names}, event_free=True)
        return self._interpreter.evaluate(node, scope)
