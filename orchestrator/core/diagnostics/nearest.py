"""Names that may have been meant by one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_names(name: str, names: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names that are near, the nearest first, at most so many.

    The cutoff is 1 for the same name, 0 for any.
    """
    from difflib import get_close_matches  # heavy, and seldom wanted

    return get_close_matches(name, list(names), n=most, cutoff=cutoff)


def by_nearness(name: str, names: Iterable[str]) -> list[str]:
    """Return all names, the nearest first."""
    from difflib import SequenceMatcher  # heavy, and seldom wanted

    return sorted(names, key=lambda each: -SequenceMatcher(None, name, each).ratio())


def nearest_name(name: str, names: Iterable[str]) -> str:
    """Return the nearest of some names; nothing if none is near."""
    return next(iter(nearest_names(name, names, 1)), "")


def nearest(name: str, names: Iterable[str]) -> str:
    """Ask whether the nearest of some names is meant; nothing if none is near."""
    close = nearest_name(name, names)
    return f"; did you mean '{close}'?" if close else ""
