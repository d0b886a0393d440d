"""The first syntax error of a Modelica file."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.export.modelica.front_end.process import RUMOCA, FrontEndCrash, FrontEndRefusal

_PLACE = re.compile(r"\[input\.mo:(\d+):(\d+)\]")


def first_syntax_error(file: Path) -> str:
    """``file:line:column: message``; empty if there is none. rumoca's own failure tells no line."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        found = RUMOCA.ask({"checked": text})["found"]
    except (FrontEndCrash, FrontEndRefusal) as error:
        return f"{file}: the front end cannot read it: {error}"
    for diagnostic in found:
        place = _PLACE.search(diagnostic)
        message = diagnostic.partition("\u00d7")[2].partition("\u256d")[0]
        if place:
            return f"{file}:{place[1]}:{place[2]}: {' '.join(message.split())}"
    return ""
