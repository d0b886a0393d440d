"""Connections at every level of a system: their ends, types, shapes, units, sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.checks.context import CheckContext, SystemLevel, finding, inside, of_error
from orchestrator.core.diagnostics import Diagnostic, UnitMismatchError
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    Source,
    SourceKind,
    System,
    conversion_between,
)
from orchestrator.core.system.checks import compatible, endpoints, sources
from orchestrator.core.system.flatten import seen_from_inside

_TABLE = "SSP 1.0.1, 5.3.2"
CODES: tuple[Code, ...] = (
    error(
        "CON101",
        "an end of a connection names no element",
        "The component or nested system at an end of a connection does not exist at that level.",
        _TABLE,
    ),
    error(
        "CON102",
        "an end of a connection names no connector",
        "The component is there, but has no connector of that name.",
        _TABLE,
    ),
    error(
        "CON103",
        "a connection runs the wrong way",
        "A connection leads from an output, or from an input of the surrounding system, to an"
        " input, or to an output of the surrounding system. A parameter of a system may feed"
        " parameters inside.",
        _TABLE,
    ),
    error(
        "CON104",
        "connected types differ",
        "Real, Integer, Boolean, String and Binary are not converted into each other. Change one"
        " side, or put a block between them.",
        "SSP 1.0.1, 5.3.2",
    ),
    error(
        "CON105",
        "connected shapes differ",
        "An array is connected with a scalar or with an array of other extents.",
        "SSP 2.0, 4.5.3",
    ),
    error(
        "CON106",
        "connected units do not convert",
        "The units at the two ends are of different dimensions, or one is no unit. Declare the"
        " right unit, or suppress the conversion if the figures are meant as they are.",
        "SSP 1.0.1, 5.3.2",
    ),
    error(
        "CON107",
        "the signal cannot be interpolated so",
        "Only Real signals are interpolated or extrapolated, and `slerp` is for quaternions.",
    ),
    error(
        "CON108",
        "an input has several sources",
        "An input takes one connection. Remove the others, or add the signals in a block.",
        "SSP 1.0.1, 5.3.2",
    ),
    warning(
        "CON110",
        "conversion between different dimensions is suppressed",
        "suppressUnitConversion hides that the units at the two ends cannot be converted: the"
        " figures are passed on as they are. Where that is meant, a unit is declared wrongly.",
        "SSP 1.0.1, 5.3.2",
    ),
    note(
        "CON111",
        "a conversion of units is suppressed",
        "The units differ and would convert, but suppressUnitConversion passes the figures on as"
        " they are.",
        "SSP 1.0.1, 5.3.2",
    ),
    error(
        "CON120",
        "connected ports are in different frames",
        "The elements of a wrench or a twist mean different directions at the two ends. Put a"
        " component between them that turns them, or declare both in the same frame. Power ports"
        " say their frame, and so do the ports of devices.",
    ),
    note(
        "CON112",
        "only one side has a unit",
        "A unit that is not declared converts to anything unchanged, so that a wrong unit is not"
        " noticed. Declare both.",
        "SSP 1.0.1, 5.3.2",
    ),
)

#: Causality of what gives a value that does not change.
_GIVES = {Causality.PARAMETER, Causality.CALCULATED_PARAMETER, Causality.CONSTANT}


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the connections of every level."""
    for level in context.levels():
        yield from _level(level, context.unknown)


def _level(level: SystemLevel, unknown: frozenset[str]) -> Iterator[Diagnostic]:
    parts = _parts(level)
    existing = []
    for line in level.system.connections:
        if _is_open(level, line, unknown):
            continue
        seen = _at_ends(line, parts, level)
        wrong = list(endpoints(seen, line))
        for problem in wrong:
            yield from of_error(problem, level.path)
        if wrong:
            continue
        existing.append(line)
        source = seen[line.source.component].connectors[line.source.connector]
        target = seen[line.target.component].connectors[line.target.connector]
        for problem in compatible(line, source, target):
            yield from of_error(problem, level.path)
        at = inside(level.path, str(line))
        for code, text in _units(line, source, target):
            yield finding(code, at, text)
        frames = [_frame(level.system, end) for end in (line.source, line.target)]
        if None not in frames and frames[0] != frames[1]:
            text = f"from frame '{frames[0]}' to frame '{frames[1]}'; expected the same frame"
            yield finding("CON120", at, text)
    for problem in sources(existing):
        yield from of_error(problem, level.path)


def _parts(level: SystemLevel) -> dict[str, Component]:
    """What connections of a level can end at, as components."""
    system = level.system
    parts = dict(system.components)
    for name, inner in system.systems.items():
        parts[name] = _stand_in(name, inner.connectors)
    for name, bus in system.buses.items():
        parts[name] = _stand_in(name, bus.connectors)
    if system.connectors:
        parts[""] = _stand_in("system", seen_from_inside(system.connectors))
    return parts


def _stand_in(name: str, connectors: Mapping[str, Connector]) -> Component:
    return Component(name, Source(SourceKind.SYSTEM, name), connectors)


def _is_open(level: SystemLevel, line: Connection, unknown: frozenset[str]) -> bool:
    """Whether a connection ends at a component of which nothing is known."""
    return any(
        level.at(end.component) in unknown
        and end.connector not in level.system.components[end.component].connectors
        for end in (line.source, line.target)
        if end.component
    )


def _at_ends(
    line: Connection, parts: Mapping[str, Component], level: SystemLevel
) -> Mapping[str, Component]:
    """Return the parts at both ends, turned where SSP connects more than signals.

    Entries of a bus may be at both ends; what gives a fixed value may feed inputs and parameters.
    """
    source, target = _connector(parts, line.source), _connector(parts, line.target)
    if source is None or target is None:
        return parts
    seen = {end.component: parts[end.component] for end in (line.source, line.target)}
    gives = source.causality in _GIVES
    buses = level.system.buses
    if gives or line.source.component in buses:
        seen = _turned(seen, line.source, Causality.OUTPUT)
    if (gives and target.causality is Causality.PARAMETER) or line.target.component in buses:
        seen = _turned(seen, line.target, Causality.INPUT)
    return seen


def _turned(
    parts: Mapping[str, Component], end: Endpoint, causality: Causality
) -> dict[str, Component]:
    part = parts[end.component]
    connector = replace(part.connectors[end.connector], causality=causality)
    changed = replace(part, connectors={**part.connectors, end.connector: connector})
    return {**parts, end.component: changed}


def _connector(parts: Mapping[str, Component], end: Endpoint) -> Connector | None:
    part = parts.get(end.component)
    return None if part is None else part.connectors.get(end.connector)


def _frame(system: System, end: Endpoint) -> str | None:
    """Return the frame that a connector or its power port is given in, if it says one."""
    part = system.components.get(end.component)
    if part is not None and end.connector in part.connectors:
        return part.frame_of(end.connector)
    owner = system.systems.get(end.component) if end.component else system
    ports = owner.power_ports.values() if owner is not None else ()
    return next((port.frame for port in ports if end.connector in port.connectors), None)


def _units(line: Connection, source: Connector, target: Connector) -> Iterator[tuple[str, str]]:
    if (source.unit is None) != (target.unit is None):
        with_unit, without = (
            (line.source, line.target) if source.unit is not None else (line.target, line.source)
        )
        unit = source.unit or target.unit
        text = f"'{with_unit}' is in {unit}, '{without}' has no unit; declare both"
        yield "CON112", text
    if not line.suppress_unit_conversion or source.unit == target.unit:
        return
    try:
        factor, offset = conversion_between(source, target)
    except UnitMismatchError as error:
        text = f"the conversion is suppressed: {error}; the figures are passed on as they are"
        yield "CON110", text
        return
    if (factor, offset) != (1.0, 0.0):
        yield (
            "CON111",
            f"'{source.unit}' is passed on as '{target.unit}' unchanged; it would be multiplied by"
            f" {factor:g}" + (f" and {offset:+g} added" if offset else ""),
        )
