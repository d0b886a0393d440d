"""Tables of values on connections, and enumerations that meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.checks.context import CheckContext, SystemLevel, finding, inside, items_of
from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, warning
from orchestrator.core.system import Connector, DataType, Endpoint, MappingTransformation

_TABLES = "SSP 1.0.1, 4.5.2"
CODES: tuple[Code, ...] = (
    warning(
        "ENU102",
        "a table misses values of its source",
        "The source can have values that the table of the connection does not map. One that comes"
        " during a run ends it with an error.",
        _TABLES,
    ),
    error(
        "ENU103",
        "a table leads to values that the target does not have",
        "The target's enumeration has no item of that number, or the target is Boolean and the"
        " number is neither 0 nor 1.",
        _TABLES,
    ),
    warning(
        "ENU104",
        "enumerations that differ are connected",
        "The two ends have enumerations with other items, and no table maps one to the other: the"
        " number is passed on and may mean something else.",
        "SSP 1.0.1, 4.4.1",
    ),
    error(
        "ENU105",
        "a table for a signal that takes none",
        "Tables of values are for Boolean, Integer and enumeration connectors.",
        _TABLES,
    ),
    warning(
        "ENU106",
        "a table has entries that never match",
        "The source cannot have these values: it is Boolean, or its enumeration has no such item.",
        _TABLES,
    ),
)

_TRUTH = {"false": 0, "true": 1}


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the tables and enumerations of every level."""
    for level in context.levels():
        for line in level.system.connections:
            source, target = _values(level, line.source), _values(level, line.target)
            at = inside(level.path, str(line))
            if isinstance(line.transformation, MappingTransformation):
                yield from _table(at, line.transformation, source, target)
            elif source and target and source != target and _TRUTH not in (source, target):
                text = f"the source has {_words(source)}, the target {_words(target)}; map them"
                yield finding("ENU104", at, text)


def _table(
    at: str, table: MappingTransformation, source: Mapping[str, int], target: Mapping[str, int]
) -> Iterator[Diagnostic]:
    mapped = dict(table.entries)
    missed = {name: value for name, value in source.items() if value not in mapped}
    if missed:
        yield finding("ENU102", at, f"the table has no entry for {_words(missed)}; add it")
    idle = [value for value in mapped if source and value not in source.values()]
    if idle:
        text = f"entries that never match: {_numbers(idle)}; the source has {_words(source)}"
        yield finding("ENU106", at, text)
    wrong = sorted({v for v in mapped.values() if target and v not in target.values()})
    if wrong:
        text = f"the table leads to {_numbers(wrong)}; the target has {_words(target)}"
        yield finding("ENU103", at, text)


def _values(level: SystemLevel, end: Endpoint) -> Mapping[str, int]:
    """Values of a connector by name; empty where any number is one."""
    system = level.system
    if end.component in system.components:
        component = system.components[end.component]
        connector = component.connectors.get(end.connector)
        items = items_of(component, end.connector)
    else:
        connector = _of_system(level, end)
        items = connector.enumeration.items if connector and connector.enumeration else {}
    if not items and connector is not None and connector.type is DataType.BOOLEAN:
        return _TRUTH
    return items


def _of_system(level: SystemLevel, end: Endpoint) -> Connector | None:
    system = level.system
    if not end.component:
        return system.connectors.get(end.connector)
    inner = system.systems.get(end.component) or system.buses.get(end.component)
    return None if inner is None else inner.connectors.get(end.connector)


def _words(items: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({value})" for name, value in items.items())


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values))
