"""Where in a TOML file its tables and keys stand; tomllib does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from orchestrator.core.diagnostics.toml_key import parts_of
from orchestrator.core.plain_data import BYTE_ORDER_MARK
from orchestrator.core.ssp.archive.locations import Locations

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")
Keys = tuple[str, ...]


def toml_lines(path: Path) -> dict[Keys, int]:
    """Return the lines at which tables and keys begin, by their keys from the top.

    What stands inside of multi-line values is not told from keys; it does no harm, since nobody
    asks for it.
    """
    found: dict[Keys, int] = {}
    table: Keys = ()
    text = path.read_text(encoding="utf-8").removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("["):
            keys = _keys(line)
            if keys is not None:
                table = keys
                found.setdefault(table, number)
        elif match := _KEY.match(line):
            inside = _keys(f"{match[1]} = 0")
            if inside is not None:
                found.setdefault((*table, *inside), number)
    return found


def _keys(line: str) -> Keys | None:
    """Keys of a line of TOML that holds one table or one value."""
    try:
        content = tomllib.loads(line + "\n")
    except tomllib.TOMLDecodeError:
        return None
    keys: list[str] = []
    inner: object = content
    while isinstance(inner, list):
        inner = inner[0]
    while isinstance(inner, dict) and inner:
        key, inner = next(iter(inner.items()))
        keys.append(key)
        if isinstance(inner, list) and inner:
            inner = inner[0]
    return tuple(keys)


def line_for(key: str, lines: Mapping[Keys, int]) -> int | None:
    """Return the line of a key, or of the nearest table around it, if there is one."""
    keys = parts_of(key) or tuple(key.split("."))
    return next((lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in lines), None)


def system_places(path: Path) -> Locations:
    """Return where the parts of a system file stand."""
    lines: dict[str, int] = {}
    for keys, line in toml_lines(path).items():
        at = _place(keys)
        if at is not None:
            lines.setdefault(at, line)
            if " -> " in at:
                lines.setdefault(f"-> {at.partition(' -> ')[2]}", line)
    return Locations(str(path), lines)


def place_of(key: str) -> str:
    """Return the name of what the key of a system file is about; empty for the whole."""
    keys = parts_of(key)
    for count in range(len(keys), 1, -1):
        if found := _place(keys[:count]):
            return found
    return ""


def _place(keys: Keys) -> str | None:
    """Turn keys into the name of what they describe, such as ``"arm/motor.torque"``."""
    path = ""
    rest = list(keys)
    while len(rest) >= 2 and rest[0] in {"nested", "component"}:
        kind, name, *rest = rest
        path = f"{path}/{name}" if path else name
        if kind == "component":
            break
    match rest:
        case []:
            return path or None
        case ["system"]:
            return ""
        case ["connectors" | "values", name]:
            return f"{path}.{name}" if path else name
        case ["connections", line] if " -> " in line:
            ends = (end.strip() for end in line.split(" -> ", 1))
            if not path:
                return " -> ".join(ends)
            return " -> ".join(f"{path}/{e}" if "." in e else f"{path}.{e}" for e in ends)
    return None
