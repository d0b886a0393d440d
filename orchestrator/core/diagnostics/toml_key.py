"""Keys of TOML files as texts: ``case.ideal.set."arm.k"``."""

from __future__ import annotations

import re

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(*parts: object) -> str:
    """Write a key from its parts; those that are no bare words stand between quotes."""
    return ".".join(map(_part, map(str, parts)))


def parts_of(key: str) -> tuple[str, ...]:
    """Return the parts of a key; none if it is no key."""
    import tomllib

    try:
        inner: object = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while isinstance(inner, dict) and len(inner) == 1:
        name, inner = next(iter(inner.items()))
        parts.append(name)
    return tuple(parts) if inner == 0 else ()


def _part(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
