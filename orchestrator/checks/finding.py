"""What a family of checks finds, before it is known where in a file it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.core.diagnostics import Diagnostic, Severity, SoftdockError


def finding(
    code: str, place: str, message: str, file: str = "", line: int | None = None
) -> Diagnostic:
    """Make a diagnostic; severity and clause are those of its code in the catalogue."""
    return Diagnostic(code, Severity.ERROR, message, file, line, place, key=place)


def of_error(error: SoftdockError, path: str = "", code: str = "") -> Iterator[Diagnostic]:
    """Turn an error of a system at a path into diagnostics; the place is not said twice."""
    for each in error.diagnostics:
        place = inside(path, each.key)
        yield replace(each, code=code or each.code, place=place, key=place)


def inside(path: str, at: str) -> str:
    """Say where something is, seen from the top: ``inside("arm", "a.y -> b.u")``."""
    if not path:
        return at
    ends = (f"{path}/{end}" if "." in end else f"{path}.{end}" for end in at.split(" -> "))
    if " -> " in at or "." in at:
        return " -> ".join(ends)
    return f"{path}/{at}" if at else path
