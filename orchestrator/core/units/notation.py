"""How units are written: Modelica's grammar, and what engineers write instead of it.

Modelica and FMI know ``.`` for a product, at most one ``/``, and an exponent behind its symbol:
``N.m.s/rad``, ``W/(m2.K)``, ``V/(rad/s)`` (Modelica 3.6, chapter 19).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from orchestrator.core.structs import Struct
from orchestrator.core.units.tables import (
    PREFIXES,
    is_logarithmic,
    short_meaning,
    si_meaning,
    symbol_meaning,
)

#: What stands first where units are run together, and what follows.
_HEADS: Final = frozenset({"N", "W", "J", "V", "A", "C", "Pa", "Ohm", "Wb", "kg", "g", "mol"})
_TAILS: Final = ("mm", "cm", "km", "deg", "rad", "mol", "kg", "m", "s", "h", "A", "V", "K", "g")
_NO_PRODUCTS: Final = frozenset({"gs", "gm", "kgs", "gms", "Jg", "mols"})


def run_together(text: str) -> tuple[str, ...]:
    """Take ``Nm``, ``kVA``, ``mPas`` apart; empty if it is none of these, or could be two."""
    if text in _NO_PRODUCTS:
        return ()
    splits = [
        (text[:length], *tails)
        for length in range(1, len(text))
        if _is_head(text[:length])
        for tails in _tails(text[length:])
        if len({text[:length], *tails}) == len(tails) + 1
    ]
    fewest = min(map(len, splits), default=0)
    shortest = [parts for parts in splits if len(parts) == fewest]
    return shortest[0] if len(shortest) == 1 else ()


def _is_head(text: str) -> bool:
    return any(text.endswith(head) and text.removesuffix(head) in PREFIXES for head in _HEADS) and (
        si_meaning(text) is not None
    )


def _tails(text: str) -> Iterator[tuple[str, ...]]:
    if not text:
        yield ()
    for tail in _TAILS:
        if text.startswith(tail):
            for remaining in _tails(text[len(tail) :]):
                yield tail, *remaining


_LETTERS: Final = r"[A-Za-zΩΩµμÅ°º%'\"]"
_TOKEN: Final = re.compile(
    rf"(?P<symbol>{_LETTERS}+)(?P<exponent>[-+]?\d+)?"
    r"|(?P<close>\))(?P<outer>[-+]?\d+)?"
    r"|(?:\^|\*\*)(?P<bracket>\()?(?P<raise>[-+]?\d+)(?(bracket)\))"
    r"|(?P<one>1)(?!\d)|(?P<open>\()|(?P<over>/)|(?P<dot>\.)|(?P<times>[*·⋅×]| +|-)"
)
_SPACE: Final = re.compile(r"\s*([/().*·⋅×^])\s*")
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
#: The signs of the ohm: the letter, and the one that Unicode has for it.
_LETTERS_OF: Final = str.maketrans(
    dict.fromkeys("\N{GREEK CAPITAL LETTER OMEGA}\N{OHM SIGN}", "Ohm")
)
_MOST: Final = 20
_DIGITS: Final = 3
#: What is written for a whole unit.
_TEXTS: Final = {
    **dict.fromkeys(("-", "[-]"), "1"),
    **dict.fromkeys(("U/min", "r/min", "rev/mn"), "rev/min"),
}
#: Temperatures of more than one word, or with the sign of the degree: ``degrees Celsius``, ``°C``.
_DEGREES: Final = re.compile(
    r"(?<![A-Za-z])(?:(?i:deg|degs|degrees?|grad)|[°º])[ _-]*"
    r"(?:(?P<degC>C|(?i:celsius|centigrade))|(?P<degF>F|(?i:fahrenheit))"
    r"|(?P<K>K|(?i:kelvins?))|(?P<degRk>(?i:rankine)))(?![A-Za-z])"
)
#: What is written for a symbol.
_SYMBOLS: Final = {
    **dict.fromkeys(("°", "º"), "deg"),
    **dict.fromkeys(("sec", "secs"), "s"),
    **dict.fromkeys(("hr", "hrs"), "h"),
    **dict.fromkeys(("mins",), "min"),
    **dict.fromkeys(("kph", "kmh", "kmph"), "km/h"),
    **dict.fromkeys(("RPM", "Rpm"), "rpm"),
    "ohm": "Ohm",
    **dict.fromkeys(("Amp", "Amps", "amp", "amps"), "A"),
    **dict.fromkeys(("Kg", "KG", "kgs"), "kg"),
    **dict.fromkeys(("VAr", "VAR", "Var"), "var"),
    **dict.fromkeys(("ftlb", "ftlbf", "lbft", "lbfft"), "ft.lbf"),
    **dict.fromkeys(("lbs",), "lb"),
    "KW": "kW",
    "KN": "kN",
    "Km": "km",
    "KHz": "kHz",
    "KPa": "kPa",
    "msec": "ms",
    "usec": "us",
    **dict.fromkeys(("Celsius", "Centigrade", "centigrade"), "degC"),
    "Kelvin": "K",
}
_TIMES: Final = frozenset({"s", "ms", "us", "ns", "min", "h", "d"})

Powers = list[tuple[str, int]]


class NotationError(ValueError):
    """A text is not a unit, or could be two."""


class Notation(Struct):
    """A unit taken apart.

    powers: Symbols with their exponents, in order.
    exact: Whether it is written as Modelica has it.
    """

    powers: tuple[tuple[str, int], ...]
    exact: bool

    @property
    def spelled(self) -> str:
        """The same in Modelica's notation."""
        return spelled(self.powers)


def spelled(powers: Sequence[tuple[str, int]]) -> str:
    """Write powers of symbols in Modelica's notation: ``m/s2``, ``N/(m.s)``, ``1/s``."""
    merged: dict[str, int] = {}
    for symbol, power in powers:
        merged[symbol] = merged.get(symbol, 0) + power
    above = [_raised(symbol, power) for symbol, power in merged.items() if power > 0]
    below = [_raised(symbol, -power) for symbol, power in merged.items() if power < 0]
    text = ".".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'.'.join(below)})"


def _raised(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}{power}"


def read_notation(text: str) -> Notation:
    """Take a unit apart."""
    if text in {"", "1"}:
        return Notation((), exact=True)
    plain = _DEGREES.sub(lambda match: str(match.lastgroup), text.strip())
    plain = _SPACE.sub(r"\1", _TEXTS.get(plain, plain)).translate(_RAISED)
    reader = _UnitReader(plain)
    powers = reader.powers()
    if any(abs(power) > _MOST for _, power in powers):
        raise NotationError(f"has an exponent beyond {_MOST}")
    return Notation(tuple(powers), exact=plain == text and reader.exact)


class _Token(NamedTuple):
    kind: str
    text: str
    exponent: int | None


#: Between symbols that nothing separates.
_NOTHING: Final = _Token("", "", None)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotationError(f"has '{text[at:]}'")
        exponent = match["exponent"] or match["outer"] or match["raise"]
        kind = "raise" if match["raise"] else str(match.lastgroup)
        kind = {"exponent": "symbol", "outer": "close"}.get(kind, kind)
        # Digits by the hundred are no exponent, and take long to read.
        number = int(exponent) if exponent and len(exponent) <= _DIGITS else None
        if exponent and number is None:
            raise NotationError(f"has an exponent beyond {_MOST}")
        yield _Token(kind, match["symbol"] or match[0], number)
        at = match.end()


class _UnitReader:
    """Reads one unit by recursive descent; ``exact`` is whether Modelica writes it so."""

    def __init__(self, text: str) -> None:
        self.exact = True
        self._rest = list(_tokens(text))[::-1]
        self._depth = 0

    def powers(self) -> Powers:
        powers = self._quotient()
        if self._rest:
            raise NotationError(f"has a '{self._rest[-1].text}' too many")
        return powers

    def _next_is(self, *kinds: str) -> bool:
        return bool(self._rest) and self._rest[-1].kind in kinds

    def _quotient(self) -> Powers:
        powers = self._product(divides=False)
        divisors: list[Powers] = []
        while self._next_is("over"):
            self._rest.pop()
            divisors.append(self._product(divides=True))
            powers = powers + [(symbol, -power) for symbol, power in divisors[-1]]
        if len(divisors) > 1:
            self.exact = False
            self._expect_one_reading(divisors)
        return powers

    def _expect_one_reading(self, divisors: list[Powers]) -> None:
        """Refuse ``N/m/s``, which is N/(m.s) to some and N/(m/s) to others."""
        for first, second in itertools.pairwise(divisors):
            rate = {symbol for symbol, _ in second} <= _TIMES
            if rate and not {symbol for symbol, _ in first} <= _TIMES:
                numerator, divisor = spelled(first), spelled(second)
                raise NotationError(
                    f"has more than one '/': is it '../({numerator}.{divisor})' or"
                    f" '../({numerator}/{divisor})'"
                )

    def _product(self, *, divides: bool) -> Powers:
        powers = self._factor()
        while self._next_is("dot", "times", "symbol", "one", "open"):
            between = self._rest.pop() if self._next_is("dot", "times") else _NOTHING
            more = self._factor()
            if between.text.strip() in {"", "-"}:
                _expect_no_temperature(powers, more)
            if divides and between.kind == "times":
                left_factor, right_factor = spelled(powers), spelled(more)
                raise NotationError(
                    f"does not say whether '{right_factor}' divides: is it"
                    f" '../({left_factor}.{right_factor})' or"
                    f" '..{right_factor}/{left_factor}'"
                )
            self.exact = self.exact and between.kind == "dot" and not divides
            powers = powers + more
        return powers

    def _factor(self) -> Powers:
        if not self._rest:
            raise NotationError("ends too early")
        token = self._rest.pop()
        exponent = token.exponent
        if token.kind == "one":
            return []
        if token.kind == "open":
            powers, exponent = self._bracket()
        elif token.kind != "symbol":
            raise NotationError(f"has '{token.text}' where a symbol is expected")
        if self._next_is("raise"):
            if exponent is not None:
                raise NotationError("has an exponent of an exponent")
            exponent, self.exact = self._rest.pop().exponent, False
        power = 1 if exponent is None else exponent
        if token.kind == "symbol":
            return self._symbol(token.text, power)
        return [(symbol, exponent * power) for symbol, exponent in powers]

    def _bracket(self) -> tuple[Powers, int | None]:
        self._depth += 1
        if self._depth > _MOST:
            raise NotationError("has too many brackets in brackets")
        powers = self._quotient()
        self._depth -= 1
        if not self._next_is("close"):
            raise NotationError("has a '(' that is not closed")
        exponent = self._rest.pop().exponent
        self.exact = self.exact and exponent is None
        return powers, exponent

    def _symbol(self, text: str, power: int) -> Powers:
        if (plain := text.translate(_LETTERS_OF)) != text:
            self.exact, text = False, plain
        if text.lower() == "grad":
            raise NotationError(
                f"has '{text}', which is a degree to some and a gon to others; use 'deg' or 'gon'"
            )
        if text in _SYMBOLS:
            self.exact = False
            inner = read_notation(_SYMBOLS[text])
            return [(symbol, exponent * power) for symbol, exponent in inner.powers]
        if is_logarithmic(text) or short_meaning(text) is not None:
            return [(text, power)]
        if parts := run_together(text):
            self.exact = False
            return [*((part, 1) for part in parts[:-1]), (parts[-1], power)]
        if symbol_meaning(text) is None:
            raise NotationError(f"has the unknown symbol '{text}'")
        return [(text, power)]


def _expect_no_temperature(before: Powers, after: Powers) -> None:
    """Refuse ``deg mK``: who joins an angle and a temperature by a gap means no product."""
    left_end, right_end = before[-1:], after[:1]
    meanings = [symbol_meaning(symbol) for symbol, _ in (*left_end, *right_end)]
    measured = [tuple(meaning.exponents) for meaning in meanings if meaning is not None]
    if sorted(measured) == [("K",), ("rad",)]:
        first, second = spelled(left_end), spelled(right_end)
        raise NotationError(
            f"has '{first} {second}', an angle and a temperature: write '{first}.{second}' for"
            " their product, and 'degC', 'degF' or 'K' for a temperature"
        )
