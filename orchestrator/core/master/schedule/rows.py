"""Rows of a schedule's tables, in the order of the engine's fields (ROWS of the engine)."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, NamedTuple

from orchestrator.core.structs import Struct


class HistoryRow(NamedTuple):
    """The past of one delayed or predicted scalar; see engine/src/core/history.hpp.

    slot: Of the source.
    depth: How many samples it holds.
    interpolation, extrapolation: See :class:`Interpolation` and :class:`Extrapolation`.
    channel: Row of the channels by which its delay varies; -1 where it does not.
    """

    slot: int
    depth: int
    interpolation: int
    extrapolation: int
    channel: int


class CopyRow(NamedTuple):
    """``signals[target] = factor * signals[source] + offset``."""

    source: int
    target: int
    factor: float
    offset: float


class ReadRow(NamedTuple):
    """One reading of a history; see engine/src/core/read.hpp.

    history: Row of the histories; the first of four for a quaternion.
    target: Slot of the input.
    shift_ns: Time of the reading, from the start of the step.
    span_ns: Over which the input moves within the step; 0: it is held.
    factor, offset: Of the line.
    share: How much later it is read for each nanosecond that a step is longer than the first.
    order, keeps_end: Of the polynomial that the input follows, and whether it ends where the last
        sample is.
    """

    history: int
    target: int
    shift_ns: int
    span_ns: int
    factor: float
    offset: float
    share: float
    order: int
    keeps_end: int


class MixRow(NamedTuple):
    """One scalar of INTERPOLATE_MEAN or EXTRAPOLATE: a weighted sum of the source's last values."""

    source: int
    target: int
    weight: float
    factor: float
    offset: float


class OperationRow(NamedTuple):
    """One operation of a step: rows ``first`` to ``first + length - 1`` of the table of its code.

    It is done in every ``every``-th step, counted from 0, in which ``phase`` is the rest.
    """

    code: int
    first: int
    length: int
    every: int
    phase: int


class ValueTableRow(NamedTuple):
    """A table of values for one scalar: its entries are ``first`` to ``first + length - 1``."""

    slot: int
    first: int
    length: int


class CompensationMethod(IntEnum):
    """How an input is compensated (engine/src/core/compensation.hpp)."""

    ENERGY_INTEGRAL = 0
    RESIDUAL_ENERGY = 1
    DIRECT_RESPONSE = 2


class CompensationRow(Struct):
    """One compensated scalar; see engine/src/core/compensation.hpp.

    method: See :class:`CompensationMethod`.
    source, target: Slots of the output and of the input.
    memory: First of the slots behind those of all signals in which it keeps its numbers; of a
        DIRECT_RESPONSE, which keeps none, 0.
    order: Order of the polynomial that the input is extrapolated by.
    factor, offset: Of the line.
    answer, answered, answer_factor: Slots and factor of the opposite line of a power bond; of a
        DIRECT_RESPONSE the answer is the number of the member whose outputs are corrected. 0, 0, 1
        where none is needed.
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


class FaultRow(Struct):
    """One fault of one scalar; see engine/src/core/fault.hpp.

    effect: See :class:`Effect`.
    place: Slot of an input; of INJECT_SAMPLE_FAULT row of the histories; of DELAYED_READ and
        CHANGED_DELAY row of the reads.
    begin_ns, until_ns: It acts from the one on and before the other.
    amount, offset: Of the effect, in the unit of what it acts on.
    change_ns: How much later a CHANGED_DELAY reads.
    key: Of the draws of NOISE.
    """

    effect: Effect
    place: int
    begin_ns: int
    until_ns: int
    amount: float = 0.0
    offset: float = 0.0
    change_ns: int = 0
    key: int = 0


class OperationCode(IntEnum):
    """What an operation does; numbers of engine/src/core/schedule.hpp."""

    COPY = 0
    READ = 1
    STEP = 2
    PUSH = 3
    INTERPOLATE_MEAN = 4
    EXTRAPOLATE = 5
    SOLVE = 6
    TEXT = 7
    FIRST_HALF = 8
    SECOND_HALF = 9
    LOOKUP = 10
    INJECT_FAULT = 11
    INJECT_SAMPLE_FAULT = 12
    COMPENSATE = 13
    CORRECT = 14
    PROPOSE = 15


class Interpolation(IntEnum):
    """How a history is read between two samples (engine/src/core/history.hpp)."""

    HOLD = 0
    LINEAR = 1
    CUBIC = 2
    SLERP = 3


class Extrapolation(IntEnum):
    """How a history is read after its newest sample (engine/src/core/history.hpp)."""

    HOLD = 0
    LINEAR = 1
    QUADRATIC = 2
    SMOOTHED = 3
