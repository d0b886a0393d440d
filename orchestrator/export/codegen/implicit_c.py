"""Generated C of the blocks that are solved at run time, and of events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from orchestrator.export.dae.block_triangular import EquationBlock
from orchestrator.export.dae.events import Assertion, Events, Message, Termination
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import column

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
    symbols = {v.name: v.symbol for v in (*ode.states, *ode.calculated)}
    guess_column = column(symbols[name] for name in initial.guesses)
    guesses = column(initial.guesses.values())
    x, c = (ca.substitute(argument, guess_column, guesses) for argument in (x, c))
    zi = column(block.unknowns for block in initial.blocks)
    arguments = [t, u, x, p, c, q, zi]
    yield ca.Function("model_initial_guess", arguments[:-1], [ode.initial_guess])
    for index, block in enumerate(initial.blocks):
        yield from _equations(f"{_INITIAL}_{index}", arguments, None, block)
    results = [initial.x, initial.c, initial.z, initial.checks]
    yield ca.Function("model_initial", arguments, [ca.cse(ca.densify(r)) for r in results])


def _kind(ode: ExplicitOde | None, block: EquationBlock) -> str:
    """How it is solved; the factors of initial blocks (no ode) are never kept."""
    if not block.is_linear:
        return "BLOCK_NONLINEAR"
    if ode is None:
        return "BLOCK_LINEAR"
    t, u, x, _, _, q = ode.arguments
    moving = ca.vertcat(t, u, x, q, ode.z)
    return "BLOCK_LINEAR" if ca.depends_on(_jacobian(block), moving) else "BLOCK_FIXED"


def _jacobian(block: EquationBlock) -> Any:
    return ca.jacobian(block.residual, block.unknowns)


def _equations(
    name: str, arguments: list[Any], ode: ExplicitOde | None, block: EquationBlock
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
    arguments = [*ode.arguments, ode.z]
    seeds = [
        ca.SX.sym(f"d{name}", s.numel()) for name, s in zip("uxtz", (u, x, t, ode.z), strict=True)
    ]
    first = 0
    for index, block in enumerate(ode.blocks):
        size, name = block.unknowns.numel(), f"{_RUNNING}_{index}"
        before = ca.vertcat(u, x, t, ode.z[:first])
        directions = ca.vertcat(*seeds[:3], seeds[3][:first])
        product = ca.jtimes(-block.residual, before, directions)
        yield ca.Function(f"{name}_tangent", [*arguments, *seeds], [ca.cse(ca.densify(product))])
        if fmi == "3.0":
            bar = ca.SX.sym("bar", size)
            before = ca.vertcat(u, x, ode.z[:first])
            product = ca.jtimes(-block.residual, before, bar, True)  # noqa: FBT003 - transposed
            offsets = [0, u.numel(), u.numel() + x.numel(), before.numel()]
            bars = ca.vertsplit(ca.cse(ca.densify(product)), offsets)
            yield ca.Function(f"{name}_adjoint", [*arguments, bar], bars)
        first += size


def tables(ode: ExplicitOde, fmi: str) -> list[str]:
    """Lines of model.h: sizes and the table of blocks."""
    initial = ode.initial
    initial_blocks = initial.blocks if initial else ()
    blocks = (*ode.blocks, *initial_blocks)
    sizes = [block.unknowns.numel() for block in blocks]
    nonlinear = [block.unknowns.numel() for block in blocks if not block.is_linear]
    checks = initial.check_origins if initial else ()
    labels = [guard.label for guard in ode.guards]
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
        array("char* const", "model_checks", _quoted(checks), '""', lines=True),
        array("char* const", "model_guard_labels", _quoted(labels), '""', lines=True),
    ]


def _block_table(
    table: str,
    name: str,
    blocks: Sequence[EquationBlock],
    nominals: Mapping[str, float],
    ode: ExplicitOde | None = None,
    fmi: str = "",
) -> str:
    """Initial blocks have no ode; they need no derivatives."""
    rows, columns, first, factors = [], [], 0, 0
    for index, block in enumerate(blocks):
        size, kind, own_name = block.unknowns.numel(), _kind(ode, block), f"{name}_{index}"
        matrix = f"{own_name}_matrix" if kind == "BLOCK_FIXED" else "NULL"
        tangent = f"{own_name}_tangent" if ode else "NULL"
        adjoint = f"{own_name}_adjoint" if ode and fmi == "3.0" else "NULL"
        unknowns = ", ".join([*block.names, *block.inner])
        label = json.dumps(f"{unknowns} ({'; '.join(block.origins)})"[:600])
        pattern = _jacobian(block).sparsity()
        columns.append(array("int", f"{own_name}_places", map(str, pattern.find()), ""))
        usual = (repr(nominals.get(name, 1.0)) for name in block.names)
        columns.append(array("double", f"{own_name}_nominals", usual))
        sizes = f"{first}, {size}, {factors}, {pattern.nnz()}"
        numbers = f"{sizes}, {own_name}_places, {kind}, {own_name}_nominals"
        rows.append(f"{{{numbers}, {own_name}, {matrix}, {tangent}, {adjoint}, {label}}}")
        first, factors = first + size, factors + size * size
    nothing = f'{{0, 0, 0, 0, NULL, BLOCK_LINEAR, {"NULL, " * 5}""}}'
    return "\n".join([*columns, array("Block", table, rows, nothing, lines=True)])


# A comparison counts as changed once it is this much beyond: above rounding of what is compared
# (1e-16 of it), below any tolerance of integration.
_HYSTERESIS = 1e-14
_RELATIVE_HYSTERESIS = 1e-14


def at_every_step(ode: ExplicitOde) -> dict[str, tuple[Any, ...]]:
    """Results of the functions that look for events; none for a continuous model."""
    events = ode.events
    if not events:
        return {}
    columns = {
        "model_relations": (
            (r.value for r in events.relations),
            (r.margin for r in events.relations),
            (_HYSTERESIS + _RELATIVE_HYSTERESIS * r.size for r in events.relations),
        ),
        "model_assertions": (
            (a.condition for a in events.assertions),
            (a.level for a in events.assertions),
        ),
    }
    return {name: tuple(column(result) for result in results) for name, results in columns.items()}


_WAVES = (ca.OP_SIN, ca.OP_COS, ca.OP_TAN)


def phases(ode: ExplicitOde) -> list[Any]:
    """Arguments of sines in relations, which say how often such a relation may change in a step."""
    t, u, x, _, _, _ = ode.arguments
    moving = ca.vertcat(t, u, x, ode.z)
    steady = ca.vertcat(u, x, ode.z)
    waiting = [r.margin for r in ode.events.relations if not ode.events.is_time_event(r, t, steady)]
    visited: set[int] = set()
    distinct: list[Any] = []
    while waiting:
        node = ca.SX(waiting.pop())
        if node.element_hash() in visited:
            continue
        visited.add(node.element_hash())
        parts = [node.dep(index) for index in range(node.n_dep())]
        waiting += parts
        is_wave = node.op() in _WAVES and ca.depends_on(parts[0], moving)
        if is_wave and not any(ca.is_equal(parts[0], phase, 50) for phase in distinct):
            distinct.append(parts[0])
    return distinct


def event_functions(ode: ExplicitOde) -> Iterator[Any]:
    """Functions of all else that happens at instants; none for a continuous model."""
    events = ode.events
    if not events:
        return
    t, u, x, p, c, q = ode.arguments
    arguments = [*ode.arguments, ode.z]

    def function(name: str, *columns: Any) -> Any:
        return ca.Function(name, arguments, [ca.densify(ca.SX(result)) for result in columns])

    yield function("model_discrete", column(d.value for d in events.discrete))
    yield function("model_phases", column(phases(ode)))
    yield function("model_discrete_start", column(d.start for d in events.discrete))
    yield function(
        "model_reinits",
        column(r.active for r in events.reinits),
        column(r.value for r in events.reinits),
    )
    yield function("model_terminations", column(t.active for t in events.terminations))
    yield function("model_messages", column(n for m in _messages(events) for n in m.numbers))
    samples = column(part for s in events.samplers for part in (s.start, s.interval))
    yield ca.Function("model_samples", [p, c], [ca.densify(samples)])
    moments = column(events.moments(t, ca.vertcat(u, x, ode.z)))
    yield ca.Function("model_moments", [p, c, q], [ca.densify(moments)])


def event_tables(ode: ExplicitOde) -> list[str]:
    """Lines of model.h: sizes, names for messages, and the messages of the model."""
    events = ode.events
    t, u, x, _, _, _ = ode.arguments
    moving = ca.vertcat(u, x, ode.z)
    foreseen = [(1 + int(r.strict)) * events.is_time_event(r, t, moving) for r in events.relations]
    states = [state.name for state in ode.states]
    messages = _messages(events)
    sizes = {
        "N_D": len(ode.discrete),
        "N_DD": len(events.discrete),
        "N_R": len(events.relations),
        "N_S": len(events.samplers),
        "N_MOMENTS": len(foreseen) - foreseen.count(0),
        "N_INDICATORS": foreseen.count(0),
        "N_PHASES": len(phases(ode)),
        "N_REINITS": len(events.reinits),
        "N_ASSERTIONS": len(events.assertions),
        "N_TERMINATIONS": len(events.terminations),
        "N_NUMBERS": sum(len(m.numbers) for m in messages),
        "N_Q": len(events.symbols),
        "HAS_EVENTS": int(bool(events)),
        "HAS_HOMOTOPY": int(events.has_homotopy),
    }
    return [
        *(f"#define {name} {size}" for name, size in sizes.items()),
        "enum { NOT_FORESEEN, TRUE_FROM, FALSE_FROM };",
        array("unsigned char", "model_foreseen", map(str, foreseen)),
        array("char* const", "model_relation_labels", _quoted(r.label for r in events.relations)),
        array("char* const", "model_discrete_labels", _quoted(d.label for d in events.discrete)),
        array("unsigned char", "model_discrete_exact", (f"{d.exact:d}" for d in events.discrete)),
        array("int", "model_reinit_states", (str(states.index(r.state)) for r in events.reinits)),
        "typedef struct {",
        "    const char* text; /* NULL: the next number */",
        "} Piece;",
        *_message_tables(events),
        "",
    ]


def _messages(events: Events) -> list[Message]:
    return [a.message for a in events.assertions] + [t.message for t in events.terminations]


def _message_tables(events: Events) -> Iterator[str]:
    """Pieces of all messages in a row, and where each message begins among pieces and numbers."""
    pieces: list[str] = []
    rows: list[str] = []
    number = 0
    entries: tuple[Assertion | Termination, ...] = (*events.assertions, *events.terminations)
    for entry in entries:
        message = entry.message
        instant = int(isinstance(entry, Assertion) and entry.instant)
        origin = entry.origin if isinstance(entry, Assertion) else ""
        rows.append(
            f"{{{len(pieces)}, {len(message.pieces)}, {number}, {instant}, {json.dumps(origin)}}}"
        )
        pieces += [json.dumps(p) if isinstance(p, str) else "NULL" for p in message.pieces]
        number += len(message.numbers)
    yield array("Piece", "model_pieces", [f"{{{piece}}}" for piece in pieces], "{NULL}")
    yield "typedef struct {"
    yield "    int first_piece, piece_count, first_number, instant;"
    yield "    const char* origin;"
    yield "} MessageRow;"
    yield array("MessageRow", "model_messages_rows", rows, '{0, 0, 0, 0, ""}')


def _quoted(texts: Iterable[str]) -> Iterator[str]:
    return map(json.dumps, texts)


def array(
    kind: str, name: str, items: Iterable[str], nothing: str = "0", *, lines: bool = False
) -> str:
    """Text of a table; ``nothing`` stands in an empty one, as C needs an element."""
    listed = list(items) or [nothing]
    text = "\n    " + ",\n    ".join(listed) if lines else ", ".join(listed)
    return f"static const {kind} {name}[] = {{{text}}};"
