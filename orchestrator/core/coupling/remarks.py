"""What a user should know of how delays and faults of a run were realised, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from orchestrator.core.coupling.delay_plan import LoopDelay
from orchestrator.core.coupling.line_plan import DelayMode, DelayPlan
from orchestrator.core.diagnostics import counted, first_of
from orchestrator.core.system import (
    Connection,
    Extrapolation,
    Interpolation,
)

#: A loop out of plain mode misses its delay by more than this only if its loops cannot all be met.
_MISS_NS = 1.0
_HELD = {Interpolation.HOLD, Interpolation.SLERP}


def remarks(
    plans: Sequence[DelayPlan],
    loops: Sequence[LoopDelay],
    step_ns: int,
    mode: str,
    duration_ns: int | None = None,
) -> list[str]:
    """Say where a delay is no multiple of the step, varies, is extrapolated, held, or missed.

    plans, loops: As :func:`plan_delays` returned them.
    step_ns: Communication step in nanoseconds.
    mode: Of :class:`DelayMode`.
    duration_ns: Of the run in nanoseconds, to report delays that are at least as long.
    """
    texts = rounded(plans, step_ns) + _outlasting(plans, duration_ns)
    texts += _ahead([plan for plan in plans if plan.connection.delay])
    texts += _predicted([p for p in plans if not p.connection.delay and not p.order])
    delayed = mode == DelayMode.WAVEFORM and any(plan.connection.delay for plan in plans)
    follows = delayed or any(plan.order for plan in plans)
    texts += _followed(plans, loops) if follows else []
    texts += [
        f"the delay of {plan.connection} varies: {plan.effective_delay_ns / 1e6:g} ms is the"
        " effective delay at its target"
        + (
            " in the mean"
            if plan.interpolation is Interpolation.HOLD
            else " as long as no sample is lost or late"
        )
        for plan in plans
        if plan.connection.delay and plan.connection.delay.variation
    ]
    return texts + missed(plans, loops, mode)


def _outlasting(plans: Sequence[DelayPlan], duration_ns: int | None) -> list[str]:
    """One sentence for each delay of which nothing arrives in the run."""
    return [
        f"the delay of {plan.connection.delay.nominal_ns / 1e6:g} ms of {plan.connection} is not"
        f" shorter than the run of {duration_ns / 1e6:g} ms: its target receives the start value"
        " during the whole run"
        for plan in plans
        if duration_ns is not None
        and plan.connection.delay
        and plan.connection.delay.nominal_ns >= duration_ns
    ]


def missed(plans: Sequence[DelayPlan], loops: Sequence[LoopDelay], mode: str) -> list[str]:
    """Say of each loop that is left with another delay than was declared, why.

    Parameters as of :func:`remarks`.
    """
    if mode == DelayMode.PLAIN:
        return []
    stiff = {p.connection for p in plans if p.interpolation in _HELD or p.held_ns}
    return [_miss(loop, stiff) for loop in loops if abs(loop.numerical_ns) > _MISS_NS]


def unsolved(loops: Sequence[LoopDelay]) -> list[str]:
    """Say of each algebraic loop that is passed on from step to step, how late that makes it."""
    texts = []
    for delay in loops:
        rings = [ring for ring in delay.loops if all(ring.feedthrough)]
        if not rings or any(line.delay for ring in rings for line in ring.connections):
            continue
        around = " -> ".join([*delay.components, delay.components[0]])
        texts.append(
            f"the algebraic loop {around} is not solved: its components exchange the values from"
            f" before the step, which delays its signals by {delay.numerical_ns / 1e6:g} ms"
            " around the loop, where no delay is declared; at the start, values are passed"
            " around once for each component"
        )
    return texts


def _miss(loop: LoopDelay, stiff: Collection[Connection]) -> str:
    """Say by how much a loop misses its delay, and why; ``stiff`` are lines that are held."""
    if any(line in stiff for line in loop.lines):
        reason = "it holds samples instead of interpolating them"
    elif any(line.delay for line in loop.lines):
        reason = "it shares delayed connections with loops that need a different compensation"
    else:
        reason = (
            "none of its connections declares a delay that the step's own delay could be"
            " subtracted from; declare one, which may be zero"
        )
    return (
        f"the loop {' -> '.join(loop.components)} misses its declared delay of"
        f" {loop.physical_ns / 1e6:g} ms by {loop.numerical_ns / 1e6:+g} ms: {reason}"
    )


def _ahead(plans: Sequence[DelayPlan]) -> list[str]:
    """Delayed lines that would need a sample that is not there yet."""
    texts = []
    ahead = [plan for plan in plans if plan.extrapolation_ns]
    if ahead:
        longest_ns = max(plan.extrapolation_ns for plan in ahead)
        bent = any(plan.extrapolation is Extrapolation.QUADRATIC for plan in ahead)
        texts.append(
            f"{len(ahead)} of {len(plans)} delayed connections are read ahead of their newest"
            f" sample, by up to {longest_ns / 1e6:g} ms: extrapolated along the last"
            f" {'two or three' if bent else 'two'}"
        )
    texts += [
        f"{plan.connection} would have to be read {plan.held_ns / 1e6:g} ms ahead of its newest"
        " sample; the sample is held instead, so the signal is late by that time"
        for plan in plans
        if plan.held_ns
    ]
    return texts


def _predicted(plans: Sequence[DelayPlan]) -> list[str]:
    """Lines without a delay whose targets see a prediction."""
    ways: dict[str, int] = {}
    for plan in plans:
        kind = f"{plan.extrapolation}{' with slopes' if plan.span_ns else ''}"
        ways[kind] = ways.get(kind, 0) + 1
    return [
        f"{counted(count, 'connection')} without a delay predict"
        f"{'' if count > 1 else 's'} the input over each step: {kind}"
        for kind, count in ways.items()
    ]


def _followed(plans: Sequence[DelayPlan], loops: Sequence[LoopDelay]) -> list[str]:
    """Say how many lines are followed over a step, and which ones of the loops are not."""
    followed = {plan.connection for plan in plans if plan.order}
    around = dict.fromkeys(line for loop in loops for line in loop.lines)
    held = [str(line) for line in around if line not in followed]
    count = counted(len(followed), "connection") if followed else "no connection"
    verb = "are" if len(followed) > 1 else "is"
    text = f"{count} {verb} interpolated within each step (waveform)"
    if held:
        return [f"{text}; held over each step in loops: {first_of(held, 5)}"]
    return [text] if followed else []


def rounded(plans: Sequence[DelayPlan], step_ns: int) -> list[str]:
    """One sentence for each delay that the step does not divide."""
    return [
        f"the delay of {nominal_ns / 1e6:g} ms of {', '.join(lines)}"
        f" {_rounding(nominal_ns, step_ns, held=held)}"
        for (nominal_ns, held), lines in _indivisible(plans, step_ns).items()
    ]


def rounded_delay(plan: DelayPlan, step_ns: int) -> str:
    """Say of one connection that the step does not divide its delay; nothing if it does."""
    return "".join(
        f"the delay of {nominal_ns / 1e6:g} ms {_rounding(nominal_ns, step_ns, held=held)}"
        for nominal_ns, held in _indivisible([plan], step_ns)
    )


def _indivisible(plans: Sequence[DelayPlan], step_ns: int) -> dict[tuple[int, bool], list[str]]:
    """Connections by their delay, and whether the newest sample is held."""
    lines: dict[tuple[int, bool], list[str]] = {}
    for plan in plans:
        delay = plan.connection.delay
        if delay and delay.nominal_ns % step_ns and not delay.variation and not plan.order:
            held = plan.interpolation is Interpolation.HOLD
            lines.setdefault((delay.nominal_ns, held), []).append(str(plan.connection))
    return lines


def _rounding(nominal_ns: int, step_ns: int, *, held: bool) -> str:
    rounded_ns = -(-nominal_ns // step_ns) * step_ns
    done = (
        f"the newest old-enough sample is held, {rounded_ns / 1e6:g} ms"
        if held
        else f"it is interpolated between samples and stays {nominal_ns / 1e6:g} ms"
    )
    return f"is not a multiple of the step of {step_ns / 1e6:g} ms: {done}"
