"""The text of a system file, in a stable order: what a person would write."""

from __future__ import annotations

import json
import math
import re
from typing import Any

#: Their entries become tables of their own; all other tables stand in one line.
_GROUPS = ("component", "nested", "bus")
#: Their entries stand below each other, one line each.
_LISTS = ("system", "experiment", "connectors", "values", "power", "connections")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def text_of(data: dict[str, Any]) -> str:
    """Write the plain data of a system as TOML."""
    return "\n".join(_table(data, "")).lstrip("\n") + "\n"


def key_text(key: str) -> str:
    """Write a key, quoted where it must be."""
    return key if _BARE.fullmatch(key) else _string(key)


def value_text(value: Any) -> str:
    """Write a value in one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(value_text, value))}]"
        case dict():
            inside = ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items())
            return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"TOML holds no {type(value).__name__}")


def _table(data: dict[str, Any], path: str) -> list[str]:
    """Lines of a table: first what stands in it, then the tables below it."""
    lines = []
    plain = {k: v for k, v in data.items() if k not in _GROUPS and not _is_list(k, v, path)}
    if path and (plain or not data):
        lines += ["", f"[{path}]", *(f"{key_text(k)} = {value_text(v)}" for k, v in plain.items())]
    elif path:
        lines += ["", f"[{path}]"]
    for key, value in data.items():
        here = f"{path}.{key_text(key)}" if path else key_text(key)
        if key in _GROUPS:
            for name, inner in value.items():
                lines += _table(inner, f"{here}.{key_text(name)}")
        elif _is_list(key, value, path):
            entries = (f"{key_text(k)} = {value_text(v)}" for k, v in value.items())
            lines += ["", f"[{here}]", *entries]
    return lines


def _is_list(key: str, value: Any, path: str) -> bool:
    """Whether an entry is a table with a line for each of its own entries.

    Values of a component stay in its table, in one line; those of a system have a table.
    """
    if key not in _LISTS or not isinstance(value, dict):
        return False
    in_component = path.split(".")[-2:-1] == ["component"]
    return not (in_component and key == "values")


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    return text if set(text) & set(".e") else f"{text}.0"


def _string(text: str) -> str:
    """Write a text with the escapes that JSON and TOML share."""
    escaped = json.dumps(text, ensure_ascii=False)
    return escaped.replace("\x7f", "\\u007f")
