"""Algorithm sections: functions that give their left-hand sides from everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from orchestrator.export.modelica.flat.discrete_reader import DiscreteReader
from orchestrator.export.modelica.flat.event_collector import EventCollector
from orchestrator.export.modelica.flat.expression import Interpreter, Scope
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.statements import (
    UNASSIGNED,
    Names,
    StatementRunner,
    may_be_unassigned,
    merged,
)
from orchestrator.export.modelica.flat.tensor import Tensor

Json = Any


class AlgorithmReader:
    """Runs the algorithm sections of a model.

    A discrete variable begins with its value before the event, as Modelica 3.6 says in 11.1.2; a
    continuous one has to be set on every path.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        collector: EventCollector,
        scope: Scope,
        discrete: DiscreteReader,
    ) -> None:
        self._collector = collector
        self._scope = scope
        self._discrete = discrete
        self._runner = StatementRunner(interpreter, event_free=False, hooks={"When": self._when})
        self._instant = StatementRunner(interpreter, event_free=True)

    def run(self, section: Json) -> Iterator[tuple[str, Tensor]]:
        """Names of the variables that a section sets, and their values."""
        targets = list(dict.fromkeys(output["name"] for output in section["outputs"]))
        names = dict(self._scope.names)
        for target in targets:
            names[target] = names[target].map(self._before)
        self._runner.run(section["statements"], names)
        for target in targets:
            if any(map(may_be_unassigned, names[target].items)):
                raise Refusal(f"an algorithm that does not always set '{target}'")
            yield target, names[target]

    def _before(self, symbol: Any) -> Any:
        is_discrete = symbol.is_symbolic() and self._discrete.is_discrete(symbol.name())
        return self._collector.pre(symbol) if is_discrete else UNASSIGNED

    def _when(self, body: Json, names: Names) -> None:
        """Clauses see the values so far; at most one of them fires."""
        scope = Scope(names)
        earlier: Any = ca.SX(0)
        result = dict(names)
        for block in body["blocks"]:
            fires, _ = self._discrete.when.condition(block["cond"], scope)
            inside = dict(names)
            self._instant.run(block["stmts"], inside)
            active = ca.logic_and(fires, ca.logic_not(earlier))
            result |= merged(active, inside, result)
            earlier = ca.logic_or(earlier, fires)
        names.update(result)
