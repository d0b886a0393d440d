"""A unit in terms of base units, with what it counts."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

#: Base units that FMI and SSP count in; a plane angle is one of them.
BASE_UNITS: Final = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
#: What logarithmic units count in; no power of an SI unit.
LEVEL: Final = "Np"
#: Whole numbers below are exact as doubles.
_EXACT: Final = 2**53


@dataclass(frozen=True, slots=True)
class Meaning:
    """A unit in terms of base units: ``base = factor * pi**pi * (2 pi)**turns * value + offset``.

    Parameters
    ----------
    exponents
        By base unit, none of them zero; beside those of SI there may be others, such as ``bit``.
    factor
        Without its powers of pi.
    pi
        Power of pi in the factor.
    turns
        Power of whole turns (``rev``): each is 2 pi rad, or one cycle.
    cycles
        Power of what counts cycles per time (``Hz``): 1/s, and never 2 pi rad/s.
    clock
        Power of times in which revolutions are counted, such as ``min``.
    offset
        Of a temperature that does not begin at zero.
    """

    exponents: Mapping[str, int] = field(default_factory=dict)
    factor: Fraction = Fraction(1)
    pi: int = 0
    turns: int = 0
    cycles: int = 0
    clock: int = 0
    offset: Fraction = Fraction(0)

    def power(self, exponent: int) -> Meaning:
        """Return a power of the unit; what is no temperature by itself is a difference."""
        return Meaning(
            {name: power * exponent for name, power in self.exponents.items() if exponent},
            self.factor**exponent,
            self.pi * exponent,
            self.turns * exponent,
            self.cycles * exponent,
            self.clock * exponent,
        )

    def times(self, other: Meaning) -> Meaning:
        """Return the product of two units."""
        exponents = dict(self.exponents)
        for name, power in other.exponents.items():
            exponents[name] = exponents.get(name, 0) + power
        return Meaning(
            {name: power for name, power in exponents.items() if power},
            self.factor * other.factor,
            self.pi + other.pi,
            self.turns + other.turns,
            self.cycles + other.cycles,
            self.clock + other.clock,
        )


def number(factor: Fraction, pi: int) -> float:
    """Round ``factor * pi**pi``."""
    found = float(factor)  # raises for what is too large
    if pi and abs(factor.numerator) < _EXACT and factor.denominator < _EXACT:
        found = factor.numerator * math.pi**pi / factor.denominator
    elif pi:
        found *= math.pi**pi
    if not sys.float_info.min < abs(found) < math.inf:
        raise OverflowError("beyond what a double holds")
    return found


def si_factor(meaning: Meaning) -> float:
    """Factor to the SI value, in which a turn is 2 pi rad."""
    return number(meaning.factor, meaning.pi) * (2.0 * math.pi) ** meaning.turns


def without_angle(exponents: Mapping[str, int]) -> dict[str, int]:
    """Exponents without rad, which tools count or not, and without those that are zero."""
    return {symbol: power for symbol, power in exponents.items() if power and symbol != "rad"}
