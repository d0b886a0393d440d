"""Time as an integer count of nanoseconds, and its text form."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from fractions import Fraction

from orchestrator.core.diagnostics import DescriptionError

_SCALE = {"s": 9, "ms": 6, "us": 3, "µs": 3, "ns": 0}
_TEXT = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]*)\s*")
_LARGEST = 2**63 - 1
#: Smaller numbers of nanoseconds are nothing.
_MOST_DIGITS = 30
#: Times of a run, its step and its delays are no farther from zero, 73 years: the sum of any four
#: of them fits 64 bits (engine/src/core/unit.hpp).
REACH_NS = 2**61 - 1


def nanoseconds(time: str | float, what: str = "time") -> int:
    """Convert a time to whole nanoseconds, exactly.

    Parameters
    ----------
    time
        Seconds as a number (``0.016``), or text with a unit: ``"16 ms"``, ``"250 us"``, ``"1 s"``.
        A number means its shortest decimal form: ``0.1`` is 100 000 000 ns.
    what
        What the time is, for the message.

    Returns
    -------
    int
        Nanoseconds, may be negative.

    Raises
    ------
    DescriptionError
        If the text is no time, or the time is not a whole number of nanoseconds that fits 64 bits.
    """
    exact = _decimal_ns(time, what)
    if exact != exact.to_integral_value() or exact.copy_abs() > _LARGEST:
        raise DescriptionError(
            f"{what}: {time!r} is not a whole number of nanoseconds within 64 bits;"
            " time is counted in whole nanoseconds: round it"
        )
    return int(exact)


def fraction_ns(time: str | float, what: str = "time") -> Fraction:
    """Convert a time to nanoseconds, exactly; parameters as of :func:`nanoseconds`.

    Raises
    ------
    DescriptionError
        If the text is no time, or the time does not fit 64 bits of nanoseconds.
    """
    exact = _decimal_ns(time, what)
    if exact.copy_abs() > _LARGEST or exact.adjusted() < -_MOST_DIGITS:
        raise DescriptionError(f"{what}: {time!r} is not within 64 bits of nanoseconds")
    return Fraction(exact)


def _decimal_ns(time: str | float, what: str) -> Decimal:
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
            f"{what}: expected seconds or a time such as '16 ms', found {time!r}"
            f" (units: {', '.join(_SCALE)})"
        ) from None


def out_of_reach(what: str, ns: int) -> list[str]:
    """Say, as a list of one sentence or none, that a run has no room for a time."""
    if abs(ns) <= REACH_NS:
        return []
    text = (
        f"{what}: {seconds(ns):.10g} s is farther than {seconds(REACH_NS):.10g} s (73 years), which"
        " is as far from 0 as times of a run may be"
    )
    return [text]


def seconds(ns: int) -> float:
    """Convert whole nanoseconds to seconds, correctly rounded."""
    return ns / 1_000_000_000
