"""Whether an expression is linear in given symbols, switches and rounding included."""

from __future__ import annotations

from typing import Any

import casadi as ca

# Their derivative is zero almost everywhere, so a Jacobian alone would call them linear.
_SWITCHES = frozenset(
    {
        ca.OP_LT,
        ca.OP_LE,
        ca.OP_EQ,
        ca.OP_NE,
        ca.OP_NOT,
        ca.OP_AND,
        ca.OP_OR,
        ca.OP_FLOOR,
        ca.OP_CEIL,
        ca.OP_SIGN,
        ca.OP_FMOD,
        ca.OP_COPYSIGN,
    }
)


def nonlinear_unknowns(expression: Any, unknowns: Any, jacobian: Any) -> list[str]:
    """Names of the symbols in which a column of expressions is not linear."""
    if unknowns.numel() == 1 and _is_definition(expression, unknowns):
        return []
    inside = {symbol.name() for symbol in ca.symvar(jacobian)} | switched_symbols(expression)
    return [name for index in range(unknowns.numel()) if (name := unknowns[index].name()) in inside]


def _is_definition(expression: Any, unknown: Any) -> bool:
    """Whether it is ``unknown - value``, as most equations are, so that nothing need be walked."""
    return (
        expression.is_scalar()
        and expression.is_op(ca.OP_SUB)
        and ca.is_equal(expression.dep(0), unknown)
        and not ca.depends_on(expression.dep(1), unknown)
    )


def switched_symbols(expression: Any) -> set[str]:
    """Names of the symbols that an operand of a comparison or rounding depends on."""
    inputs = ca.symvar(expression)
    function = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *inputs)], [expression])
    taint: dict[int, frozenset[int]] = {}
    found: set[int] = set()
    for step in range(function.n_instructions()):
        operation = function.instruction_id(step)
        sources, targets = function.instruction_input(step), function.instruction_output(step)
        if operation == ca.OP_INPUT:
            taint[targets[0]] = frozenset({sources[1]})
        elif operation != ca.OP_OUTPUT:
            carried: frozenset[int] = frozenset()
            if operation != ca.OP_CONST:
                carried = carried.union(*(taint.get(source, frozenset()) for source in sources))
            if operation in _SWITCHES:
                found |= carried
            taint[targets[0]] = carried
    return {inputs[index].name() for index in found}
