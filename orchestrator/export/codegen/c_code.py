"""The generated half of an FMU's C code: sizes, tables and functions, of arrays in loops."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.export.codegen import implicit_c
from orchestrator.export.codegen.function_code import constant, function_code
from orchestrator.export.codegen.implicit_c import array
from orchestrator.export.codegen.layout import Layout, Region, entries, output_slots
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import Column, DataType, Variable, as_written
from orchestrator.export.recipe import Solver

_COUNTED_ELSEWHERE = {Region.DERIVATIVE, Region.DISCRETE, Region.INDICATOR}
# CasADi lets callers leave out arguments and results; the runtime gives all of them.
_OPTIONAL_ARGUMENT = re.compile(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0")
_OPTIONAL_RESULT = re.compile(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[)")
_TYPE_CODES = {
    DataType.REAL: 0,
    DataType.INTEGER: 1,
    DataType.BOOLEAN: 2,
    DataType.ENUMERATION: 3,
}


def model_header(layout: Layout, solver: Solver, guid: str, fmi: str) -> str:
    """Text of ``model.h``, which the runtime includes first."""
    sizes = [
        f"#define {r.value} {len(layout.of(r))}" for r in Region if r not in _COUNTED_ELSEWHERE
    ]
    slots = layout.slots
    outputs = {slot.reference for slot in output_slots(layout)}
    # The last value is time.
    listed = [*(str(int(slot.reference in outputs)) for slot in slots), "0"]
    types = [*(str(_TYPE_CODES[slot.type]) for slot in slots), "0"]
    tunable = [*(str(int(layout.tunable(slot))) for slot in slots), "0"]
    names = [*(json.dumps(slot.name) for slot in slots), '"time"']
    starts = [*(_literal(layout.start(slot)) for slot in slots), "0"]
    states = [slot.variable for slot in layout.of(Region.STATE)]
    limited = [*states, *(slot.variable for slot in layout.of(Region.PARAMETER))]
    minima = [v.minimum if v.minimum is not None else -math.inf for v in limited]
    maxima = [v.maximum if v.maximum is not None else math.inf for v in limited]
    nominals = [abs(v.nominal) if v.nominal else 1.0 for v in states]
    has_positions = solver.method == "verlet" and layout.ode.sampled is None
    return "\n".join(
        [
            f"/* Generated from {layout.ode.name}: sizes and tables of the model. */",
            "#include <math.h>",
            *sizes,
            f'#define MODEL_GUID "{guid}"',
            f"#define MODEL_FMI {fmi.partition('.')[0]}",
            f'#define MODEL_SOLVER "{solver.method}.c"',
            f"#define MODEL_MAX_STEP {_literal(solver.longest_step)}",
            f"#define MODEL_TOLERANCE {_literal(solver.relative_tolerance)}",
            "",
            array("unsigned char", "model_types", types),
            *_enumerations(layout),
            *_extents(layout, fmi),
            array("unsigned char", "model_outputs_listed", listed),
            array("unsigned char", "model_tunable", tunable),
            array("char* const", "model_names", names, lines=True),
            array("double", "model_start_values", starts, lines=True),
            array("double", "model_minima", map(_literal, minima)),
            array("double", "model_maxima", map(_literal, maxima)),
            array("double", "model_nominals", map(_literal, nominals)),
            "",
            "#define CASADI_SYMBOL_EXPORT static",
            "#pragma GCC diagnostic push",
            '#pragma GCC diagnostic ignored "-Wunused-function"',
            '#pragma GCC diagnostic ignored "-Wunused-parameter"',
            '#pragma GCC diagnostic ignored "-Wmissing-prototypes"',
            '#include "functions.c"',
            "#pragma GCC diagnostic pop",
            "",
            *implicit_c.tables(layout.ode, fmi),
            *implicit_c.event_tables(layout.ode),
            *_sampled_tables(layout.ode),
            *(_jacobian_tables(layout.ode) if solver.is_implicit else ()),
            *(_verlet_tables(layout.ode) if has_positions else ()),
            "",
        ]
    )


def _extents(layout: Layout, fmi: str) -> list[str]:
    """How many values belong to each value reference; 0 where there is none."""
    if fmi == "2.0":
        return ["#define MODEL_EXTENT(reference) 1"]
    counts = [0] * len(layout.slots) + [1]  # the last one is time
    for entry in entries(layout):
        counts[entry.reference] = len(entry.slots)
    return [
        array("unsigned", "model_extents", map(str, counts)),
        "#define MODEL_EXTENT(reference) model_extents[reference]",
        f"#define MODEL_LARGEST_EXTENT {max(counts)}",
    ]


def _enumerations(layout: Layout) -> list[str]:
    """Number and names of the literals, and which enumeration each value is of; 0 for others."""
    listed = list(dict.fromkeys(slot.variable.literals for slot in layout.slots))
    kinds = [(), *(literals for literals in listed if literals)]
    of_slots = [*(str(kinds.index(slot.variable.literals)) for slot in layout.slots), "0"]
    rows = (
        f"{{{len(names)}, {json.dumps(', '.join(f'{i} {n}' for i, n in enumerate(names, 1)))}}}"
        for names in kinds
    )
    return [
        "typedef struct {",
        "    int count;",
        "    const char* names;",
        "} Literals;",
        array("Literals", "model_literals", rows),
        array("unsigned short", "model_literals_of", of_slots),
    ]


def functions(ode: ExplicitOde, solver: Solver, fmi: str) -> str:
    """Text of ``functions.c``: the model's equations as C functions without further libraries."""
    t, u, x, p, c, q = ode.arguments
    z = ode.z
    seed_u, seed_x, seed_t = (
        ca.SX.sym(*s) for s in (("du", u.numel()), ("dx", x.numel()), ("dt",))
    )
    knowns, seeds = ca.vertcat(t, u, x), ca.vertcat(seed_t, seed_u, seed_x)
    generator = ca.CodeGenerator("functions", {"casadi_int": "int", "with_header": False})
    everything = ca.vertcat(ode.y, ode.w, ode.xdot)
    seed_z = ca.SX.sym("dz", z.numel())
    tangent = ca.jtimes(everything, ca.vertcat(knowns, z), ca.vertcat(seeds, seed_z))
    ends = [0, ode.y.numel(), ode.y.numel() + ode.w.numel(), everything.numel()]
    running = _results(ode)
    looped = {name: _looped(ode, name, results) for name, results in running.items()}
    for function in (
        *(
            ca.Function(name, [t, u, x, p, c, q, z], [result.values for result in results])
            for name, results in running.items()
            if looped[name] is None
        ),
        ca.Function("model_calculated", [p, c], [ca.densify(ode.c_running)]),
        ca.Function("model_start", [p, c], [ca.densify(ode.start)]),
        ca.Function(
            "model_tangent",
            [t, u, x, p, c, q, z, seed_u, seed_x, seed_t, seed_z],
            ca.vertsplit(ca.cse(ca.densify(tangent)), ends),
        ),
        *implicit_c.functions(ode, fmi),
        *implicit_c.event_functions(ode),
        *_sampled_functions(ode),
    ):
        generator.add(function)
    if fmi == "3.0":
        generator.add(_adjoint(ode, everything, ends))
    if solver.is_implicit:
        generator.add(_jacobian(ode))
    text = _OPTIONAL_ARGUMENT.sub(r"\2", generator.dump())
    text = _OPTIONAL_RESULT.sub(r"\2", text)
    loops = [code for code in looped.values() if code is not None]
    return "\n".join([text, *(['#include "loops.h"'] if loops else []), *loops])


def _adjoint(ode: ExplicitOde, everything: Any, ends: list[int]) -> Any:
    """Transposed Jacobian by inputs, states and z times seeds of outputs, locals, derivatives."""
    _, u, x, _, _, _ = ode.arguments
    seed = ca.SX.sym("bar", everything.numel())
    product = ca.jtimes(everything, ca.vertcat(u, x, ode.z), seed, True)  # noqa: FBT003 - transposed
    offsets = [0, u.numel(), u.numel() + x.numel(), u.numel() + x.numel() + ode.z.numel()]
    bars = ca.vertsplit(ca.cse(ca.densify(product)), offsets)
    return ca.Function("model_adjoint", [*ode.arguments, ode.z, *ca.vertsplit(seed, ends)], bars)


def _literal(value: float) -> str:
    return constant(float(value)).strip("()")


def _results(ode: ExplicitOde) -> Mapping[str, tuple[Column, ...]]:
    """Columns of results of the functions that run at every step."""
    y, w = _column(ode.y, ode.outputs), _column(ode.w, ode.locals)
    xdot = _column(ode.xdot, ode.states)
    events = {
        name: tuple(Column(ca.densify(ca.SX(result))) for result in columns)
        for name, columns in implicit_c.at_every_step(ode).items()
    }
    return {"model_ode": (xdot,), "model_outputs": (y,), "model_locals": (w, xdot), **events}


def _looped(ode: ExplicitOde, name: str, columns: Sequence[Column]) -> str | None:
    """Return the function with loops; None where CasADi's code is as good."""
    t, u, x, p, c, q = ode.arguments
    groups = (ode.inputs, ode.states, ode.parameters, ode.calculated)
    elements = map(_column, (u, x, p, c), groups)
    arguments = [Column(t), *elements, Column(q), Column(ode.z)]
    return function_code(name, arguments, columns, ode.inner)


def _column(values: Any, variables: Sequence[Variable]) -> Column:
    return Column(values, tuple(variable.name for variable in variables))


def _sampled_functions(ode: ExplicitOde) -> Iterator[Any]:
    """The memory after a step and at the start; none if a file of the runtime takes the steps."""
    sampled = ode.sampled
    if sampled is None or sampled.code:
        return
    u, p, m = sampled.columns
    with as_written():
        before = [sampled.time, sampled.step, u, p, m]
        yield ca.Function("model_next", before, [ca.densify(sampled.next)])
        yield ca.Function("model_first", [sampled.time, u, p, m], [ca.densify(sampled.first)])


def _sampled_tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h."""
    sampled = ode.sampled
    if sampled is None:
        return ["#define IS_SAMPLED 0", "#define N_ROOM 0"]
    longest = "INFINITY" if sampled.longest_step is None else repr(sampled.longest_step)
    return [
        "#define IS_SAMPLED 1",
        f'#define MODEL_SAMPLED "{sampled.code or "sampled.c"}"',
        f"#define MODEL_LONGEST_STEP {longest}",
        f"#define N_ROOM {sampled.room}",
    ]


def _verlet_tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: which states are positions, and which state the derivative of each is."""
    x = ode.arguments[2]
    index_of = {x[i].element_hash(): i for i in range(x.numel())}
    slopes = ((i, ode.xdot[i]) for i in range(x.numel()))
    pairs = [(i, index_of[s.element_hash()]) for i, s in slopes if s.element_hash() in index_of]
    if not pairs:
        raise DescriptionError(
            f"solver.method = 'verlet': no state of '{ode.name}' is the derivative of another;"
            " expected positions and their velocities: choose rk4"
        )
    positions, velocities = zip(*pairs, strict=True)
    return [
        f"#define N_POSITIONS {len(pairs)}",
        array("int", "model_positions", map(str, positions)),
        array("int", "model_velocities", map(str, velocities)),
    ]


def _jacobian(ode: ExplicitOde) -> Any:
    """``d xdot / d x`` by its nonzeros; with blocks its product with seeds of x and z instead."""
    x = ode.arguments[2]
    arguments = [*ode.arguments, ode.z]
    if ode.is_explicit:
        return ca.Function("model_jacobian", arguments, [ca.cse(ca.jacobian(ode.xdot, x))])
    seeds = [ca.SX.sym("dx", x.numel()), ca.SX.sym("dz", ode.z.numel())]
    product = ca.jtimes(ode.xdot, ca.vertcat(x, ode.z), ca.vertcat(*seeds))
    return ca.Function("model_slope_tangent", [*arguments, *seeds], [ca.cse(ca.densify(product))])


def _jacobian_tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: number, rows, and first place of each column of the nonzeros."""
    if not ode.is_explicit:
        return []
    pattern = ca.jacobian(ode.xdot, ode.arguments[2]).sparsity()
    return [
        f"#define N_JACOBIAN {pattern.nnz()}",
        array("int", "model_jacobian_rows", map(str, pattern.row())),
        array("int", "model_jacobian_columns", map(str, pattern.colind())),
    ]
