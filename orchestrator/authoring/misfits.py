"""What does not fit in a system file, in words: one sentence for each key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError


def told(error: ValidationError, known: Collection[str]) -> Iterator[str]:
    """Say every problem once: where a value may be of several kinds, pydantic lists them all.

    Parameters
    ----------
    error
        What pydantic found.
    known
        All keys that there are.
    """
    by_place: dict[str, list[tuple[str, Any]]] = {}
    kinds: dict[str, str] = {}
    for item in error.errors():
        where = ".".join(_key(part) for part in item["loc"] if not _is_kind(part))
        kinds[where] = item["type"]
        by_place.setdefault(where, []).append((item["msg"], item["input"]))
    for where, found in by_place.items():
        key = where.rpartition(".")[2]
        if kinds[where] == "extra_forbidden":
            close = get_close_matches(key, known, n=1)
            hint = f"; did you mean '{close[0]}'?" if close and close[0] != key else ""
            yield f"unknown key '{where}'{hint}"
        elif kinds[where] == "missing":
            yield f"missing key '{where}'"
        else:
            wanted = " or ".join(dict.fromkeys(_wanted(text) for text, _ in found))
            yield f"'{where}': expected {wanted}, found {found[0][1]!r}"


def _key(part: str | int) -> str:
    text = str(part)
    return f'"{text}"' if "." in text or " " in text else text


def _is_kind(part: str | int) -> bool:
    """Whether a part of a place is the name that pydantic gives a choice of a union."""
    return isinstance(part, str) and (part in _CHOICES or part.startswith("tuple["))


_CHOICES = {"bool", "int", "float", "str", "Bytes", "DelayTable"}


def _wanted(message: str) -> str:
    plain = message.removeprefix("Input should be ").removeprefix("a valid ")
    plain = plain.removeprefix("Value error, ").partition(" or instance of ")[0]
    return {
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
        "string": "a text",
        "tuple": "a list",
        "dictionary": "a table",
    }.get(plain, plain)
