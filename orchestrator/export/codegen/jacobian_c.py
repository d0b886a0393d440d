"""Generated C function and tables of the Jacobian that an implicit solver asks for."""

from __future__ import annotations

from typing import Any

import casadi as ca

from orchestrator.export.dae.explicit_ode import ExplicitOde


def function(ode: ExplicitOde) -> Any:
    """``d xdot / d x`` as its structural nonzeros, column by column.

    With blocks: its product with a seed of x and the one of z that follows from it.
    """
    x = ode.arguments[2]
    known = [*ode.arguments, ode.z]
    if ode.is_explicit:
        return ca.Function("model_jacobian", known, [ca.cse(ca.jacobian(ode.xdot, x))])
    seeds = [ca.SX.sym("dx", x.numel()), ca.SX.sym("dz", ode.z.numel())]
    product = ca.jtimes(ode.xdot, ca.vertcat(x, ode.z), ca.vertcat(*seeds))
    return ca.Function("model_slope_tangent", [*known, *seeds], [ca.cse(ca.densify(product))])


def tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: number, rows, and first place of each column of the nonzeros."""
    if not ode.is_explicit:
        return []
    pattern = ca.jacobian(ode.xdot, ode.arguments[2]).sparsity()
    rows = ", ".join(map(str, pattern.row())) or "0"
    columns = ", ".join(map(str, pattern.colind()))
    return [
        f"#define N_JACOBIAN {pattern.nnz()}",
        f"static const int model_jacobian_rows[] = {{{rows}}};",
        f"static const int model_jacobian_columns[] = {{{columns}}};",
    ]
