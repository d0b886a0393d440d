"""How a source names a device with its settings: ``NAME?key=value&key=value``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from orchestrator.core.diagnostics import DescriptionError

#: What may stand in a value as it is: what JSON is made of, but for ``&``, ``#``, ``%`` and ``+``.
_SAFE = "[]{}:,\"'./ -_=?@"


def read_address(location: str) -> tuple[str, dict[str, Any]]:
    """Take name and settings of a device apart.

    A value is JSON where it can be read as such (``49152``, ``true``, ``[1, 2]``), else a text.
    """
    name, _, query = location.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise DescriptionError(
            f"device '{location}': expected NAME?key=value&key=value, found '?{query}'"
        ) from None
    settings: dict[str, Any] = {}
    for key, text in pairs:
        if key in settings:
            raise DescriptionError(f"device '{name}': setting '{key}' is there twice")
        settings[key] = _value(text)
    return name, settings


def write_address(name: str, settings: Mapping[str, Any]) -> str:
    """Return the location of a device with settings, which :func:`read_address` reads back."""
    if not settings:
        return name
    pairs = (f"{quote(key)}={quote(_text(value), safe=_SAFE)}" for key, value in settings.items())
    return f"{name}?{'&'.join(pairs)}"


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(value: Any) -> str:
    if isinstance(value, str) and _value(value) == value:
        return value
    return json.dumps(value)
