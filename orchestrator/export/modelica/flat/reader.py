"""From the flat model to the residual DAE: variables become symbols, equations expressions."""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Iterator
from typing import Any

import casadi as ca

from orchestrator.export.dae.residual_dae import Kind, Residual, ResidualDae
from orchestrator.export.modelica.flat.discrete_reader import DiscreteReader
from orchestrator.export.modelica.flat.expression import (
    EventCollector,
    ExpressionScope,
    Interpreter,
    RecordValue,
    stack,
)
from orchestrator.export.modelica.flat.model import FlatEquation, FlatModel, Refusal
from orchestrator.export.modelica.flat.statements import (
    UNASSIGNED,
    Names,
    StatementRunner,
    may_be_unassigned,
    merged,
)
from orchestrator.export.modelica.flat.tensor import Tensor
from orchestrator.export.modelica.flat.variable import VariableReader

_LOGGER = logging.getLogger(__name__)
_MAX_DEPTH = 50


class FunctionBody:
    """Runs the body of a function on symbolic arguments; relations in it never make events.

    functions: The flat model's functions by qualified name.
    constants: Names that every function sees: literals of enumerations.
    """

    def __init__(self, functions: Json, constants: Names) -> None:
        self._functions = functions
        self._constants = constants
        self._depth = 0
        self._unchecked: set[str] = set()
        self.interpreter: Interpreter

    def call(self, name: str, arguments: list[Tensor]) -> list[Tensor]:
        """All outputs of ``name(arguments)``; a constructor has one, the record."""
        function = self._find(name)
        by = function.get("derivative_by", ())
        if not by:
            return self._called(name, function, arguments)
        inputs = self._inputs(function, arguments)
        plain = list(inputs.values())
        if any(value.shape or isinstance(value, RecordValue) for value in plain):
            raise Refusal(f"'{name}', a derivative of a function of arrays or records")
        symbols = {input_name: ca.SX.sym(input_name) for input_name in inputs}
        (*outputs,) = self._called(
            name, function, [Tensor((), (symbol,)) for symbol in symbols.values()]
        )

        def derived(item: Any) -> Any:
            for input_name in by:
                item = ca.gradient(item, symbols[input_name])
            values = (value.item for value in plain)
            return ca.substitute(item, ca.vertcat(*symbols.values()), ca.vertcat(*values))

        return [output.map(derived) for output in outputs]

    def _called(self, name: str, function: Json, arguments: list[Tensor]) -> list[Tensor]:
        if function["external"] is not None:
            raise Refusal(f"the external function '{name}'", "write it in Modelica")
        if not function["pure"]:
            raise Refusal(f"the impure function '{name}'")
        elements = self._elements(function, arguments)
        if elements is not None:
            if len(function["outputs"]) > 1:
                raise Refusal(f"a call of '{name}', which has several outputs, for arrays")
            results = [self.call(name, element) for element in elements]
            return [stack(outputs) for outputs in zip(*results, strict=True)]
        if self._depth >= _MAX_DEPTH:
            raise Refusal(f"the function '{name}', which calls itself more than {_MAX_DEPTH} times")
        self._depth += 1
        try:
            inputs = self._inputs(function, arguments)
            if function["is_constructor"]:
                return [RecordValue.of(inputs)]
            names = {**self._constants, **inputs}
            for entry in (*function["outputs"], *function["locals"]):
                names[entry["name"]] = self._declared(entry, names)
            hooks = {"Assert": lambda body, scope: self._assert(name, body, scope)}
            runner = StatementRunner(self.interpreter, event_free=True, hooks=hooks)
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
        condition = self.interpreter.evaluate(
            body["condition"], ExpressionScope(names, event_free=True)
        )
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
        ranks = [
            max(len(entry["shape_expr"]), len(entry["effective_type"]["dimensions"]))
            for entry in function["inputs"]
        ]
        is_array = [
            len(value.shape) > rank and not isinstance(value, RecordValue)
            for value, rank in zip(arguments, ranks, strict=False)
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
            scope = ExpressionScope({**self._constants, **names})
            sizes = self.interpreter.subscripts(entry["shape_expr"], scope)
        shape = tuple(sizes)
        if not all(isinstance(size, int) for size in shape):
            raise Refusal(f"the array '{entry['name']}' of unknown size in a function")
        if entry["type_class"] == "Record":
            if shape:
                raise Refusal(f"the array of records '{entry['name']}' in a function")
            fields = self._find(entry["type_name"])["inputs"]
            return RecordValue.of({field["name"]: self._declared(field, {}) for field in fields})
        return Tensor(shape, (UNASSIGNED,) * math.prod(shape))

    def _evaluate(self, node: Json, names: Names) -> Tensor:
        scope = ExpressionScope({**self._constants, **names}, event_free=True)
        return self.interpreter.evaluate(node, scope)


Json = Any


class FlatReader:
    """Reads one flat model; use :func:`read`."""

    def __init__(self, flat: FlatModel) -> None:
        self._flat = flat
        self._time = ca.SX.sym("time")
        self._derivatives: dict[str, Any] = {}
        literals = {n: Tensor.scalar(i) for n, i in flat.tree["enum_literal_ordinals"].items()}
        functions = FunctionBody(flat.tree["functions"], literals)
        self._collector = EventCollector(lambda name: not self._is_continuous(name))
        self._interpreter = Interpreter(
            self._derivative, self._is_continuous, functions.call, self._collector
        )
        functions.interpreter = self._interpreter
        self._variables = VariableReader(flat, self._interpreter, literals)
        names = {
            **literals,
            **self._variables.texts,
            **self._variables.names,
            "time": Tensor((), (self._time,)),
        }
        self._scope = ExpressionScope(names)
        self._interpreter.variables = self._variables.names
        self._discrete = DiscreteReader(
            flat, self._interpreter, self._collector, self._scope, self._variables
        )

    def read(self) -> ResidualDae:
        """The residual DAE of the whole model."""
        of_algorithms = list(self._algorithms("algorithms"))
        residuals = [*self._residuals(), *of_algorithms]
        self._discrete.read_when_clauses()
        residuals += self._discrete.continuous()
        starts, initial = self._initial_equations()
        variables = tuple(self._variables.finish(starts, self._discrete.names))
        return ResidualDae(
            self._flat.name,
            self._time,
            variables,
            dict(self._derivatives),
            tuple(residuals),
            self._flat.tree["model_description"] or "",
            tuple(initial),
            self._discrete.events(variables),
            locations={
                variable.name: self._flat.declared_at(variable.name) for variable in variables
            },
        )

    def _residuals(self) -> Iterator[Residual]:
        bindings = [
            equation_binding
            for equation_binding in self._variables.equation_bindings
            if not self._discrete.take_binding(*equation_binding)
        ]
        equations = list(self._flat.equations())
        taken = self._discrete.take(equations)
        for index, equation in enumerate(equations):
            if index not in taken:
                yield from self._expand(equation)
        for name, binding, origin in bindings:
            with self._flat.reporting(origin):
                value = self._interpreter.evaluate(binding, self._scope)
                difference = self._variables.names[name].zip(value, operator.sub)
            yield from self._scalars(difference, origin)

    def _expand(self, equation: FlatEquation) -> Iterator[Residual]:
        with self._flat.reporting(equation.origin):
            scope = self._scope.in_loop(equation.loop)
            value = self._interpreter.evaluate(equation.residual, scope)
            # rumoca counts an equation of records as one
            is_record = isinstance(value, RecordValue)
            if equation.count not in {None, len(value.items)} and not is_record:
                raise Refusal(
                    f"an equation that gives {len(value.items)} scalar equations where rumoca"
                    f" announces {equation.count}"
                )
        yield from self._scalars(value, equation.origin)

    def _algorithms(self, key: str) -> Iterator[Residual]:
        for section in self._flat.tree[key]:
            initial = key.startswith("initial")
            kind = "initial algorithm" if initial else "algorithm"
            location = self._flat.location(section)
            origin = f"{kind} at {location}" if location else str(section["origin"])
            with self._flat.reporting(origin):
                for target, value in self._run(section):
                    name = f"{origin}, '{target}'"
                    symbols = self._scope.names[target]
                    if not self._discrete.take_value(symbols, value, name, initial=initial):
                        yield from self._scalars(symbols.zip(value, operator.sub), name)

    def _run(self, section: Json) -> Iterator[tuple[str, Tensor]]:
        """Names of the variables that an algorithm sets, and their values."""
        targets = list(dict.fromkeys(output["name"] for output in section["outputs"]))
        names = dict(self._scope.names)
        for target in targets:
            names[target] = names[target].map(self._before)
        hooks = {"When": self._when}
        runner = StatementRunner(self._interpreter, event_free=False, hooks=hooks)
        runner.run(section["statements"], names)
        for target in targets:
            if any(map(may_be_unassigned, names[target].items)):
                raise Refusal(f"an algorithm that does not always set '{target}'")
            yield target, names[target]

    def _before(self, symbol: Any) -> Any:
        """``pre()`` of a discrete variable (section 11.1.2); others are set on every path."""
        is_discrete = symbol.is_symbolic() and self._discrete.is_discrete(symbol.name())
        return self._collector.pre(symbol) if is_discrete else UNASSIGNED

    def _when(self, body: Json, names: Names) -> None:
        """Clauses see the values so far; at most one of them fires."""
        scope, instant = ExpressionScope(names), StatementRunner(self._interpreter, event_free=True)
        earlier: Any = ca.SX(0)
        result = dict(names)
        for block in body["blocks"]:
            fires, _ = self._discrete.when.condition(block["cond"], scope)
            inside = dict(names)
            instant.run(block["stmts"], inside)
            active = ca.logic_and(fires, ca.logic_not(earlier))
            result |= merged(active, inside, result)
            earlier = ca.logic_or(earlier, fires)
        names.update(result)

    @staticmethod
    def _scalars(value: Tensor, origin: str) -> Iterator[Residual]:
        for position, item in enumerate(value.items, start=1):
            yield Residual(item, f"{origin}, element {position}" if value.shape else origin)

    def _initial_equations(self) -> tuple[dict[str, Any], list[Residual]]:
        """Start values from equations ``state = expression of parameters``, and the others."""
        starts: dict[str, Any] = {}
        others: list[Residual] = []
        for equation in self._flat.equations("initial_equations"):
            if self._discrete.take_initial(equation):
                continue
            for residual in self._expand(equation):
                solved = self._solved(residual)
                if solved is None or solved[0] in starts or solved[0] in self._variables.fixed:
                    others.append(residual)
                else:
                    starts[solved[0]] = solved[1]
        return starts, [*others, *self._algorithms("initial_algorithms")]

    def _solved(self, residual: Residual) -> tuple[str, Any] | None:
        moving = [s for s in ca.symvar(residual.expression) if not self._is_parameter(s.name())]
        if len(moving) == 1 and moving[0].name() in self._derivatives:
            slope = ca.gradient(residual.expression, moving[0])
            if slope.is_constant() and float(slope) in {1.0, -1.0}:
                constant = ca.substitute(residual.expression, moving[0], 0)
                return moving[0].name(), -constant * slope
        return None

    def _derivative(self, symbol: Any) -> Any:
        name = symbol.name()
        if name == "time":
            return ca.SX(1)
        if not self._is_continuous(name) and self._variables.kind(name) is not Kind.INPUT:
            return ca.SX(0)
        if self._variables.kind(name) is Kind.INPUT:
            raise Refusal(f"der({name}) of an input", "make its derivative an input as well")
        if name.startswith("der("):
            raise Refusal(f"der({name})", "introduce a variable for the first derivative")
        if name not in self._derivatives:
            self._derivatives[name] = ca.SX.sym(f"der({name})")
        return self._derivatives[name]

    def _is_parameter(self, name: str) -> bool:
        return self._variables.kind(name) in {Kind.PARAMETER, Kind.CALCULATED, Kind.CONSTANT}

    def _is_continuous(self, name: str) -> bool:
        if name == "time" or name.startswith("der("):
            return True
        if name not in self._variables.kinds:
            return False  # of a relation, pre() and the like
        return not self._is_parameter(name) and name not in self._variables.discrete


def read(flat: FlatModel) -> ResidualDae:
    """Turn a flat model into a residual DAE."""
    return FlatReader(flat).read()
