"""Arrays of scalar CasADi expressions, with the shape rules of Modelica."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca

from orchestrator.export.modelica.flat.model import Refusal

Scalar = Any  # ca.SX of shape (1, 1); CasADi ships no types
#: One index drops the dimension, several keep it; an expression is known when the model runs.
Subscript = int | tuple[int, ...] | Scalar


@dataclass(frozen=True, slots=True)
class Tensor:
    """A Modelica value: a scalar (shape ``()``) or an array, elements in row-major order.

    NumPy object arrays and ``casadi.SX`` each try to broadcast the other, hence a class of its own.
    """

    shape: tuple[int, ...]
    items: tuple[Scalar, ...]

    @classmethod
    def scalar(cls, value: Scalar | float) -> Tensor:
        """Wrap one expression or number."""
        return cls((), (ca.SX(value),))

    @classmethod
    def stack(cls, parts: Sequence[Tensor]) -> Tensor:
        """Join equal shapes along a new first dimension, as ``{a, b}`` does."""
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise Refusal(f"an array of elements with different shapes {sorted(shapes)}")
        inner = parts[0].shape if parts else ()
        return cls(
            (len(parts), *inner), tuple(itertools.chain.from_iterable(p.items for p in parts))
        )

    @classmethod
    def concatenate(cls, axis: int, parts: Sequence[Tensor]) -> Tensor:
        """Join along an existing dimension, counted from 0, as ``cat`` does."""
        outside = {part.shape[:axis] + part.shape[axis + 1 :] for part in parts}
        if len(outside) != 1 or any(len(part.shape) <= axis for part in parts):
            shapes = ", ".join(str(part.shape) for part in parts)
            raise Refusal(f"a concatenation of shapes {shapes} along dimension {axis + 1}")
        head = parts[0].shape[:axis]
        rows = math.prod(head)
        items: list[Scalar] = []
        for row in range(rows):
            for part in parts:
                width = len(part.items) // rows
                items.extend(part.items[row * width : (row + 1) * width])
        extent = sum(part.shape[axis] for part in parts)
        return cls((*head, extent, *parts[0].shape[axis + 1 :]), tuple(items))

    @property
    def matrix(self) -> Tensor:
        """At least two dimensions: a vector becomes a column."""
        return Tensor((*self.shape, *(1,) * (2 - len(self.shape))), self.items)

    @property
    def item(self) -> Scalar:
        """The only element of a scalar."""
        if len(self.items) != 1:
            raise Refusal(f"an array of shape {self.shape} where a scalar is needed")
        return self.items[0]

    @property
    def integer(self) -> int:
        """The value of a constant integer expression."""
        value = self.item
        if not value.is_constant() or float(value) != round(float(value)):
            raise Refusal(
                f"an index, size or loop bound that is not a constant integer: {value}",
                "make it a constant or a literal",
            )
        return round(float(value))

    def map(self, operation: Callable[[Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to each element."""
        return Tensor(self.shape, tuple(operation(item) for item in self.items))

    def zip(self, other: Tensor, operation: Callable[[Scalar, Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to pairs of elements; a scalar meets every element."""
        if self.shape == other.shape:
            pairs: Iterable[tuple[Scalar, Scalar]] = zip(self.items, other.items, strict=True)
            return Tensor(self.shape, tuple(operation(a, b) for a, b in pairs))
        if not self.shape:
            return other.map(lambda b: operation(self.items[0], b))
        if not other.shape:
            return self.map(lambda a: operation(a, other.items[0]))
        raise Refusal(f"an elementwise operation on shapes {self.shape} and {other.shape}")

    def positions(
        self, subscripts: Sequence[Subscript | None]
    ) -> tuple[tuple[int, ...], list[int]]:
        """Shape and flat positions that 1-based subscripts select; ``None`` is the colon."""
        if len(subscripts) > len(self.shape):
            raise Refusal(f"{len(subscripts)} subscripts on an array of shape {self.shape}")
        chosen: list[tuple[int, ...]] = []
        kept: list[int] = []
        padded = itertools.chain(subscripts, itertools.repeat(None))
        for size, subscript in zip(self.shape, padded, strict=False):
            indices = tuple(range(1, size + 1)) if subscript is None else subscript
            if isinstance(indices, int):
                indices = (indices,)
            else:
                kept.append(len(indices))
            if any(not 1 <= index <= size for index in indices):
                raise Refusal(f"subscript {indices} outside 1..{size}")
            chosen.append(indices)
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        flat = [
            sum((index - 1) * stride for index, stride in zip(point, strides, strict=True))
            for point in itertools.product(*chosen)
        ]
        return tuple(kept), flat

    def select(self, subscripts: Sequence[Subscript | None]) -> Tensor:
        """Element or slice at 1-based subscripts; infinity where one of them is outside."""
        if (axis := _moving(subscripts)) is not None:
            there = [self.select(one) for one in self._candidates(subscripts, axis)]
            chosen = there[-1].map(lambda _: ca.SX.inf())
            for index, value in reversed(list(enumerate(there, 1))):
                is_it = subscripts[axis] == index
                chosen = value.zip(chosen, partial(ca.if_else, is_it))
            return chosen
        shape, flat = self.positions(subscripts)
        return Tensor(shape, tuple(self.items[position] for position in flat))

    def replace(self, subscripts: Sequence[Subscript | None], value: Tensor) -> Tensor:
        """Copy with the selected elements set to ``value``."""
        if (axis := _moving(subscripts)) is not None:
            changed: Tensor = self
            for index, one in enumerate(self._candidates(subscripts, axis), 1):
                is_it = subscripts[axis] == index
                changed = self.replace(one, value).zip(changed, partial(ca.if_else, is_it))
            return changed
        shape, flat = self.positions(subscripts)
        if value.shape not in {shape, ()}:
            raise Refusal(f"an assignment of shape {value.shape} to a slice of shape {shape}")
        items = list(self.items)
        source = value.items * len(flat) if not value.shape else value.items
        for position, item in zip(flat, source, strict=True):
            items[position] = item
        return Tensor(self.shape, tuple(items))

    def _candidates(
        self, subscripts: Sequence[Subscript | None], axis: int
    ) -> Iterator[list[Subscript | None]]:
        """Yield subscripts with each index that the one of an axis may have."""
        if axis >= len(self.shape) or not self.shape[axis]:
            raise Refusal(f"subscript {axis + 1} of an array of shape {self.shape}")
        if any(isinstance(item, str) for item in self.items):
            raise Refusal("an element of an array of String whose index is no constant")
        for index in range(1, self.shape[axis] + 1):
            yield [*subscripts[:axis], index, *subscripts[axis + 1 :]]

    def transpose(self) -> Tensor:
        """Swap the two dimensions of a matrix."""
        rows, columns = self._matrix_shape("transpose")
        order = (row * columns + column for column in range(columns) for row in range(rows))
        return Tensor((columns, rows), tuple(self.items[position] for position in order))

    def multiply(self, other: Tensor) -> Tensor:
        """Modelica's ``*``: scaling, inner product, matrix by vector, matrix by matrix."""
        if not self.shape or not other.shape:
            return self.zip(other, lambda a, b: a * b)
        if len(self.shape) > 2 or len(other.shape) > 2 or self.shape[-1] != other.shape[0]:
            raise Refusal(f"a product of shapes {self.shape} and {other.shape}")
        inner = self.shape[-1]
        rows = self.shape[0] if len(self.shape) == 2 else 1
        columns = other.shape[1] if len(other.shape) == 2 else 1
        items = tuple(
            sum(
                (
                    self.items[row * inner + k] * other.items[k * columns + column]
                    for k in range(inner)
                ),
                ca.SX(0),
            )
            for row in range(rows)
            for column in range(columns)
        )
        return Tensor((*self.shape[:-1], *other.shape[1:]), items)

    def power(self, exponent: int) -> Tensor:
        """Power of a square matrix."""
        rows, columns = self._matrix_shape("a power")
        if rows != columns or exponent < 0:
            raise Refusal(f"the power {exponent} of a matrix of shape {self.shape}")
        ones = (ca.SX(float(row == column)) for row in range(rows) for column in range(rows))
        result = Tensor(self.shape, tuple(ones))
        for _ in range(exponent):
            result = result.multiply(self)
        return result

    def _matrix_shape(self, operation: str) -> tuple[int, int]:
        if len(self.shape) != 2:
            raise Refusal(f"{operation} of an array of shape {self.shape}")
        return self.shape[0], self.shape[1]


def _moving(subscripts: Sequence[Subscript | None]) -> int | None:
    """Return the first axis whose index is an expression."""
    return next((axis for axis, one in enumerate(subscripts) if isinstance(one, ca.SX)), None)
