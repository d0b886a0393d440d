"""Changes of signals through the operations of a loop: see tangent.cpp of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.master.schedule.rows import Effect, OperationCode

if TYPE_CHECKING:
    from oracle.reference import Reference


def differentiate(reference: Reference, first: int, end: int, tangent: NDArray[np.float64]) -> None:
    """Let a change of signals go through the operations ``first`` to ``end - 1``."""
    plan = reference.plan
    for code, begin, count, _, _ in plan.operations[first:end]:
        for row in range(begin, begin + count):
            if code == OperationCode.COPY:
                source, target, factor, _ = plan.copies[row]
                tangent[target] = factor * tangent[source]
            elif code == OperationCode.INTERPOLATE_MEAN:
                tangent[plan.mixes[row][1]] = 0.0
            elif code == OperationCode.READ:
                tangent[plan.reads[row][1]] = 0.0
            elif code == OperationCode.LOOKUP:
                tangent[plan.tables[row][0]] = 0.0
            elif (
                code == OperationCode.INJECT_FAULT
                and plan.faults[row].effect is not Effect.CHANGED_DELAY
            ):
                slot, gain = reference.faults.gain(row)
                tangent[slot] *= gain
            elif code in (OperationCode.STEP, OperationCode.SECOND_HALF):
                member, native = plan.members[row], reference.units[row].native
                outputs = np.zeros(member.output_size)
                native.derivative(tangent[member.input_offset :][: member.input_size], outputs)
                tangent[member.output_offset :][: member.output_size] = outputs
