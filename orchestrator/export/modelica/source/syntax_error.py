"""The first syntax error of a Modelica file."""

from __future__ import annotations

import re
from pathlib import Path

_PLACE = re.compile(r"\[input\.mo:(\d+):(\d+)\]")


def first_syntax_error(file: Path) -> str:
    """``file:line:column: message``; empty if there is none. rumoca's own failure tells no line."""
    import rumoca

    text = file.read_text(encoding="utf-8", errors="replace")
    for diagnostic in rumoca.validate_source(text)[:1]:
        place = _PLACE.search(diagnostic.message)
        message = diagnostic.message.partition("\u00d7")[2].partition("\u256d")[0]
        if place:
            return f"{file}:{place[1]}:{place[2]}: {' '.join(message.split())}"
    return ""
