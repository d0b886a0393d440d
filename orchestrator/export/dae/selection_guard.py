"""What tells at run time that a static selection of states no longer holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

_LARGEST_DETERMINANT = 5  # symbolic determinants grow quickly


@dataclass(frozen=True)
class SelectionGuard:
    """A number that is zero where constraints cannot be solved for what is no state.

    Attributes
    ----------
    margin
        Determinant of the constraints' Jacobian by the surplus variables, relative to the length of
        its rows by all candidates: between -1 and 1.
    slope
        Its derivative by time.
    label
        The surplus variables.
    """

    margin: Any
    slope: Any
    label: str


def selection_guards(
    jacobian: Any, chosen: list[int], names: list[str], rates: Mapping[str, Any]
) -> Iterator[SelectionGuard]:
    """Guards of one selection; none where the Jacobian is constant, so that it cannot vanish."""
    square = jacobian[:, chosen]
    count, rows, columns, row_ends, column_ends, _, _ = square.sparsity().btf()
    for block in range(count):
        inside = rows[row_ends[block] : row_ends[block + 1]]
        places = columns[column_ends[block] : column_ends[block + 1]]
        part = ca.densify(square[inside, places])
        if part.is_constant() or len(inside) > _LARGEST_DETERMINANT:
            continue
        margin = ca.det(part)
        for row in inside:
            margin /= ca.norm_2(ca.densify(jacobian[row, :]))
        symbols = ca.symvar(margin)
        slope = sum(
            (ca.gradient(margin, s) * rates[s.name()] for s in symbols if s.name() in rates),
            ca.SX(0),
        )
        yield SelectionGuard(margin, slope, ", ".join(names[chosen[place]] for place in places))
