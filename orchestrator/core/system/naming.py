"""Names in a system, and the messages about names that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import isfinite
from typing import TypeVar

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnknownNameError,
    choices_for,
    nearest_name,
)

Kind = TypeVar("Kind", bound=StrEnum)
#: Between the names of a nested system and what is in it.
SEPARATOR = "/"


def unknown(
    kind: str,
    name: str,
    names_known: Iterable[str],
    location: str,
    *,
    code: str = "",
    key: str = "",
) -> UnknownNameError:
    """Make the error of a name that does not exist, with the nearest name and all that exist."""
    names = list(names_known)
    text = f"no {kind} '{name}'{choices_for(name, names, kind)}"
    return UnknownNameError.about(
        text, code=code, place=location, key=key, hint=nearest_name(name, names)
    )


def unknown_name_error(
    holder: str, kind: str, name: str, names_known: Iterable[str]
) -> UnknownNameError:
    """Make the error of a name that something does not have."""
    names = list(names_known)
    text = f"{holder} has no {kind} '{name}'{choices_for(name, names, kind, 'its')}"
    return UnknownNameError.about(text, hint=nearest_name(name, names))


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
    return isinstance(value, (int, float)) and not isinstance(value, bool) and fits_float(value)


def fits_float(value: float) -> bool:
    """Whether a number is a finite float; whole numbers can be larger than every float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


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
