"""Generated C functions and tables of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import casadi as ca

from orchestrator.export.dae.events import Assertion, Events, Message, Termination
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.start_point import column

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
    return {name: tuple(column(one) for one in results) for name, results in columns.items()}


def functions(ode: ExplicitOde) -> Iterator[Any]:
    """Functions of all else that happens at instants; none for a continuous model."""
    events = ode.events
    if not events:
        return
    t, u, x, p, c, q = ode.arguments
    arguments = [t, u, x, p, c, q, ode.z]
    moving = ca.vertcat(u, x, ode.z)

    def function(name: str, *columns: Any) -> Any:
        return ca.Function(name, arguments, [ca.densify(ca.SX(one)) for one in columns])

    yield function("model_discrete", column(d.value for d in events.discrete))
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
    moments = column(events.moments(t, moving))
    yield ca.Function("model_moments", [p, c, q], [ca.densify(moments)])


def tables(ode: ExplicitOde) -> list[str]:
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
        "N_REINITS": len(events.reinits),
        "N_ASSERTIONS": len(events.assertions),
        "N_TERMINATIONS": len(events.terminations),
        "N_NUMBERS": sum(len(m.numbers) for m in messages),
        "N_Q": len(events.symbols),
        "HAS_EVENTS": int(bool(events)),
    }
    return [
        *(f"#define {name} {size}" for name, size in sizes.items()),
        "enum { NOT_FORESEEN, TRUE_FROM, FALSE_FROM };",
        _array("unsigned char", "model_foreseen", [str(int(f)) for f in foreseen]),
        _array("char* const", "model_relation_labels", _quoted(r.label for r in events.relations)),
        _array("char* const", "model_discrete_labels", _quoted(d.label for d in events.discrete)),
        _array(
            "unsigned char", "model_discrete_exact", [str(int(d.exact)) for d in events.discrete]
        ),
        _array("int", "model_reinit_states", [str(states.index(r.state)) for r in events.reinits]),
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
    yield _array("Piece", "model_pieces", [f"{{{piece}}}" for piece in pieces] or ["{NULL}"])
    yield "typedef struct {"
    yield "    int first_piece, piece_count, first_number, instant;"
    yield "    const char* origin;"
    yield "} MessageRow;"
    yield _array("MessageRow", "model_messages_rows", rows or ['{0, 0, 0, 0, ""}'])


def _quoted(texts: Any) -> list[str]:
    return [json.dumps(text) for text in texts]


def _array(kind: str, name: str, items: list[str]) -> str:
    return f"static const {kind} {name}[] = {{{', '.join(items) or '0'}}};"
