"""Changes of signals through the operations of a loop: see tangent.cpp of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.master.schedule.schedule import Code, Effect

if TYPE_CHECKING:
    from oracle.reference import Reference


def differentiate(reference: Reference, first: int, end: int, tangent: NDArray[np.float64]) -> None:
    """Let a change of signals go through the operations ``first`` to ``end - 1``."""
    plan = reference.plan
    for code, begin, count, _, _ in plan.operations[first:end]:
        for row in range(begin, begin + count):
            if code == Code.COPY:
                source, target, factor, _ = plan.copies[row]
                tangent[target] = factor * tangent[source]
            elif code == Code.INTERPOLATE_MEAN:
                source, target, weight, factor, _ = plan.mixes[row]
                tangent[target] = factor * weight * tangent[source]
            elif code == Code.READ:
                tangent[plan.reads[row][1]] = 0.0
            elif code == Code.LOOKUP:
                tangent[plan.tables[row][0]] = 0.0
            elif code == Code.INJECT_FAULT and plan.faults[row].effect is not Effect.CHANGED_DELAY:
                slot, gain = reference.faults.gain(row)
                tangent[slot] *= gain
            elif code in (Code.STEP, Code.SECOND_HALF):
                member, native = plan.members[row], reference.units[row].native
                outputs = np.zeros(member.output_size)
                native.derivative(tangent[member.input_offset :][: member.input_size], outputs)
                tangent[member.output_offset :][: member.output_size] = outputs
