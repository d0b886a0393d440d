"""Names of what is in a system, and what is said about those that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from orchestrator.errors import DescriptionError, UnknownNameError

#: Between the names of a nested system and what is in it.
SEPARATOR = "/"
#: A message lists so many names; an FMU may have thousands.
MOST_LISTED = 40


def unknown(kind: str, name: str, known: Iterable[str], where: str) -> UnknownNameError:
    """Make the error of a name that does not exist: with the nearest one, and all that do."""
    names = list(known)
    listed = listed_names(names)
    return UnknownNameError(f"{where}: no {kind} '{name}'{_nearest(name, names)} (known: {listed})")


def lacking(holder: str, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Make the error of a name that something does not have."""
    names = list(known)
    listed = listed_names(names)
    return UnknownNameError(
        f"{holder} has no {kind} '{name}'{_nearest(name, names)}; it has: {listed}"
    )


def listed_names(names: Sequence[str]) -> str:
    """Write names in a message; of very many the first ones."""
    if len(names) <= MOST_LISTED:
        return ", ".join(names) or "none"
    return f"{', '.join(names[:MOST_LISTED])} and {len(names) - MOST_LISTED} more"


def _nearest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def expect_name(name: str, what: str) -> str:
    """Return the name of something in a system, or raise DescriptionError."""
    if not name or "." in name or SEPARATOR in name:
        raise DescriptionError(
            f"{what} '{name}': a name must not be empty nor hold a dot or a slash: the dot stands"
            " before a connector, the slash between a system and what is in it"
        )
    return name
