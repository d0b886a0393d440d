"""What a code of `softdock check` means."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.diagnostics import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    Parameters
    ----------
    name
        Letters of the family and three digits; its meaning never changes.
    severity
        Of every finding of this kind; ``None``: it depends.
    title
        In a few words.
    explanation
        What is looked at, why it matters, what to do.
    clause
        Of the standard that says so.
    """

    name: str
    severity: Severity | None
    title: str
    explanation: str
    clause: str = ""

    def __str__(self) -> str:
        clause = f" ({self.clause})" if self.clause else ""
        severity = "" if self.severity is None else f" {self.severity}"
        return f"{self.name}{severity}: {self.title}\n\n{self.explanation}{clause}"


def error(name: str, title: str, explanation: str, clause: str = "") -> Code:
    """Return a code of what cannot be used so."""
    return Code(name, Severity.ERROR, title, explanation, clause)


def warning(name: str, title: str, explanation: str, clause: str = "") -> Code:
    """Return a code of what may not do what its author meant."""
    return Code(name, Severity.WARNING, title, explanation, clause)


def note(name: str, title: str, explanation: str, clause: str = "") -> Code:
    """Return a code of what is worth knowing."""
    return Code(name, Severity.NOTE, title, explanation, clause)
