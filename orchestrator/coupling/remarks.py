"""What a user should know of how the delays of a run were realised, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from orchestrator.coupling.delay_plan import LoopDelay
from orchestrator.coupling.line_plan import DelayMode, DelayPlan
from orchestrator.system import Connection, Extrapolation, Interpolation

#: A loop in exact mode misses its delay by more than this only if its loops cannot all be met.
_MISS_NS = 1.0
_HELD = {Interpolation.HOLD, Interpolation.SLERP}


def remarks(
    plans: Sequence[DelayPlan], loops: Sequence[LoopDelay], step_ns: int, mode: str
) -> list[str]:
    """Say where a delay is no multiple of the step, varies, is extrapolated, held, or missed.

    Parameters
    ----------
    plans, loops
        As :func:`plan_delays` returned them.
    step_ns
        Communication step in nanoseconds.
    mode
        ``"plain"`` or ``"exact"``.
    """
    found = rounded(plans, step_ns)
    found += _ahead([plan for plan in plans if plan.connection.delay])
    found += _predicted([plan for plan in plans if not plan.connection.delay])
    found += [
        f"the delay of {plan.connection} varies: {plan.seen_ns / 1e6:g} ms is what its target sees"
        + (
            " in the mean"
            if plan.interpolation is Interpolation.HOLD
            else " as long as no sample is lost or late"
        )
        for plan in plans
        if plan.connection.delay and plan.connection.delay.variation
    ]
    return found + missed(plans, loops, mode)


def missed(plans: Sequence[DelayPlan], loops: Sequence[LoopDelay], mode: str) -> list[str]:
    """Say of each loop that exact mode leaves with another delay than was declared, why.

    Parameters as of :func:`remarks`.
    """
    if mode != DelayMode.EXACT:
        return []
    stiff = {p.connection for p in plans if p.interpolation in _HELD or p.held_ns}
    return [_miss(loop, stiff) for loop in loops if abs(loop.numerical_ns) > _MISS_NS]


def _miss(loop: LoopDelay, stiff: Collection[Connection]) -> str:
    """Say by how much a loop misses its delay, and why; ``stiff`` are lines that are held."""
    if any(line in stiff for line in loop.lines):
        why = "it holds samples instead of interpolating them"
    elif any(line.delay for line in loop.lines):
        why = "it shares delayed connections with loops that need another reading"
    else:
        why = (
            "none of its connections declares a delay from which the step's own could"
            " be taken; declare one, zero if need be"
        )
    return (
        f"the loop {' -> '.join(loop.components)} misses its declared delay of"
        f" {loop.physical_ns / 1e6:g} ms by {loop.numerical_ns / 1e6:+g} ms: {why}"
    )


def _ahead(plans: Sequence[DelayPlan]) -> list[str]:
    """Delayed lines that would need a sample that is not there yet."""
    found = []
    ahead = [plan for plan in plans if plan.extrapolation_ns]
    if ahead:
        most = max(plan.extrapolation_ns for plan in ahead)
        bent = any(plan.extrapolation is Extrapolation.QUADRATIC for plan in ahead)
        found.append(
            f"{len(ahead)} of {len(plans)} delayed connections are read ahead of their newest"
            f" sample, by up to {most / 1e6:g} ms: extrapolated along the last"
            f" {'two or three' if bent else 'two'}"
        )
    found += [
        f"{plan.connection} would have to be read {plan.held_ns / 1e6:g} ms ahead of its newest"
        " sample, which is held instead: it is late by that"
        for plan in plans
        if plan.held_ns
    ]
    return found


def _predicted(plans: Sequence[DelayPlan]) -> list[str]:
    """Lines without a delay whose targets see a prediction."""
    ways: dict[str, int] = {}
    for plan in plans:
        kind = f"{plan.extrapolation}{' with slopes' if plan.span_ns else ''}"
        ways[kind] = ways.get(kind, 0) + 1
    return [
        f"{count} connection{'s' if count > 1 else ''} without a delay predict"
        f"{'' if count > 1 else 's'} the input over each step: {kind}"
        for kind, count in ways.items()
    ]


def rounded(plans: Sequence[DelayPlan], step_ns: int) -> list[str]:
    """One sentence for each delay that the step does not divide."""
    lines: dict[tuple[int, bool], list[str]] = {}
    for plan in plans:
        delay = plan.connection.delay
        if delay and delay.nominal_ns % step_ns and not delay.variation:
            held = plan.interpolation is Interpolation.HOLD
            lines.setdefault((delay.nominal_ns, held), []).append(str(plan.connection))
    found = []
    for (nominal_ns, held), names in lines.items():
        rounded_ns = -(-nominal_ns // step_ns) * step_ns
        done = (
            f"the newest sample that is old enough is held, {rounded_ns / 1e6:g} ms"
            if held
            else f"it is interpolated between samples and stays {nominal_ns / 1e6:g} ms"
        )
        found.append(
            f"the delay of {nominal_ns / 1e6:g} ms of {', '.join(names)} is no multiple of the step"
            f" of {step_ns / 1e6:g} ms: {done}"
        )
    return found
