"""A compiled system: plain tables that the engine, or the Python reference, executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from orchestrator.coupling import DelayMode, DelayPlan, LoopDelay


class Code(IntEnum):
    """What an operation does; the numbers are those of the engine (engine/src/engine.hpp)."""

    COPY = 0
    READ = 1
    STEP = 2
    PUSH = 3
    TEXT = 4


class Reading(IntEnum):
    """How a history is read between two samples (engine/src/history.hpp)."""

    HOLD = 0
    LINEAR = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One component's place in the buffers of signals and of texts."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_offset: int
    output_offset: int
    input_size: int
    output_size: int
    text_inputs: tuple[str, ...] = ()
    text_outputs: tuple[str, ...] = ()
    text_input_offset: int = 0
    text_output_offset: int = 0
    text_output_end: int = 0


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
        ``(slot, depth, reading)`` for each delayed scalar.
    copies
        ``(source, target, factor, offset)``.
    reads
        ``(history, target, shift_ns, factor, offset)``.
    operations
        ``(code, first, count)`` in order of execution.
    initial_passes
        How often initial outputs are exchanged at most until all are consistent.
    plans, loops
        How delayed connections are read, and the delay of every loop.
    texts
        Length of the buffer of Strings and Binaries.
    text_copies
        ``(source, target)``.
    """

    algorithm: str
    mode: DelayMode
    step_ns: int
    signals: int
    members: tuple[Member, ...]
    slots: Mapping[str, tuple[int, int]]
    histories: tuple[tuple[int, int, int], ...]
    copies: tuple[tuple[int, int, float, float], ...]
    reads: tuple[tuple[int, int, int, float, float], ...]
    operations: tuple[tuple[int, int, int], ...]
    initial_passes: int
    plans: tuple[DelayPlan, ...]
    loops: tuple[LoopDelay, ...]
    texts: int = 0
    text_copies: tuple[tuple[int, int], ...] = ()
