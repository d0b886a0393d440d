"""Numbers and arrays that record what a block computes, as CasADi expressions.

They behave like float and ndarray, but for having no value: what wants one (``if``, ``float()``)
raises :class:`UntraceableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.export.dae.operations import ARITHMETIC, COMPARISONS, UFUNCS, Operation, choice


class UntraceableError(Exception):
    """A block does something that cannot be recorded."""


class Symbol:
    """A number without a value.

    Parameters
    ----------
    expression
        The ``casadi.SX`` scalar that it stands for.
    """

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def if_else(self, then: Any, otherwise: Any) -> Any:
        """Choose by this condition; arrays element by element."""
        return applied(choice, self, then, otherwise)

    def __bool__(self) -> bool:
        raise UntraceableError(
            "branches on a value that is not known before it runs: choose by where(condition,"
            " then, otherwise) of orchestrator instead of if, and join conditions by & and |"
            " instead of and, or, not"
        )

    def _no_number(self) -> Any:
        raise UntraceableError(
            "asks for a number where only a formula is known: float(), int(), range(), indices and"
            " functions of other packages take none; those of math and numpy do"
        )

    __float__ = __int__ = __index__ = __complex__ = __trunc__ = _no_number

    def __round__(self, digits: int | None = None) -> Any:
        raise UntraceableError("rounds: use floor(x + 0.5) of numpy or math")

    def __floor__(self) -> Symbol:
        return Symbol(ca.floor(self.expression))

    def __ceil__(self) -> Symbol:
        return Symbol(ca.ceil(self.expression))

    def __neg__(self) -> Symbol:
        return Symbol(-self.expression)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol(ca.fabs(self.expression))

    def __invert__(self) -> Symbol:
        return Symbol(ca.logic_not(self.expression))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)


def _method(operation: Operation, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Symbol, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy goes through its elements
        return applied(operation, *((other, self) if reflected else (self, other)))

    return apply


for _name, _operation in {**ARITHMETIC, **COMPARISONS}.items():
    setattr(Symbol, f"__{_name}__", _method(_operation))
    if _name in ARITHMETIC:
        setattr(Symbol, f"__r{_name}__", _method(_operation, reflected=True))


class SymbolArray(np.ndarray):
    """An array of symbols and numbers; slices of it write through."""

    def if_else(self, then: Any, otherwise: Any) -> Any:
        """Choose element by element."""
        return applied(choice, self, then, otherwise)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)


def symbol_array(elements: Iterable[Any], shape: tuple[int, ...]) -> SymbolArray:
    """Make an array of expressions that come in row-major order."""
    listed = [Symbol(element) for element in elements]
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array.reshape(shape).view(SymbolArray)


def expression_of(value: Any) -> Any:
    """Return the expression of a symbol, or of a number."""
    return value.expression if isinstance(value, Symbol) else ca.SX(float(value))


def applied(operation: Operation, *values: Any) -> Any:
    """Apply an operation on expressions to symbols and numbers, or to all elements of arrays."""

    def scalar(*parts: Any) -> Symbol:
        return Symbol(operation(*map(expression_of, parts)))

    if not any(isinstance(value, np.ndarray) for value in values):
        return scalar(*values)
    plain = map(_plain, values)
    return np.asarray(np.frompyfunc(scalar, len(values), 1)(*plain)).view(SymbolArray)


def _plain(value: Any) -> np.ndarray:
    """An array of objects that leaves it to numpy what happens with it."""
    if isinstance(value, np.ndarray):
        return np.asarray(value, dtype=object)
    single = np.empty((), dtype=object)
    single[()] = value
    return single


def _ufunc(ufunc: np.ufunc, method: str, inputs: Any, options: Any) -> Any:
    """Stand in for a function of numpy."""
    target = options.pop("out", (None,))[0]
    if ufunc is np.matmul or (method == "reduce" and ufunc in {np.add, np.multiply}):
        result = getattr(ufunc, method)(
            *map(_plain, inputs), **options
        )  # by the elements' own + and *
        if isinstance(result, np.ndarray):
            result = result.view(SymbolArray)
    elif method == "__call__" and ufunc.__name__ in UFUNCS and not options:
        result = applied(UFUNCS[ufunc.__name__], *inputs)
    else:
        shown = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise UntraceableError(f"calls numpy.{shown}, which has no counterpart in C here")
    if target is None:
        return result
    target[...] = result
    return target
