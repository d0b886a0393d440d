"""C code of a function with a loop wherever elements of arrays are computed alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from orchestrator.export.codegen.loops.operation_graph import OperationGraph
from orchestrator.export.codegen.loops.program import Loop, Program, leaves
from orchestrator.export.codegen.loops.rows import Computed, Formula, Neighbour, Rows, Scalar

# As CasADi's own code; `larger` and `smaller` are fmax and fmin without a call.
_FORMS: Mapping[int, str] = {
    ca.OP_ADD: "({0} + {1})",
    ca.OP_SUB: "({0} - {1})",
    ca.OP_MUL: "({0} * {1})",
    ca.OP_DIV: "({0} / {1})",
    ca.OP_NEG: "(-{0})",
    ca.OP_TWICE: "(2. * {0})",
    ca.OP_INV: "(1. / {0})",
    ca.OP_SQ: "square({0})",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_FABS: "fabs({0})",
    ca.OP_FMAX: "larger({0}, {1})",
    ca.OP_FMIN: "smaller({0}, {1})",
    ca.OP_LT: "({0} < {1})",
    ca.OP_LE: "({0} <= {1})",
    ca.OP_EQ: "({0} == {1})",
    ca.OP_NE: "({0} != {1})",
    ca.OP_NOT: "(!{0})",
    ca.OP_AND: "(({0} != 0) & ({1} != 0))",
    ca.OP_OR: "(({0} != 0) | ({1} != 0))",
    ca.OP_IF_ELSE_ZERO: "chosen({0}, {1})",
    ca.OP_SIN: "sin({0})",
    ca.OP_COS: "cos({0})",
    ca.OP_TAN: "tan({0})",
    ca.OP_ASIN: "asin({0})",
    ca.OP_ACOS: "acos({0})",
    ca.OP_ATAN: "atan({0})",
    ca.OP_ATAN2: "atan2({0}, {1})",
    ca.OP_SINH: "sinh({0})",
    ca.OP_COSH: "cosh({0})",
    ca.OP_TANH: "tanh({0})",
    ca.OP_EXP: "exp({0})",
    ca.OP_LOG: "log({0})",
    ca.OP_POW: "pow({0}, {1})",
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_FLOOR: "floor({0})",
    ca.OP_CEIL: "ceil({0})",
    ca.OP_HYPOT: "hypot({0}, {1})",
}


def is_known(graph: OperationGraph) -> bool:
    """Whether all operations can be written."""
    return all(o.is_leaf or o.code in _FORMS for o in graph.operations)


@dataclass
class Writer:
    """Writes the body of a function."""

    rows: Rows
    program: Program
    singles: Sequence[tuple[int, int, int]]  # column and position of a result, and its operation
    memory: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # name, first and last element
    _looped: dict[tuple[str, int], Loop] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Declarations, then everything in order."""
        for loop in self.program.loops:
            self._looped |= {(loop.row, i): loop for i in range(loop.begin, loop.end)}
        kept = self._kept()
        for row, (name, first, last) in kept.items():
            self.memory[row] = name, first, last
            yield f"double {name}[{last + 1 - first}];"
        for unit in self.program.order:
            if isinstance(unit, int):
                yield from self._single(unit)
            else:
                yield from self._loops(unit)
        operations = self.rows.graph.operations
        for row, storage in self.rows.results.items():
            for index, (number, _) in sorted(self.rows.formulas.get(row, {}).items()):
                if (row, index) not in self._looped:
                    place = storage.first + storage.stride * index
                    yield f"res[{storage.column}][{place}] = {self._value(number)};"
        for column, position, number in self.singles:
            yield f"res[{column}][{position}] = {self._value(number)};"

    def _kept(self) -> dict[str, tuple[str, int, int]]:
        """Rows that need memory: those with a loop, and those that a loop reads."""
        wanted: dict[str, tuple[int, int]] = {}

        def want(row: str, begin: int, end: int) -> None:
            if row in self.rows.results or row in self.rows.arguments:
                return
            b, e = wanted.get(row, (begin, end))
            wanted[row] = min(b, begin), max(e, end)

        for loop in self.program.loops:
            want(loop.row, loop.begin, loop.end)
            for part in leaves(loop.formula):
                if isinstance(part, Neighbour):
                    want(part.row, loop.begin + part.ahead, loop.end + part.ahead)
        return {r: (f"r{k}", b, e - 1) for k, (r, (b, e)) in enumerate(wanted.items())}

    def _single(self, number: int) -> Iterator[str]:
        operation = self.rows.graph.operations[number]
        text = _FORMS[operation.code].format(*map(self._value, operation.operands))
        yield f"const double s{number} = {text};"
        row, index = self.rows.place.get(number, ("", 0))
        if row in self.memory:
            name, first, last = self.memory[row]
            if first <= index <= last:  # no loop reads the others
                yield f"{name}[{index - first}] = s{number};"

    def _value(self, number: int) -> str:
        operation = self.rows.graph.operations[number]
        if operation.code == ca.OP_CONST:
            return repr(operation.value)
        if operation.place is not None:
            column, position = operation.place
            return f"arg[{column}][{position}]"
        row, index = self.rows.place.get(number, ("", 0))
        if (row, index) in self._looped:
            name, first, _ = self.memory[row]
            return f"{name}[{index - first}]"
        return f"s{number}"

    def _loops(self, group: tuple[Loop, ...]) -> Iterator[str]:
        begin, end = group[0].span
        local = {loop.row: f"v{k}" for k, loop in enumerate(group)}
        yield f"for (int i = 0; i < {end - begin}; ++i) {{"
        done: set[str] = set()
        for loop in group:
            text = self._formula(loop.formula, begin, {r: local[r] for r in done})
            done.add(loop.row)
            storage = self.rows.results.get(loop.row)
            if storage is not None:
                yield f"  res{storage.column}[{_index(storage, begin)}] = {text};"
                continue
            name, first, _ = self.memory[loop.row]
            yield f"  const double {local[loop.row]} = {text};"
            yield f"  {name}[i + {begin - first}] = {local[loop.row]};"
        yield "}"

    def _formula(self, formula: Formula, begin: int, local: Mapping[str, str]) -> str:
        if isinstance(formula, Scalar):
            return self._value(formula.number)
        if isinstance(formula, Computed):
            operands = [self._formula(one, begin, local) for one in formula.operands]
            return _FORMS[formula.code].format(*operands)
        if formula.ahead == 0 and formula.row in local:
            return local[formula.row]
        storage = self.rows.arguments.get(formula.row)
        if storage is not None:
            return f"arg{storage.column}[{_index(storage, begin + formula.ahead)}]"
        name, first, _ = self.memory[formula.row]
        return f"{name}[i + {begin + formula.ahead - first}]"


def _index(storage: Any, begin: int) -> str:
    first = storage.first + storage.stride * begin
    return f"{storage.stride} * i + {first}" if storage.stride != 1 else f"i + {first}"
