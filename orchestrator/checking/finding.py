"""One finding of a family of checks, before it is known where in a file it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.system import Problem

_PREFIX = re.compile(r"(?:connection .+? -> .+?|component '[^']*' \(.*?\)|component '[^']*'): ")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Parameters
    ----------
    code
        Of the catalogue.
    at
        Path of a component or system (``"arm/motor"``), of a connector (``"arm/motor.torque"``), or
        a connection (``"a.y -> arm/motor.u"``); empty for the whole.
    message
        What was expected, what was found, what to do.
    file, line
        Where it stands, if that is not where ``at`` is declared.
    """

    code: str
    at: str
    message: str
    file: str = ""
    line: int | None = None


def of_problem(problem: Problem, path: str = "") -> Iterator[Finding]:
    """Turn a problem of a system at a path into findings; the place is not said twice."""
    for text in problem.error.problems:
        begin = f"connection {problem.at}: "
        rest = text.removeprefix(begin) if text.startswith(begin) else _PREFIX.sub("", text, 1)
        yield Finding(problem.code, inside(path, problem.at), rest)


def inside(path: str, at: str) -> str:
    """Say where something is, seen from the top: ``inside("arm", "a.y -> b.u")``."""
    if not path:
        return at
    ends = (f"{path}/{end}" if "." in end else f"{path}.{end}" for end in at.split(" -> "))
    if " -> " in at or "." in at:
        return " -> ".join(ends)
    return f"{path}/{at}" if at else path
