"""Units: how they are written, and what FMUs define them to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator.checks.context import CheckContext, finding
from orchestrator.core.diagnostics import Diagnostic, SoftdockError
from orchestrator.core.diagnostics.errors import Code, note, warning
from orchestrator.core.simunits import open_description
from orchestrator.core.simunits.fmi.fmu_variable import units_of
from orchestrator.core.system import Connector
from orchestrator.core.system.units import base_said, other_spelling

CODES: tuple[Code, ...] = (
    note(
        "CON121",
        "a unit is not written as Modelica and FMI have it",
        "It is read as an engineer means it, `Nm` as `N.m` and `m/s^2` as `m/s2`; other tools may"
        " not know it, or take it for something else. Write it as told.",
        "Modelica 3.6, 19.1",
    ),
    warning(
        "FMU121",
        "a unit is defined otherwise than its name says",
        "The FMU defines a unit by SI base units, and means another one than its name. The"
        " definition is used in conversions: one of the two is wrong.",
        "FMI 2.0.4, 2.2.2",
    ),
)

_LISTED = 5


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check how the units of all connectors are written, once for each component and unit."""
    for level in context.levels():
        yield from _written(level.path, level.system.connectors.values())
        for name, component in level.system.components.items():
            yield from _written(level.at(name), component.connectors.values())


def _written(at: str, connectors: Iterable[Connector]) -> Iterator[Diagnostic]:
    users: dict[str, list[str]] = {}
    for connector in connectors:
        if connector.unit is not None and connector.unit_definition is None:
            users.setdefault(connector.unit, []).append(connector.name)
    for unit, names in users.items():
        if (text := other_spelling(unit)) is None:
            continue
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        shown = ", ".join(f"'{name}'" for name in names[:_LISTED])
        yield finding("CON121", at, f"unit '{unit}' of {shown}{more} is read as '{text}'")


def check_definitions(path: Path, at: str) -> Iterator[Diagnostic]:
    """Check what an FMU defines its units to be."""
    try:
        defined = units_of(open_description(path))
    except SoftdockError:
        return  # told with the sources
    for name, definition in defined.items():
        if (said := base_said(name)) is not None:
            yield finding(
                "FMU121",
                at,
                f"{path}: unit '{name}' is defined as {definition}, but its name says"
                f" {said}; the definition is used",
            )
