"""Values with named parts: records, component arrays seen as a whole, and outputs of functions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.tensor import Scalar, Subscript, Tensor

_POINT = re.compile(r"\[(\d+(?:,\d+)*)\]")


@dataclass(frozen=True, slots=True)
class Record(Tensor):
    """A record: its scalars in one row, and the names and values of its fields.

    An array of records is a record of arrays, so that ``a[2:3].x`` is ``a.x[2:3]``.
    """

    fields: Mapping[str, Tensor]

    @classmethod
    def of(cls, fields: Mapping[str, Tensor]) -> Record:
        """Put fields together."""
        items = tuple(itertools.chain.from_iterable(part.items for part in fields.values()))
        return cls((len(items),), items, fields)

    def field(self, name: str) -> Tensor:
        """Value of one field."""
        if name not in self.fields:
            raise Refusal(f"the field '{name}' of a record with {', '.join(self.fields)}")
        return self.fields[name]

    def at(self, path: Sequence[str]) -> Tensor:
        """Value at a path of field names."""
        name, *rest = path
        inner = self.field(name)
        if not rest:
            return inner
        if not isinstance(inner, Record):
            raise Refusal(f"the field '{rest[0]}' of '{name}', which is no record")
        return inner.at(rest)

    def with_field(self, path: Sequence[str], value: Tensor) -> Record:
        """Copy with another value at a path of field names."""
        name, *rest = path
        inner = self.field(name)
        if rest:
            if not isinstance(inner, Record):
                raise Refusal(f"the field '{rest[0]}' of '{name}', which is no record")
            value = inner.with_field(rest, value)
        return Record.of({**self.fields, name: value})

    def map(self, operation: Callable[[Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to each scalar of each field."""
        return Record.of({name: part.map(operation) for name, part in self.fields.items()})

    def zip(self, other: Tensor, operation: Callable[[Scalar, Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to pairs of fields of the same name."""
        if not isinstance(other, Record) or set(self.fields) != set(other.fields):
            raise Refusal("an operation on a record and something that has other fields")
        pairs = ((name, part, other.fields[name]) for name, part in self.fields.items())
        return Record.of({name: one.zip(two, operation) for name, one, two in pairs})

    def select(self, subscripts: Sequence[Subscript | None]) -> Tensor:
        """Element or slice of an array of records."""
        if not subscripts:
            return self
        return Record.of({name: part.select(subscripts) for name, part in self.fields.items()})

    def replace(self, subscripts: Sequence[Subscript | None], value: Tensor) -> Tensor:
        """Copy of an array of records with other elements."""
        if not isinstance(value, Record) or set(self.fields) != set(value.fields):
            raise Refusal("an assignment to an element of an array of records with other fields")
        parts = self.fields.items()
        return Record.of({n: part.replace(subscripts, value.fields[n]) for n, part in parts})


def gather(names: Mapping[str, Tensor], whole: str) -> Tensor | None:
    """Value of a record or component array from the values of its scalar parts, if there are any.

    The flat model knows ``r.a`` and ``c[2].x`` but not ``r`` and ``c``.
    """
    if whole in names:
        return names[whole]
    if "." in whole and (owner := names.get(whole.rpartition(".")[0])) is not None:
        return owner.field(whole.rpartition(".")[2]) if isinstance(owner, Record) else None
    rests = [name[len(whole) :] for name in names if name.startswith(whole)]
    fields = _ordered(rest[1:] for rest in rests if rest.startswith("."))
    if fields:
        found = {field: gather(names, f"{whole}.{field}") for field in fields}
        return Record.of({field: value for field, value in found.items() if value is not None})
    points = _ordered(match[0] for rest in rests if (match := _POINT.match(rest)))
    if not points:
        return None
    elements = {_indices(point): gather(names, f"{whole}{point}") for point in points}
    return _stacked({k: value for k, value in elements.items() if value is not None})


def _ordered(rests: Iterable[str]) -> list[str]:
    """First parts ``field`` or ``[2]`` of what follows a name, each once."""
    return list(dict.fromkeys(re.match(r"\[[\d,]+\]|[^.\[]*", rest)[0] for rest in rests))  # type: ignore[index]


def _indices(point: str) -> tuple[int, ...]:
    return tuple(map(int, point[1:-1].split(",")))


def _stacked(elements: Mapping[tuple[int, ...], Tensor]) -> Tensor:
    """One array of elements at points; scalars and records alike."""
    if () in elements:
        return elements[()]
    rows: dict[int, dict[tuple[int, ...], Tensor]] = {first: {} for first, *_ in sorted(elements)}
    for (first, *rest), value in elements.items():
        rows[first][tuple(rest)] = value
    return stack([_stacked(row) for row in rows.values()])


def stack(parts: Sequence[Tensor]) -> Tensor:
    """Join values along a new first dimension; records field by field."""
    if not any(isinstance(part, Record) for part in parts):
        return Tensor.stack(parts)
    records = [part for part in parts if isinstance(part, Record)]
    if len(records) != len(parts) or len({frozenset(r.fields) for r in records}) != 1:
        raise Refusal("an array of records with different fields")
    return Record.of({name: stack([r.fields[name] for r in records]) for name in records[0].fields})
