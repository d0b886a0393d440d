"""What a block remembers as scalar variables, and numbers that record what it computes.

Numbers that record behave like float and ndarray, but have no value: code that needs one (``if``,
``float()``) raises :class:`UntraceableError`. Their operations on ``casadi.SX`` scalars give the
bits that those of Python give, but for functions that the C library rounds otherwise than numpy
does (``exp`` and its like), and for the sign of a chosen zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError, with_article
from orchestrator.core.simunits import Block
from orchestrator.core.structs import Struct
from orchestrator.core.system import Connector
from orchestrator.core.system import DataType as PortType
from orchestrator.export.dae.residual_dae import (
    DataType,
    Kind,
    Sampled,
    Variable,
    element_names,
    variables_of,
)

_SX = Any
Operation = Callable[..., _SX]


def choice(condition: _SX, then: _SX, otherwise: _SX) -> _SX:
    """``then if condition else otherwise``; the one that is not chosen may be no number."""
    return ca.if_else(condition, then, otherwise)


def remainder(a: _SX, b: _SX) -> _SX:
    """Python's ``a % b``, which has the sign of b."""
    result = ca.fmod(a, b)
    other_sign = ca.logic_and(result != 0, (result < 0) != (b < 0))
    return choice(other_sign, result + b, result)


def quotient(a: _SX, b: _SX) -> _SX:
    """Python's ``a // b``."""
    result = (a - remainder(a, b)) / b
    down = ca.floor(result)
    return choice(result - down > 0.5, down + 1, down)


def lesser(a: _SX, b: _SX) -> _SX:
    """``min(a, b)`` of Python: the first of equals."""
    return choice(b < a, b, a)


def greater(a: _SX, b: _SX) -> _SX:
    """``max(a, b)`` of Python."""
    return choice(b > a, b, a)


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
UNARY: Mapping[str, Operation] = {
    "neg": operator.neg,
    "abs": ca.fabs,
    "invert": ca.logic_not,
    "floor": ca.floor,
    "ceil": ca.ceil,
}
#: Functions of ``math``, by name.
FUNCTIONS: Mapping[str, Operation] = {
    **{
        name: getattr(ca, name)
        for name in (
            "exp",
            "log",
            "sqrt",
            "floor",
            "ceil",
            "fabs",
            "expm1",
            "log1p",
            "log10",
            "fmod",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "atan2",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
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
    "clip": lambda value, low, high: lesser(greater(value, low), high),
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


class UntraceableError(Exception):
    """A block does something that cannot be recorded."""


class _Symbolic:
    """Lets conditions choose, and functions of numpy take symbols."""

    __slots__ = ()

    def if_else(self, then: Any, otherwise: Any) -> Any:
        """Choose by this condition; of an array element by element."""
        return applied(choice, self, then, otherwise)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)


class Symbol(_Symbolic):
    """A number without a value.

    expression: The ``casadi.SX`` scalar that it stands for.
    """

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Any) -> None:
        self.expression = expression

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

    def __pos__(self) -> Symbol:
        return self


def _method(operation: Operation, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Symbol, operand: Any) -> Any:
        if isinstance(operand, np.ndarray):
            return NotImplemented  # numpy goes through its elements
        return applied(operation, *((operand, self) if reflected else (self, operand)))

    return apply


def _unary(operation: Operation) -> Callable[[Any], Any]:
    return lambda self: applied(operation, self)


for _name, _operation in UNARY.items():
    setattr(Symbol, f"__{_name}__", _unary(_operation))
for _name, _operation in {**ARITHMETIC, **COMPARISONS}.items():
    setattr(Symbol, f"__{_name}__", _method(_operation))
    if _name in ARITHMETIC:
        setattr(Symbol, f"__r{_name}__", _method(_operation, reflected=True))


class SymbolArray(_Symbolic, np.ndarray):
    """An array of symbols and numbers; slices of it write through."""


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
        # by the elements' own + and *
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if isinstance(result, np.ndarray):
            result = result.view(SymbolArray)
    elif method == "__call__" and ufunc.__name__ in UFUNCS and not options:
        result = applied(UFUNCS[ufunc.__name__], *inputs)
    else:
        label = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise UntraceableError(f"calls numpy.{label}, which has no counterpart in C here")
    if target is None:
        return result
    target[...] = result
    return target


class Field(Struct):
    """One attribute of a block: a number, an array, or a list or tuple of numbers.

    form: The type of the attribute.
    variables: Its elements, in row-major order.
    """

    name: str
    form: type
    shape: tuple[int, ...]
    variables: tuple[Variable, ...]

    def symbols(self) -> Any:
        """The attribute while the block is traced."""
        symbols = [variable.symbol for variable in self.variables]
        if self.form is np.ndarray:
            return symbol_array(symbols, self.shape)
        if not self.shape:
            return Symbol(symbols[0])
        return self.form(Symbol(symbol) for symbol in symbols)

    def expressions(self, value: Any) -> list[Any]:
        """The elements of the attribute, as expressions."""
        elements = [value]
        if self.shape:
            elements = list(np.ravel(np.asarray(value, dtype=object)))
        if self.shape and np.shape(elements) != (len(self.variables),):
            raise CapabilityError(
                f"'{self.name}' begins with {len(self.variables)} elements and has"
                f" {len(elements)} after a step; expected as many"
            )
        return [expression_of(element) for element in elements]


def fields_of(block: Block) -> tuple[Field, ...]:
    """List inputs, outputs, parameters and states of a block, with its values as start values."""
    return (*_ports(block), *(_state(name, getattr(block, name)) for name in block.states))


def _ports(block: Block) -> list[Field]:
    return [
        _port(connector, getattr(block, connector.name)) for connector in block.connectors.values()
    ]


def _port(connector: Connector, value: Any) -> Field:
    if connector.type.is_text or connector.type is PortType.CLOCK:
        raise CapabilityError(
            f"'{connector.name}' is {with_article(connector.type)}; C code is made of numbers only"
        )
    kind, data_type = Kind(connector.causality.value), DataType(connector.type.value)
    form = np.ndarray if connector.shape else type(value)
    facts: dict[str, Any] = {"unit": connector.unit, "description": connector.description}
    if (limits := connector.limits) is not None:  # FMI knows no ends that are just not in a range
        facts["minimum"] = limits.least if isfinite(limits.least) else None
        facts["maximum"] = limits.most if isfinite(limits.most) else None
    variables = variables_of(
        connector.name, connector.shape, kind, data_type, _numbers(value), **facts
    )
    return Field(connector.name, form, connector.shape, variables)


def _state(name: str, value: Any) -> Field:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or not isinstance(
        value, (float, int, list, tuple, np.ndarray)
    ):
        raise CapabilityError(
            f"state '{name}' starts as {value!r}; C code keeps numbers and arrays, lists and tuples"
            " of them"
        )
    if isinstance(value, (list, tuple)) and array.ndim != 1:
        raise CapabilityError(f"state '{name}' is a list of lists; expected an array of numpy")
    types = {"b": DataType.BOOLEAN, "i": DataType.INTEGER, "u": DataType.INTEGER}
    data_type = types.get(array.dtype.kind, DataType.REAL)
    facts = {"description": "State of the block"}
    variables = variables_of(name, array.shape, Kind.LOCAL, data_type, _numbers(array), **facts)
    return Field(name, type(value), array.shape, variables)


def _numbers(value: Any) -> list[float]:
    numbers: list[float] = np.ravel(np.asarray(value, dtype=float)).tolist()
    return numbers


def declared(block: Block) -> Sampled:
    """What a block says of itself, without its equations and states."""
    fields = _ports(block)
    inputs, parameters, outputs = (
        tuple(v for field in fields for v in field.variables if v.kind is kind)
        for kind in (Kind.INPUT, Kind.PARAMETER, Kind.OUTPUT)
    )
    shapes = {name: connector.shape for name, connector in block.connectors.items()}
    every = tuple(dict.fromkeys(v.array or v.name for v in inputs))
    direct = {
        output.name: tuple(
            element
            for name in block.feedthrough.get(output.array or output.name, every)
            for element in element_names(name, shapes[name])
        )
        for output in outputs
    }
    anything = sum((v.symbol for v in (*inputs, *parameters)), ca.SX(0))
    unknown = ca.repmat(anything, len(outputs), 1)
    return Sampled(
        ca.SX.sym("t"),
        ca.SX.sym("h"),
        inputs,
        parameters,
        outputs,
        unknown,
        unknown,
        direct,
        block.longest_step,
    )
