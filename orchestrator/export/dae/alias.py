"""Elimination of equations ``a = b`` and ``a = -b`` before the blocks are formed.

Connections and sums of two flows are of this kind, and would make loops of equations several times
as large. Nothing else is eliminated beforehand: long chains of substitutions amplify rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from orchestrator.export.dae.residual_dae import Residual


@dataclass(frozen=True)
class Aliases:
    """What is left of a system of equations.

    Attributes
    ----------
    residuals, unknowns
        Without the eliminated ones.
    eliminated
        Value of each eliminated unknown: another unknown, or its negative.
    """

    residuals: list[Residual]
    unknowns: list[Any]
    eliminated: dict[str, Any]


def eliminate(
    residuals: Sequence[Residual], unknowns: Sequence[Any], kept: Collection[str]
) -> Aliases:
    """Eliminate aliases; of two unknowns the one in ``kept`` stays if it can."""
    symbols = {symbol.name(): symbol for symbol in unknowns}
    signs: dict[str, tuple[str, int]] = {}  # unknown to another one and the sign between them

    def root(name: str) -> tuple[str, int]:
        sign = 1
        while name in signs:
            name, factor = signs[name]
            sign *= factor
        return name, sign

    left: list[Residual] = []
    for residual in residuals:
        pair = _pair(residual.expression, symbols)
        if pair is not None:
            (one, sign_one), (two, sign_two) = root(pair[0]), root(pair[1])
            if one != two:
                gone, stays = (two, one) if one in kept else (one, two)
                signs[gone] = (stays, pair[2] * sign_one * sign_two)
                continue
        left.append(residual)
    if not signs:
        return Aliases(left, list(unknowns), {})
    roots = {name: root(name) for name in signs}
    values = {name: symbols[other] * sign for name, (other, sign) in roots.items()}
    places = ca.vertcat(*(symbols[name] for name in values))
    replaced = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *(residual.expression for residual in left)),
        places,
        ca.vertcat(*values.values()),
    )
    return Aliases(
        [Residual(replaced[row], residual.origin) for row, residual in enumerate(left)],
        [symbol for symbol in unknowns if symbol.name() not in signs],
        values,
    )


def _pair(expression: Any, unknowns: Any) -> tuple[str, str, int] | None:
    """Two unknowns whose sum or difference is the whole equation, and the sign between them."""
    found = ca.symvar(expression)
    if len(found) != 2 or not all(symbol.name() in unknowns for symbol in found):
        return None
    slopes = ca.gradient(expression, ca.vertcat(*found))
    if not slopes.is_constant():
        return None
    one, two = (float(slope) for slope in ca.vertsplit(ca.densify(slopes)))
    offset = ca.substitute(expression, ca.vertcat(*found), ca.SX.zeros(2))
    linear = ca.substitute(expression, ca.vertcat(*found), ca.SX([1.0, 3.0]))
    if {abs(one), abs(two)} != {1.0} or not (offset.is_constant() and linear.is_constant()):
        return None
    if float(offset) != 0.0 or float(linear) != one + 3.0 * two:
        return None
    return found[0].name(), found[1].name(), -1 if one == two else 1
