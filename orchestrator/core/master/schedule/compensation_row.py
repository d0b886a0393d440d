"""A compensated input in a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar


class CompensationMethod(IntEnum):
    """How an input is compensated (engine/src/core/compensation.hpp)."""

    ENERGY_INTEGRAL = 0
    RESIDUAL_ENERGY = 1
    DIRECT_RESPONSE = 2


@dataclass(frozen=True, slots=True)
class CompensationRow:
    """One compensated scalar; see engine/src/core/compensation.hpp.

    Parameters
    ----------
    method
        See :class:`CompensationMethod`.
    source, target
        Slots of the output and of the input.
    memory
        First of the slots behind those of all signals in which it keeps its numbers; of a
        DIRECT_RESPONSE, which keeps none, 0.
    order
        Order of the polynomial that the input is extrapolated by.
    factor, offset
        Of the line.
    answer, answered, answer_factor
        Slots and factor of the opposite line of a power bond; of a DIRECT_RESPONSE the answer is
        the number of the member whose outputs are corrected. 0, 0, 1 where none is needed.
    """

    method: CompensationMethod
    source: int
    target: int
    memory: int
    order: int
    factor: float
    offset: float
    answer: int = 0
    answered: int = 0
    answer_factor: float = 1.0
    #: How many slots it keeps its numbers in.
    numbers: ClassVar[int] = 5
