"""What a block may do to symbols: operators and functions, on ``casadi.SX`` scalars.

Each gives the bits that the same operation of Python gives, but for functions that the C library
rounds otherwise than numpy does (``exp`` and its like), and for the sign of a chosen zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import casadi as ca

_SX = Any
Operation = Callable[..., _SX]


@contextmanager
def as_written() -> Iterator[None]:
    """Let CasADi keep expressions as they are written: it would turn ``(a - b) + b`` into ``a``."""
    before = ca.GlobalOptions.getSimplificationOnTheFly()
    ca.GlobalOptions.setSimplificationOnTheFly(False)
    try:
        yield
    finally:
        ca.GlobalOptions.setSimplificationOnTheFly(before)


def choice(condition: _SX, then: _SX, otherwise: _SX) -> _SX:
    """``then if condition else otherwise``; the one that is not chosen may be no number."""
    return ca.if_else(condition, then, otherwise)


def remainder(a: _SX, b: _SX) -> _SX:
    """Python's ``a % b``, which has the sign of b."""
    rest = ca.fmod(a, b)
    other_sign = ca.logic_and(rest != 0, (rest < 0) != (b < 0))
    return choice(other_sign, rest + b, rest)


def quotient(a: _SX, b: _SX) -> _SX:
    """Python's ``a // b``."""
    whole = (a - remainder(a, b)) / b
    down = ca.floor(whole)
    return choice(whole - down > 0.5, down + 1, down)


def lesser(a: _SX, b: _SX) -> _SX:
    """``min(a, b)`` of Python: the first of equals."""
    return choice(b < a, b, a)


def greater(a: _SX, b: _SX) -> _SX:
    """``max(a, b)`` of Python."""
    return choice(b > a, b, a)


def _clipped(value: _SX, low: _SX, high: _SX) -> _SX:
    return lesser(greater(value, low), high)


#: By the name of the method, such as ``add`` for ``__add__``.
ARITHMETIC: Mapping[str, Operation] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "mod": remainder,
    "floordiv": quotient,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "xor": operator.ne,
}
COMPARISONS: Mapping[str, Operation] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
#: Functions of ``math``, by name.
FUNCTIONS: Mapping[str, Operation] = {
    **{
        name: getattr(ca, name)
        for name in (
            *("exp", "log", "sqrt", "floor", "ceil", "fabs", "expm1", "log1p", "log10", "fmod"),
            *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
            *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        )
    },
    "pow": operator.pow,
}
#: Functions of ``numpy``, by name.
UFUNCS: Mapping[str, Operation] = {
    **FUNCTIONS,
    **{f"arc{name[1:]}": FUNCTIONS[name] for name in ("asin", "acos", "atan", "atan2")},
    **{f"arc{name[1:]}": FUNCTIONS[name] for name in ("asinh", "acosh", "atanh")},
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
    "remainder": remainder,
    "floor_divide": quotient,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": ca.fabs,
    "square": lambda a: a * a,
    "reciprocal": lambda a: 1.0 / a,
    "sign": ca.sign,
    "maximum": greater,
    "minimum": lesser,
    "fmax": greater,
    "fmin": lesser,
    "clip": _clipped,
    "logical_and": ca.logic_and,
    "logical_or": ca.logic_or,
    "logical_not": ca.logic_not,
    "bitwise_and": ca.logic_and,
    "bitwise_or": ca.logic_or,
    "invert": ca.logic_not,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
