"""Where signals go, and where none goes: inputs, outputs, parts that nothing reaches."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.context import CheckContext, SystemLevel, finding, of_error
from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system import Causality, System, with_starts
from orchestrator.core.system.checks import unconnected

_LISTED = 8
CODES: tuple[Code, ...] = (
    error(
        "CON109",
        "an input is not connected and has no value",
        "Nothing feeds the input and nothing says what it is held at. Connect it, or set a value.",
    ),
    note(
        "CON113",
        "outputs that nobody reads",
        "No connection leads from these outputs, neither to a component nor out of the system. They"
        " can be recorded all the same.",
    ),
    warning(
        "CON114",
        "a component that is connected to nothing",
        "The component has inputs or outputs, but no connection; the system has others that do.",
    ),
    note(
        "CON115",
        "parts that do not exchange anything",
        "The system falls into parts without any connection between them: they could be run alone.",
    ),
    error(
        "CON116",
        "connectors of systems do not lead to a source",
        "On its way through connectors of nested systems or signal dictionaries a signal has two"
        " sources, returns to itself, or its delays cannot be added.",
        "SSP 1.0.1, 5.3.2",
    ),
    warning(
        "CON117",
        "a connector of a system leads nowhere",
        "An input or parameter of a system feeds nothing inside, or nothing inside feeds its"
        " output.",
        "SSP 1.0.1, 5.2.1",
    ),
    warning(
        "CON118",
        "an input of the system itself has no value",
        "Run alone, the system needs a value for each of its own inputs. Set a start value in a"
        " parameter binding, or connect the system within another one.",
        "SSP 1.0.1, 5.2.1",
    ),
    warning(
        "CON119",
        "an input of an FMU is not connected",
        "It keeps the start value of the FMU, as SSP has it. A forgotten connection looks the same:"
        " connect it, or set the value that it is to keep.",
        "SSP 1.0.1, 5.2.1",
    ),
)


def check_declared(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the connectors of systems."""
    for level in context.levels():
        yield from _dead_ends(level)


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check where signals go."""
    yield from _own_inputs(context.system)
    flat = context.flat
    if flat is None:
        return
    if context.is_known:
        # What the system's own inputs lead to is told as CON118.
        held, kept = with_starts(flat, closed=False)
        for start in kept:
            text = f"input is not connected; it keeps {start}"
            yield finding("CON119", str(start.end), text)
        for problem in unconnected(held.components.values(), held.connections):
            yield from of_error(problem)
    yield from _unread(context, flat)
    yield from _islands(flat)


def _dead_ends(level: SystemLevel) -> Iterator[Diagnostic]:
    """Own connectors of a system that nothing inside is connected with."""
    system = level.system
    used = {
        end.connector
        for line in system.connections
        for end in (line.source, line.target)
        if not end.component
    }
    if not (system.components or system.systems):
        return
    for name, connector in system.connectors.items():
        if name not in used:
            at = f"{level.path}.{name}" if level.path else name
            leads = connector.causality in {Causality.INPUT, Causality.PARAMETER}
            what = "it feeds nothing inside" if leads else "nothing inside feeds it"
            yield finding("CON117", at, f"{connector.causality} of the system: {what}")


def _own_inputs(system: System) -> Iterator[Diagnostic]:
    used = {line.source.connector for line in system.connections if not line.source.component}
    for name, connector in system.connectors.items():
        has_value = name in system.values or connector.start is not None
        if connector.causality is Causality.INPUT and name in used and not has_value:
            yield finding("CON118", name, "input of the system without a value; set one")


def _unread(context: CheckContext, flat: System) -> Iterator[Diagnostic]:
    read = {
        (level.at(line.source.component), line.source.connector)
        for level in context.levels()
        for line in level.system.connections
    }
    joined = {end.component for c in flat.connections for end in (c.source, c.target)}
    for name, component in flat.components.items():
        outputs = [c.name for c in component.of(Causality.OUTPUT)]
        idle = [output for output in outputs if (name, output) not in read]
        if idle and name in joined:
            more = f" and {len(idle) - _LISTED} more" if len(idle) > _LISTED else ""
            yield finding("CON113", name, f"nobody reads {', '.join(idle[:_LISTED])}{more}")


def _islands(flat: System) -> Iterator[Diagnostic]:
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(flat.components)
    graph.add_edges_from(
        (line.source.component, line.target.component)
        for line in flat.connections
        if line.source.component and line.target.component
    )
    reached = {end.component for c in flat.connections for end in (c.source, c.target)}
    parts = [sorted(part) for part in nx.connected_components(graph)]
    alone = [part[0] for part in parts if len(part) == 1 and part[0] not in reached]
    for name in alone if len(flat.components) > 1 else ():
        component = flat.components[name]
        if component.of(Causality.INPUT) or component.of(Causality.OUTPUT):
            yield finding("CON114", name, "has connectors, but no connection")
    islands = sorted(part for part in parts if part[0] not in alone)
    if len(islands) > 1:
        shown = "; ".join(", ".join(part[:3]) + (", .." if part[3:] else "") for part in islands)
        yield finding("CON115", "", f"{len(islands)} parts exchange nothing: {shown}")
