"""Generated C functions and tables of the blocks that are solved at run time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from orchestrator.export.dae.block_triangular import Block
from orchestrator.export.dae.explicit_ode import ExplicitOde

_RUNNING, _INITIAL = "model_block", "model_initial_block"


def functions(ode: ExplicitOde, fmi: str) -> Iterator[Any]:
    """Those of every block, guesses, and the values after the initial system."""
    t, u, x, p, c, q = ode.arguments
    yield ca.Function("model_guess", [t, u, x, p, c, q], [ode.guess])
    for index, block in enumerate(ode.blocks):
        yield from _equations(f"{_RUNNING}_{index}", [*ode.arguments, ode.z], ode, block)
    yield from _sensitivities(ode, fmi)
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
    for index, block in enumerate(initial.blocks):
        yield from _equations(f"{_INITIAL}_{index}", arguments, None, block)
    results = [initial.x, initial.c, initial.z, initial.checks]
    yield ca.Function("model_initial", arguments, [ca.cse(ca.densify(r)) for r in results])


def _symbol(ode: ExplicitOde, name: str) -> Any:
    return next(v.symbol for v in (*ode.states, *ode.calculated) if v.name == name)


def _kind(ode: ExplicitOde | None, block: Block) -> str:
    """How it is solved; the factors of initial blocks (no ode) are never kept."""
    if not block.is_linear:
        return "BLOCK_NONLINEAR"
    if ode is None:
        return "BLOCK_LINEAR"
    t, u, x, _, _, q = ode.arguments
    moving = ca.vertcat(t, u, x, q, ode.z)
    return "BLOCK_LINEAR" if ca.depends_on(_jacobian(block), moving) else "BLOCK_FIXED"


def _jacobian(block: Block) -> Any:
    return ca.jacobian(block.residual, block.unknowns)


def _equations(
    name: str, arguments: list[Any], ode: ExplicitOde | None, block: Block
) -> Iterator[Any]:
    """Residual and Jacobian; of a linear block at zero, so that its last solution has no effect."""
    residual, kind = block.residual, _kind(ode, block)
    if block.is_linear:
        residual = ca.densify(
            ca.substitute(residual, block.unknowns, ca.SX.zeros(block.unknowns.numel()))
        )
    if kind == "BLOCK_FIXED":
        yield ca.Function(name, arguments, [residual])
        yield ca.Function(f"{name}_matrix", arguments, [_jacobian(block)])
        return
    yield ca.Function(name, arguments, [residual, _jacobian(block)])


def _sensitivities(ode: ExplicitOde, fmi: str) -> Iterator[Any]:
    """Products of the residual's Jacobian by everything known before a block; negative."""
    t, u, x, _, _, _ = ode.arguments
    known = [*ode.arguments, ode.z]
    seeds = [
        ca.SX.sym(f"d{name}", s.numel()) for name, s in zip("uxtz", (u, x, t, ode.z), strict=True)
    ]
    first = 0
    for index, block in enumerate(ode.blocks):
        size, name = block.unknowns.numel(), f"{_RUNNING}_{index}"
        before = ca.vertcat(u, x, t, ode.z[:first])
        directions = ca.vertcat(*seeds[:3], seeds[3][:first])
        product = ca.jtimes(-block.residual, before, directions)
        yield ca.Function(f"{name}_tangent", [*known, *seeds], [ca.cse(ca.densify(product))])
        if fmi == "3.0":
            bar = ca.SX.sym("bar", size)
            before = ca.vertcat(u, x, ode.z[:first])
            product = ca.jtimes(-block.residual, before, bar, True)  # noqa: FBT003 - transposed
            places = [0, u.numel(), u.numel() + x.numel(), before.numel()]
            bars = ca.vertsplit(ca.cse(ca.densify(product)), places)
            yield ca.Function(f"{name}_adjoint", [*known, bar], bars)
        first += size


def tables(ode: ExplicitOde, fmi: str) -> list[str]:
    """Lines of model.h: sizes and the table of blocks."""
    initial = ode.initial
    initial_blocks = initial.blocks if initial else ()
    blocks = (*ode.blocks, *initial_blocks)
    sizes = [block.unknowns.numel() for block in blocks]
    nonlinear = [block.unknowns.numel() for block in blocks if not block.is_linear]
    checks = initial.check_origins if initial else ()
    return [
        f"#define N_Z {ode.z.numel()}",
        f"#define N_BLOCKS {len(ode.blocks)}",
        f"#define HAS_INITIAL_SYSTEM {int(initial is not None)}",
        f"#define N_ZI {sum(b.unknowns.numel() for b in initial_blocks)}",
        f"#define N_INITIAL_BLOCKS {len(initial_blocks)}",
        f"#define N_CHECKS {len(checks)}",
        f"#define N_GUARDS {len(ode.guards)}",
        f"#define N_FACTORS {sum(b.unknowns.numel() ** 2 for b in ode.blocks)}",
        f"#define LARGEST_BLOCK {max(sizes, default=0)}",
        f"#define LARGEST_NONLINEAR {max(nonlinear, default=0)}",
        f"#define MOST_ENTRIES {max((_jacobian(b).nnz() for b in blocks), default=0)}",
        "#include <stddef.h>",
        "/* A block is linear with a matrix that depends on parameters only: fixed. */",
        "typedef enum { BLOCK_NONLINEAR, BLOCK_LINEAR, BLOCK_FIXED } BlockKind;",
        "typedef int Generated(const double**, double**, int*, double*, int);",
        "typedef struct {",
        "    int first, size, factors; /* places of unknowns and of the factored Jacobian */",
        "    int entries; /* structural nonzeros of the Jacobian */",
        "    const int* places; /* where they lie in it */",
        "    BlockKind kind;",
        "    const double* nominals; /* of the unknowns */",
        "    Generated *function, *matrix, *tangent, *adjoint;",
        "    const char* label;",
        "} Block;",
        _block_table("model_blocks", _RUNNING, ode.blocks, ode.nominals, ode, fmi),
        _block_table("model_initial_blocks", _INITIAL, initial_blocks, ode.nominals),
        "static const char* const model_checks[] = {",
        "    " + (",\n    ".join(map(json.dumps, checks)) or '""') + "};",
        "static const char* const model_guard_labels[] = {",
        "    " + (",\n    ".join(json.dumps(g.label) for g in ode.guards) or '""') + "};",
    ]


def _block_table(
    table: str,
    name: str,
    blocks: Sequence[Block],
    nominals: Mapping[str, float],
    ode: ExplicitOde | None = None,
    fmi: str = "",
) -> str:
    """Initial blocks have no ode; they need no derivatives."""
    rows, places, first, factors = [], [], 0, 0
    for index, block in enumerate(blocks):
        size, kind, own = block.unknowns.numel(), _kind(ode, block), f"{name}_{index}"
        matrix = f"{own}_matrix" if kind == "BLOCK_FIXED" else "NULL"
        tangent = f"{own}_tangent" if ode else "NULL"
        adjoint = f"{own}_adjoint" if ode and fmi == "3.0" else "NULL"
        label = json.dumps(f"{block.label} ({'; '.join(block.origins)})"[:600])
        pattern = _jacobian(block).sparsity()
        nonzeros = ", ".join(map(str, pattern.find()))
        places.append(f"static const int {own}_places[] = {{{nonzeros}}};\n")
        names = (block.unknowns[i].name() for i in range(size))
        usual = ", ".join(repr(nominals.get(name, 1.0)) for name in names)
        places.append(f"static const double {own}_nominals[] = {{{usual}}};\n")
        numbers = (
            f"{first}, {size}, {factors}, {pattern.nnz()}, {own}_places, {kind}, {own}_nominals"
        )
        rows.append(f"    {{{numbers}, {own}, {matrix}, {tangent}, {adjoint}, {label}}}")
        first, factors = first + size, factors + size * size
    content = ",\n".join(rows) or f'    {{0, 0, 0, 0, NULL, BLOCK_LINEAR, {"NULL, " * 5}""}}'
    return "".join(places) + f"static const Block {table}[] = {{\n{content}}};"
