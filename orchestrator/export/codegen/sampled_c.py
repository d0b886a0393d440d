"""Generated C of a model that changes at the ends of communication steps only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.operations import as_written

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
