"""Generated C of arrays in loops, of sampled models, of ``verlet`` and of Jacobians."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.export.codegen import implicit_c
from orchestrator.export.codegen.function_code import Column, function_code
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.operations import as_written
from orchestrator.export.dae.residual_dae import Variable


def results(ode: ExplicitOde) -> Mapping[str, tuple[Column, ...]]:
    """Columns of results of the functions that run at every step."""
    y, w = (Column(v, _names(group)) for v, group in ((ode.y, ode.outputs), (ode.w, ode.locals)))
    xdot = Column(ode.xdot, _names(ode.states))
    events = {
        name: tuple(Column(ca.densify(ca.SX(one)), ()) for one in columns)
        for name, columns in implicit_c.at_every_step(ode).items()
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


#: The file of the runtime for generated steps, and all files that take steps.
GENERATED = "sampled.c"
FILES = frozenset((GENERATED, "delay_line.c"))


def functions(ode: ExplicitOde) -> Iterator[Any]:
    """The memory after a step and at the start; none if a file of the runtime takes the steps."""
    sampled = ode.sampled
    if sampled is None or sampled.code:
        return
    u, p, m = sampled.columns
    with as_written():
        before = [sampled.time, sampled.step, u, p, m]
        yield ca.Function("model_next", before, [ca.densify(sampled.next)])
        yield ca.Function("model_first", [sampled.time, u, p, m], [ca.densify(sampled.first)])


def tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h."""
    sampled = ode.sampled
    if sampled is None:
        return ["#define IS_SAMPLED 0", "#define N_ROOM 0"]
    longest = "INFINITY" if sampled.longest_step is None else repr(sampled.longest_step)
    return [
        "#define IS_SAMPLED 1",
        f'#define MODEL_SAMPLED "{sampled.code or GENERATED}"',
        f"#define MODEL_LONGEST_STEP {longest}",
        f"#define N_ROOM {sampled.room}",
    ]


def verlet_tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: which states are positions, and which state the derivative of each is."""
    x = ode.arguments[2]
    place = {x[i].element_hash(): i for i in range(x.numel())}
    slopes = ((i, ode.xdot[i]) for i in range(x.numel()))
    pairs = [(i, place[s.element_hash()]) for i, s in slopes if s.element_hash() in place]
    if not pairs:
        raise DescriptionError(
            f"solver.method = 'verlet': no state of '{ode.name}' is the derivative of another;"
            " expected positions and their velocities: choose rk4"
        )
    positions, velocities = (", ".join(map(str, column)) for column in zip(*pairs, strict=True))
    return [
        f"#define N_POSITIONS {len(pairs)}",
        f"static const int model_positions[] = {{{positions}}};",
        f"static const int model_velocities[] = {{{velocities}}};",
    ]


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


def jacobian_tables(ode: ExplicitOde) -> list[str]:
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
