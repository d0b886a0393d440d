"""What a function computes one by one, what in loops, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import networkx as nx

from orchestrator.export.codegen.loops.formula import Formula, Neighbour, Scalar, taken
from orchestrator.export.codegen.loops.rows import SHORTEST, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Elements ``begin`` to ``end - 1`` of a row, all by one formula."""

    row: str
    begin: int
    end: int
    formula: Formula

    @property
    def span(self) -> tuple[int, int]:
        """First element, and the one after the last."""
        return self.begin, self.end


Step = Loop | int  # a loop, or a single operation by its number


@dataclass(frozen=True)
class Program:
    """Single operations, and groups of loops that run together, in an order that works.

    ``looped`` has the loop of each element that one computes.
    """

    rows: Rows
    order: tuple[int | tuple[Loop, ...], ...]
    looped: Mapping[tuple[str, int], Loop]

    def loop_of(self, number: int) -> Loop | None:
        """Return the loop that does an operation."""
        return self.looped.get(self.rows.place.get(number, ("", 0)))


def arrange(rows: Rows) -> Program:
    """Find the loops and their order; those that would wait for each other are taken apart."""
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


def _alike(rows: Rows, row: str) -> Iterator[Loop]:
    """Elements in a row that have one formula."""
    found = sorted(rows.formulas[row].items())
    counted = [(index, position, formula) for position, (index, (_, formula)) in enumerate(found)]
    for (_, formula), members in groupby(counted, key=lambda item: (item[0] - item[1], item[2])):
        indices = [index for index, *_ in members]
        if len(indices) >= SHORTEST and not isinstance(formula, Scalar):
            yield Loop(row, indices[0], indices[-1] + 1, formula)


def _dependences(program: Program, loops: list[Loop]) -> nx.DiGraph[Step]:
    """All steps, with edges to those that take what one computes."""
    operations = program.rows.graph
    graph: nx.DiGraph[Step] = nx.DiGraph()
    graph.add_nodes_from(loops)
    left: list[tuple[int, Step | None]] = []
    for loop in loops:
        left += ((number, loop) for number in _taken_numbers(program.rows, loop))
    left += ((number, None) for _, number in single_results(program))
    while left:
        number, taker = left.pop()
        if not operations.computed(number):
            continue
        loop_before = program.loop_of(number)
        maker: Step = number if loop_before is None else loop_before
        if maker not in graph:  # a single operation that was not met before
            graph.add_node(maker)
            left += ((operand, number) for operand in operations.operations[number].operands)
        if taker is not None:
            graph.add_edge(maker, taker)
    return graph


def _taken_numbers(rows: Rows, loop: Loop) -> Iterator[int]:
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


def _ordered(graph: nx.DiGraph[Step]) -> Iterator[int | tuple[Loop, ...]]:
    """Single operations as soon as they can be done; of the loops those first that share a span."""
    waits = dict(graph.in_degree())
    ready: dict[Step, None] = {step: None for step, count in waits.items() if count == 0}
    while ready:
        single = next((step for step in ready if isinstance(step, int)), None)
        if single is not None:
            yield single
            done: tuple[Step, ...] = (single,)
        else:
            spans = dict.fromkeys(step.span for step in ready if isinstance(step, Loop))
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
) -> tuple[Loop, ...]:
    """Loops of a span that take what is there already, or the same element of each other."""
    group = [step for step in ready if isinstance(step, Loop) and step.span == span]
    rows = {loop.row for loop in group}
    left = dict(waits)
    for loop in group:  # which grows
        for later in graph.successors(loop):
            left[later] -= 1
            if left[later] or not isinstance(later, Loop) or later.span != span:
                continue
            if all(p.ahead == 0 or p.row not in rows for p in _neighbours(later)):
                group.append(later)
                rows.add(later.row)
    return tuple(group)


def _neighbours(loop: Loop) -> Iterator[Neighbour]:
    return (part for part in taken(loop.formula) if isinstance(part, Neighbour))
