"""What an algorithm asks of the components, against what they can."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from orchestrator.checks.context import Compiled, finding, of_error
from orchestrator.core.diagnostics import DescriptionError, Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, note
from orchestrator.core.master import missing_capabilities
from orchestrator.core.simunits import description_of, isolate
from orchestrator.core.system import Component, SourceKind, System

CODES: tuple[Code, ...] = (
    error(
        "CAP101",
        "a step cannot be done again",
        "The algorithm repeats steps (it iterates a loop, or controls its step), and the component"
        " cannot go back to a saved state. The message names the ways out.",
        "FMI 2.0.4, 4.3.1",
    ),
    error(
        "CAP102",
        "the step cannot vary",
        "The algorithm chooses the length of its steps, and the component takes only equal ones.",
        "FMI 2.0.4, 4.3.1",
    ),
    error(
        "CAP104",
        "the algorithm or one of its options is unknown or does not fit",
        "There is no algorithm of that name (entry points `softdock.algorithms`), it has no such"
        " option, or the option asks for what the components do not give, such as directional"
        " derivatives.",
    ),
    error(
        "CAP105",
        "an input cannot be predicted with this algorithm",
        "A connection extrapolates its signal over the step, and the algorithm has a way of its own"
        " to bring inputs up to time, or the component a rate of its own.",
    ),
    error(
        "CAP114",
        "an input cannot be compensated with this algorithm",
        "A connection has a compensation, which makes up in a step for what the one before did, and"
        " the algorithm repeats steps, varies them, or has a way of its own to bring inputs up to"
        " time; or a component has a rate of its own, its signal changes at events only, or it"
        " gives no directional derivatives to a corrector.",
    ),
    error(
        "CAP109",
        "the system cannot be run so",
        "What the master refuses when it compiles the system for its algorithm: signals that cannot"
        " be delayed, clocks that never tick, histories that do not fit into memory.",
    ),
    error(
        "CAP107",
        "options of processes that contradict each other",
        "Options of a process are given for a component that has none, or several components that"
        " share an FMU which can be instantiated only once per process shall run in one.",
    ),
    note(
        "CAP110",
        "components that get processes of their own",
        "Their FMU can be instantiated only once per process, and they are several.",
        "FMI 2.0.4, 4.3.1",
    ),
    note(
        "CAP111",
        "an FMU with event mode is run without it",
        "Only the engine itself, in its own process, leads FMUs through event mode together.",
        "FMI 3.0, 4.2",
    ),
)


def check(compiled: Compiled) -> Iterator[Diagnostic]:
    """Check what the algorithm asks of the components."""
    for problem in compiled.refused:
        if problem.code != "LOO102":  # told with the loops
            yield problem
    components = compiled.system.components
    if compiled.schedule is not None:
        abilities = [
            description_of(components[member.name], runnable=False).capabilities
            for member in compiled.schedule.members
        ]
        for refusal in missing_capabilities(compiled.schedule, abilities):
            yield from of_error(refusal)
    yield from _processes(compiled.system)
    for name, component in components.items():
        yield from _events(name, component)


def _processes(system: System) -> Iterator[Diagnostic]:
    try:
        isolated, notes = isolate(system)
    except DescriptionError as error:
        yield from of_error(error, code="CAP107")
        return
    by_source: dict[str, list[str]] = defaultdict(list)
    for name, component in isolated.components.items():
        if component.options != system.components[name].options:
            by_source[component.source.location].append(name)
    for names, text in zip(by_source.values(), notes, strict=True):
        yield finding("CAP110", names[0], text)


def _events(name: str, component: Component) -> Iterator[Diagnostic]:
    if component.source.kind is not SourceKind.FMU or component.shares_events:
        return
    can = description_of(component, runnable=False).capabilities
    if can.has_event_mode:
        how = "in a process of its own"
        if component.options.isolation != "process":
            how = f"by the back-end '{component.backend}'"
        yield finding("CAP111", name, f"it has an event mode, which is not used: it runs {how}")
