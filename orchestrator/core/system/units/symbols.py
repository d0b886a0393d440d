"""What each symbol of a unit means: the SI with its prefixes, and others from pint.

The SI is a table, since loading pint takes longer than reading a system of a thousand
components. Factors are fractions, so that 1 mm is exactly 1/1000 m, with powers of pi beside them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isclose
from typing import TYPE_CHECKING, Any, Final

from orchestrator.core.system.units.meaning import Meaning
from orchestrator.core.system.units.tables import (
    FROM_PINT,
    OTHERS,
    PREFIXED,
    PREFIXES,
    WHOLE,
    WORDS,
)

if TYPE_CHECKING:
    import pint

_SHORTEST_WORD: Final = 4


@cache
def symbol_meaning(symbol: str) -> Meaning | None:
    """Return what a symbol means; ``None`` if it is none."""
    if (known := short_meaning(symbol)) is not None:
        return known
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
        prefix, rest = symbol[:length], symbol[length:]
        if prefix in PREFIXES and rest in PREFIXED:
            exponents, factor = PREFIXED[rest]
            cycles = 1 if rest in {"Hz", "Bq"} else 0
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
        found = si_meaning(WORDS[name]) if name in WORDS else _pint_meaning(name)
        if found is not None and prefix:
            if found.offset:
                continue  # what a thousandth of a degree Celsius begins at is anybody's guess
            scale = _registry().Quantity(1.0, f"{prefix}meter").m_as("meter")
            return found.times(Meaning({}, Fraction(repr(float(scale)))))
        if found is not None:
            return found
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
