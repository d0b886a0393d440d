"""C code of a function with a loop wherever elements of arrays are computed alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from orchestrator.export.codegen.loops.array_names import elements
from orchestrator.export.codegen.loops.formula import Computed, Formula, Scalar
from orchestrator.export.codegen.loops.kept_rows import kept_rows
from orchestrator.export.codegen.loops.operation_graph import operation_graph
from orchestrator.export.codegen.loops.program import Loop, Program, arrange, single_results
from orchestrator.export.codegen.loops.rows import Storage, find_rows

# As in the code that CasADi writes, so that both compute the same bits; runtime/loops.h has what
# is no operator and no function of C.
_FORMS: Mapping[int, str] = {
    ca.OP_ADD: "({0} + {1})",
    ca.OP_SUB: "({0} - {1})",
    ca.OP_MUL: "({0} * {1})",
    ca.OP_DIV: "({0} / {1})",
    ca.OP_NEG: "(-{0})",
    ca.OP_TWICE: "(2. * {0})",
    ca.OP_INV: "(1. / {0})",
    ca.OP_LT: "({0} < {1})",
    ca.OP_LE: "({0} <= {1})",
    ca.OP_EQ: "({0} == {1})",
    ca.OP_NE: "({0} != {1})",
    ca.OP_NOT: "({0} == 0)",
    ca.OP_AND: "(({0} != 0) & ({1} != 0))",
    ca.OP_OR: "(({0} != 0) | ({1} != 0))",
    ca.OP_SQ: "square({0})",
    ca.OP_FMIN: "smaller({0}, {1})",
    ca.OP_FMAX: "larger({0}, {1})",
    ca.OP_IF_ELSE_ZERO: "chosen({0}, {1})",
    ca.OP_POW: "pow({0}, {1})",
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_ATAN2: "atan2({0}, {1})",
} | {
    getattr(ca, f"OP_{name.upper()}"): f"{name}({{0}})"
    for name in (
        *("sqrt", "fabs", "floor", "ceil", "exp", "log", "sin", "cos", "tan", "asin", "acos"),
        *("atan", "sinh", "cosh", "tanh"),
    )
}
_LARGEST_STACK = 128 * 1024  # bytes of rows: threads with small stacks step FMUs, too
_SMALLEST_SHARE = 0.5  # of the operations in loops, below which CasADi's code stays
_FEWEST = 64  # operations in loops, likewise


@dataclass(frozen=True)
class Column:
    """An argument or result of a function: a column of expressions, and their names."""

    values: Any  # casadi.SX
    names: Sequence[str]


def function_code(
    name: str, arguments: Sequence[Column], results: Sequence[Column], inner: Column
) -> str | None:
    """Return C code of a function, called as CasADi's; None if loops would do less than half of it.

    ``inner`` are expressions that the results may be made of; their names say which are alike.
    Everything is computed by the same operations on the same numbers as in CasADi's code.
    """
    given = [column.values for column in arguments]
    graph = operation_graph(given, [column.values for column in results], inner.values)
    computed = [number for number in graph.needed if graph.computed(number)]
    if any(graph.operations[number].code not in _FORMS for number in computed):
        return None
    taken_names, given_names = (
        [elements(column.names) for column in columns] for columns in (arguments, results)
    )
    program = arrange(find_rows(graph, taken_names, given_names, elements(inner.names)))
    single = sum(isinstance(step, int) for step in program.order)
    writer = _Writer(program)
    wanted = max(_FEWEST, _SMALLEST_SHARE * len(computed))
    if len(computed) - single < wanted or writer.stack > _LARGEST_STACK:
        return None
    takes = "const double** arg, double** res, int* iw, double* w, int mem"
    lines = [
        *(f"const double* restrict const a{i} = arg[{i}];" for i in range(len(arguments))),
        *(f"double* restrict const y{i} = res[{i}];" for i in range(len(results))),
        *(f"(void)a{i};" for i in range(len(arguments))),
        *(f"(void)y{i};" for i in range(len(results))),
        *writer.lines(),
        "(void)iw, (void)w, (void)mem;",
        "return 0;",
    ]
    return "\n".join(
        [f"VECTORISED static int {name}({takes}) {{", *(f"  {line}" for line in lines), "}", ""]
    )


class _Writer:
    """Writes the body of a function: s4 is operation 4, r4 a row, v4 an element in a loop."""

    def __init__(self, program: Program) -> None:
        self._program, self._rows = program, program.rows
        self._memory = {
            row: (f"r{count}", first, last)
            for count, (row, (first, last)) in enumerate(kept_rows(program).items())
        }

    @property
    def stack(self) -> int:
        """Bytes of all rows that are kept."""
        return sum(8 * (last + 1 - first) for _, first, last in self._memory.values())

    def lines(self) -> Iterator[str]:
        """Declarations, everything in order, and results that no loop writes."""
        for row, (name, first, last) in self._memory.items():
            yield f"double {name}[{last + 1 - first}]; /* {row} from {first} */"
        for step in self._program.order:
            yield from self._single(step) if isinstance(step, int) else self._loop(step)
        for (column, position), number in single_results(self._program):
            yield f"y{column}[{position}] = {self._value(number)};"

    def _single(self, number: int) -> Iterator[str]:
        operation = self._rows.graph.operations[number]
        text = _FORMS[operation.code].format(*map(self._value, operation.operands))
        yield f"const double s{number} = {text};"
        row, index = self._rows.place.get(number, ("", 0))
        name, first, last = self._memory.get(row, ("", 0, -1))
        if first <= index <= last:
            yield f"{name}[{index - first}] = s{number};"

    def _value(self, number: int) -> str:
        operation = self._rows.graph.operations[number]
        if operation.code == ca.OP_CONST:
            return constant(operation.value)
        if operation.place is not None:
            return "a{}[{}]".format(*operation.place)
        if self._program.loop_of(number) is None:
            return f"s{number}"
        row, index = self._rows.place[number]
        name, first, _ = self._memory[row]
        return f"{name}[{index - first}]"

    def _loop(self, group: tuple[Loop, ...]) -> Iterator[str]:
        begin, end = group[0].span
        local: dict[str, str] = {}
        yield f"for (int i = 0; i < {end - begin}; ++i) {{"
        for count, loop in enumerate(group):
            text = self._formula(loop.formula, begin, local)
            storage = self._rows.results.get(loop.row)
            if storage is not None:
                yield f"  y{storage.column}[{_stored(storage, begin)}] = {text};"
                continue
            local[loop.row] = f"v{count}"
            yield f"  const double v{count} = {text};"
            if loop.row in self._memory:
                name, first, _ = self._memory[loop.row]
                yield f"  {name}[{_plus(begin - first)}] = v{count};"
        yield "}"

    def _formula(self, formula: Formula, begin: int, local: Mapping[str, str]) -> str:
        if isinstance(formula, Scalar):
            return self._value(formula.number)
        if isinstance(formula, Computed):
            operands = [self._formula(one, begin, local) for one in formula.operands]
            return _FORMS[formula.code].format(*operands)
        if formula.ahead == 0 and formula.row in local:
            return local[formula.row]
        storage = self._rows.arguments.get(formula.row)
        if storage is not None:
            return f"a{storage.column}[{_stored(storage, begin + formula.ahead)}]"
        name, first, _ = self._memory[formula.row]
        return f"{name}[{_plus(begin + formula.ahead - first)}]"


def constant(value: float) -> str:
    """Write a number so that C reads the same one."""
    if value != value:
        return "NAN"
    if value in {float("inf"), float("-inf")}:
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value!r})" if value < 0 or str(value).startswith("-") else repr(value)


def _stored(storage: Storage, begin: int) -> str:
    if storage.stride == 1:
        return _plus(storage.first + begin)
    return f"{storage.stride} * i + {storage.first + storage.stride * begin}"


def _plus(places: int) -> str:
    return f"i + {places}" if places else "i"
