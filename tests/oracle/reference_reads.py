"""How the oracle brings the values of lines that are read from the past."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.reference_history import on_arc

from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation

if TYPE_CHECKING:
    from oracle.reference import Reference


def read_line(reference: Reference, row: int) -> None:
    """Bring the value of a line that is read from the past."""
    plan = reference.plan
    *line, share, order, keeps_end = plan.reads[row]
    later = round_half_away(share * (reference.step_ns - plan.step_ns))
    later += reference.faults.delay_changes.pop(row, 0)
    if order:
        _follow(reference, later, order, keeps_end, *line)
    else:
        _read(reference, later, *line)


def _read(
    reference: Reference,
    later: int,
    history: int,
    target: int,
    shift: int,
    span: int,
    factor: float,
    offset: float,
) -> None:
    past, begin = reference.past[history], reference.now_ns + shift + later
    if past.interpolation is Interpolation.SLERP:
        found = [p.around(begin, reference.now_ns) for p in reference.past[history : history + 4]]
        share = min(max(found[0].share(begin), 0.0), 1.0)
        turned = on_arc([f.low.value for f in found], [f.high.value for f in found], share)
        reference.signals[target : target + 4] = [factor * x + offset for x in turned]
        return
    smoothed = past.extrapolation is Extrapolation.SMOOTHED
    value = 0.0 if smoothed else past.read(begin, reference.now_ns)
    if smoothed or span:
        end = past.read(begin + span, reference.now_ns)
        if smoothed:
            value = past.smooth(reference.now_ns, end)
        if span:
            reference.derivatives[0, target] = factor * ((end - value) / (float(span) / 1e9))
        else:
            value = 0.5 * (value + end)
    reference.signals[target] = factor * value + offset


def _follow(
    reference: Reference,
    later: int,
    order: int,
    keeps_end: int,
    history: int,
    target: int,
    shift: int,
    span: int,
    factor: float,
    offset: float,
) -> None:
    span += reference.step_ns - reference.plan.step_ns
    begin, ends = reference.now_ns + shift + later, bool(keeps_end)
    found = reference.past[history].follow(begin, span, reference.now_ns, keeps_end=ends)
    found = found.reduced(float(span) / 1e9, order, keeps_end=ends)
    reference.signals[target] = factor * found.value + offset
    for k in range(order):
        reference.derivatives[k, target] = factor * found.derivatives[k]


def round_half_away(value: float) -> int:
    """Round as C does it: a half goes away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))
