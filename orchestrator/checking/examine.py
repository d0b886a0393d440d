"""All families of checks on one system, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from orchestrator.checking import (
    capabilities,
    connectors,
    enumerations,
    flow,
    fmus,
    loops,
    timing,
    values,
)
from orchestrator.checking.compiled import compiled
from orchestrator.checking.finding import Finding
from orchestrator.checking.report import Extent
from orchestrator.checking.sources import opened
from orchestrator.checking.subject import Run, Subject
from orchestrator.errors import DescriptionError
from orchestrator.system import System
from orchestrator.system.loops import MOST_LOOPS

#: After these nothing can be said of steps, loops and capabilities.
_BLOCKING = ("CON10", "CON116", "FMU101", "FMU102", "CAP103", "CAP106", "CAP108")
_NOT_BLOCKING = ("CON109",)


def examine_file(system: System) -> tuple[Subject, list[Finding]]:
    """Check what does not depend on how a system is run: its sources and connections.

    Returns
    -------
    Subject
        The system with its sources opened.
    list of Finding
        What is wrong with it.
    """
    completed, found, unknown = opened(system)
    flat, wrong = flattened(completed)
    subject = Subject(completed, Run(), unknown, flat)
    found += wrong
    found += connectors.check(subject)
    found += enumerations.check(subject)
    found += flow.check_declared(subject)
    return subject, found


def examine_run(subject: Subject, *, sound: bool) -> tuple[list[Finding], Extent]:
    """Check values, and what depends on how a system is run.

    Parameters
    ----------
    subject
        With its run.
    sound
        Whether its connections hold, so that loops can be told.
    """
    found = [*flow.check(subject), *values.check(subject), *fmus.check(subject.components())]
    found += timing.check_run(subject.run)
    count = None
    made = compiled(subject) if sound else None
    if made is None:
        why = "mend the errors first, then check again"
        if subject.flat is not None and not subject.flat.components:
            why = "the system has no components"
        found.append(Finding("FIL102", "", why))
    else:
        found += loops.check(made)
        found += timing.check(made)
        found += capabilities.check(made)
        count = made.loop_count()
        if count >= MOST_LOOPS:
            text = f"more than {MOST_LOOPS} closed loops: the rest is not held to its delays"
            found.append(Finding("LOO106", "", text))
    whole = subject.system if subject.flat is None else subject.flat
    return found, Extent(len(whole.components), len(whole.connections), count)


def is_sound(found: Iterable[Finding]) -> bool:
    """Whether nothing was found that leaves loops, steps and capabilities open."""
    return not any(
        finding.code.startswith(_BLOCKING) and not finding.code.startswith(_NOT_BLOCKING)
        for finding in found
    )


def flattened(system: System) -> tuple[System | None, list[Finding]]:
    """Make a system flat, without connections to what is not there."""
    try:
        flat = system.flat()
    except DescriptionError as error:
        return None, [Finding("CON116", "", text) for text in error.problems]
    parts = {"": flat.inside, **flat.components}
    there = (
        line
        for line in flat.connections
        if all(
            end.component in parts and end.connector in parts[end.component].connectors
            for end in (line.source, line.target)
        )
    )
    return replace(flat, connections=tuple(there)), []
