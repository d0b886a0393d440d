"""One thing that is wrong with a system: an error that also says what kind it is, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.errors import DescriptionError


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem before it is raised.

    Parameters
    ----------
    code
        Of `softdock check`, such as ``"CON104"``.
    at
        The component, ``"component.connector"`` or ``"source -> target"`` that it is about.
    error
        What a user is told.
    """

    code: str
    at: str
    error: DescriptionError


def errors_of(problems: Iterable[Problem]) -> list[DescriptionError]:
    """Return the errors of problems, in order."""
    return [problem.error for problem in problems]
