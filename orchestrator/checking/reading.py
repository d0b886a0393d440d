"""What the reader of SSP files finds, as findings."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.checking.code import Code, error
from orchestrator.diagnostic import Diagnostic, Severity
from orchestrator.errors import DescriptionError, LoadError
from orchestrator.ssp import read_system
from orchestrator.system import System

CODES: tuple[Code, ...] = (
    error(
        "SSP101",
        "the file is not valid SSP, or uses what is not supported",
        "What the reader refuses.",
    ),
)

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+): (?P<text>.*)")


def diagnose(path: Path) -> tuple[System | None, list[Diagnostic]]:
    """Read a system; without one the diagnostics say why."""
    try:
        return read_system(path), []
    except (LoadError, DescriptionError) as wrong:
        return None, [_told(line, path) for line in str(wrong).splitlines()]


def _told(text: str, path: Path) -> Diagnostic:
    match = _PLACE.fullmatch(text)
    if match is None:
        return Diagnostic("SSP101", Severity.ERROR, text, str(path))
    line = int(match["line"])
    return Diagnostic("SSP101", Severity.ERROR, match["text"], match["file"], line)
