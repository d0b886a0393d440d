"""What symbols of units mean: base units, the SI with its prefixes, and others from pint.

The SI is a table, since loading pint takes longer than reading a system of a thousand
components. Factors are fractions, so that 1 mm is exactly 1/1000 m, with separate powers of pi.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import isclose
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from orchestrator.core.structs import Struct, field

if TYPE_CHECKING:
    import pint


#: Base units that FMI and SSP count in; a plane angle is one of them.
BASE_UNITS: Final = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
#: What logarithmic units count in; no power of an SI unit.
LEVEL: Final = "Np"
#: Whole numbers below are exact as doubles.
_EXACT: Final = 2**53


class Meaning(Struct):
    """A unit in terms of base units: ``base = factor * pi**pi * (2 pi)**turns * value + offset``.

    exponents: By base unit, none of them zero; beside those of SI there may be others, such as
        ``bit``.
    factor: Without its powers of pi.
    pi: Power of pi in the factor.
    turns: Power of whole turns (``rev``): each is 2 pi rad, or one cycle.
    cycles: Power of what counts cycles per time (``Hz``): 1/s, and never 2 pi rad/s.
    clock: Power of times in which revolutions are counted, such as ``min``.
    offset: Of a temperature that does not begin at zero.
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

    def times(self, factor_meaning: Meaning) -> Meaning:
        """Return the product of two units."""
        exponents = dict(self.exponents)
        for name, power in factor_meaning.exponents.items():
            exponents[name] = exponents.get(name, 0) + power
        return Meaning(
            {name: power for name, power in exponents.items() if power},
            self.factor * factor_meaning.factor,
            self.pi + factor_meaning.pi,
            self.turns + factor_meaning.turns,
            self.cycles + factor_meaning.cycles,
            self.clock + factor_meaning.clock,
        )


def number(factor: Fraction, pi: int) -> float:
    """Round ``factor * pi**pi``."""
    product = float(factor)  # raises for what is too large
    if pi and abs(factor.numerator) < _EXACT and factor.denominator < _EXACT:
        product = factor.numerator * math.pi**pi / factor.denominator
    elif pi:
        product *= math.pi**pi
    if not sys.float_info.min < abs(product) < math.inf:
        raise OverflowError("beyond what a double holds")
    return product


def si_factor(meaning: Meaning) -> float:
    """Factor to the SI value, in which a turn is 2 pi rad."""
    return number(meaning.factor, meaning.pi) * (2.0 * math.pi) ** meaning.turns


def without_angle(exponents: Mapping[str, int]) -> dict[str, int]:
    """Exponents without rad, which tools count or not, and without zero exponents."""
    return {symbol: power for symbol, power in exponents.items() if power and symbol != "rad"}


_Row = tuple[Mapping[str, int], str]
_ENERGY: Final = {"kg": 1, "m": 2, "s": -2}
_POWER: Final = {"kg": 1, "m": 2, "s": -3}
#: SI units that take prefixes, and accepted further units (SI brochure, tables 2, 4, 8).
PREFIXED: Final[Mapping[str, _Row]] = {
    "m": ({"m": 1}, "1"),
    "g": ({"kg": 1}, "1/1000"),
    "s": ({"s": 1}, "1"),
    "A": ({"A": 1}, "1"),
    "K": ({"K": 1}, "1"),
    "mol": ({"mol": 1}, "1"),
    "cd": ({"cd": 1}, "1"),
    "rad": ({"rad": 1}, "1"),
    "sr": ({"rad": 2}, "1"),
    "Hz": ({"s": -1}, "1"),
    "N": ({"kg": 1, "m": 1, "s": -2}, "1"),
    "Pa": ({"kg": 1, "m": -1, "s": -2}, "1"),
    "J": (_ENERGY, "1"),
    "W": (_POWER, "1"),
    "C": ({"s": 1, "A": 1}, "1"),
    "V": (_POWER | {"A": -1}, "1"),
    "F": ({"kg": -1, "m": -2, "s": 4, "A": 2}, "1"),
    "Ohm": (_POWER | {"A": -2}, "1"),
    "S": ({"kg": -1, "m": -2, "s": 3, "A": 2}, "1"),
    "Wb": (_ENERGY | {"A": -1}, "1"),
    "T": ({"kg": 1, "s": -2, "A": -1}, "1"),
    "H": (_ENERGY | {"A": -2}, "1"),
    "lm": ({"cd": 1, "rad": 2}, "1"),
    "lx": ({"cd": 1, "m": -2, "rad": 2}, "1"),
    "Bq": ({"s": -1}, "1"),
    "Gy": ({"m": 2, "s": -2}, "1"),
    "Sv": ({"m": 2, "s": -2}, "1"),
    "kat": ({"mol": 1, "s": -1}, "1"),
    "l": ({"m": 3}, "1/1000"),
    "L": ({"m": 3}, "1/1000"),
    "t": ({"kg": 1}, "1000"),
    "eV": (_ENERGY, "1.602176634e-19"),
    "bar": ({"kg": 1, "m": -1, "s": -2}, "1e5"),
    "var": (_POWER, "1"),
}
#: These take no prefix, and come before what a prefix would make of them (``min``, ``cd``).
WHOLE: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        "1": Meaning(),
        "%": Meaning({}, Fraction(1, 100)),
        "ppm": Meaning({}, Fraction(1, 10**6)),
        "min": Meaning({"s": 1}, Fraction(60), clock=1),
        "h": Meaning({"s": 1}, Fraction(3600), clock=1),
        "d": Meaning({"s": 1}, Fraction(86400), clock=1),
        "ha": Meaning({"m": 2}, Fraction(10**4)),
        "deg": Meaning({"rad": 1}, Fraction(1, 180), pi=1),
        "'": Meaning({"rad": 1}, Fraction(1, 10800), pi=1),
        '"': Meaning({"rad": 1}, Fraction(1, 648000), pi=1),
        "gon": Meaning({"rad": 1}, Fraction(1, 200), pi=1),
        "rev": Meaning({"rad": 1}, Fraction(1), turns=1),
        "rpm": Meaning({"rad": 1, "s": -1}, Fraction(1, 60), turns=1, clock=-1),
        "krpm": Meaning({"rad": 1, "s": -1}, Fraction(1000, 60), turns=1, clock=-1),
        "degC": Meaning({"K": 1}, Fraction(1), offset=Fraction(27315, 100)),
        "degF": Meaning({"K": 1}, Fraction(5, 9), offset=Fraction(45967, 180)),
        "degR": Meaning({"K": 1}, Fraction(5, 9)),
        "degRk": Meaning({"K": 1}, Fraction(5, 9)),
        LEVEL: Meaning({LEVEL: 1}),
        "dB": Meaning({LEVEL: 1}, Fraction(math.log(10.0)) / 20),
        "sone": Meaning({"sone": 1}),
        "bit": Meaning({"bit": 1}),
    }
)
_TENS: Final = {
    **dict(zip("qryzafpnum", range(-30, 0, 3), strict=True)),
    **dict.fromkeys(("\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"), -6),
    "c": -2,
    "d": -1,
    "": 0,
    "da": 1,
    "h": 2,
    **dict(zip("kMGTPEZYRQ", range(3, 33, 3), strict=True)),
}
PREFIXES: Final = {name: Fraction(10) ** tens for name, tens in _TENS.items()}
#: Short symbols that are no SI but common; what they are, pint knows.
OTHERS: Final[Mapping[str, str]] = {
    "Da": "dalton",
    "u": "dalton",
    "lb": "pound",
    "lbm": "pound",
    "oz": "ounce",
    "slug": "slug",
    "lbf": "force_pound",
    "ozf": "force_ounce",
    "kgf": "force_kilogram",
    "gf": "force_gram",
    "dyn": "dyne",
    "in": "inch",
    "ft": "foot",
    "yd": "yard",
    "mi": "mile",
    "nmi": "nautical_mile",
    "mil": "thou",
    "mph": "mile_per_hour",
    "kn": "knot",
    "psi": "psi",
    "ksi": "ksi",
    "atm": "atmosphere",
    "at": "technical_atmosphere",
    "Torr": "torr",
    "mmHg": "millimeter_Hg",
    "inHg": "inch_Hg",
    "cal": "calorie",
    "kcal": "kilocalorie",
    "BTU": "british_thermal_unit",
    "Btu": "british_thermal_unit",
    "erg": "erg",
    "hp": "horsepower",
    "gal": "gallon",
    "St": "stokes",
    "cSt": "centistokes",
    "P": "poise",
    "cP": "centipoise",
}
#: Words of pint that mean a symbol of the tables above.
WORDS: Final[Mapping[str, str]] = {
    "hertz": "Hz",
    "becquerel": "Bq",
    "turn": "rev",
    "degree": "deg",
    "arcminute": "'",
    "arcsecond": '"',
    "grade": "gon",
    "minute": "min",
    "hour": "h",
    "day": "d",
    "percent": "%",
    "neper": LEVEL,
    "decibel": "dB",
    "degree_Celsius": "degC",
    "degree_Fahrenheit": "degF",
    "degree_Rankine": "degR",
    "count": "1",
}
FROM_PINT: Final = {
    "kilogram": "kg",
    "meter": "m",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "mole": "mol",
    "candela": "cd",
    "radian": "rad",
    "bit": "bit",
}


_SHORTEST_WORD: Final = 4


@cache
def symbol_meaning(symbol: str) -> Meaning | None:
    """Return what a symbol means; ``None`` if it is none."""
    if (meaning := short_meaning(symbol)) is not None:
        return meaning
    if is_logarithmic(symbol):
        return None
    if len(symbol) >= _SHORTEST_WORD and symbol.isascii() and symbol.isalpha():
        return _word(symbol) or _word(symbol.lower())
    return None


def short_meaning(symbol: str) -> Meaning | None:
    """Do the same for symbols alone, without words."""
    if symbol in OTHERS:  # "ft" is no femtotonne
        return _pint_meaning(OTHERS[symbol])
    return si_meaning(symbol)


def si_meaning(symbol: str) -> Meaning | None:
    """Do the same for what is SI or used with it."""
    if symbol in WHOLE:
        return WHOLE[symbol]
    for length in (0, 1, 2):
        prefix, base = symbol[:length], symbol[length:]
        if prefix in PREFIXES and base in PREFIXED:
            exponents, factor = PREFIXED[base]
            cycles = 1 if base in {"Hz", "Bq"} else 0
            return Meaning(exponents, Fraction(factor) * PREFIXES[prefix], cycles=cycles)
    return None


def is_logarithmic(symbol: str) -> bool:
    """Whether a symbol is that of a ratio on a logarithmic scale, or of one to a reference."""
    if symbol.startswith("dB"):
        return symbol != "dBq"
    return symbol in {"Np", "B", "bel", "phon", "octave", "decade"}


def _word(word: str) -> Meaning | None:
    """Look up a word that is spelled out, such as ``kilometers``: no abbreviation of pint's."""
    for prefix, name, _ in _registry().parse_unit_name(word):
        stem = word.removeprefix(prefix)
        if stem == word and prefix:
            continue  # an abbreviated prefix
        if len(stem) < _SHORTEST_WORD - bool(prefix) or not stem.islower():
            continue  # an abbreviation: "Nm" is a measure of yarn there
        meaning = si_meaning(WORDS[name]) if name in WORDS else _pint_meaning(name)
        if meaning is not None and prefix:
            if meaning.offset:
                continue  # what a thousandth of a degree Celsius begins at is anybody's guess
            scale = _registry().Quantity(1.0, f"{prefix}meter").m_as("meter")
            return meaning.times(Meaning({}, Fraction(repr(float(scale)))))
        if meaning is not None:
            return meaning
    return None


@cache
def _pint_meaning(name: str) -> Meaning | None:
    """Return what pint knows a unit to be, if it is a product of whole powers of base units.

    Scales that begin elsewhere (Réaumur) or are logarithmic (decades) are none.
    """
    registry = _registry()
    try:
        none, quantity, two = (
            registry.Quantity(value, name).to_base_units() for value in (0.0, 1.0, 2.0)
        )
    except Exception:  # noqa: BLE001 - pint raises its own errors for offsets and logarithms
        return None
    if none.magnitude != 0.0 or not isclose(two.magnitude, 2.0 * quantity.magnitude):
        return None
    exponents: dict[str, int] = {}
    for base, power in quantity.unit_items():
        if base not in FROM_PINT or int(power) != power:
            return None
        exponents[FROM_PINT[base]] = int(power)
    # pint multiplies rounded factors: the 16th digit of a product is noise
    return Meaning(exponents, Fraction(f"{float(quantity.magnitude):.15g}"))


@cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint  # imported on first use: only few units need it

    return pint.UnitRegistry(cache_folder=None)
