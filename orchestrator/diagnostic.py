"""What a check finds, in the form of a linter: code, severity, file, line, text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is.

    ``error``: it cannot be used so. ``warning``: it can, but may not do what its author meant.
    ``note``: worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Parameters
    ----------
    code
        Letters for the kind and three digits, such as ``"SSP203"``; its meaning never changes.
    severity
        See :class:`Severity`.
    message
        What was expected, what was found, what to do.
    file
        As the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    line
        From 1; ``None`` if it is about no line.
    where
        Component, connector or connection, in words.
    clause
        Of the standard that says so, such as ``"SSP 1.0, 5.3.2"``.
    """

    code: str
    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    where: str = ""
    clause: str = ""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        clause = f" ({self.clause})" if self.clause else ""
        return ": ".join(filter(None, (place, self.where, f"{self.message}{clause}")))

    def as_json(self) -> dict[str, str | int | None]:
        """Return its fields."""
        return asdict(self)
