"""What is found about a target, with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from orchestrator.checking.catalogue import codes
from orchestrator.checking.finding import Finding
from orchestrator.diagnostic import Diagnostic, Severity
from orchestrator.ssp.locations import Locations

#: Where the reader of SSP files unpacks an archive: another folder in every process.
_UNPACKED = re.compile(r"/[^\s']*softdock-ssp-[^/\s]+/")


class Collected:
    """Collects findings.

    Parameters
    ----------
    path
        The file that is checked.

    Attributes
    ----------
    found
        Name of the case, empty for what belongs to none, and the finding.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: list[tuple[str, Diagnostic]] = []

    @property
    def errors(self) -> int:
        """How many errors there are so far."""
        return sum(told.severity is Severity.ERROR for _, told in self.found)

    def told(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what a reader has found."""
        for told in diagnostics:
            self.found.append(("", replace(told, message=self._text(told.message))))

    def add(
        self,
        found: Iterable[Finding],
        places: Locations,
        case: str = "",
        whole: tuple[str, int | None] | None = None,
    ) -> None:
        """Add findings of a case with their file and line.

        Parameters
        ----------
        found, places
            The findings, and where everything stands that they may be about.
        case
            Empty: of no case.
        whole
            File and line of what is about nothing in particular, in place of those of the system.
        """
        for finding in found:
            file, line = finding.file, finding.line
            if not file:
                file, line = places.file, places.of(finding.at)
                if not finding.at and whole is not None:
                    file, line = whole
            code, text = codes()[finding.code], self._text(finding.message)
            severity = code.severity or Severity.ERROR
            told = Diagnostic(code.name, severity, text, file, line, finding.at, code.clause)
            self.found.append((case, told))

    def _text(self, message: str) -> str:
        """Write a message on one line, and files of an archive as entries of it."""
        return _UNPACKED.sub(lambda _: f"{self._path}:", " ".join(message.split()))
