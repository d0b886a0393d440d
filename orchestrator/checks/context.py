"""What is checked: a system with its opened sources, as its algorithm would run it; findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity, SoftdockError
from orchestrator.core.master import (
    DEFAULT_ALGORITHM,
    Plan,
    Schedule,
    compile_schedule,
    plan_of,
    refusals,
)
from orchestrator.core.simunits import open_description
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.ssp.common.names import group
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import (
    Component,
    SourceKind,
    System,
    closed_loops,
)
from orchestrator.core.system.levels import SystemLevel, levels_of


class IntendedRun(Struct):
    """How a system is to be run; times in nanoseconds, ``None`` where nothing says them."""

    algorithm: str = DEFAULT_ALGORITHM
    options: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    mode: DelayMode = DEFAULT_DELAY
    start_ns: int = 0
    stop_ns: int | None = None
    step_ns: int | None = None


class CheckContext(Struct):
    """A system under check.

    system: As declared, with the connectors of all sources that could be opened.
    run: How it is to be run.
    unknown: Paths of components whose connectors are not known: the source could not be opened.
    flat: Without nested systems and connectors of its own; ``None`` if that cannot be made.
    """

    system: System
    run: IntendedRun
    unknown: frozenset[str] = frozenset()
    flat: System | None = None

    def levels(self) -> Iterator[SystemLevel]:
        """Return the system and all nested ones, from the outside to the inside."""
        return levels_of(self.system)

    def components(self) -> Iterator[tuple[str, Component]]:
        """Return all components by path."""
        for level in self.levels():
            for name, component in level.system.components.items():
                yield level.at(name), component

    @property
    def is_known(self) -> bool:
        """Whether all sources could be opened."""
        return not self.unknown


def finding(
    code: str, location: str, message: str, file: str = "", line: int | None = None
) -> Diagnostic:
    """Make a diagnostic; severity and clause are those of its code in the catalogue."""
    return Diagnostic(code, Severity.ERROR, message, file, line, location, key=location)


def of_error(error: SoftdockError, path: str = "", code: str = "") -> Iterator[Diagnostic]:
    """Turn an error of a system at a path into diagnostics; the place is not said twice."""
    for diagnostic in error.diagnostics:
        location = inside(path, diagnostic.key)
        yield replace(diagnostic, code=code or diagnostic.code, place=location, key=location)


def inside(path: str, at: str) -> str:
    """Say where something is, seen from the top: ``inside("arm", "a.y -> b.u")``."""
    if not path:
        return at
    ends = (f"{path}/{end}" if "." in end else f"{path}.{end}" for end in at.split(" -> "))
    if " -> " in at or "." in at:
        return " -> ".join(ends)
    return f"{path}/{at}" if at else path


def _described(component: Component) -> ModelDescription | None:
    """Return what an FMU says of itself; ``None`` for a block or an FMU that cannot be read."""
    if component.source.kind is not SourceKind.FMU:
        return None
    try:
        return open_description(Path(component.source.location))
    except SoftdockError:
        return None  # told with the sources


def suggested_step(component: Component) -> int | None:
    """Return the step of an FMU's default experiment in nanoseconds, if it has one."""
    described = _described(component)
    seconds = getattr(described and described.defaultExperiment, "stepSize", None)
    return None if seconds is None else round(float(seconds) * 1e9)


def first_inside(parent: etree._Element, name: str) -> etree._Element | None:
    """Return the first element of a group within an element of SSP."""
    return next(iter(group(parent, name)), None)


class Compiled(Struct):
    """What comes out of planning and compiling.

    system: Flat, without connectors of its own.
    run: How it is to be run.
    plan: ``None`` where it cannot be made, or nothing is iterated.
    schedule: ``None`` where it cannot be made, or there is no step to make one for.
    refused: Why not.
    """

    system: System
    run: IntendedRun
    plan: Plan | None
    schedule: Schedule | None
    refused: tuple[Diagnostic, ...] = ()

    def loop_count(self) -> int:
        """Return the number of closed loops; rings along lines that act alike are one."""
        if self.schedule is None:
            return len(closed_loops(self.system))
        return sum(len(loop.loops) for loop in self.schedule.loop_delays)


def compiled(context: CheckContext) -> Compiled | None:
    """Plan and compile a system; ``None`` if it is not sound enough for that."""
    if context.flat is None or not context.is_known or not context.flat.components:
        return None
    lines = context.flat.connections
    between = tuple(c for c in lines if c.source.component and c.target.component)
    system = replace(context.flat, connectors={}, values={}, connections=between)
    run = context.run
    refusal = None
    if run.step_ns:
        try:
            schedule = compile_schedule(
                system, run.algorithm, run.step_ns, run.mode, (), run.options, run.rates
            )
        except DescriptionError as error:
            refusal = error
        else:
            return Compiled(system, run, _plan(system, run) if schedule.loops else None, schedule)
    try:
        plan = _plan(system, run)
    except DescriptionError as error:
        return Compiled(system, run, None, None, tuple(of_error(error, code="CAP104")))
    refused = [
        diagnostic
        for error in refusals(system, run.algorithm, plan, run.rates)
        for diagnostic in of_error(error)
    ]
    if refusal is not None and not refused:
        refused = list(of_error(refusal, code="CAP109"))
    return Compiled(system, run, plan, None, tuple(refused))


def _plan(system: System, run: IntendedRun) -> Plan:
    return plan_of(run.algorithm, system, run.options)
