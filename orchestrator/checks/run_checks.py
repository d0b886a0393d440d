"""All families of checks on one system, in the order in which they need each other; a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from orchestrator.checks import components, connectors, fmus, loops, timing, values
from orchestrator.checks.context import CheckContext, IntendedRun, compiled, finding, of_error
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import System
from orchestrator.core.system.checks import meant_ends
from orchestrator.core.system.loops import MOST_LOOPS

#: Of the documented form of the JSON; grows when a field changes its meaning.
VERSION = 1


class Extent(Struct):
    """What a system is made of, and how many errors it has.

    components, connections, loops: Numbers; ``None`` where loops could not be looked for.
    errors: Of the file and of the case.
    """

    components: int
    connections: int
    loops: int | None
    errors: int = 0


class CheckReport(Struct):
    """What a check found.

    target: As the user gave it.
    findings: Errors, then warnings, then notes; each in the order of file and line.
    systems: By name of the case, or of the system.
    unchecked: Whether the target could not be checked at all.
    """

    target: str
    findings: tuple[Diagnostic, ...]
    systems: Mapping[str, Extent] = field(default_factory=dict)
    unchecked: bool = False

    def selected(self, select: Sequence[str], ignore: Sequence[str]) -> CheckReport:
        """Return the report with only some codes; each is given by its first letters or digits."""
        findings = (
            diagnostic
            for diagnostic in self.findings
            if (not select or diagnostic.code.startswith(tuple(select)))
            and not (ignore and diagnostic.code.startswith(tuple(ignore)))
        )
        return replace(self, findings=tuple(findings))

    def count(self, severity: Severity) -> int:
        """Return how many findings are of a severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.findings)

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
            "systems": {name: asdict(extent) for name, extent in self.systems.items()},
            "findings": [
                {**diagnostic.as_json(), "where": diagnostic.place} for diagnostic in self.findings
            ],
        }


def merged(findings: Iterable[tuple[str, Diagnostic]], cases: Sequence[str]) -> list[Diagnostic]:
    """Join what is found in several cases alike, and put everything in order."""
    users: dict[Diagnostic, list[str]] = {}
    for case, diagnostic in _causes(list(findings)):
        users.setdefault(diagnostic, []).append(case)
    merged_findings = [_in_cases(diagnostic, names, cases) for diagnostic, names in users.items()]
    return sorted(merged_findings, key=_order)


#: Findings about connectors that a wrong connection leaves alone.
_LEFT_ALONE = {"CON109", "CON117", "CON118", "CON119"}
#: Findings about components without connections, which one that cannot be opened leaves alone.
_ISLAND = "CON114"
_WRONG_CONNECTION = "CON10"
_UNOPENED = ("FMU101", "FMU102", "CAP103", "CAP106", "CAP108")


def _causes(findings: Sequence[tuple[str, Diagnostic]]) -> Iterator[tuple[str, Diagnostic]]:
    """Leave out what merely follows from a wrong connection or from a source that is missing."""
    meant = {end for _, diagnostic in findings for end in meant_ends(diagnostic)}
    unopened = any(diagnostic.code in _UNOPENED for _, diagnostic in findings)
    named_components = {
        part for _, diagnostic in findings for part in _named_components(diagnostic)
    }
    for case, diagnostic in findings:
        follows = diagnostic.code in _LEFT_ALONE and diagnostic.key in meant
        is_island = diagnostic.code == _ISLAND and (
            unopened or diagnostic.place in named_components
        )
        if not follows and not is_island:
            yield case, diagnostic


def _named_components(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the components that a wrong connection names."""
    if diagnostic.code.startswith(_WRONG_CONNECTION):
        for end in diagnostic.key.split(" -> "):
            yield end.rpartition(".")[0]


def _in_cases(diagnostic: Diagnostic, names: Sequence[str], cases: Sequence[str]) -> Diagnostic:
    affected = [name for name in cases if name in set(names)]
    if not affected or len(cases) < 2 or len(affected) == len(cases):
        return diagnostic
    prefix = ("case " if len(affected) == 1 else "cases ") + ", ".join(affected)
    return replace(
        diagnostic, place=f"{prefix}: {diagnostic.place}" if diagnostic.place else prefix
    )


_SEVERITIES = list(Severity)


def _order(diagnostic: Diagnostic) -> tuple[int, str, int, str, str, str]:
    severity = _SEVERITIES.index(diagnostic.severity)
    return (
        severity,
        diagnostic.file,
        diagnostic.line or 0,
        diagnostic.code,
        diagnostic.place,
        diagnostic.message,
    )


#: After these nothing can be said of steps, loops and capabilities.
_BLOCKING = ("CON10", "CON116", "FMU101", "FMU102", "CAP103", "CAP106", "CAP108")
_NOT_BLOCKING = ("CON109",)
#: Why that is where nothing is wrong.
NOT_OPENED = "code was not opened (CAP112); softdock run opens it"


def check_declaration(system: System) -> tuple[CheckContext, list[Diagnostic]]:
    """Check what does not depend on how a system is run: its sources and connections."""
    completed, findings, unknown = components.opened(system)
    flat, problems = flattened(completed)
    context = CheckContext(completed, IntendedRun(), unknown, flat)
    findings += problems
    findings += connectors.check(context)
    findings += values.check_tables(context)
    return context, findings


def check_case(context: CheckContext, *, is_sound_system: bool) -> tuple[list[Diagnostic], Extent]:
    """Check values, and what depends on how a system is run."""
    findings = [*connectors.check_signals(context), *values.check(context)]
    findings += [*fmus.check(context.components()), *timing.check_run(context.run)]
    count = None
    compilation = compiled(context) if is_sound_system else None
    if compilation is None:
        reason = "correct the errors first, then check again"
        if is_sound_system and not context.is_known:
            reason = NOT_OPENED
        if context.flat is not None and not context.flat.components:
            reason = "the system has no components"
        findings.append(finding("FIL102", "", reason))
    else:
        findings += [
            *loops.check(compilation),
            *timing.check(compilation),
            *components.check(compilation),
        ]
        count = compilation.loop_count()
        if count >= MOST_LOOPS:
            text = f"more than {MOST_LOOPS} closed loops: the rest is not held to its delays"
            findings.append(finding("LOO106", "", text))
    system = context.system if context.flat is None else context.flat
    return findings, Extent(len(system.components), len(system.connections), count)


def is_sound(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether nothing was found that leaves loops, steps and capabilities open."""
    return not any(
        diagnostic.code.startswith(_BLOCKING) and not diagnostic.code.startswith(_NOT_BLOCKING)
        for diagnostic in diagnostics
    )


def flattened(system: System) -> tuple[System | None, list[Diagnostic]]:
    """Make a system flat, without connections to what is not there."""
    try:
        flat = system.flat()
    except DescriptionError as error:
        return None, list(of_error(error, code="CON116"))
    parts = {"": flat.inside, **flat.components}
    there = (
        line
        for line in flat.connections
        if all(
            end.component in parts and end.connector in parts[end.component].connectors
            for end in line.ends
        )
    )
    return replace(flat, connections=tuple(there)), []
