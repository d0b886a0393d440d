"""What is found about a target, with file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from orchestrator.checks.catalogue import codes
from orchestrator.core.diagnostics import Diagnostic, Severity
from orchestrator.core.ssp.archive.locations import Locations
from orchestrator.core.ssp.archive.unpacking import named_as_entries


class Collected:
    """Collects diagnostics.

    Parameters
    ----------
    path
        The file that is checked.

    Attributes
    ----------
    found
        Name of the case, empty for what belongs to none, and the diagnostic.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: list[tuple[str, Diagnostic]] = []

    @property
    def errors(self) -> int:
        """How many errors there are so far."""
        return sum(each.severity is Severity.ERROR for _, each in self.found)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what a reader has found, with file and line."""
        for each in diagnostics:
            self.found.append(("", replace(each, message=self._text(each.message))))

    def add(
        self,
        found: Iterable[Diagnostic],
        places: Locations,
        case: str = "",
        whole: tuple[str, int | None] | None = None,
    ) -> None:
        """Add what checks of a case have found, and say in which file and line it stands.

        Parameters
        ----------
        found, places
            What was found, and where everything stands that it may be about.
        case
            Empty: of no case.
        whole
            File and line of what is about nothing in particular, in place of those of the system.
        """
        for each in found:
            file, line = each.file, each.line
            if not file:
                file, line = places.file, places.of(each.place)
                if not each.place and whole is not None:
                    file, line = whole
            code = codes()[each.code]
            told = replace(
                each,
                severity=code.severity or Severity.ERROR,
                message=self._text(each.message),
                file=file,
                line=line,
                clause=code.clause,
            )
            self.found.append((case, told))

    def _text(self, message: str) -> str:
        """Write a message on one line, and files of an archive as entries of it."""
        return named_as_entries(" ".join(message.split()), self._path)
