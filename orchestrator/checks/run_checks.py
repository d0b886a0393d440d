"""All families of checks on one system, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from orchestrator.checks.compiled import compiled
from orchestrator.checks.context import CheckContext, Run
from orchestrator.checks.finding import finding, of_error
from orchestrator.checks.report import Extent
from orchestrator.checks.rules import (
    capabilities,
    connectors,
    enumerations,
    flow,
    fmus,
    loops,
    timing,
    units,
    values,
)
from orchestrator.checks.rules.sources import opened
from orchestrator.core.diagnostics import DescriptionError, Diagnostic
from orchestrator.core.system import System
from orchestrator.core.system.loops.closed_loops import MOST_LOOPS

#: After these nothing can be said of steps, loops and capabilities.
_BLOCKING = ("CON10", "CON116", "FMU101", "FMU102", "CAP103", "CAP106", "CAP108")
_NOT_BLOCKING = ("CON109",)
#: Why that is where nothing is wrong.
NOT_OPENED = "code was not opened (CAP112); softdock run opens it"


def check_declaration(system: System) -> tuple[CheckContext, list[Diagnostic]]:
    """Check what does not depend on how a system is run: its sources and connections."""
    completed, found, unknown = opened(system)
    flat, wrong = flattened(completed)
    context = CheckContext(completed, Run(), unknown, flat)
    found += wrong
    found += connectors.check(context)
    found += units.check(context)
    found += enumerations.check(context)
    found += flow.check_declared(context)
    return context, found


def check_case(context: CheckContext, *, sound: bool) -> tuple[list[Diagnostic], Extent]:
    """Check values, and what depends on how a system is run."""
    found = [*flow.check(context), *values.check(context), *fmus.check(context.components())]
    found += timing.check_run(context.run)
    count = None
    made = compiled(context) if sound else None
    if made is None:
        why = "mend the errors first, then check again"
        if sound and not context.is_known:
            why = NOT_OPENED
        if context.flat is not None and not context.flat.components:
            why = "the system has no components"
        found.append(finding("FIL102", "", why))
    else:
        found += loops.check(made)
        found += timing.check(made)
        found += capabilities.check(made)
        count = made.loop_count()
        if count >= MOST_LOOPS:
            text = f"more than {MOST_LOOPS} closed loops: the rest is not held to its delays"
            found.append(finding("LOO106", "", text))
    whole = context.system if context.flat is None else context.flat
    return found, Extent(len(whole.components), len(whole.connections), count)


def is_sound(found: Iterable[Diagnostic]) -> bool:
    """Whether nothing was found that leaves loops, steps and capabilities open."""
    return not any(
        each.code.startswith(_BLOCKING) and not each.code.startswith(_NOT_BLOCKING)
        for each in found
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
            for end in (line.source, line.target)
        )
    )
    return replace(flat, connections=tuple(there)), []
