"""What a user should know of how the delays of a run were realised, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.coupling.delay_plan import LoopDelay
from orchestrator.coupling.line_plan import DelayMode, DelayPlan

#: A loop in exact mode misses its delay by more than this only if its loops cannot all be met.
_MISS_NS = 1.0


def remarks(
    plans: Sequence[DelayPlan], loops: Sequence[LoopDelay], step_ns: int, mode: str
) -> list[str]:
    """Say where a delay is no multiple of the step, is extrapolated, or is missed.

    Parameters
    ----------
    plans, loops
        As :func:`plan_delays` returned them.
    step_ns
        Communication step in nanoseconds.
    mode
        ``"plain"`` or ``"exact"``.
    """
    found = _rounded(plans, step_ns, mode)
    ahead = [plan.extrapolation_ns for plan in plans if plan.extrapolation_ns]
    if ahead:
        found.append(
            f"{len(ahead)} of {len(plans)} delayed connections are read ahead of their newest"
            f" sample, by up to {max(ahead) / 1e6:g} ms: extrapolated along the last two"
        )
    if mode == DelayMode.EXACT:
        found += [
            f"the loop {' -> '.join(loop.components)} misses its declared delay of"
            f" {loop.physical_ns / 1e6:g} ms by {loop.numerical_ns / 1e6:+g} ms:"
            + (
                " it shares delayed connections with loops that need another reading"
                if any(line.delay for ring in loop.loops for line in ring.connections)
                else " none of its connections declares a delay from which the step's own could"
                " be taken; declare one, zero if need be"
            )
            for loop in loops
            if abs(loop.numerical_ns) > _MISS_NS
        ]
    return found


def _rounded(plans: Sequence[DelayPlan], step_ns: int, mode: str) -> list[str]:
    """One sentence for each delay that the step does not divide."""
    lines: dict[int, list[str]] = {}
    for plan in plans:
        delay = plan.connection.delay
        if delay and delay.nominal_ns % step_ns:
            lines.setdefault(delay.nominal_ns, []).append(str(plan.connection))
    found = []
    for nominal_ns, names in lines.items():
        rounded_ns = -(-nominal_ns // step_ns) * step_ns
        done = (
            f"the newest sample that is old enough is held, {rounded_ns / 1e6:g} ms"
            if mode == DelayMode.PLAIN
            else f"it is interpolated between samples and stays {nominal_ns / 1e6:g} ms"
        )
        found.append(
            f"the delay of {nominal_ns / 1e6:g} ms of {', '.join(names)} is no multiple of the step"
            f" of {step_ns / 1e6:g} ms: {done}"
        )
    return found
