"""Tables of the positions that the method ``verlet`` moves, and of their velocities."""

from __future__ import annotations

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.export.dae.explicit_ode import ExplicitOde


def tables(ode: ExplicitOde) -> list[str]:
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
