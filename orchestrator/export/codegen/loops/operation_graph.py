"""The operations of a CasADi function, each of which knows those whose results it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on numbers, or where a number comes from.

    ``code`` is CasADi's. ``operands`` are numbers of operations; ``value`` is that of a constant,
    ``place`` argument and element of an input.
    """

    code: int
    operands: tuple[int, ...] = ()
    value: float = 0.0
    place: tuple[int, int] | None = None

    @property
    def is_leaf(self) -> bool:
        """Nothing is computed for a constant or an input."""
        return self.code in {ca.OP_CONST, ca.OP_INPUT}


@dataclass(frozen=True)
class OperationGraph:
    """Operations in an order in which they can be computed.

    ``results`` has a row of operations for each result of the function, ``inner`` those of further
    expressions, which nothing has to be computed for.
    """

    operations: tuple[Operation, ...]
    results: tuple[tuple[int, ...], ...]
    inner: tuple[int, ...] = ()

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Operations that the results depend on, in order."""
        found: set[int] = set()
        left = [number for row in self.results for number in row]
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                left.extend(self.operations[number].operands)
        return tuple(sorted(found))

    @cached_property
    def uses(self) -> Counter[int]:
        """How often each operation is taken, by others and as a result."""
        found: Counter[int] = Counter()
        for number in self.needed:
            found.update(self.operations[number].operands)
        for row in self.results:
            found.update(row)
        return found

    def computed(self, number: int) -> bool:
        """Whether the operation is one that has to be done."""
        return not self.operations[number].is_leaf


def operation_graph(arguments: list[Any], results: list[Any], inner: Any) -> OperationGraph:
    """Read the operations of columns of SX expressions; what is structurally zero is a constant."""
    columns = [ca.densify(column) for column in (*results, inner)]
    function = ca.Function("graph", arguments, columns)
    operations: list[Operation] = []
    known: dict[tuple[Operation, str], int] = {}
    work: dict[int, int] = {}
    rows = [[-1] * column.numel() for column in columns]
    for index in range(function.n_instructions()):
        code = function.instruction_id(index)
        takes, gives = function.instruction_input(index), function.instruction_output(index)
        if code == ca.OP_OUTPUT:
            rows[gives[0]][gives[1]] = work[takes[0]]
            continue
        if code == ca.OP_CONST:
            operation = Operation(code, value=function.instruction_constant(index))
        elif code == ca.OP_INPUT:
            operation = Operation(code, place=(takes[0], takes[1]))
        else:
            operation = Operation(code, tuple(work[one] for one in takes))
        key = operation, operation.value.hex()  # -0.0 is not 0.0
        if key not in known:
            known[key] = len(operations)
            operations.append(operation)
        work[gives[0]] = known[key]
    return OperationGraph(tuple(operations), tuple(map(tuple, rows[:-1])), tuple(rows[-1]))
