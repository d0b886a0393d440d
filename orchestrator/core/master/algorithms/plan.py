"""What an algorithm decides: who exchanges when, what is iterated, how long steps are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds

_MOST_ITERATIONS = 1_000_000


class Coupling(StrEnum):
    """What an input is held at during a step, where no delay stands on its connection.

    ``newest``
        The newest value of its source.
    ``mean``
        The mean of its source's values at the two ends of the step: second order. An input that
        acts on an output at once is held at the value at the end, so that the output belongs to
        that moment; a component that also remembers takes the step in two halves then, the first
        with the value at the begin, which is of second order again.
    ``ahead``
        The same where the source is stepped before; else the middle of the step on the line
        through its source's last two values, likewise the end for an input that acts at once.
    ``waveform``
        The same as ``mean`` where a component holds its inputs. One that takes derivatives of them
        is given what its source does over the step: the cubic through its last samples, of which
        the newest is that at the end of the step, in a loop the one of the iteration.
    """

    NEWEST = "newest"
    MEAN = "mean"
    AHEAD = "ahead"
    WAVEFORM = "waveform"


class Iteration(IntEnum):
    """How a loop is solved; the numbers are those of the engine (engine/src/core/schedule.hpp)."""

    FIXED_POINT = 0
    AITKEN = 1
    ANDERSON = 2
    NEWTON = 3
    NEWTON_BY_DERIVATIVES = 4


@dataclass(frozen=True, slots=True)
class Loops:
    """How loops are iterated.

    Parameters
    ----------
    method
        See :class:`Iteration`.
    tolerance
        A loop has converged where every output that it starts from changes by no more than this
        in one pass, relative to the output or to 1 in its unit, whichever is larger.
    most_iterations
        Passes through the loop in one step before the run ends with an error; those that only
        make a Jacobian are not counted.
    """

    method: Iteration
    tolerance: float = 1e-9
    most_iterations: int = 50

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < 1.0:
            raise DescriptionError(f"tolerance: expected 0 < tolerance < 1, found {self.tolerance}")
        if isinstance(self.most_iterations, bool) or not isinstance(self.most_iterations, int):
            raise DescriptionError(
                f"most_iterations: expected a whole number, found {self.most_iterations!r}"
            )
        if not 1 <= self.most_iterations <= _MOST_ITERATIONS:
            raise DescriptionError(
                f"most_iterations: expected 1 to {_MOST_ITERATIONS}, found {self.most_iterations}"
            )


class StepMethod(IntEnum):
    """How steps are chosen; the numbers are those of the engine."""

    FIXED = 0
    DOUBLING = 1
    EMBEDDED = 2
    ECCO = 3


@dataclass(frozen=True, slots=True)
class StepSizeControl:
    """How long the steps are, where they are not all the same.

    Parameters
    ----------
    method
        See :class:`StepMethod`.
    relative, absolute
        Tolerances of every connected output; of the energy of every power bond for ECCO.
    order
        Order of the coupling: the error of one step grows with this power of its length plus one.
    least_ns, most_ns
        Bounds of the step in nanoseconds; ``most_ns = None``: a hundred times the first step.
    """

    method: StepMethod
    relative: float
    absolute: float
    order: int = 1
    least_ns: int = 1000
    most_ns: int | None = None

    def __post_init__(self) -> None:
        if not (self.relative >= 0.0 and self.absolute > 0.0):
            raise DescriptionError(
                "tolerances of the step: expected relative >= 0 and absolute > 0, found"
                f" {self.relative} and {self.absolute}"
            )
        if self.least_ns < 1 or (self.most_ns is not None and self.most_ns < self.least_ns):
            raise DescriptionError(
                "bounds of the step: expected 0 < shortest <= longest, found"
                f" {self.least_ns} ns and {self.most_ns} ns"
            )


def bounds(shortest: str | float, longest: str | float | None) -> tuple[int, int | None]:
    """Read the bounds of the step: seconds or text, in nanoseconds."""
    return (
        nanoseconds(shortest, "shortest step"),
        None if longest is None else nanoseconds(longest, "longest step"),
    )


@dataclass(frozen=True, slots=True)
class Group:
    """Components that exchange at the same moment; those of a loop are iterated together.

    Parameters
    ----------
    members
        Names. In a loop they exchange and step one after the other, in this order.
    loop
        Whether they are repeated until their outputs agree.
    """

    members: tuple[str, ...]
    loop: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What an algorithm returns.

    Parameters
    ----------
    groups
        Every component in one of them, in order of execution.
    coupling
        See :class:`Coupling`.
    loops
        How groups that are loops are iterated; ``None`` if there are none.
    step_size_control
        How steps are chosen; ``None`` if all have the same length.
    latch_at_end
        Where a unit takes several communication steps at once, whether its inputs are taken in
        the last of them (with what the others have reached by then) or in the first.
    delays_loops
        Whether algebraic loops are passed on with the delay of the steps, instead of refused where
        nothing iterates them.
    """

    groups: tuple[Group, ...]
    coupling: Coupling = Coupling.NEWEST
    loops: Loops | None = None
    step_size_control: StepSizeControl | None = None
    latch_at_end: bool = True
    delays_loops: bool = False
