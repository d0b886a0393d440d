"""Modelica's operators on tensors of CasADi scalars and on Strings."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.tensor import Scalar, Tensor

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
