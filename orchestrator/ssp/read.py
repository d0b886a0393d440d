"""Reading of a system from an SSD file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lxml import etree

from orchestrator.archive import parse_xml
from orchestrator.errors import DescriptionError, SspError
from orchestrator.ssp.annotations import read_experiment
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.line_annotations import read_delay, read_line
from orchestrator.ssp.names import child, children, full, listed, tag
from orchestrator.ssp.parameters import Assignment, read_bindings
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.sources import Place, read_source, unknown_end
from orchestrator.ssp.unit_definitions import check_units
from orchestrator.ssp.unsupported import survey
from orchestrator.system import (
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    Endpoint,
    LinearTransformation,
    System,
    Value,
)

_TYPES = {f"ssc:{kind}": kind for kind in DataType if kind not in (DataType.BINARY, DataType.CLOCK)}


def read_ssd(path: str | Path) -> System:
    """Read a system from an .ssd file.

    Relative sources of FMUs start from the file's folder. The feed-through and the start values
    of connectors are not part of SSP: they come from the sources, when the system is resolved.

    Raises
    ------
    SspError
        If the file is missing, is not valid SSP 1.0 or uses something that is not supported; all
        problems are listed together, with file and line.
    """
    path = Path(path)
    return read_document(file_bytes(path), Place(str(path), path.parent))


def file_bytes(path: Path) -> bytes:
    """Read a file, or raise SspError."""
    try:
        return path.read_bytes()
    except OSError as reason:
        raise SspError(f"{path}: cannot be read: {reason.strerror}") from None


def read_document(content: bytes, place: Place) -> System:
    """Read a system from the text of an SSD that stands at some place."""
    root = parse_xml(content, place.label, SspError)
    check(root, Schema.DESCRIPTION, place.label)
    findings = Findings(place.label)
    survey(root, findings)
    top = child(root, "ssd:System")
    if top is None:
        raise SspError(f"{place.label}: expected an ssd:System")
    check_units(root, "ssd:Units", top.iter(full("ssc:Real")), findings)
    components, connectors = _components(top, place, findings)
    for assignment in list(read_bindings(top, place, findings)):
        _assign_from_above(assignment, components, connectors)
    connections = _connections(top, place, connectors, findings)
    experiment = DefaultExperiment()
    for element in root.findall(full("ssd:DefaultExperiment")):
        with findings.guard(element):
            experiment = read_experiment(element)
    name = top.get("name", "")
    if root.get("name") != name:
        findings.note(root, f"name '{root.get('name')}' of {tag(root)}")
    findings.close()
    return System(name, components, connections, experiment, top.get("description", ""))


def _components(
    top: etree._Element, place: Place, findings: Findings
) -> tuple[dict[str, Component], dict[str, dict[str, Connector]]]:
    """Read components; the second result also has the connectors of those that are refused."""
    components: dict[str, Component] = {}
    connectors: dict[str, dict[str, Connector]] = {}
    for element in children(_group(top, "ssd:Elements")):
        name = element.get("name", "")
        if name in connectors:
            findings.problem(element, f"the name '{name}' is taken by another element")
            continue
        connectors[name] = {}
        if tag(element) != "ssd:Component":  # the survey has listed it
            continue
        connectors[name] = _connectors(element, findings)
        values = _values(read_bindings(element, place, findings), connectors[name])
        with findings.guard(element):
            source = read_source(element, place)
            components[name] = Component(name, source, connectors[name], values=values)
    return components, connectors


def _group(parent: etree._Element, name: str) -> etree._Element:
    found = child(parent, name)
    return etree.Element(full(name)) if found is None else found


def _connectors(component: etree._Element, findings: Findings) -> dict[str, Connector]:
    found: dict[str, Connector] = {}
    for element in listed(component, "ssd:Connectors", "ssd:Connector"):
        name = element.get("name", "")
        typed = next((inner for inner in children(element) if tag(inner) in _TYPES), None)
        if typed is None or element.get("kind") not in {"input", "output", "parameter"}:
            continue  # the survey has listed it
        if name in found:
            findings.problem(element, "the name is taken by another connector")
        found[name] = Connector(
            name,
            Causality(element.get("kind", "")),
            _TYPES[tag(typed)],
            typed.get("unit"),
            description=element.get("description", ""),
        )
    return found


def _values(
    assignments: Iterable[Assignment], connectors: dict[str, Connector]
) -> dict[str, Value]:
    values = {}
    for assignment in assignments:
        with assignment.findings.guard(assignment.element):
            values[assignment.name] = assignment.for_connector(connectors.get(assignment.name))
    return values


def _assign_from_above(
    assignment: Assignment,
    components: dict[str, Component],
    connectors: dict[str, dict[str, Connector]],
) -> None:
    """Set a value that the system binds, over the component's own (SSP 1.0: higher level wins)."""
    with assignment.findings.guard(assignment.element):
        end = Endpoint.parse(assignment.name)
        unknown = unknown_end(connectors, end.component, end.connector)
        if unknown:
            raise DescriptionError(unknown)
        connector = connectors[end.component].get(end.connector)
        value = assignment.for_connector(connector)
        if end.component in components:
            component = components[end.component]
            components[end.component] = component.with_values({end.connector: value})


def _connections(
    top: etree._Element,
    place: Place,
    connectors: dict[str, dict[str, Connector]],
    findings: Findings,
) -> tuple[Connection, ...]:
    found = []
    for element in listed(top, "ssd:Connections", "ssd:Connection"):
        with findings.guard(element):
            line = Connection(
                _end(element, "start", connectors),
                _end(element, "end", connectors),
                read_delay(element, place),
                _transformation(element),
                *read_line(element),
            )
            _check_suppressed(element, line, connectors)
            found.append(line)
    return tuple(found)


def _end(
    element: etree._Element, side: str, connectors: dict[str, dict[str, Connector]]
) -> Endpoint:
    component, connector = element.get(f"{side}Element"), element.get(f"{side}Connector", "")
    if component is None:
        raise SspError(
            f"the {side} is a connector of the system itself, which is not supported;"
            f" expected the attribute {side}Element"
        )
    unknown = unknown_end(connectors, component, connector)
    if unknown:
        raise SspError(unknown)
    return Endpoint(component, connector)


def _transformation(element: etree._Element) -> LinearTransformation | None:
    linear = child(element, "ssc:LinearTransformation")
    if linear is None:
        return None
    return LinearTransformation(float(linear.get("factor", "1")), float(linear.get("offset", "0")))


def _check_suppressed(
    element: etree._Element, line: Connection, connectors: dict[str, dict[str, Connector]]
) -> None:
    """Accept suppressUnitConversion only where it changes nothing."""
    if element.get("suppressUnitConversion", "false").strip() not in {"true", "1"}:
        return
    units = []
    for end in (line.source, line.target):
        declared = connectors[end.component].get(end.connector)
        if declared is None:
            raise SspError(f"suppressUnitConversion is not supported unless '{end}' is declared")
        units.append(declared.unit)
    if None not in units and units[0] != units[1]:
        raise SspError(
            f"suppressUnitConversion between '{units[0]}' and '{units[1]}' is not supported;"
            " declare the units as they are, and use a LinearTransformation in addition"
        )
