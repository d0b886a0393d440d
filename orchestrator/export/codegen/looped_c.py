"""Generated C functions of time that compute arrays in loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from orchestrator.export.codegen import events_c
from orchestrator.export.codegen.loops.function_code import Column, function_code
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import Variable


def results(ode: ExplicitOde) -> Mapping[str, tuple[Column, ...]]:
    """Columns of results of the functions that run at every step."""
    y, w = (Column(v, _names(group)) for v, group in ((ode.y, ode.outputs), (ode.w, ode.locals)))
    xdot = Column(ode.xdot, _names(ode.states))
    events = {
        name: tuple(Column(ca.densify(ca.SX(one)), ()) for one in columns)
        for name, columns in events_c.at_every_step(ode).items()
    }
    return {"model_ode": (xdot,), "model_outputs": (y,), "model_locals": (w, xdot), **events}


def code(ode: ExplicitOde, name: str, columns: Sequence[Column]) -> str | None:
    """Return the function with loops; None where CasADi's code is as good."""
    t, u, x, p, c, q = ode.arguments
    groups = (ode.inputs, ode.states, ode.parameters, ode.calculated)
    arguments = [
        Column(t, ()),
        *(Column(v, _names(group)) for v, group in zip((u, x, p, c), groups, strict=True)),
        Column(q, ()),
        Column(ode.z, ()),
    ]
    return function_code(name, arguments, columns, Column(ode.inner.values, ode.inner.names))


def _names(variables: Sequence[Variable]) -> tuple[str, ...]:
    return tuple(variable.name for variable in variables)
