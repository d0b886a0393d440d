"""Modelica's operators and built-in functions on tensors, and those that are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import casadi as ca

from orchestrator.export.modelica.flat.model import Refusal
from orchestrator.export.modelica.flat.tensor import Scalar, Tensor

Builtin = Callable[..., Tensor]

_SCALAR_FUNCTIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "Abs": ca.fabs,
    "Sign": ca.sign,
    "Sqrt": ca.sqrt,
    "Sin": ca.sin,
    "Cos": ca.cos,
    "Tan": ca.tan,
    "Asin": ca.asin,
    "Acos": ca.acos,
    "Atan": ca.atan,
    "Sinh": ca.sinh,
    "Cosh": ca.cosh,
    "Tanh": ca.tanh,
    "Exp": ca.exp,
    "Log": ca.log,
    "Log10": ca.log10,
    "Floor": ca.floor,
    "Integer": ca.floor,
    "Ceil": ca.ceil,
}
_PAIR_FUNCTIONS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Atan2": ca.atan2,
    "Mod": lambda x, y: x - ca.floor(x / y) * y,
    "Div": lambda x, y: _truncate(x / y),
    "Rem": lambda x, y: x - _truncate(x / y) * y,
}

REFUSED: dict[str, str] = {
    "Delay": "the delay of a controller belongs on the connection, as a transport delay",
    "SpatialDistribution": "discretise the transport line into states",
    "Terminal": "an FMU is not told what its last instant is",
}

EVENT_GENERATING = frozenset({"Floor", "Integer", "Ceil", "Mod", "Div", "Rem"})


def _truncate(value: Scalar) -> Scalar:
    return ca.if_else(value >= 0, ca.floor(value), ca.ceil(value))


def _elementwise(operation: Callable[[Scalar], Scalar]) -> Builtin:
    return lambda value: value.map(operation)


def _pairwise(operation: Callable[[Scalar, Scalar], Scalar]) -> Builtin:
    return lambda first, second: first.zip(second, operation)


def _extremum(operation: Callable[[Scalar, Scalar], Scalar]) -> Builtin:
    def extremum(first: Tensor, second: Tensor | None = None) -> Tensor:
        if second is not None:
            return first.zip(second, operation)
        if not first.items:
            raise Refusal("min() or max() of an empty array")
        return Tensor((), (reduce(operation, first.items),))

    return extremum


def _sum(value: Tensor) -> Tensor:
    return Tensor((), (sum(value.items, ca.SX(0)),))


def _product(value: Tensor) -> Tensor:
    return Tensor((), (reduce(lambda a, b: a * b, value.items, ca.SX(1)),))


def _fill(value: Tensor, *sizes: Tensor) -> Tensor:
    shape = tuple(size.integer for size in sizes)
    count = reduce(lambda a, b: a * b, shape, 1)
    return Tensor((*shape, *value.shape), value.items * count)


def _identity(size: Tensor) -> Tensor:
    return _diagonal(_fill(Tensor.scalar(1), size))


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


def _cat(axis: Tensor, *parts: Tensor) -> Tensor:
    return Tensor.concatenate(axis.integer - 1, parts)


def _size(value: Tensor, axis: Tensor | None = None) -> Tensor:
    if axis is None:
        return Tensor((len(value.shape),), tuple(ca.SX(extent) for extent in value.shape))
    return Tensor.scalar(value.shape[axis.integer - 1])


def _semi_linear(x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    return Tensor((), (ca.if_else(x.item >= 0, positive.item * x.item, negative.item * x.item),))


BUILTINS: dict[str, Builtin] = {
    **{name: _elementwise(operation) for name, operation in _SCALAR_FUNCTIONS.items()},
    **{name: _pairwise(operation) for name, operation in _PAIR_FUNCTIONS.items()},
    "Max": _extremum(ca.fmax),
    "Min": _extremum(ca.fmin),
    "Sum": _sum,
    "Product": _product,
    "Fill": _fill,
    "Zeros": lambda *sizes: _fill(Tensor.scalar(0), *sizes),
    "Ones": lambda *sizes: _fill(Tensor.scalar(1), *sizes),
    "Identity": _identity,
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
    "Cat": _cat,
    "SemiLinear": _semi_linear,
}


_ELEMENTWISE: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Add": lambda a, b: a + b,
    "AddElem": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "SubElem": lambda a, b: a - b,
    "MulElem": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "DivElem": lambda a, b: a / b,
    "Exp": lambda a, b: a**b,
    "ExpElem": lambda a, b: a**b,
    "And": ca.logic_and,
    "Or": ca.logic_or,
}
RELATIONS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Lt": lambda a, b: a < b,
    "Le": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "Ge": lambda a, b: a >= b,
    "Eq": lambda a, b: a == b,
    "Neq": lambda a, b: a != b,
}
UNARY: dict[str, Callable[[Scalar], Scalar]] = {
    "Minus": lambda a: -a,
    "DotMinus": lambda a: -a,
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


def choose(condition: Scalar, chosen: Tensor, otherwise: Tensor) -> Tensor:
    """``if condition then chosen else otherwise``; a constant condition is decided now."""
    if condition.is_constant():
        return chosen if float(condition) != 0.0 else otherwise
    return chosen.zip(otherwise, lambda a, b: ca.if_else(condition, a, b))


def is_text(value: Tensor) -> bool:
    """Whether a value is a String."""
    return any(isinstance(item, str) for item in value.items)


def compare_texts(left: Tensor, right: Tensor, operation: str) -> Tensor:
    """Strings are known when the FMU is built, so what is asked of them is decided now."""
    if not (is_text(left) and is_text(right)) or operation not in {"Eq", "Neq", "Add"}:
        raise Refusal(f"the operator {operation} on a String")
    one, two = left.items[0], right.items[0]
    if operation == "Add":
        return Tensor((), (one + two,))
    return Tensor.scalar(float((one == two) == (operation == "Eq")))
