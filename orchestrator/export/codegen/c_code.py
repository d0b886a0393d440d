"""The generated half of an FMU's C code: sizes, tables and CasADi's functions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import casadi as ca

from orchestrator.export.codegen import implicit_c, looped_c
from orchestrator.export.codegen.layout import Layout, Region, entries, output_slots
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import DataType
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
    listed = [str(int(slot.reference in outputs)) for slot in slots] + ["0"]  # and time
    # The last value is time.
    types = ", ".join([*(str(_TYPE_CODES[slot.type]) for slot in slots), "0"])
    tunable = ", ".join([*(str(int(layout.tunable(slot))) for slot in slots), "0"])
    names = ",\n    ".join([*(json.dumps(slot.name) for slot in slots), '"time"'])
    starts = ",\n    ".join([*(_literal(layout.start(slot)) for slot in slots), "0"])
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
            f"static const unsigned char model_types[] = {{{types}}};",
            *_enumerations(layout),
            *_extents(layout, fmi),
            f"static const unsigned char model_outputs_listed[] = {{{', '.join(listed)}}};",
            f"static const unsigned char model_tunable[] = {{{tunable}}};",
            f"static const char* const model_names[] = {{\n    {names}}};",
            f"static const double model_start_values[] = {{\n    {starts}}};",
            f"static const double model_minima[] = {{{_literals(minima)}}};",
            f"static const double model_maxima[] = {{{_literals(maxima)}}};",
            f"static const double model_nominals[] = {{{_literals(nominals)}}};",
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
            *looped_c.tables(layout.ode),
            *(looped_c.jacobian_tables(layout.ode) if solver.is_implicit else ()),
            *(looped_c.verlet_tables(layout.ode) if has_positions else ()),
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
        f"static const unsigned model_extents[] = {{{', '.join(map(str, counts))}}};",
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
        f"static const Literals model_literals[] = {{{', '.join(rows)}}};",
        f"static const unsigned short model_literals_of[] = {{{', '.join(of_slots)}}};",
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
    running = looped_c.results(ode)
    looped = {name: looped_c.code(ode, name, results) for name, results in running.items()}
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
        *looped_c.functions(ode),
    ):
        generator.add(function)
    if fmi == "3.0":
        generator.add(_adjoint(ode, everything, ends))
    if solver.is_implicit:
        generator.add(looped_c.function(ode))
    text = _OPTIONAL_ARGUMENT.sub(r"\2", generator.dump())
    text = _OPTIONAL_RESULT.sub(r"\2", text)
    loops = [code for code in looped.values() if code is not None]
    return "\n".join([text, *(['#include "loops.h"'] if loops else []), *loops])


def _adjoint(ode: ExplicitOde, everything: Any, ends: list[int]) -> Any:
    """Transposed Jacobian by inputs, states and z times seeds of outputs, locals, derivatives."""
    _, u, x, _, _, _ = ode.arguments
    seed = ca.SX.sym("bar", everything.numel())
    product = ca.jtimes(everything, ca.vertcat(u, x, ode.z), seed, True)  # noqa: FBT003 - transposed
    places = [0, u.numel(), u.numel() + x.numel(), u.numel() + x.numel() + ode.z.numel()]
    bars = ca.vertsplit(ca.cse(ca.densify(product)), places)
    return ca.Function("model_adjoint", [*ode.arguments, ode.z, *ca.vertsplit(seed, ends)], bars)


def _literals(values: Sequence[float]) -> str:
    return ", ".join(_literal(value) for value in values) or "0"


def _literal(value: float) -> str:
    if value != value:
        return "NAN"
    if value in {float("inf"), float("-inf")}:
        return "-INFINITY" if value < 0 else "INFINITY"
    return repr(float(value))
