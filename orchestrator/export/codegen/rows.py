"""Rows of numbers that are computed alike, found in the operations of a CasADi function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca

from orchestrator.core.structs import MutableStruct, Struct, field


class Operation(Struct):
    """One operation on numbers, or where a number comes from.

    ``code`` is CasADi's. ``operands`` are numbers of operations; ``value`` is that of a constant,
    ``place`` argument and element of an input.
    """

    code: int
    operands: tuple[int, ...] = ()
    value: float = 0.0
    place: tuple[int, int] | None = None


class OperationGraph(Struct, dict=True):
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
        needed: set[int] = set()
        remaining = [number for row in self.results for number in row]
        while remaining:
            number = remaining.pop()
            if number not in needed:
                needed.add(number)
                remaining.extend(self.operations[number].operands)
        return tuple(sorted(needed))

    @cached_property
    def uses(self) -> Counter[int]:
        """How often each operation is taken, by others and as a result."""
        counts: Counter[int] = Counter()
        for number in self.needed:
            counts.update(self.operations[number].operands)
        for row in self.results:
            counts.update(row)
        return counts

    def computed(self, number: int) -> bool:
        """Whether the operation is one that has to be done, no constant or input."""
        return self.operations[number].code not in {ca.OP_CONST, ca.OP_INPUT}


def operation_graph(arguments: list[Any], results: list[Any], inner: Any) -> OperationGraph:
    """Read the operations of columns of SX expressions; what is structurally zero is a constant."""
    columns = [ca.densify(column) for column in (*results, inner)]
    function = ca.Function("graph", arguments, columns)
    operations: list[Operation] = []
    numbers: dict[tuple[Operation, str], int] = {}
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
            operation = Operation(code, tuple(work[slot] for slot in takes))
        key = operation, operation.value.hex()  # -0.0 is not 0.0
        if key not in numbers:
            numbers[key] = len(operations)
            operations.append(operation)
        work[gives[0]] = numbers[key]
    return OperationGraph(tuple(operations), tuple(map(tuple, rows[:-1])), tuple(rows[-1]))


_INDICES = re.compile(r"\[([\d,]+)\]")


class RowElement(Struct):
    """Place of a variable in a row of an array: ``x[7,2]`` is element 7 of the row ``x[*,2]``."""

    row: str
    index: int


def elements(names: Sequence[str]) -> dict[int, RowElement]:
    """Return by position which element each name with indices is.

    The row is along the longest dimension of its array, over all components that it may be in:
    ``node[3].v[1]`` is element 3 of ``node[*].v[1]`` where there are more than three nodes.
    """
    split = {position: _split(name) for position, name in enumerate(names) if "[" in name}
    rows_of: dict[tuple[str, int], set[int]] = {}
    for pattern, indices in split.values():
        for dimension, index in enumerate(indices):
            rows_of.setdefault((pattern, dimension), set()).add(index)
    element_of = {}
    for position, (pattern, indices) in split.items():
        sizes = [len(rows_of[pattern, dimension]) for dimension in range(len(indices))]
        along = sizes.index(max(sizes))
        element_of[position] = RowElement(_with_star(names[position], along), indices[along])
    return element_of


def _with_star(name: str, along: int) -> str:
    """A name with a star in place of one of its indices."""
    counted = iter(range(name.count("[") + name.count(",")))

    def replaced(group: re.Match[str]) -> str:
        indices = group[1].split(",")
        return f"[{','.join('*' if next(counted) == along else i for i in indices)}]"

    return _INDICES.sub(replaced, name)


def _split(name: str) -> tuple[str, tuple[int, ...]]:
    """A name without its indices, and these."""
    indices = tuple(int(i) for group in _INDICES.findall(name) for i in group.split(","))
    return _INDICES.sub("[]", name), indices


class Scalar(Struct):
    """A number that all elements take: an operation by its number."""

    number: int


class Neighbour(Struct):
    """The element of a row that is ``ahead`` of the one that is computed."""

    row: str
    ahead: int


class Computed(Struct):
    """An operation, by CasADi's code of it, on what stands in its place."""

    code: int
    operands: tuple[Formula, ...]


Formula = Scalar | Neighbour | Computed


def taken(formula: Formula) -> Iterator[Scalar | Neighbour]:
    """Everything that a formula takes."""
    if isinstance(formula, Computed):
        for operand in formula.operands:
            yield from taken(operand)
    else:
        yield formula


SHORTEST = 4  # elements of a row for which a loop pays
_DEEPEST = 60  # operations one within the other in a formula


class Storage(Struct):
    """Where a row lies in an argument or a result: element i at ``first + stride*i``."""

    column: int
    first: int
    stride: int


class ArrayRows(MutableStruct):
    """All rows, and the formulas of the elements that are computed.

    ``element_of`` maps an operation to its row and element; ``arguments`` and ``results`` map a row
    to its storage. ``formulas`` are by row and element, with the operation that the element is.
    Operations that have no name but are used more than once are rows of their
    own, named by the row and the way in its formula on which they were met first.
    """

    graph: OperationGraph
    element_of: dict[int, tuple[str, int]] = field(default_factory=dict)
    arguments: dict[str, Storage] = field(default_factory=dict)
    results: dict[str, Storage] = field(default_factory=dict)
    formulas: dict[str, dict[int, tuple[int, Formula]]] = field(default_factory=dict)
    _covered: set[int] = field(default_factory=set)  # what stands in formulas
    _scalars: set[int] = field(default_factory=set)
    _varying: dict[int, bool] = field(default_factory=dict)
    _read_elements: dict[str, dict[int, int]] = field(default_factory=dict)

    def place_arguments(self, elements_of: Sequence[Mapping[int, RowElement]]) -> None:
        """Place inputs of the function; ``named`` has the elements of each argument by position."""
        operations = self.graph.operations
        leaves = {operations[n].place: n for n in self.graph.needed if operations[n].place}
        for column, elements in enumerate(elements_of):
            for row, storage, members in _evenly_stored(column, elements):
                own_row = f"{row} of argument {column}"
                self.arguments[own_row] = storage
                for position, index in members:
                    if (column, position) in leaves:
                        self.element_of[leaves[column, position]] = own_row, index

    def place_inner(self, elements_of: Mapping[int, RowElement]) -> None:
        """Place what has a name; of an operation with two names that in the longer row."""
        members: dict[str, list[tuple[int, int]]] = {}
        for position, element in elements_of.items():
            number = self.graph.inner[position]
            if self.graph.uses[number] and self.graph.computed(number):
                members.setdefault(element.row, []).append((number, element.index))
        for row, numbers in sorted(members.items(), key=lambda item: -len(item[1])):
            if len(numbers) >= SHORTEST:
                for number, index in numbers:
                    if self.element_of.setdefault(number, (row, index)) == (row, index):
                        self._ask(number, row, index)

    def place_results(self, elements_of: Sequence[Mapping[int, RowElement]]) -> None:
        """Make rows of results that lie evenly."""
        for column, elements in enumerate(elements_of):
            for row, storage, members in _evenly_stored(column, elements):
                own_row = f"{row} of result {column}"
                self.results[own_row] = storage
                for position, index in members:
                    self._ask(self.graph.results[column][position], own_row, index)

    def place_terms(self) -> None:
        """Make rows of the terms of long sums that are no part of a row themselves."""
        operations = self.graph.operations
        inside = {
            operations[number].operands[0]
            for number in self.graph.needed
            if operations[number].code == ca.OP_ADD
        }
        for number in self.graph.needed:
            is_sum = operations[number].code == ca.OP_ADD and number not in self._covered
            if not is_sum or (number in inside and self.graph.uses[number] == 1):
                continue
            terms, first = [], number
            while operations[first].code == ca.OP_ADD and (
                first == number or self.graph.uses[first] == 1
            ):
                first, last = operations[first].operands
                terms.append(last)
            terms.append(first)
            if len(terms) >= SHORTEST:
                for index, term in enumerate(reversed(terms)):
                    if (
                        term not in self.element_of
                        and term not in self._covered
                        and self._varies(term)
                    ):
                        self.element_of[term] = f"terms of {number}", index
                        self._ask(term, *self.element_of[term])

    def find_formulas(self) -> None:
        """Follow rows to all that they are computed from, one row after the other."""
        while self._read_elements:
            row = next(iter(self._read_elements))
            formulas = self.formulas.setdefault(row, {})
            missing = {
                i: n for i, n in sorted(self._read_elements.pop(row).items()) if i not in formulas
            }
            self._find_scalars(row, missing.values())
            for index, number in missing.items():
                formulas[index] = number, self._formula(number, row, index, "")

    def _ask(self, number: int, row: str, index: int) -> None:
        self._read_elements.setdefault(row, {})[index] = number

    def _find_scalars(self, row: str, numbers: Iterable[int]) -> None:
        """Note what is no neighbour, as many elements of a row take it."""
        takers: Counter[int] = Counter()
        for number in numbers:
            shared: set[int] = set()
            remaining = list(self._operands(number)) if row not in self.results else [number]
            while remaining:
                current = remaining.pop()
                if current in self.element_of or current in shared or not self._varies(current):
                    continue
                if self.graph.uses[current] > 1:
                    shared.add(current)
                else:
                    remaining += self._operands(current)
            takers.update(shared)
        self._scalars |= {current for current, count in takers.items() if count >= SHORTEST}

    def _formula(self, number: int, row: str, index: int, path: str) -> Formula:
        """What stands for an operation in the formula of an element; ``way`` leads there."""
        if path or row in self.results:
            location = self.element_of.get(number)
            if location is not None:
                if location[0] not in self.arguments:
                    self._ask(number, *location)
                return Neighbour(location[0], location[1] - index)
            if number in self._scalars or not self._varies(number):
                return Scalar(number)
            if self.graph.uses[number] > 1 or len(path) > _DEEPEST:
                shared = f"{row} by {path or 'itself'}"
                self.element_of[number] = shared, index
                self._ask(number, shared, index)
                return Neighbour(shared, 0)
        self._covered.add(number)
        operands = enumerate(self._operands(number))
        formulas = tuple(
            self._formula(operand, row, index, f"{path}{i}") for i, operand in operands
        )
        return Computed(self.graph.operations[number].code, formulas)

    def _operands(self, number: int) -> tuple[int, ...]:
        return self.graph.operations[number].operands

    def _varies(self, number: int) -> bool:
        """Whether an operation depends on elements of rows; what does not is computed once."""
        remaining = [number]
        while remaining:
            current = remaining.pop()
            if current in self._varying:
                continue
            operands = self._operands(current)
            unknown = [o for o in operands if o not in self._varying]
            if current in self.element_of or not unknown:
                varies = current in self.element_of or any(self._varying[o] for o in operands)
                self._varying[current] = varies
            else:
                remaining += [current, *unknown]
        return self._varying[number]


def _evenly_stored(
    column: int, elements_of: Mapping[int, RowElement]
) -> Iterator[tuple[str, Storage, list[tuple[int, int]]]]:
    """Rows of a column that are long enough and lie evenly, with positions and indices."""
    members: dict[str, list[tuple[int, int]]] = {}
    for position, element in elements_of.items():
        members.setdefault(element.row, []).append((position, element.index))
    for row, pairs in members.items():
        if len(pairs) < SHORTEST:
            continue
        (p0, i0), (p1, i1) = pairs[:2]
        stride = p1 - p0
        if i1 == i0 + 1 and all(p == p0 + stride * (i - i0) for p, i in pairs):
            yield row, Storage(column, p0 - stride * i0, stride), pairs


def find_rows(
    graph: OperationGraph,
    arguments: Sequence[Mapping[int, RowElement]],
    results: Sequence[Mapping[int, RowElement]],
    inner: Mapping[int, RowElement],
) -> ArrayRows:
    """Rows of a function from the names of what it takes, gives, and computes between."""
    rows = ArrayRows(graph)
    rows.place_arguments(arguments)
    rows.place_inner(inner)
    rows.place_results(results)
    rows.find_formulas()
    rows.place_terms()
    rows.find_formulas()
    return rows
