"""All findings about a target: chosen, in order, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.core.diagnostics import Diagnostic, Severity

#: Of the documented form of the JSON; grows when a field changes its meaning.
VERSION = 1


@dataclass(frozen=True, slots=True)
class Extent:
    """What a system is made of, and how many errors it has.

    Parameters
    ----------
    components, connections, loops
        Numbers; ``None`` where loops could not be looked for.
    errors
        Of the file and of the case.
    """

    components: int
    connections: int
    loops: int | None
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Parameters
    ----------
    target
        As the user gave it.
    findings
        In the order of file and line.
    systems
        By name of the case, or of the system.
    unchecked
        Whether the target could not be checked at all.
    """

    target: str
    findings: tuple[Diagnostic, ...]
    systems: Mapping[str, Extent] = field(default_factory=dict)
    unchecked: bool = False

    def chosen(self, select: Sequence[str], ignore: Sequence[str]) -> Report:
        """Return the report with only some codes; each is given by its first letters or digits."""
        kept = (
            found
            for found in self.findings
            if (not select or found.code.startswith(tuple(select)))
            and not (ignore and found.code.startswith(tuple(ignore)))
        )
        return replace(self, findings=tuple(kept))

    def count(self, severity: Severity) -> int:
        """Return how many findings are of a severity."""
        return sum(found.severity is severity for found in self.findings)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 0: no finding that counts; 1: there are; 2: it could not be checked."""
        if self.unchecked:
            return 2
        bad = self.count(Severity.ERROR) + (self.count(Severity.WARNING) if strict else 0)
        return 1 if bad else 0

    def as_json(self, *, strict: bool = False) -> dict[str, Any]:
        """Return the documented form (docs/howto/check.md)."""
        return {
            "version": VERSION,
            "target": self.target,
            "exit_code": self.exit_code(strict=strict),
            "counts": {str(severity): self.count(severity) for severity in Severity},
            "systems": {
                name: {
                    "components": extent.components,
                    "connections": extent.connections,
                    "loops": extent.loops,
                    "errors": extent.errors,
                }
                for name, extent in self.systems.items()
            },
            "findings": [{**found.as_json(), "where": found.place} for found in self.findings],
        }


def merged(found: Iterable[tuple[str, Diagnostic]], cases: Sequence[str]) -> list[Diagnostic]:
    """Join what is found in several cases alike, and put everything in order."""
    users: dict[Diagnostic, list[str]] = {}
    for case, diagnostic in found:
        users.setdefault(diagnostic, []).append(case)
    told = [_in_cases(diagnostic, names, cases) for diagnostic, names in users.items()]
    return sorted(told, key=_order)


def _in_cases(found: Diagnostic, names: Sequence[str], cases: Sequence[str]) -> Diagnostic:
    known = [name for name in cases if name in set(names)]
    if not known or len(cases) < 2 or len(known) == len(cases):
        return found
    which = ("case " if len(known) == 1 else "cases ") + ", ".join(known)
    return replace(found, place=f"{which}: {found.place}" if found.place else which)


def _order(found: Diagnostic) -> tuple[str, int, str, str, str]:
    return found.file, found.line or 0, found.code, found.place, found.message
