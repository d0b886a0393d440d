"""Generated C functions and tables of the blocks that Newton's method solves at run time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import casadi as ca

from orchestrator.export.blocks import Block
from orchestrator.export.explicit_ode import ExplicitOde

_RUNNING, _INITIAL = "model_block", "model_initial_block"


def functions(ode: ExplicitOde) -> Iterator[Any]:
    """Residual and Jacobian of every block, guesses, and the values after the initial system."""
    t, u, x, p, c, q = ode.arguments
    yield ca.Function("model_guess", [t, u, x, p, c, q], [ode.guess])
    yield from _block_functions(_RUNNING, [t, u, x, p, c, q, ode.z], ode.blocks)
    if ode.guards:
        columns = [[g.margin for g in ode.guards], [g.slope for g in ode.guards]]
        results = [ca.cse(ca.densify(ca.vertcat(*part))) for part in columns]
        yield ca.Function("model_guards", [t, u, x, p, c, q, ode.z], results)
    initial = ode.initial
    if initial is None:
        return
    places = ca.vertcat(ca.SX(0, 1), *(_symbol(ode, name) for name in initial.guesses))
    guesses = ca.vertcat(ca.SX(0, 1), *initial.guesses.values())
    x, c = (ca.substitute(argument, places, guesses) for argument in (x, c))
    zi = ca.vertcat(ca.SX(0, 1), *(block.unknowns for block in initial.blocks))
    arguments = [t, u, x, p, c, q, zi]
    yield ca.Function("model_initial_guess", arguments[:-1], [ode.initial_guess])
    yield from _block_functions(_INITIAL, arguments, initial.blocks)
    results = [initial.x, initial.c, initial.z, initial.checks]
    yield ca.Function("model_initial", arguments, [ca.cse(ca.densify(r)) for r in results])


def _symbol(ode: ExplicitOde, name: str) -> Any:
    return next(v.symbol for v in (*ode.states, *ode.calculated) if v.name == name)


def _block_functions(name: str, arguments: list[Any], blocks: Sequence[Block]) -> Iterator[Any]:
    for index, block in enumerate(blocks):
        jacobian = ca.densify(ca.jacobian(block.residual, block.unknowns))
        yield ca.Function(f"{name}_{index}", arguments, [block.residual, jacobian])


def tangent(ode: ExplicitOde, knowns: Any, seeds: Any) -> Any:
    """Directional derivatives of z, by the implicit function theorem, block after block.

    Each column of the seeds is one direction.
    """
    result = ca.SX(0, seeds.shape[1])
    for block in ode.blocks:
        right = ca.jtimes(block.residual, knowns, seeds)
        part = ca.densify(ca.solve(ca.jacobian(block.residual, block.unknowns), -right))
        knowns, seeds = ca.vertcat(knowns, block.unknowns), ca.vertcat(seeds, part)
        result = ca.vertcat(result, part)
    return result


def tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: sizes and the table of blocks."""
    initial = ode.initial
    initial_blocks = initial.blocks if initial else ()
    sizes = [b.unknowns.numel() for b in (*ode.blocks, *initial_blocks)]
    checks = initial.check_origins if initial else ()
    return [
        f"#define N_Z {ode.z.numel()}",
        f"#define N_BLOCKS {len(ode.blocks)}",
        f"#define HAS_INITIAL_SYSTEM {int(initial is not None)}",
        f"#define N_ZI {sum(b.unknowns.numel() for b in initial_blocks)}",
        f"#define N_INITIAL_BLOCKS {len(initial_blocks)}",
        f"#define N_CHECKS {len(checks)}",
        f"#define N_GUARDS {len(ode.guards)}",
        f"#define LARGEST_BLOCK {max(sizes, default=0)}",
        "#include <stddef.h>",
        "typedef struct {",
        "    int first, size;",
        "    int (*function)(const double**, double**, int*, double*, int);",
        "    const char* label;",
        "} Block;",
        _block_table("model_blocks", _RUNNING, ode.blocks),
        _block_table("model_initial_blocks", _INITIAL, initial_blocks),
        "static const char* const model_checks[] = {",
        "    " + (",\n    ".join(map(json.dumps, checks)) or '""') + "};",
        "static const char* const model_guard_labels[] = {",
        "    " + (",\n    ".join(json.dumps(g.label) for g in ode.guards) or '""') + "};",
    ]


def _block_table(table: str, function: str, blocks: Sequence[Block]) -> str:
    rows, first = [], 0
    for index, block in enumerate(blocks):
        size = block.unknowns.numel()
        label = json.dumps(f"{block.label} ({'; '.join(block.origins)})"[:600])
        rows.append(f"    {{{first}, {size}, {function}_{index}, {label}}}")
        first += size
    content = ",\n".join(rows) or '    {0, 0, NULL, ""}'
    return f"static const Block {table}[] = {{\n{content}}};"
