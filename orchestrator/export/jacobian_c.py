"""Generated C function and tables of the Jacobian that an implicit solver asks for."""

from __future__ import annotations

from typing import Any

import casadi as ca

from orchestrator.export import implicit_c
from orchestrator.export.explicit_ode import ExplicitOde


def function(ode: ExplicitOde) -> Any:
    """``d xdot / d x`` with the blocks solved, as its structural nonzeros column by column."""
    t, u, x, p, c, q = ode.arguments
    return ca.Function("model_jacobian", [t, u, x, p, c, q, ode.z], [ca.cse(_jacobian(ode))])


def tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: number, rows, and first place of each column of the nonzeros."""
    pattern = _jacobian(ode).sparsity()
    rows = ", ".join(map(str, pattern.row())) or "0"
    columns = ", ".join(map(str, pattern.colind()))
    return [
        f"#define N_JACOBIAN {pattern.nnz()}",
        f"static const int model_jacobian_rows[] = {{{rows}}};",
        f"static const int model_jacobian_columns[] = {{{columns}}};",
    ]


def _jacobian(ode: ExplicitOde) -> Any:
    x = ode.arguments[2]
    if ode.is_explicit:
        return ca.jacobian(ode.xdot, x)
    seed_z = implicit_c.tangent(ode, x, ca.SX.eye(x.numel()))
    return ca.jacobian(ode.xdot, x) + ca.mtimes(ca.jacobian(ode.xdot, ode.z), seed_z)
