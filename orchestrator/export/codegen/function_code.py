"""C code of a function with a loop wherever elements of arrays are computed alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import casadi as ca
import networkx as nx

from orchestrator.core.structs import Struct
from orchestrator.export.codegen.rows import (
    SHORTEST,
    ArrayRows,
    Computed,
    Formula,
    Neighbour,
    Scalar,
    Storage,
    elements,
    find_rows,
    operation_graph,
    taken,
)
from orchestrator.export.dae.residual_dae import Column


class RowLoop(Struct, eq=False):
    """Elements ``begin`` to ``end - 1`` of a row, all by one formula."""

    row: str
    begin: int
    end: int
    formula: Formula

    @property
    def span(self) -> tuple[int, int]:
        """First element, and the one after the last."""
        return self.begin, self.end


Step = RowLoop | int  # a loop, or a single operation by its number


class Program(Struct):
    """Single operations, and groups of loops that run together, in an order that works.

    ``looped`` has the loop of each element that one computes.
    """

    rows: ArrayRows
    order: tuple[int | tuple[RowLoop, ...], ...]
    looped: Mapping[tuple[str, int], RowLoop]

    def loop_of(self, number: int) -> RowLoop | None:
        """Return the loop that does an operation."""
        return self.looped.get(self.rows.element_of.get(number, ("", 0)))


def arrange(rows: ArrayRows) -> Program:
    """Find the loops and their order; split loops that would wait for each other."""
    loops = [loop for row in rows.formulas for loop in _alike(rows, row)]
    while True:
        looped = {(loop.row, i): loop for loop in loops for i in range(loop.begin, loop.end)}
        program = Program(rows, (), looped)
        graph = _dependences(program, loops)
        waiting = {
            step
            for circle in nx.strongly_connected_components(graph)
            for step in circle
            if len(circle) > 1 or graph.has_edge(step, step)
        }
        if not waiting:
            return Program(rows, tuple(_ordered(graph)), looped)
        loops = [loop for loop in loops if loop not in waiting]


def _alike(rows: ArrayRows, row: str) -> Iterator[RowLoop]:
    """Elements in a row that have one formula."""
    formulas = sorted(rows.formulas[row].items())
    counted = [
        (index, position, formula) for position, (index, (_, formula)) in enumerate(formulas)
    ]
    for (_, formula), members in groupby(counted, key=lambda item: (item[0] - item[1], item[2])):
        indices = [index for index, *_ in members]
        if len(indices) >= SHORTEST and not isinstance(formula, Scalar):
            yield RowLoop(row, indices[0], indices[-1] + 1, formula)


def _dependences(program: Program, loops: list[RowLoop]) -> nx.DiGraph[Step]:
    """All steps, with edges to the steps that use their results."""
    operations = program.rows.graph
    graph: nx.DiGraph[Step] = nx.DiGraph()
    graph.add_nodes_from(loops)
    remaining: list[tuple[int, Step | None]] = []
    for loop in loops:
        remaining += ((number, loop) for number in _taken_numbers(program.rows, loop))
    remaining += ((number, None) for _, number in single_results(program))
    while remaining:
        number, taker = remaining.pop()
        if not operations.computed(number):
            continue
        loop_before = program.loop_of(number)
        maker: Step = number if loop_before is None else loop_before
        if maker not in graph:  # a single operation that was not met before
            graph.add_node(maker)
            remaining += ((operand, number) for operand in operations.operations[number].operands)
        if taker is not None:
            graph.add_edge(maker, taker)
    return graph


def _taken_numbers(rows: ArrayRows, loop: RowLoop) -> Iterator[int]:
    """All operations whose results a loop takes."""
    for part in taken(loop.formula):
        if isinstance(part, Scalar):
            yield part.number
        elif part.row not in rows.arguments:
            for index in range(loop.begin + part.ahead, loop.end + part.ahead):
                yield rows.formulas[part.row][index][0]


def single_results(program: Program) -> Iterator[tuple[tuple[int, int], int]]:
    """Results that no loop writes: column and position, and the operation."""
    rows = program.rows
    written = {
        (storage.column, storage.first + storage.stride * index)
        for row, storage in rows.results.items()
        for index in rows.formulas.get(row, {})
        if (row, index) in program.looped
    }
    for column, numbers in enumerate(rows.graph.results):
        for position, number in enumerate(numbers):
            if (column, position) not in written:
                yield (column, position), number


def _ordered(graph: nx.DiGraph[Step]) -> Iterator[int | tuple[RowLoop, ...]]:
    """Single operations as soon as they can be done; of the loops those first that share a span."""
    waits = dict(graph.in_degree())
    ready: dict[Step, None] = {step: None for step, count in waits.items() if count == 0}
    while ready:
        single = next((step for step in ready if isinstance(step, int)), None)
        if single is not None:
            yield single
            done: tuple[Step, ...] = (single,)
        else:
            spans = dict.fromkeys(step.span for step in ready if isinstance(step, RowLoop))
            group = max((_together(graph, waits, ready, span) for span in spans), key=len)
            yield group
            done = group
        for step in done:
            for later in graph.successors(step):
                waits[later] -= 1
                if waits[later] == 0:
                    ready[later] = None
        for step in done:
            ready.pop(step, None)


def _together(
    graph: nx.DiGraph[Step],
    waits: Mapping[Step, int],
    ready: Mapping[Step, None],
    span: tuple[int, int],
) -> tuple[RowLoop, ...]:
    """Loops of a span that take what is there already, or the same element of each other."""
    group = [step for step in ready if isinstance(step, RowLoop) and step.span == span]
    rows = {loop.row for loop in group}
    remaining = dict(waits)
    for loop in group:  # which grows
        for later in graph.successors(loop):
            remaining[later] -= 1
            if remaining[later] or not isinstance(later, RowLoop) or later.span != span:
                continue
            if all(p.ahead == 0 or p.row not in rows for p in _neighbours(later)):
                group.append(later)
                rows.add(later.row)
    return tuple(group)


def _neighbours(loop: RowLoop) -> Iterator[Neighbour]:
    return (part for part in taken(loop.formula) if isinstance(part, Neighbour))


def kept_rows(program: Program) -> dict[str, tuple[int, int]]:
    """First and last element of the rows that are read outside of the loop that computes them.

    Arguments and results of the function are none of them.
    """
    ranges: dict[str, tuple[int, int]] = {}

    def keep(row: str, first: int, last: int) -> None:
        old = ranges.get(row, (first, last))
        ranges[row] = min(old[0], first), max(old[1], last)

    for number in _single_reads(program):
        if program.loop_of(number) is not None:
            row, index = program.rows.element_of[number]
            keep(row, index, index)
    for step in program.order:
        own_rows = {loop.row for loop in step} if isinstance(step, tuple) else set()
        for loop in step if isinstance(step, tuple) else ():
            for part in _neighbours(loop):
                if (
                    part.ahead or part.row not in own_rows
                ) and part.row not in program.rows.arguments:
                    keep(part.row, loop.begin + part.ahead, loop.end - 1 + part.ahead)
    for (row, _), loop in program.looped.items():  # a loop writes all of its elements
        if row in ranges:
            keep(row, loop.begin, loop.end - 1)
    return ranges


def _single_reads(program: Program) -> Iterator[int]:
    """Operations that are read one by one: by others, by whole loops, and as results."""
    for step in program.order:
        if isinstance(step, int):
            yield from program.rows.graph.operations[step].operands
            continue
        for loop in step:
            yield from (p.number for p in taken(loop.formula) if isinstance(p, Scalar))
    yield from (number for _, number in single_results(program))


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
        "sqrt",
        "fabs",
        "floor",
        "ceil",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
    )
}
_LARGEST_STACK = 128 * 1024  # bytes of rows: threads with small stacks step FMUs, too
_SMALLEST_SHARE = 0.5  # of the operations in loops, below which CasADi's code stays
_FEWEST = 64  # operations in loops, likewise


def function_code(
    name: str, arguments: Sequence[Column], results: Sequence[Column], inner: Column
) -> str | None:
    """Return C code of a function, called as CasADi's; None if loops would do less than half of it.

    ``inner`` are expressions that the results may be made of; their names say which are alike.
    Everything is computed by the same operations on the same numbers as in CasADi's code.
    """
    argument_values = [column.values for column in arguments]
    graph = operation_graph(argument_values, [column.values for column in results], inner.values)
    computed = [number for number in graph.needed if graph.computed(number)]
    if any(graph.operations[number].code not in _FORMS for number in computed):
        return None
    taken_names, given_names = (
        [elements(column.names) for column in columns] for columns in (arguments, results)
    )
    program = arrange(find_rows(graph, taken_names, given_names, elements(inner.names)))
    single = sum(isinstance(step, int) for step in program.order)
    writer = _Writer(program)
    minimum = max(_FEWEST, _SMALLEST_SHARE * len(computed))
    if len(computed) - single < minimum or writer.stack > _LARGEST_STACK:
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
        row, index = self._rows.element_of.get(number, ("", 0))
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
        row, index = self._rows.element_of[number]
        name, first, _ = self._memory[row]
        return f"{name}[{index - first}]"

    def _loop(self, group: tuple[RowLoop, ...]) -> Iterator[str]:
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
            operands = [self._formula(operand, begin, local) for operand in formula.operands]
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


def _plus(offset: int) -> str:
    return f"i + {offset}" if offset else "i"
