"""A fault as the engine knows it: a row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Effect(IntEnum):
    """What a fault does; the numbers are those of the engine (engine/src/core/fault.hpp)."""

    DROP = 0
    STUCK = 1
    BIAS = 2
    DRIFT = 3
    SCALE = 4
    NOISE = 5
    DELAYED_READ = 6
    CHANGED_DELAY = 7


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault of one scalar; see engine/src/core/fault.hpp.

    Parameters
    ----------
    effect
        See :class:`Effect`.
    place
        Slot of an input; of INJECT_SAMPLE_FAULT row of the histories; of DELAYED_READ and
        CHANGED_DELAY row of the reads.
    begin_ns, until_ns
        It acts from the one on and before the other.
    amount, offset
        Of the effect, in the unit of what it acts on.
    change_ns
        How much later a CHANGED_DELAY reads.
    key
        Of the draws of NOISE.
    """

    effect: Effect
    place: int
    begin_ns: int
    until_ns: int
    amount: float = 0.0
    offset: float = 0.0
    change_ns: int = 0
    key: int = 0
