"""One thing that is wrong, or worth knowing, as data; its text is made at the edge."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
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
        One of the table of codes, such as ``"SSP203"``, whose meaning never changes; else the name
        of the class of errors that it was raised as.
    severity
        See :class:`Severity`.
    message
        What was expected, what was found, what to do. It does not say again what the other fields
        up to ``place`` say.
    file
        As the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    line
        From 1; ``None`` if it is about no line.
    place
        Component, connector or connection, in words.
    key
        Under which it stands: a key of a TOML file, ``"case.a.set"``, or the path of an element of
        a system, ``"arm/motor.torque"`` or ``"a.y -> arm/motor.u"``.
    hint
        The name that was meant, perhaps; the message asks whether it was.
    clause
        Of the standard that says so, such as ``"SSP 1.0, 5.3.2"``.
    context
        What was being done, such as ``"case 'ideal'"``, from the outside in; the text begins so.
    """

    code: str
    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    place: str = ""
    key: str = ""
    hint: str = ""
    clause: str = ""
    context: tuple[str, ...] = ()

    def __str__(self) -> str:
        at = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(filter(None, (*self.context, at, self.text)))

    @property
    def text(self) -> str:
        """What is said beside file, line and context."""
        clause = f" ({self.clause})" if self.clause else ""
        return ": ".join(filter(None, (self.place, f"{self.message}{clause}")))

    @property
    def inner(self) -> Diagnostic:
        """The same without what was being done outermost."""
        return replace(self, context=self.context[1:])

    def within(self, context: str) -> Diagnostic:
        """Return the same, found while something else was being done."""
        return replace(self, context=(context, *self.context))

    def as_json(self) -> dict[str, str | int | None]:
        """Return its fields."""
        return {**asdict(self), "context": ": ".join(self.context)}
