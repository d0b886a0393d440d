"""Time as an integer count of nanoseconds, and communication steps, also of other lengths."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from fractions import Fraction
from math import ulp
from typing import Self

from orchestrator.core.diagnostics import DescriptionError

_SCALE = {"s": 9, "ms": 6, "us": 3, "µs": 3, "ns": 0}
_TEXT = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]*)\s*")
_LARGEST = 2**63 - 1
#: Below this many seconds a double tells nanoseconds apart; the last places that a sum may lose.
_FINE_S, _NOISE = 2.0**20, 4.0
#: Steps that are multiples of this many nanoseconds were not rounded.
_EXACT_NS = 1000
#: Smaller numbers of nanoseconds are nothing.
_MOST_DIGITS = 30
#: Times of a run, its step and its delays are no farther from zero, 73 years: the sum of any four
#: of them fits 64 bits (engine/src/core/unit.hpp).
REACH_NS = 2**61 - 1


def nanoseconds(time: str | float, label: str = "time") -> int:
    """Convert a time to whole nanoseconds, exactly.

    time: Seconds as a number (``0.016``), or text with a unit: ``"16 ms"``, ``"250 us"``, ``"1
        s"``. A number means its shortest decimal form: ``0.1`` is 100 000 000 ns; the rounding of
        its computation is ignored: ``60 * 0.016666667`` is 1 000 000 020 ns.
    label: Noun for the time in the message.
    Returns: Nanoseconds, may be negative.
    Raises DescriptionError: if the text is not a time or lacks its unit, or the time is not a whole
        number of nanoseconds that fits 64 bits.
    """
    exact = _decimal_ns(time, label)
    if isinstance(time, float) and abs(time) < _FINE_S:
        near = exact.to_integral_value()
        if abs(float(near) / 1e9 - time) <= _NOISE * ulp(time):
            return int(near)
    if exact != exact.to_integral_value() or exact.copy_abs() > _LARGEST:
        raise DescriptionError(
            f"{label}: {time!r} is not a whole number of nanoseconds within 64 bits;"
            " time is counted in whole nanoseconds: round it"
        )
    return int(exact)


def in_seconds(time: str) -> str:
    """Return a time of a file format whose bare numbers are seconds, with its unit."""
    return f"{time} s" if _is_bare(time) else time


def _is_bare(text: str) -> bool:
    """Whether a text is a number other than zero, without a unit."""
    try:
        return float(text) != 0.0 and _TEXT.fullmatch(text) is not None
    except ValueError:
        return False


def _without_unit(time: str, label: str) -> DescriptionError:
    return DescriptionError(
        f"{label}: expected a time with its unit, such as '{time.strip()} ms', found {time!r};"
        " in Python and TOML, seconds are a number without quotes"
    )


def _decimal_ns(time: str | float, label: str) -> Decimal:
    if isinstance(time, str) and _is_bare(time):
        raise _without_unit(time, label)
    match = _TEXT.fullmatch(str(time))
    unit = match[2] or "s" if match else ""
    try:
        if match is None or unit not in _SCALE:
            raise InvalidOperation
        # As many digits and as large an exponent as were written: scaling must not round.
        wide = Context(len(match[1]), Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation])
        return Decimal(match[1]).scaleb(_SCALE[unit], wide)
    except InvalidOperation:
        raise DescriptionError(
            f"{label}: expected seconds or a time such as '16 ms', found {time!r}"
            f" (units: {', '.join(_SCALE)})"
        ) from None


def range_errors(label: str, ns: int) -> list[str]:
    """Errors for a time in nanoseconds outside the representable range."""
    if abs(ns) <= REACH_NS:
        return []
    time = f"{ns / 1e9:.10g} s" if abs(ns) < 1e300 else "a time beyond 1e291 s"
    text = (
        f"{label}: {time} is farther than {seconds(REACH_NS):.10g} s (73 years),"
        " which is as far from 0 as times of a run may be"
    )
    return [text]


def seconds(ns: int) -> float:
    """Convert whole nanoseconds to seconds, correctly rounded."""
    return ns / 1_000_000_000


_QUOTIENT = re.compile(r"\s*([0-9]+)\s*/\s*([0-9]+)\s*([a-zµ]*)\s*")
#: Of the fraction of a nanosecond; what a number in double precision needs of it.
_LARGEST_DENOMINATOR = 10**15


class StepLength(int):
    """A step that is no whole number of nanoseconds.

    As an integer it is cut; divided by a number it is exact, so that it reads well in seconds. The
    end of step ``k`` is ``k`` exact steps after the start, rounded to a nanosecond.

    exact: In nanoseconds.
    """

    exact: Fraction

    def __new__(cls, exact: Fraction) -> Self:  # noqa: D102 - the class says it
        step = super().__new__(cls, exact.numerator // exact.denominator)
        step.exact = exact
        return step

    def __truediv__(self, divisor: float) -> float:
        return float(self.exact / Fraction(divisor))

    def __reduce__(self) -> tuple[type[Self], tuple[Fraction]]:
        return type(self), (self.exact,)


def milliseconds(ns: float) -> str:
    """Write a time in milliseconds, to the microsecond: ``"16 ms"``, ``"0.5 ms"``."""
    return f"{round(ns / 1e6, 3) + 0.0:.10g} ms"


_UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def time_text(ns: int) -> str:
    """Write whole nanoseconds in the largest unit of which they are a whole number: ``"16 ms"``."""
    if isinstance(ns, StepLength):
        return step_text(ns)
    unit, size = next((name, size) for name, size in _UNITS if ns % size == 0)
    return f"{ns // size} {unit}"


def of_fraction(exact: Fraction) -> int:
    """Check a step in nanoseconds and return it, as :func:`step_length` does."""
    return exact.numerator if exact.denominator == 1 else StepLength(exact)


def divided(step_ns: int, divisor: int) -> int:
    """Return a part of a step."""
    return of_fraction(exact_ns(step_ns) / divisor)


def step_length(step: str | float, label: str = "communication step") -> int:
    """Convert a step to nanoseconds: an ``int``, or a :class:`StepLength` if it is not whole.

    step: As of :func:`nanoseconds`, or a quotient: ``"1/60 s"``. A number means its shortest
        decimal form: ``1 / 60`` is 16 666 666.666 666 666 ns.
    label: Noun for the step in the error message.
    Raises DescriptionError: if it is no time, or not within 64 bits of nanoseconds.
    """
    match = _QUOTIENT.fullmatch(str(step))
    if match and int(match[2]):
        if not match[3]:
            raise _without_unit(str(step), label)
        exact = Fraction(int(match[1]), int(match[2])) * nanoseconds(f"1 {match[3]}", label)
        nanoseconds(f"{int(exact)} ns", label)  # that it fits
    else:
        written = _decimal_ns(step, label)
        if written.copy_abs() > _LARGEST or written.adjusted() < -_MOST_DIGITS:
            raise DescriptionError(f"{label}: {step!r} is not within 64 bits of nanoseconds")
        exact = Fraction(written)
    if exact.denominator > _LARGEST_DENOMINATOR:
        raise DescriptionError(
            f"{label}: {step!r} has more digits below a nanosecond than 15: round it"
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
    """Return the end of a number of steps after the start, in ns; halves are rounded up."""
    exact = exact_ns(step_ns)
    return (2 * count * exact.numerator + exact.denominator) // (2 * exact.denominator)


def settled_end(length_ns: int, step_ns: int) -> int:
    """Return the end of the steps that a time was computed from, or the time as it is.

    Whoever counts steps of 1/60 s in whole nanoseconds is wrong by at most half a nanosecond for
    each: 60 steps of 1/60 s may be said to take 1.00000002 s, and 60 steps of 16.666667 ms 1 s. A
    step of whole microseconds is exact, and was rounded by nobody.
    """
    exact = exact_ns(step_ns)
    if exact % _EXACT_NS == 0:
        return length_ns
    count = round(length_ns / exact) if exact > 0 else 0
    end = end_of_steps(count, step_ns)
    within = 2 * abs(end - length_ns) <= count and 1000 * abs(end - length_ns) <= exact
    return end if count > 0 and within else length_ns


def whole_steps(length_ns: int, step_ns: int) -> tuple[int, int]:
    """Return how many steps fit into a time, and the remainder in ns."""
    exact = exact_ns(step_ns)
    count = int((length_ns + Fraction(1, 2)) / exact)
    if end_of_steps(count, step_ns) > length_ns:
        count -= 1
    return count, length_ns - end_of_steps(count, step_ns)
