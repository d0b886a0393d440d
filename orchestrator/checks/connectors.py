"""Connectors and connections at every level: their ends, types and units; where signals go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.checks.context import CheckContext, finding, inside, of_error
from orchestrator.core.diagnostics import Diagnostic, UnitMismatchError, first_of
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system import (
    Causality,
    Connection,
    Connector,
    System,
    conversion_between,
    with_starts,
)
from orchestrator.core.system.checks import (
    endpoints,
    misfits,
    sources,
    unconnected,
    users_of_units,
)
from orchestrator.core.system.flatten import open_inputs
from orchestrator.core.system.levels import (
    SystemLevel,
    connector_at,
    parts_at_ends,
    parts_of,
)
from orchestrator.core.units.conversion import is_unit, other_spelling

_TABLE = "SSP 1.0.1, 5.3.2"
#: So many connectors are named.
_LISTED, _IDLE = 5, 8
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
        "The component exists, but has no connector of that name.",
        _TABLE,
    ),
    error(
        "CON103",
        "a connection has the wrong direction",
        "A connection leads from an output, or from an input of the surrounding system, to an"
        " input, or to an output of the surrounding system. A parameter of a system may feed"
        " parameters inside.",
        _TABLE,
    ),
    error(
        "CON104",
        "connected types differ",
        "Softdock does not convert between Real, Integer, Boolean, String and Binary, except that"
        " Boolean feeds Integer and Real, and Integer feeds Real. Change one side, or put a block"
        " between them.",
        _TABLE,
    ),
    error(
        "CON105",
        "connected shapes differ",
        "An array is connected with a scalar or with an array of another size.",
        "SSP 2.0, 4.5.3",
    ),
    error(
        "CON106",
        "connected units do not convert",
        "The units at the two ends have different dimensions, or one is not a unit. Declare the"
        " right unit, or suppress the conversion if the numbers are meant unconverted.",
        _TABLE,
    ),
    error(
        "CON107",
        "the signal cannot be interpolated this way",
        "Only Real signals are interpolated or extrapolated, and `slerp` is for quaternions.",
    ),
    error(
        "CON108",
        "an input has several sources",
        "An input takes one connection. Remove the others, or add the signals in a block.",
        _TABLE,
    ),
    warning(
        "CON110",
        "conversion between different dimensions is suppressed",
        "suppressUnitConversion hides that the units at the two ends do not convert: the numbers"
        " pass unchanged. If that is intended, one of the units is declared wrongly.",
        _TABLE,
    ),
    note(
        "CON111",
        "a conversion of units is suppressed",
        "The units differ and would convert, but suppressUnitConversion passes the numbers"
        " unchanged.",
        _TABLE,
    ),
    error(
        "CON120",
        "connected ports are in different frames",
        "The elements of a wrench or a twist mean different directions at the two ends. Put a"
        " component that rotates them in between, or declare both in the same frame. Power ports"
        " and ports of devices declare their frame.",
    ),
    note(
        "CON112",
        "only one side has a unit",
        "A connector without a unit takes any number unconverted, so Softdock cannot detect a"
        " wrong unit. Declare both units.",
        _TABLE,
    ),
    error(
        "CON109",
        "an input is not connected and has no value",
        "Connect the input, or set a value.",
    ),
    note(
        "CON113",
        "outputs that are not connected",
        "No connection leads from these outputs to a component or out of the system. They can"
        " still be recorded.",
    ),
    warning(
        "CON114",
        "a component without connections",
        "The component has inputs or outputs, but no connection; other components of the system"
        " have connections.",
    ),
    note(
        "CON115",
        "parts that do not exchange anything",
        "The system consists of parts without any connection between them. They could run"
        " separately.",
    ),
    error(
        "CON116",
        "connectors of systems do not lead to a source",
        "On its way through connectors of nested systems or signal dictionaries a signal has two"
        " sources, returns to itself, or has delays that cannot be added.",
        _TABLE,
    ),
    warning(
        "CON117",
        "a connector of a system leads nowhere",
        "An input or parameter of a system feeds nothing inside, or nothing inside feeds an"
        " output of the system.",
        "SSP 1.0.1, 5.2.1",
    ),
    error(
        "CON118",
        "an input of the system itself has no value",
        "To run on its own, the system needs a value for each of its inputs that feeds a component"
        " without a start value. Set a start value in a parameter binding, or connect the system"
        " within another one.",
        "SSP 1.0.1, 5.2.1",
    ),
    warning(
        "CON119",
        "an input of an FMU is not connected",
        "The input keeps the start value of the FMU, as SSP requires. A forgotten connection"
        " looks the same: connect the input, or set its value.",
        "SSP 1.0.1, 5.2.1",
    ),
    note(
        "CON121",
        "a unit is not written in the notation of Modelica and FMI",
        "Softdock reads the usual meaning, `Nm` as `N.m` and `m/s^2` as `m/s2`. Other tools may"
        " not know the unit or misread it. Write it as the message proposes.",
        "Modelica 3.6, 19.1",
    ),
    warning(
        "CON122",
        "a unit is not known",
        "Softdock cannot convert it: it refuses connections to another unit, and does not convert"
        " connections to the same text. Correct the spelling, or define the unit in the file.",
    ),
)


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the connections and connectors of every level, and how their units are written."""
    for level in context.levels():
        yield from _level(level, context.unknown)
        yield from _dead_ends(level)
        yield from _written(level.path, level.system.connectors.values())
        for name, component in level.system.components.items():
            yield from _written(level.at(name), component.connectors.values())


def _level(level: SystemLevel, unknown: frozenset[str]) -> Iterator[Diagnostic]:
    parts = parts_of(level.system)
    existing = []
    for line in level.system.connections:
        if _is_open(level, line, unknown):
            continue
        ends = parts_at_ends(line, parts, level.system)
        problems = list(endpoints(ends, line))
        for problem in problems:
            yield from of_error(problem, level.path)
        if problems:
            continue
        existing.append(line)
        for problem in misfits(ends, line):
            yield from of_error(problem, level.path)
        source = ends[line.source.component].connectors[line.source.connector]
        target = ends[line.target.component].connectors[line.target.connector]
        for code, text in _units(line, source, target):
            yield finding(code, inside(level.path, str(line)), text)
    for problem in sources(existing):
        yield from of_error(problem, level.path)


def _is_open(level: SystemLevel, line: Connection, unknown: frozenset[str]) -> bool:
    """Whether a connection ends at a component of which nothing is known."""
    return any(
        level.at(end.component) in unknown
        and end.connector not in level.system.components[end.component].connectors
        for end in line.ends
        if end.component
    )


def _units(line: Connection, source: Connector, target: Connector) -> Iterator[tuple[str, str]]:
    if (source.unit is None) != (target.unit is None):
        with_unit, without = line.ends if source.unit is not None else (line.target, line.source)
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


def check_signals(context: CheckContext) -> Iterator[Diagnostic]:
    """Check where signals go, and where none goes."""
    flat = context.flat
    if flat is None:
        return
    held, kept_starts = with_starts(flat)
    for problem in open_inputs(held):
        yield from of_error(problem)
    if context.is_known:
        cut_off = _cut_off(context)
        for start in kept_starts:
            if str(start.end) not in cut_off:
                text = f"input is not connected; it keeps {start}"
                yield finding("CON119", str(start.end), text)
        for problem in unconnected(held.components.values(), held.connections):
            if problem.diagnostics[0].key not in cut_off:
                yield from of_error(problem)
    yield from _unread(context, flat)
    yield from _islands(flat)


def _cut_off(context: CheckContext) -> set[str]:
    """Connectors that only connections with a missing end lead to, on any level."""
    edges: dict[str, list[str]] = {}
    cut_off: list[str] = []
    for level in context.levels():
        parts = parts_of(level.system)
        for line in level.system.connections:
            source, target = (level.end(end) for end in line.ends)
            edges.setdefault(source, []).append(target)
            if any(connector_at(parts, end) is None for end in line.ends):
                cut_off.append(target)
    for end in cut_off:  # grows while it is read
        cut_off += [neighbour for neighbour in edges.get(end, ()) if neighbour not in cut_off]
    return set(cut_off)


def _dead_ends(level: SystemLevel) -> Iterator[Diagnostic]:
    """Own connectors of a system that nothing inside is connected with."""
    system = level.system
    used = {end.connector for line in system.connections for end in line.ends if not end.component}
    if not (system.components or system.systems):
        return
    for name, connector in system.connectors.items():
        if name not in used:
            leads = connector.causality in {Causality.INPUT, Causality.PARAMETER}
            explanation = "it feeds nothing inside" if leads else "nothing inside feeds it"
            yield finding(
                "CON117", level.path_of(name), f"{connector.causality} of the system: {explanation}"
            )


def _unread(context: CheckContext, flat: System) -> Iterator[Diagnostic]:
    read = {
        (level.at(line.source.component), line.source.connector)
        for level in context.levels()
        for line in level.system.connections
    }
    joined = {end.component for c in flat.connections for end in c.ends}
    for name, component in flat.components.items():
        outputs = [c.name for c in component.of(Causality.OUTPUT)]
        idle = [output for output in outputs if (name, output) not in read]
        if idle and name in joined:
            noun, verb = ("output", "is") if len(idle) == 1 else ("outputs", "are")
            yield finding("CON113", name, f"{noun} {first_of(idle, _IDLE)} {verb} not connected")


def _islands(flat: System) -> Iterator[Diagnostic]:
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(flat.components)
    graph.add_edges_from(
        (line.source.component, line.target.component)
        for line in flat.connections
        if line.source.component and line.target.component
    )
    reached = {end.component for c in flat.connections for end in c.ends}
    parts = [sorted(part) for part in nx.connected_components(graph)]
    alone = [part[0] for part in parts if len(part) == 1 and part[0] not in reached]
    for name in alone if len(flat.components) > 1 else ():
        component = flat.components[name]
        if component.of(Causality.INPUT) or component.of(Causality.OUTPUT):
            yield finding("CON114", name, "the component has inputs or outputs, but no connection")
    islands = sorted(part for part in parts if part[0] not in alone)
    if len(islands) > 1:
        listing = "; ".join(", ".join(part[:3]) + (", .." if part[3:] else "") for part in islands)
        yield finding(
            "CON115",
            "",
            f"{len(islands)} groups of components have no connection to each other: {listing}",
        )


def _written(at: str, connectors: Iterable[Connector]) -> Iterator[Diagnostic]:
    for unit, names in users_of_units(connectors).items():
        users = first_of(names, _LISTED)
        if not is_unit(unit):
            yield finding("CON122", at, f"unit '{unit}' of {users} is not known")
        elif (text := other_spelling(unit)) is not None:
            yield finding("CON121", at, f"unit '{unit}' of {users} is read as '{text}'")
