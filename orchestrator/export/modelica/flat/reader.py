"""From the flat model to the residual DAE: variables become symbols, equations expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.residual_dae import Kind, Residual, ResidualDae
from orchestrator.export.modelica.flat.algorithm_reader import AlgorithmReader
from orchestrator.export.modelica.flat.discrete_reader import DiscreteReader
from orchestrator.export.modelica.flat.event_collector import EventCollector
from orchestrator.export.modelica.flat.expression import Interpreter, Scope
from orchestrator.export.modelica.flat.function_body import FunctionBody
from orchestrator.export.modelica.flat.model import FlatEquation, FlatModel
from orchestrator.export.modelica.flat.record import Record
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.tensor import Tensor
from orchestrator.export.modelica.flat.variable import VariableReader

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
        self._scope = Scope(names)
        self._interpreter.variables = self._variables.names
        self._discrete = DiscreteReader(
            flat, self._interpreter, self._collector, self._scope, self._variables
        )
        self._algorithm = AlgorithmReader(
            self._interpreter, self._collector, self._scope, self._discrete
        )

    def read(self) -> ResidualDae:
        """The residual DAE of the whole model."""
        residuals = [*self._residuals(), *self._algorithms("algorithms")]
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
            places={each.name: self._flat.declared_at(each.name) for each in variables},
        )

    def _residuals(self) -> Iterator[Residual]:
        for equation in self._flat.equations():
            if not self._discrete.take(equation):
                yield from self._expand(equation)
        for name, binding, where in self._variables.equation_bindings:
            origin = f"declaration of '{name}'" + (f" at {where}" if where else "")
            if self._discrete.take_binding(name, binding, origin):
                continue
            try:
                value = self._interpreter.evaluate(binding, self._scope)
                difference = self._variables.names[name].zip(value, lambda a, b: a - b)
            except Refusal as refusal:
                raise self._error(origin, refusal) from refusal
            yield from self._scalars(difference, origin)

    def _expand(self, equation: FlatEquation) -> Iterator[Residual]:
        scope = self._scope
        if equation.loop:
            indices = {name: Tensor.scalar(value) for name, value in equation.loop.items()}
            scope = Scope({**self._scope.names, **indices})
        try:
            value = self._interpreter.evaluate(equation.residual, scope)
            # rumoca counts an equation of records as one
            whole = isinstance(value, Record)
            if equation.count not in {None, len(value.items)} and not whole:
                raise Refusal(
                    f"an equation that gives {len(value.items)} scalar equations where rumoca"
                    f" announces {equation.count}"
                )
        except Refusal as refusal:
            raise self._error(equation.origin, refusal) from refusal
        yield from self._scalars(value, equation.origin)

    def _algorithms(self, key: str) -> Iterator[Residual]:
        for section in self._flat.tree[key]:
            initial = key.startswith("initial")
            what = "initial algorithm" if initial else "algorithm"
            place = self._flat.where(section)
            origin = f"{what} at {place}" if place else str(section["origin"])
            try:
                for target, value in self._algorithm.run(section):
                    name = f"{origin}, '{target}'"
                    symbols = self._scope.names[target]
                    if not self._discrete.take_value(symbols, value, name, initial=initial):
                        yield from self._scalars(symbols.zip(value, lambda a, b: a - b), name)
            except Refusal as refusal:
                raise self._error(origin, refusal) from refusal

    @staticmethod
    def _scalars(value: Tensor, origin: str) -> Iterator[Residual]:
        for position, item in enumerate(value.items, start=1):
            yield Residual(item, f"{origin}, element {position}" if value.shape else origin)

    def _initial_equations(self) -> tuple[dict[str, Any], list[Residual]]:
        """Start values from equations ``state = expression of parameters``, and the others."""
        found: dict[str, Any] = {}
        others: list[Residual] = []
        for equation in self._flat.equations("initial_equations"):
            if self._discrete.take_initial(equation):
                continue
            for residual in self._expand(equation):
                solved = self._solved(residual)
                if solved is None or solved[0] in found or self._variables.is_fixed(solved[0]):
                    others.append(residual)
                else:
                    found[solved[0]] = solved[1]
        return found, [*others, *self._algorithms("initial_algorithms")]

    def _solved(self, residual: Residual) -> tuple[str, Any] | None:
        moving = [s for s in ca.symvar(residual.expression) if not self._is_parameter(s.name())]
        if len(moving) == 1 and moving[0].name() in self._derivatives:
            slope = ca.gradient(residual.expression, moving[0])
            if slope.is_constant() and float(slope) in {1.0, -1.0}:
                rest = ca.substitute(residual.expression, moving[0], 0)
                return moving[0].name(), -rest * slope
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
        if not self._variables.is_variable(name):
            return False  # of a relation, pre() and the like
        return not self._is_parameter(name) and not self._variables.is_discrete(name)

    def _error(self, origin: str, refusal: Refusal) -> ModelicaError:
        return ModelicaError(
            f"{self._flat.name}: {origin}: the exporter does not support {refusal}"
        )


def read(flat: FlatModel) -> ResidualDae:
    """Turn a flat model into a residual DAE.

    Raises
    ------
    ModelicaError
        If the model uses a construct outside the supported subset; the message names it, its
        equation and, where known, its line.
    """
    return FlatReader(flat).read()
