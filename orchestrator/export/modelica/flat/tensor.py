"""Arrays of scalar CasADi expressions, with shapes, operators and functions of Modelica."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from orchestrator.core.structs import Struct
from orchestrator.export.modelica.flat.model import Refusal

Scalar = Any  # ca.SX of shape (1, 1); CasADi ships no types
#: One index drops the dimension, several keep it; an expression is known when the model runs.
Subscript = int | tuple[int, ...] | Scalar


class Tensor(Struct):
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
        items = [item for part in parts for item in part.items]
        numbers = np.split(np.arange(len(items)), np.cumsum([len(part.items) for part in parts]))
        blocks = [block.reshape(p.shape) for block, p in zip(numbers, parts, strict=False)]
        indices = np.concatenate(blocks, int(axis))
        return cls(indices.shape, tuple(items[index] for index in indices.flat))

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

    def zip(self, operand: Tensor, operation: Callable[[Scalar, Scalar], Scalar]) -> Tensor:
        """Apply a scalar operation to pairs of elements; a scalar meets every element."""
        if self.shape == operand.shape:
            pairs: Iterable[tuple[Scalar, Scalar]] = zip(self.items, operand.items, strict=True)
            return Tensor(self.shape, tuple(operation(a, b) for a, b in pairs))
        if not self.shape:
            return operand.map(lambda b: operation(self.items[0], b))
        if not operand.shape:
            return self.map(lambda a: operation(a, operand.items[0]))
        raise Refusal(f"an elementwise operation on shapes {self.shape} and {operand.shape}")

    def positions(
        self, subscripts: Sequence[Subscript | None]
    ) -> tuple[tuple[int, ...], list[int]]:
        """Shape and flat positions that 1-based subscripts select; ``None`` is the colon."""
        if len(subscripts) > len(self.shape):
            raise Refusal(f"{len(subscripts)} subscripts on an array of shape {self.shape}")
        indices_by_axis: list[tuple[int, ...]] = []
        result_shape: list[int] = []
        padded = itertools.chain(subscripts, itertools.repeat(None))
        for size, subscript in zip(self.shape, padded, strict=False):
            indices = tuple(range(1, size + 1)) if subscript is None else subscript
            if isinstance(indices, int):
                indices = (indices,)
            else:
                result_shape.append(len(indices))
            if any(not 1 <= index <= size for index in indices):
                raise Refusal(f"subscript {indices} outside 1..{size}")
            indices_by_axis.append(indices)
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        flat = [
            sum((index - 1) * stride for index, stride in zip(point, strides, strict=True))
            for point in itertools.product(*indices_by_axis)
        ]
        return tuple(result_shape), flat

    def select(self, subscripts: Sequence[Subscript | None]) -> Tensor:
        """Element or slice at 1-based subscripts; infinity where one of them is outside."""
        if (axis := _moving(subscripts)) is not None:
            there = [self.select(candidate) for candidate in self._candidates(subscripts, axis)]
            selected = there[-1].map(lambda _: ca.SX.inf())
            for index, value in reversed(list(enumerate(there, 1))):
                is_it = subscripts[axis] == index
                selected = value.zip(selected, partial(ca.if_else, is_it))
            return selected
        shape, flat = self.positions(subscripts)
        return Tensor(shape, tuple(self.items[position] for position in flat))

    def replace(self, subscripts: Sequence[Subscript | None], value: Tensor) -> Tensor:
        """Copy with the selected elements set to ``value``."""
        if (axis := _moving(subscripts)) is not None:
            changed: Tensor = self
            for index, candidate in enumerate(self._candidates(subscripts, axis), 1):
                is_it = subscripts[axis] == index
                changed = self.replace(candidate, value).zip(changed, partial(ca.if_else, is_it))
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

    def multiply(self, operand: Tensor) -> Tensor:
        """Modelica's ``*``: scaling, inner product, matrix by vector, matrix by matrix."""
        if not self.shape or not operand.shape:
            return self.zip(operand, operator.mul)
        if len(self.shape) > 2 or len(operand.shape) > 2 or self.shape[-1] != operand.shape[0]:
            raise Refusal(f"a product of shapes {self.shape} and {operand.shape}")
        inner = self.shape[-1]
        rows = self.shape[0] if len(self.shape) == 2 else 1
        columns = operand.shape[1] if len(operand.shape) == 2 else 1
        items = tuple(
            sum(
                (
                    self.items[row * inner + k] * operand.items[k * columns + column]
                    for k in range(inner)
                ),
                ca.SX(0),
            )
            for row in range(rows)
            for column in range(columns)
        )
        return Tensor((*self.shape[:-1], *operand.shape[1:]), items)

    def power(self, exponent: int) -> Tensor:
        """Power of a square matrix."""
        rows, columns = self._matrix_shape("a power")
        if rows != columns or exponent < 0:
            raise Refusal(f"the power {exponent} of a matrix of shape {self.shape}")
        result = _diagonal(_fill(Tensor.scalar(1), Tensor.scalar(rows)))
        for _ in range(exponent):
            result = result.multiply(self)
        return result

    def _matrix_shape(self, operation: str) -> tuple[int, int]:
        if len(self.shape) != 2:
            raise Refusal(f"{operation} of an array of shape {self.shape}")
        return self.shape[0], self.shape[1]


def _moving(subscripts: Sequence[Subscript | None]) -> int | None:
    """Return the first axis whose index is an expression."""
    return next(
        (axis for axis, subscript in enumerate(subscripts) if isinstance(subscript, ca.SX)), None
    )


Builtin = Callable[..., Tensor]
_Made = TypeVar("_Made")

_SCALAR_FUNCTIONS = {
    name.capitalize(): getattr(ca, name)
    for name in (
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "log10",
        "sign",
        "ceil",
    )
} | {"Abs": ca.fabs}

REFUSED: dict[str, str] = {
    "Delay": "the delay of a controller belongs on the connection, as a transport delay",
    "SpatialDistribution": "discretise the transport line into states",
    "Terminal": "an FMU is not told what its last instant is",
}


def rounding(
    floor: Callable[[Scalar], Scalar], truncate: Callable[[Scalar], Scalar]
) -> dict[str, Builtin]:
    """Functions that are made of rounding down and towards zero."""
    return {
        "Floor": lambda value: value.map(floor),
        "Integer": lambda value: value.map(floor),
        "Ceil": lambda value: value.map(lambda a: -floor(-a)),
        "Div": lambda x, y: x.zip(y, lambda a, b: truncate(a / b)),
        "Mod": lambda x, y: x.zip(y, lambda a, b: a - floor(a / b) * b),
        "Rem": lambda x, y: x.zip(y, lambda a, b: a - truncate(a / b) * b),
    }


def _truncate(value: Scalar) -> Scalar:
    return ca.if_else(value >= 0, ca.floor(value), ca.ceil(value))


def _extremum(operation: Callable[[Scalar, Scalar], Scalar]) -> Builtin:
    def extremum(first: Tensor, second: Tensor | None = None) -> Tensor:
        if second is not None:
            return first.zip(second, operation)
        if not first.items:
            raise Refusal("min() or max() of an empty array")
        return Tensor((), (reduce(operation, first.items),))

    return extremum


def _fill(value: Tensor, *sizes: Tensor) -> Tensor:
    shape = tuple(size.integer for size in sizes)
    return Tensor((*shape, *value.shape), value.items * math.prod(shape))


def _diagonal(vector: Tensor) -> Tensor:
    size = len(vector.items)
    items = [ca.SX(0)] * (size * size)
    items[:: size + 1] = vector.items
    return Tensor((size, size), tuple(items))


def _cross(a: Tensor, b: Tensor) -> Tensor:
    (a1, a2, a3), (b1, b2, b3) = a.items, b.items
    return Tensor((3,), (a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1))


def _skew(a: Tensor) -> Tensor:
    a1, a2, a3 = a.items
    zero = ca.SX(0)
    return Tensor((3, 3), (zero, -a3, a2, a3, zero, -a1, -a2, a1, zero))


def _outer_product(a: Tensor, b: Tensor) -> Tensor:
    items = tuple(x * y for x in a.items for y in b.items)
    return Tensor((len(a.items), len(b.items)), items)


def _symmetric(value: Tensor) -> Tensor:
    """The part above the diagonal, mirrored (Modelica 3.6, section 10.3.5)."""
    size = value.shape[0]
    points = ((row, column) for row in range(size) for column in range(size))
    return Tensor(value.shape, tuple(value.items[min(p) * size + max(p)] for p in points))


def _linspace(first: Tensor, last: Tensor, count: Tensor) -> Tensor:
    intervals = count.integer - 1
    if intervals < 1:
        raise Refusal("linspace() of fewer than two points")
    step = (last.item - first.item) / intervals
    items = tuple(first.item + step * index for index in range(intervals))
    return Tensor((intervals + 1,), (*items, last.item))


def _size(value: Tensor, axis: Tensor | None = None) -> Tensor:
    if axis is None:
        return Tensor((len(value.shape),), tuple(ca.SX(extent) for extent in value.shape))
    return Tensor.scalar(value.shape[axis.integer - 1])


def _semi_linear(x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    return Tensor((), (ca.if_else(x.item >= 0, positive.item * x.item, negative.item * x.item),))


BUILTINS: dict[str, Builtin] = {
    **rounding(ca.floor, _truncate),
    **{name: operator.methodcaller("map", each) for name, each in _SCALAR_FUNCTIONS.items()},
    "Atan2": lambda first, second: first.zip(second, ca.atan2),
    "Max": _extremum(ca.fmax),
    "Min": _extremum(ca.fmin),
    "Sum": lambda value: Tensor((), (sum(value.items, ca.SX(0)),)),
    "Product": lambda value: Tensor((), (math.prod(value.items, start=ca.SX(1)),)),
    "Fill": _fill,
    "Zeros": lambda *sizes: _fill(Tensor.scalar(0), *sizes),
    "Ones": lambda *sizes: _fill(Tensor.scalar(1), *sizes),
    "Identity": lambda size: _diagonal(_fill(Tensor.scalar(1), size)),
    "Diagonal": _diagonal,
    "Cross": _cross,
    "Size": _size,
    "Transpose": lambda value: value.transpose(),
    "Scalar": lambda value: Tensor((), (value.item,)),
    "Vector": lambda value: Tensor((len(value.items),), value.items),
    "Matrix": lambda value: value.matrix,
    "Ndims": lambda value: Tensor.scalar(len(value.shape)),
    "Skew": _skew,
    "Symmetric": _symmetric,
    "OuterProduct": _outer_product,
    "Linspace": _linspace,
    "Cat": lambda axis, *parts: Tensor.concatenate(axis.integer - 1, parts),
    "SemiLinear": _semi_linear,
}


_OPERATORS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": operator.truediv,
    "Exp": operator.pow,
}
_ELEMENTWISE = {
    **_OPERATORS,
    **{f"{name}Elem": operation for name, operation in _OPERATORS.items()},
    "And": ca.logic_and,
    "Or": ca.logic_or,
}
RELATIONS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    **{name.capitalize(): getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq")},
    "Neq": operator.ne,
}
UNARY: dict[str, Callable[[Scalar], Scalar]] = {
    "Minus": operator.neg,
    "DotMinus": operator.neg,
    "Plus": lambda a: a,
    "DotPlus": lambda a: a,
    "Not": ca.logic_not,
}


def arithmetic(operation: str, left: Tensor, right: Tensor) -> Tensor:
    """``left operation right`` for all but ``*`` and comparisons."""
    if operation not in _ELEMENTWISE:
        raise Refusal(f"the operator {operation}")
    if operation == "Exp" and left.shape:
        return left.power(right.integer)
    if operation == "Div" and right.shape:
        raise Refusal("a division by an array", "use ./ for elementwise division")
    return left.zip(right, _ELEMENTWISE[operation])


def choose(condition: Scalar, if_true: Tensor, otherwise: Tensor) -> Tensor:
    """``if condition then chosen else otherwise``; a constant condition is decided now."""
    if condition.is_constant():
        return if_true if float(condition) != 0.0 else otherwise
    return if_true.zip(otherwise, lambda a, b: ca.if_else(condition, a, b))


def reachable(
    branches: Iterable[tuple[Any, Any]],
    condition: Callable[[Any], Scalar],
    value: Callable[[Any], _Made],
    otherwise: Any,
) -> tuple[list[tuple[Scalar, _Made]], _Made]:
    """Branches that may be taken, and what comes of it if none is.

    What cannot be reached need not make sense, so it is not looked at.
    """
    cases = []
    for test, body in branches:
        holds = condition(test)
        if not holds.is_constant():
            cases.append((holds, value(body)))
        elif float(holds):
            return cases, value(body)
    return cases, value(otherwise)


def is_text(value: Tensor) -> bool:
    """Whether a value is a String."""
    return any(isinstance(item, str) for item in value.items)


def compare_texts(left: Tensor, right: Tensor, operation: str) -> Tensor:
    """Strings are known when the FMU is built, so their comparisons are decided now."""
    if not (is_text(left) and is_text(right)) or operation not in {"Eq", "Neq", "Add"}:
        raise Refusal(f"the operator {operation} on a String")
    first, second = left.items[0], right.items[0]
    if operation == "Add":
        return Tensor((), (first + second,))
    return Tensor.scalar(float((first == second) == (operation == "Eq")))
