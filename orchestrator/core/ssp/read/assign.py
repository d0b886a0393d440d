"""Values given to a system and to what is in it, by hierarchical names (SSP 2.0, 5.2.3).

Names of elements and of a connector are joined by dots, and may hold dots themselves: a name that
means several parameters sets them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from orchestrator.core.diagnostics import Severity, nearest
from orchestrator.core.ssp.archive.interfaces import interface_of
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.element_names import decoded
from orchestrator.core.ssp.read.parameter_values import Assignment
from orchestrator.core.system import SEPARATOR, Component, Connector, SourceKind, System, Value

_CLAUSE: Final = "SSP 2.0, 5.2.3"

#: What is left of an assignment's name below an element.
_Rest = tuple[str, Assignment]


def assigned(system: System, assignments: Iterable[Assignment]) -> System:
    """Return a system with values set; problems go to the findings of each assignment.

    A name that reaches nothing is ignored, as the standard says, and noted; of strict findings it
    is an error.
    """
    return _system(system, [(each.name, each) for each in assignments])


def component_with(component: Component, assignments: Iterable[Assignment]) -> Component:
    """Return a component with values set by the names of its variables."""
    return _component(component, [(each.name, each) for each in assignments])


def _system(system: System, given: list[_Rest]) -> System:
    if not given:
        return system
    elements = _elements(system)
    below: dict[str, list[_Rest]] = {}
    values: dict[str, Value] = {}
    for name, assignment in given:
        reached = name in system.connectors
        if reached:
            with assignment.findings.guard(assignment.element, codes.VALUE):
                values[name] = assignment.value_for(system.connectors[name])
                assignment.findings.reached(assignment.element)
        for key, rest in _behind(name, elements):
            below.setdefault(key, []).append((rest, assignment))
            reached = True
        if not reached:
            _ignored(
                assignment,
                f"system '{decoded(system.name)}' has no '{name}'",
                nearest(name, settable_names(system)),
            )
    return _with_elements(replace(system, values={**system.values, **values}), below)


def _with_elements(system: System, below: dict[str, list[_Rest]]) -> System:
    components, systems = dict(system.components), dict(system.systems)
    for key, some in below.items():
        if key in components:
            components[key] = _component(components[key], some)
        elif key in systems:
            systems[key] = _system(systems[key], some)
        else:
            for _, assignment in some:
                assignment.findings.warning(
                    codes.BUS_VALUES,
                    assignment.element,
                    f"'{assignment.name}' is an entry of a bus, which takes no values; ignored",
                )
    return replace(system, components=components, systems=systems)


def _elements(system: System) -> dict[str, list[str]]:
    """Keys of what is in a system, by hierarchical name."""
    found: dict[str, list[str]] = {}
    for key in (*system.components, *system.systems, *system.buses):
        found.setdefault(".".join(map(decoded, key.split(SEPARATOR))), []).append(key)
    return found


def _behind(name: str, elements: dict[str, list[str]]) -> Iterable[tuple[str, str]]:
    """Every element that a name may begin with, and the rest of the name."""
    dot = name.find(".")
    while dot > 0:
        for key in elements.get(name[:dot], ()):
            if name[dot + 1 :]:
                yield key, name[dot + 1 :]
        dot = name.find(".", dot + 1)


def _component(component: Component, given: list[_Rest]) -> Component:
    values: dict[str, Value] = {}
    for said, assignment in given:
        with assignment.findings.guard(assignment.element, codes.VALUE):
            name = _local(component, said, assignment)
            connector = _connector(component, name, assignment)
            if connector is None and _is_absent(component, name):
                known = interface_of(component.source) or component.connectors
                _ignored(
                    assignment,
                    f"{component.source} has no variable '{name}' that takes a value",
                    nearest(name, _settable(known)),
                )
                continue
            values[name] = assignment.value_for(connector)
            assignment.findings.reached(assignment.element)
    return component.with_values(values) if values else component


def _connector(component: Component, name: str, assignment: Assignment) -> Connector | None:
    """Return what is known of a variable: by the file, and where that says little the source."""
    declared = component.connectors.get(name)
    has_unit = assignment.given.unit is None or (declared is not None and declared.unit is not None)
    if declared is not None and declared.causality.is_settable and has_unit:
        return declared
    found = (interface_of(component.source) or {}).get(name)
    if found is not None and component.source.kind is not SourceKind.FMU:
        found = replace(found, start=None)  # only FMUs let outputs begin with what is set
    if declared is None or found is None:
        return declared or found
    if declared.unit is not None:
        return replace(declared, start=found.start)
    return replace(
        declared, unit=found.unit, unit_definition=found.unit_definition, start=found.start
    )


def _local(component: Component, name: str, assignment: Assignment) -> str:
    """Return a name without that of its component before it, which OMSimulator writes."""
    prefix = f"{decoded(component.name)}."
    rest = name.removeprefix(prefix)
    known = interface_of(component.source) if rest != name else None
    if known is None or name in known or rest not in known or name in component.connectors:
        return name
    assignment.findings.warning(
        codes.OWN_PREFIX,
        assignment.element,
        f"'{name}': expected a name of the component's own, '{rest}'; it is taken for that",
        _CLAUSE,
    )
    return rest


def _is_absent(component: Component, name: str) -> bool:
    """Whether the source has no such variable; of blocks all connectors are declared."""
    known = interface_of(component.source)
    if known is None and component.source.kind is not SourceKind.FMU:
        known = component.connectors or None
    return known is not None and name not in known


def settable_names(system: System) -> list[str]:
    """Return the hierarchical names that a value of a system could have, nested or flat."""
    found = _settable(system.connectors)
    for parts in (system.components, system.systems):
        for key, part in parts.items():
            inner = settable_names(part) if isinstance(part, System) else _settable(part.connectors)
            path = ".".join(map(decoded, key.split(SEPARATOR)))
            found += [f"{path}.{name}" for name in inner]
    return found


def _settable(connectors: Mapping[str, Connector]) -> list[str]:
    return [name for name, connector in connectors.items() if connector.causality.is_settable]


def _ignored(assignment: Assignment, why: str, hint: str) -> None:
    element, findings = assignment.mapping or (assignment.element, assignment.findings)
    said, clause = ("", "") if findings.strict else (" is ignored", _CLAUSE)
    text = f"value of '{assignment.name}'{said}: {why}{hint}"
    found = findings.diagnostic(Severity.WARNING, codes.IGNORED, element, text, clause)
    assignment.findings.unreached(assignment.element, found)
