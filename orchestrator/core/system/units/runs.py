"""Units of measure that engineers run together with nothing between: ``Nm``, ``kVA``, ``mPas``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.system.units.symbols import si_meaning
from orchestrator.core.system.units.tables import PREFIXES

#: What stands first where units are run together, and what follows.
_HEADS: Final = frozenset({"N", "W", "J", "V", "A", "C", "Pa", "Ohm", "Wb", "kg", "g", "mol"})
_TAILS: Final = ("mm", "cm", "km", "deg", "rad", "mol", "kg", "m", "s", "h", "A", "V", "K", "g")
_NO_PRODUCTS: Final = frozenset({"gs", "gm", "kgs", "gms", "Jg", "mols"})


def run_together(text: str) -> tuple[str, ...]:
    """Take ``Nm``, ``kVA``, ``mPas`` apart; empty if it is none of these, or could be two."""
    if text in _NO_PRODUCTS:
        return ()
    found = [
        (text[:length], *tails)
        for length in range(1, len(text))
        if _is_head(text[:length])
        for tails in _tails(text[length:])
        if len({text[:length], *tails}) == len(tails) + 1
    ]
    fewest = min(map(len, found), default=0)
    shortest = [parts for parts in found if len(parts) == fewest]
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
            for rest in _tails(text[len(tail) :]):
                yield tail, *rest
