"""Numbers for all variables at their declared start values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.residual_dae import Kind, ResidualDae, Variable


def start_point(dae: ResidualDae) -> dict[str, float]:
    """Start values with all parameters at their defaults, by name."""
    parameters = dae.of_kind(Kind.PARAMETER)
    calculated = dae.of_kind(Kind.CALCULATED)
    values = guessed_values(dae, calculated_values(dae, calculated))
    others = dae.of_kind(Kind.INPUT, Kind.OUTPUT, Kind.LOCAL)
    starts = column(v.start for v in others)
    p, c = (column(v.symbol for v in group) for group in (parameters, calculated))
    p_start = column(v.start for v in parameters)
    numbers = ca.substitute(ca.vertcat(p_start, values, starts), c, values)
    numbers = ca.evalf(ca.substitute(numbers, p, p_start)).full().ravel()
    names = [v.name for v in (*parameters, *calculated, *others)]
    return dict(zip(names, map(float, numbers), strict=True))


def column(items: Any) -> Any:
    """Column of scalar expressions, possibly none."""
    return ca.vertcat(ca.SX(0, 1), *items)


def calculated_values(dae: ResidualDae, calculated: Sequence[Variable]) -> Any:
    """Bindings of calculated parameters, in terms of parameters and of those with fixed=false."""
    symbols = column(variable.symbol for variable in calculated if not variable.free)
    values = column(v.symbol if v.free else v.value for v in calculated)
    for _ in calculated:
        if not ca.depends_on(values, symbols):
            break
        bound = column(values[i] for i, v in enumerate(calculated) if not v.free)
        values = ca.substitute(values, symbols, bound)
    if calculated and ca.depends_on(values, symbols):
        names = ", ".join(variable.name for variable in calculated)
        raise ModelicaError(
            f"{dae.name}: parameters depend on each other in a circle, among {names}"
        )
    return values


def guessed_values(dae: ResidualDae, values: Any) -> Any:
    """The same with the start values of parameters with fixed=false as guesses."""
    free = [variable for variable in dae.of_kind(Kind.CALCULATED) if variable.free]
    return ca.substitute(values, column(v.symbol for v in free), column(v.start for v in free))
