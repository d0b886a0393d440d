"""What is recorded of an operation gives the value of the operation."""

import math
import operator

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import where
from orchestrator.export.blocks.block_memory import (
    FUNCTIONS,
    Symbol,
    UntraceableError,
    applied,
    symbol_array,
)
from orchestrator.export.dae.residual_dae import as_written

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-6 else 0.0)
BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.mod),
    *(operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.eq, operator.ne),
]


def evaluated(function, *values):
    """Record a function of symbols, and evaluate what was recorded."""
    with as_written():
        symbols = [ca.SX.sym(f"x{i}") for i in range(len(values))]
        result = function(*map(Symbol, symbols))
        return float(ca.Function("f", symbols, [result.expression])(*values))


@pytest.mark.parametrize("operation", BINARY, ids=lambda operation: operation.__name__)
@given(a=NUMBERS, b=NUMBERS)
def test_operators_to_the_last_bit(operation, a, b):
    if operation in {operator.truediv, operator.mod, operator.floordiv} and b == 0.0:
        b = 1.5
    assert evaluated(operation, a, b) == operation(a, b)
    assert evaluated(lambda x: operation(x, b), a) == operation(a, b)
    assert evaluated(lambda x: operation(a, x), b) == operation(a, b)


@given(a=NUMBERS, b=NUMBERS)
def test_nothing_is_simplified(a, b):
    assert evaluated(lambda x, y: (x - y) + y, a, b) == (a - b) + b
    assert evaluated(lambda x: x * 0.1 * 10.0, a) == a * 0.1 * 10.0


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"atan2", "fmod", "pow", "acosh"}))
def test_functions_of_math_and_numpy(name):
    value = 0.37
    found = evaluated(lambda x: applied(FUNCTIONS[name], x), value)
    assert found == pytest.approx(getattr(math, name)(value), rel=4e-16)
    arc = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
    arc["atanh"] = "arctanh"
    ufunc = getattr(np, arc.get(name, name))
    assert evaluated(ufunc, value) == found


@given(a=NUMBERS, b=NUMBERS)
def test_choices(a, b):
    expected = a if a > b else b * 2.0
    assert evaluated(lambda x, y: where(x > y, x, y * 2.0), a, b) == expected
    assert where(a > b, a, b * 2.0) == expected
    assert where(np.bool_(a > b), a, b * 2.0) == expected
    both = (a > 0.0) & (b > 0.0) | ~np.bool_(a < b)
    assert evaluated(lambda x, y: (x > 0.0) & (y > 0.0) | ~(x < y), a, b) == float(both)


def test_arrays():
    with as_written():
        x = ca.SX.sym("x", 4)
        array = symbol_array([x[i] for i in range(4)], (2, 2))
        matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
        product = matrix @ array - array.T * 2.0
        product[0] = where(product[1] > 1.0, np.minimum(product[0], 3.0), -array[1])
        product[:, 1] += product.sum() + np.sqrt(array[0, 0])
        elements = ca.vertcat(*(symbol.expression for symbol in product.ravel()))
        found = ca.Function("f", [x], [elements])([0.25, 2.0, -3.0, 4.0])
    values = np.array([[0.25, 2.0], [-3.0, 4.0]])
    expected = matrix @ values - values.T * 2.0
    expected[0] = np.where(expected[1] > 1.0, np.minimum(expected[0], 3.0), -values[1])
    expected[:, 1] += expected.sum() + np.sqrt(values[0, 0])
    np.testing.assert_allclose(np.asarray(found).ravel(), expected.ravel(), rtol=1e-15)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: 1.0 if x > 0.0 else 2.0,
        lambda x: x and 1.0,
        lambda x: max(x, 1.0),  # outside of a trace it is the builtin
        float,
        lambda x: [1, 2][x],
        round,
        np.isnan,
        lambda x: np.where(symbol_array([x.expression], (1,)) > 0.0, 1.0, 2.0),
    ],
)
def test_what_has_no_formula(use, wording):
    with wording.raises(UntraceableError):
        use(Symbol(ca.SX.sym("x")))
