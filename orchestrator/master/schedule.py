"""A compiled system: plain tables that the engine, or the Python reference, executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from orchestrator.coupling import Channel, DelayMode, DelayPlan, LoopDelay


class Code(IntEnum):
    """What an operation does; the numbers are those of the engine (engine/src/engine.hpp)."""

    COPY = 0
    READ = 1
    STEP = 2
    PUSH = 3


class Reading(IntEnum):
    """How a history is read between two samples (engine/src/history.hpp)."""

    HOLD = 0
    LINEAR = 1
    CUBIC = 2
    SLERP = 3


class Beyond(IntEnum):
    """How a history is read after its newest sample (engine/src/history.hpp)."""

    HOLD = 0
    LINEAR = 1
    QUADRATIC = 2
    SMOOTHED = 3


@dataclass(frozen=True, slots=True)
class Member:
    """One component's place in the signal buffer."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_offset: int
    output_offset: int
    input_size: int
    output_size: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """Operations of one communication step, and what they mean.

    Parameters
    ----------
    algorithm, mode, step_ns
        What it was compiled for.
    signals
        Length of the signal buffer (float64).
    members
        Units in order of the ``first`` of STEP operations.
    slots
        Position and length of every bound connector, by ``component.connector``.
    histories
        ``(slot, depth, reading, beyond, channel)`` for each delayed or predicted scalar; the
        channel is -1 where the delay does not vary.
    channels
        How varying delays are drawn.
    copies
        ``(source, target, factor, offset)``.
    reads
        ``(history, target, shift_ns, span_ns, factor, offset)``; one row for four scalars where
        they are a quaternion.
    operations
        ``(code, first, count)`` in order of execution.
    initial_passes
        How often initial outputs are exchanged at most until all are consistent.
    plans, loops
        How delayed connections are read, and the delay of every loop.
    watched
        First history of every connection whose readings are counted.
    """

    algorithm: str
    mode: DelayMode
    step_ns: int
    signals: int
    members: tuple[Member, ...]
    slots: Mapping[str, tuple[int, int]]
    histories: tuple[tuple[int, int, int, int, int], ...]
    channels: tuple[Channel, ...]
    copies: tuple[tuple[int, int, float, float], ...]
    reads: tuple[tuple[int, int, int, int, float, float], ...]
    operations: tuple[tuple[int, int, int], ...]
    initial_passes: int
    plans: tuple[DelayPlan, ...]
    loops: tuple[LoopDelay, ...]
    watched: Mapping[str, int]

    def input_of(self, read: int) -> str:
        """Name the input that a row of the reads brings a value to."""
        place = self.reads[read][1]
        return next(name for name, (at, size) in self.slots.items() if at <= place < at + size)
