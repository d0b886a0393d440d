"""Which rows a function keeps in memory of its own."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.codegen.loops.formula import Neighbour, Scalar, taken
from orchestrator.export.codegen.loops.program import Loop, Program, single_results


def kept_rows(program: Program) -> dict[str, tuple[int, int]]:
    """First and last element of the rows that are read outside of the loop that computes them.

    Arguments and results of the function are none of them.
    """
    found: dict[str, tuple[int, int]] = {}

    def keep(row: str, first: int, last: int) -> None:
        old = found.get(row, (first, last))
        found[row] = min(old[0], first), max(old[1], last)

    for number in _single_reads(program):
        if program.loop_of(number) is not None:
            row, index = program.rows.place[number]
            keep(row, index, index)
    for step in program.order:
        own = {loop.row for loop in step} if isinstance(step, tuple) else set()
        for loop, part in _row_reads(step):
            if (part.ahead or part.row not in own) and part.row not in program.rows.arguments:
                keep(part.row, loop.begin + part.ahead, loop.end - 1 + part.ahead)
    for (row, _), loop in program.looped.items():  # a loop writes all of its elements
        if row in found:
            keep(row, loop.begin, loop.end - 1)
    return found


def _single_reads(program: Program) -> Iterator[int]:
    """Operations that are read one by one: by others, by whole loops, and as results."""
    for step in program.order:
        if isinstance(step, int):
            yield from program.rows.graph.operations[step].operands
            continue
        for loop in step:
            yield from (p.number for p in taken(loop.formula) if isinstance(p, Scalar))
    yield from (number for _, number in single_results(program))


def _row_reads(step: int | tuple[Loop, ...]) -> Iterator[tuple[Loop, Neighbour]]:
    for loop in step if isinstance(step, tuple) else ():
        yield from ((loop, p) for p in taken(loop.formula) if isinstance(p, Neighbour))
