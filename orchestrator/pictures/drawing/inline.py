"""What pages of HTML have in common: templates that escape all texts, and data inside a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2


def environment(
    folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None
) -> jinja2.Environment:
    """Return the templates of a folder; what they are given is escaped, what is missing fails."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= filters or {}
    return made


def embedded(data: Any) -> str:
    """JSON that may stand in a script element: nothing in it ends the element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
