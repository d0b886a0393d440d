"""Names of what is in a system, and what is said about those that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import isfinite
from typing import TypeVar

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnknownNameError,
    by_nearness,
    nearest,
    nearest_name,
)

Kind = TypeVar("Kind", bound=StrEnum)
#: Between the names of a nested system and what is in it.
SEPARATOR = "/"
#: Of so many names a message lists all; of more, which an FMU may have by the thousand, a few.
MOST_LISTED, FEW_LISTED = 40, 8


def unknown(
    kind: str,
    name: str,
    names_known: Iterable[str],
    location: str,
    *,
    code: str = "",
    key: str = "",
) -> UnknownNameError:
    """Make the error of a name that does not exist: with the nearest one, and all that do."""
    names = list(names_known)
    text = f"no {kind} '{name}'{nearest(name, names)} (known: {listed_names(names, name)})"
    return UnknownNameError.about(
        text, code=code, place=location, key=key, hint=nearest_name(name, names)
    )


def unknown_name_error(
    holder: str, kind: str, name: str, names_known: Iterable[str]
) -> UnknownNameError:
    """Make the error of a name that something does not have."""
    names = list(names_known)
    text = f"{holder} has no {kind} '{name}'{choices_for(name, names)}"
    return UnknownNameError.about(text, hint=nearest_name(name, names))


def choices_for(name: str, names: Sequence[str], separator: str = ", ") -> str:
    """Return the end of a message about a wrong name: the nearest name, and all that exist."""
    listed, close = listed_names(names, name, separator), nearest(name, names)
    return f"{close} It has: {listed}" if close else f"; it has: {listed}"


def listed_names(names: Sequence[str], unknown_name: str = "", separator: str = ", ") -> str:
    """Write names in a message; of very many those nearest to a wrong one, and their number."""
    if len(names) <= MOST_LISTED:
        return separator.join(names) or "none"
    if unknown_name:
        near = by_nearness(unknown_name, names)[:FEW_LISTED]
        return f"{separator.join(near)}, the nearest of {len(names)}"
    return first_of(names, FEW_LISTED)


def first_of(texts: Sequence[str], limit: int) -> str:
    """Write the first texts in a message, and how many more there are."""
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def member_of(kind: type[Kind], text: str, label: str) -> Kind:
    """Return the member of an enumeration that a text names, or raise DescriptionError."""
    if text not in set(kind):
        raise DescriptionError(f"{label}: expected one of {', '.join(kind)}, found {text!r}")
    return kind(text)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Whether a value is a finite number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def expect_name(name: str, label: str) -> str:
    """Return the name of something in a system, or raise DescriptionError."""
    if not name or "." in name or SEPARATOR in name:
        raise DescriptionError(
            f"{label} '{name}': a name must have at least one character and neither a dot nor a"
            " slash: a dot separates component and connector, a slash separates nested systems"
        )
    return name


def is_pattern(text: str) -> bool:
    """Whether a text has wildcards."""
    return "*" in text or "?" in text


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """Names that a pattern matches as a whole, in their order."""
    wildcards = {"*": ".*", "?": "."}
    expression = "".join(wildcards.get(c) or re.escape(c) for c in pattern)
    return [name for name in names if re.fullmatch(expression, name, re.DOTALL)]
