"""Communication steps, also those that are no whole number of nanoseconds, such as 1/60 s."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Self

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.time import fraction_ns, nanoseconds

_QUOTIENT = re.compile(r"\s*([0-9]+)\s*/\s*([0-9]+)\s*([a-zµ]*)\s*")
#: Of the fraction of a nanosecond; what a number in double precision needs of it.
_LARGEST_DENOMINATOR = 10**15


class StepLength(int):
    """A step that is no whole number of nanoseconds.

    As an integer it is cut; divided by a number it is exact, so that it reads well in seconds. The
    end of step ``k`` is ``k`` exact steps after the start, rounded to a nanosecond.

    Parameters
    ----------
    exact
        In nanoseconds.
    """

    exact: Fraction

    def __new__(cls, exact: Fraction) -> Self:  # noqa: D102 - the class says it
        made = super().__new__(cls, exact.numerator // exact.denominator)
        made.exact = exact
        return made

    def __truediv__(self, divisor: float) -> float:
        return float(self.exact / Fraction(divisor))

    def __reduce__(self) -> tuple[type[Self], tuple[Fraction]]:
        return type(self), (self.exact,)


def of_fraction(exact: Fraction) -> int:
    """Return a step of so many nanoseconds, as :func:`step_length` does."""
    return exact.numerator if exact.denominator == 1 else StepLength(exact)


def divided(step_ns: int, divisor: int) -> int:
    """Return a part of a step."""
    return of_fraction(exact_ns(step_ns) / divisor)


def step_length(step: str | float, what: str = "communication step") -> int:
    """Convert a step to nanoseconds: an ``int``, or a :class:`StepLength` if it is not whole.

    Parameters
    ----------
    step
        As of :func:`nanoseconds`, or a quotient: ``"1/60 s"``. A number means its shortest decimal
        form: ``1 / 60`` is 16 666 666.666 666 666 ns.
    what
        What it is, for the message.

    Raises
    ------
    DescriptionError
        If it is no time, or not within 64 bits of nanoseconds.
    """
    match = _QUOTIENT.fullmatch(str(step))
    if match and int(match[2]):
        exact = Fraction(int(match[1]), int(match[2])) * nanoseconds(f"1 {match[3]}", what)
        nanoseconds(f"{int(exact)} ns", what)  # that it fits
    else:
        exact = fraction_ns(step, what)
    if exact.denominator > _LARGEST_DENOMINATOR:
        raise DescriptionError(
            f"{what}: {step!r} has more digits below a nanosecond than 15: round it"
        )
    return of_fraction(exact)


def step_text(step_ns: int) -> str:
    """Return a step as a text that :func:`step_length` reads as the same."""
    exact = exact_ns(step_ns)
    if exact.denominator == 1:
        return f"{exact.numerator} ns"
    in_seconds = exact / 10**9
    return f"{in_seconds.numerator}/{in_seconds.denominator} s"


def exact_ns(step_ns: int) -> Fraction:
    """Return a step in nanoseconds, exactly."""
    return step_ns.exact if isinstance(step_ns, StepLength) else Fraction(step_ns)


def end_of_steps(count: int, step_ns: int) -> int:
    """Return how long after the start so many steps end, in ns; halves are rounded up."""
    exact = exact_ns(step_ns)
    return (2 * count * exact.numerator + exact.denominator) // (2 * exact.denominator)


def whole_steps(length_ns: int, step_ns: int) -> tuple[int, int]:
    """Return how many steps fit into a time, and what is left of it in ns."""
    exact = exact_ns(step_ns)
    count = int((length_ns + Fraction(1, 2)) / exact)
    if end_of_steps(count, step_ns) > length_ns:
        count -= 1
    return count, length_ns - end_of_steps(count, step_ns)
