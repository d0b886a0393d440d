"""Units made of SI symbols with prefixes, without loading the package that knows all others.

Loading that takes longer than reading a system of a thousand components.
"""

from __future__ import annotations

import math
import re
from typing import Final

_SYMBOLS: Final[dict[str, tuple[dict[str, int], float]]] = {
    "m": ({"m": 1}, 1.0),
    "g": ({"kg": 1}, 1e-3),
    "s": ({"s": 1}, 1.0),
    "A": ({"A": 1}, 1.0),
    "K": ({"K": 1}, 1.0),
    "mol": ({"mol": 1}, 1.0),
    "cd": ({"cd": 1}, 1.0),
    "rad": ({"rad": 1}, 1.0),
    "N": ({"kg": 1, "m": 1, "s": -2}, 1.0),
    "Pa": ({"kg": 1, "m": -1, "s": -2}, 1.0),
    "J": ({"kg": 1, "m": 2, "s": -2}, 1.0),
    "W": ({"kg": 1, "m": 2, "s": -3}, 1.0),
    "V": ({"kg": 1, "m": 2, "s": -3, "A": -1}, 1.0),
    "Ohm": ({"kg": 1, "m": 2, "s": -3, "A": -2}, 1.0),
    "H": ({"kg": 1, "m": 2, "s": -2, "A": -2}, 1.0),
    "F": ({"kg": -1, "m": -2, "s": 4, "A": 2}, 1.0),
    "Hz": ({"s": -1}, 1.0),
}
#: These take no prefix.
_WHOLE: Final[dict[str, tuple[dict[str, int], float]]] = {
    "1": ({}, 1.0),
    "deg": ({"rad": 1}, math.pi / 180),
    "min": ({"s": 1}, 60.0),
    "h": ({"s": 1}, 3600.0),
    "bar": ({"kg": 1, "m": -1, "s": -2}, 1e5),
}
_PREFIXES: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_FACTOR: Final = re.compile(r"([A-Za-z1]+)([-+]?\d+)?")
_MOST: Final = 20
_ORDER: Final = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def si_unit(unit: str) -> tuple[dict[str, int], float] | None:
    """Return exponents of the base units, and the factor to them; ``None`` if it is another unit.

    Parameters
    ----------
    unit
        Modelica notation: ``"N.s/m"``, ``"kg.m2"``; all behind the stroke divides.
    """
    numerator, stroke, denominator = unit.partition("/")
    if "/" in denominator or (stroke and not denominator):
        return None
    powers: dict[str, int] = {}
    factor = 1.0
    for part, sign in ((numerator, 1), (denominator, -1)):
        for text in part.split(".") if part else ():
            known = _single(text)
            if known is None:
                return None
            base, scale, exponent = known
            factor *= scale ** (sign * exponent)
            for symbol, power in base.items():
                powers[symbol] = powers.get(symbol, 0) + sign * exponent * power
    return {symbol: powers[symbol] for symbol in _ORDER if powers.get(symbol)}, factor


def _single(text: str) -> tuple[dict[str, int], float, int] | None:
    match = _FACTOR.fullmatch(text)
    if match is None:
        return None
    symbol, exponent = match[1], int(match[2] or 1)
    if abs(exponent) > _MOST or (symbol == "1" and match[2]):
        return None
    if symbol in _WHOLE:
        return *_WHOLE[symbol], exponent
    if symbol in _SYMBOLS:
        return *_SYMBOLS[symbol], exponent
    base = _SYMBOLS.get(symbol[1:])
    if base is None or symbol[0] not in _PREFIXES or symbol[1:] == "rad":
        return None
    return base[0], base[1] * _PREFIXES[symbol[0]], exponent
