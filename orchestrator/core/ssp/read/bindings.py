"""Values that a system gets: by parameter bindings, by hierarchical names, from outside.

By hierarchical names: names of elements and of a connector are joined by dots, and may hold dots
themselves: a name that means several parameters sets them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import Severity, SspError, suggestion
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.ssp.archive.sources import Place, file_bytes, interface_of
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    PARAMETER_MAPPING_TYPE,
    PARAMETER_SET_TYPE,
    child,
    children,
    decoded,
    dotted,
    full,
    listed,
    tag,
)
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.read.line_annotations import ValueChange, read_change
from orchestrator.core.ssp.read.parameter_values import Assignment, read_parameters
from orchestrator.core.ssp.read.reading import Reading, expect_valid, parsed
from orchestrator.core.structs import replace
from orchestrator.core.system import Component, Connector, SourceKind, System, Value

_CLAUSE: Final = "SSP 2.0, 5.2.3"
_MAPPING_CLAUSE: Final = "SSP 2.0, 7.1"


def read_bindings(
    parent: etree._Element,
    location: Place,
    findings: Findings,
    reading: Reading,
    container: Path | None = None,
) -> Iterator[Assignment]:
    """Read the parameter bindings of a component or system; later ones take precedence."""

    def document(
        element: etree._Element,
        inline: etree._Element | None,
        mime: str,
        schema: Schema,
        label: str,
    ) -> tuple[etree._Element, Findings]:
        kind, source = element.get("type", mime), element.get("source")
        if kind != mime:
            raise refusal(codes.CONTENT_TYPE, f"{label} of type {kind}: expected {mime}")
        if (source is None) == (inline is None):
            raise refusal(codes.BINDING, f"expected either a source or inline {label}", _CLAUSE)
        if inline is not None:
            content = [inner for inner in children(inline) if tag(inner) not in _BESIDE]
            if len(content) != 1 or tag(content[0]) != schema:
                tags = ", ".join(map(tag, content)) or "nothing"
                raise refusal(codes.BINDING, f"{label}: expected one {schema}, found {tags}")
            return content[0], findings
        if element.get("sourceBase", "SSD") == "SSD":
            return reading.document(source or "", location, schema, findings)
        if container is None:
            raise refusal(
                codes.BINDING,
                "sourceBase component: the source of the element is neither an FMU nor an archive",
                _CLAUSE,
            )
        return reading.inner(source or "", container, schema, findings)

    for binding in listed(parent, "ssd:ParameterBindings", "ssd:ParameterBinding"):
        with findings.guard(binding, codes.BINDING):
            inline = child(binding, "ssd:ParameterValues")
            values, values_location = document(
                binding, inline, PARAMETER_SET_TYPE, Schema.PARAMETER_VALUES, "ParameterValues"
            )
            read = read_parameters(values, binding.get("prefix", ""), values_location)
            mapping = child(binding, "ssd:ParameterMapping")
            if mapping is None:
                yield from read
                continue
            root, other_findings = document(
                mapping,
                mapping if children(mapping) else None,
                PARAMETER_MAPPING_TYPE,
                Schema.PARAMETER_MAPPING,
                "ParameterMapping",
            )
            yield from mapped(read, root, other_findings)


#: Allowed next to an inline mapping in SSP 2.0.
_BESIDE: Final = frozenset({"ssc:MetaData", "ssc:Signature"})


def read_mapping(
    root: etree._Element, findings: Findings
) -> dict[str, tuple[etree._Element, ValueChange]]:
    """Return the entries of an ssm:ParameterMapping by target; problems go to the findings."""
    mapping: dict[str, tuple[etree._Element, ValueChange]] = {}
    targets: set[str] = set()
    for element in root.findall(full("ssm:MappingEntry")):
        target = element.get("target", "")
        if target in targets:
            findings.error(
                codes.MAPPING, element, f"'{target}' is mapped to more than once", _MAPPING_CLAUSE
            )
            continue
        targets.add(target)
        with findings.guard(element, codes.TRANSFORMATION):
            mapping[target] = element, read_change(element)
    return mapping


def mapped(
    values: list[Assignment], mapping: etree._Element, findings: Findings
) -> Iterator[Assignment]:
    """Apply an ssm:ParameterMapping: what it does not name is not applied (SSP 2.0, 7.1)."""
    by_name: dict[str, list[Assignment]] = {}
    for value in values:
        by_name.setdefault(value.name, []).append(value)
    for target, (entry, change) in read_mapping(mapping, findings).items():
        source = entry.get("source", "")
        if source not in by_name:
            text = f"the parameter set has no parameter '{source}'"
            if hint := suggestion(source, by_name):
                findings.warning(codes.IGNORED, entry, f"{text}{hint}")
            else:
                findings.note(codes.IGNORED, entry, text)
        for value in by_name.get(source, ()):
            yield value._replace(name=target, change=change, mapping=(entry, findings))


#: What is left of an assignment's name below an element.
_Rest = tuple[str, Assignment]


def assigned(system: System, assignments: Iterable[Assignment]) -> System:
    """Return a system with values set; problems go to the findings of each assignment.

    A name that reaches nothing is ignored, as the standard says, and noted; of strict findings it
    is an error.
    """
    return _system(system, [(assignment.name, assignment) for assignment in assignments])


def values_for(component: Component, assignments: Iterable[Assignment]) -> dict[str, Value]:
    """Return the values that a component is given by the names of its variables."""
    return _values(component, ((assignment.name, assignment) for assignment in assignments))


def _system(system: System, assignments: list[_Rest]) -> System:
    if not assignments:
        return system
    elements = _elements(system)
    below: dict[str, list[_Rest]] = {}
    values: dict[str, Value] = {}
    for name, assignment in assignments:
        reached = name in system.connectors
        if reached:
            with assignment.findings.guard(assignment.element, codes.VALUE):
                values[name] = assignment.value_for(system.connectors[name])
                assignment.findings.reached(assignment.element)
        for key, remaining in _behind(name, elements):
            below.setdefault(key, []).append((remaining, assignment))
            reached = True
        if not reached:
            _ignored(
                assignment,
                f"system '{decoded(system.name)}' has no '{name}'",
                suggestion(name, settable_names(system)),
            )
    return _with_elements(replace(system, values={**system.values, **values}), below)


def _with_elements(system: System, below: dict[str, list[_Rest]]) -> System:
    components, systems = dict(system.components), dict(system.systems)
    for key, some in below.items():
        if key in components:
            components[key] = components[key].with_values(_values(components[key], some))
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
    members: dict[str, list[str]] = {}
    for key in (*system.components, *system.systems, *system.buses):
        members.setdefault(dotted(key), []).append(key)
    return members


def _behind(name: str, elements: dict[str, list[str]]) -> Iterable[tuple[str, str]]:
    """Every element that a name may begin with, and the rest of the name."""
    dot = name.find(".")
    while dot > 0:
        for key in elements.get(name[:dot], ()):
            if name[dot + 1 :]:
                yield key, name[dot + 1 :]
        dot = name.find(".", dot + 1)


def _values(component: Component, assignments: Iterable[_Rest]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for full_name, assignment in assignments:
        with assignment.findings.guard(assignment.element, codes.VALUE):
            name = _local(component, full_name, assignment)
            connector = _connector(component, name, assignment)
            if connector is None and _is_absent(component, name):
                connectors = interface_of(component.source) or component.connectors
                _ignored(
                    assignment,
                    f"{component.source} has no variable '{name}' that takes a value",
                    suggestion(name, _settable(connectors)),
                )
                continue
            values[name] = assignment.value_for(connector)
            assignment.findings.reached(assignment.element)
    return values


def _connector(component: Component, name: str, assignment: Assignment) -> Connector | None:
    """Return what is known of a variable: by the file, and where that says little the source."""
    declared = component.connectors.get(name)
    has_unit = assignment.source.unit is None or (
        declared is not None and declared.unit is not None
    )
    if declared is not None and declared.causality.is_settable and has_unit:
        return declared
    connectors = (interface_of(component.source) or {}).get(name)
    if connectors is not None and component.source.kind is not SourceKind.FMU:
        connectors = replace(connectors, start=None)  # only FMUs let outputs begin with what is set
    if declared is None or connectors is None:
        return declared or connectors
    if declared.unit is not None:
        return replace(declared, start=connectors.start)
    return replace(
        declared,
        unit=connectors.unit,
        unit_definition=connectors.unit_definition,
        start=connectors.start,
    )


def _local(component: Component, name: str, assignment: Assignment) -> str:
    """Return a name without that of its component before it, which OMSimulator writes."""
    prefix = f"{decoded(component.name)}."
    local_name = name.removeprefix(prefix)
    connectors = interface_of(component.source) if local_name != name else None
    if (
        connectors is None
        or name in connectors
        or local_name not in connectors
        or name in component.connectors
    ):
        return name
    assignment.findings.warning(
        codes.OWN_PREFIX,
        assignment.element,
        f"'{name}': expected a name of the component's own, '{local_name}'; it is taken for that",
        _CLAUSE,
    )
    return local_name


def _is_absent(component: Component, name: str) -> bool:
    """Whether the source has no such variable; of blocks all connectors are declared."""
    connectors = interface_of(component.source)
    if connectors is None and component.source.kind is not SourceKind.FMU:
        connectors = component.connectors or None
    return connectors is not None and name not in connectors


def settable_names(system: System) -> list[str]:
    """Return the hierarchical names that a value of a system could have, nested or flat."""
    settable = _settable(system.connectors)
    for parts in (system.components, system.systems):
        for key, part in parts.items():
            inner = settable_names(part) if isinstance(part, System) else _settable(part.connectors)
            settable += [f"{dotted(key)}.{name}" for name in inner]
    return settable


def _settable(connectors: Mapping[str, Connector]) -> list[str]:
    return [name for name, connector in connectors.items() if connector.causality.is_settable]


def _ignored(assignment: Assignment, reason: str, hint: str) -> None:
    element, findings = assignment.mapping or (assignment.element, assignment.findings)
    suffix, clause = ("", "") if findings.strict else (" is ignored", _CLAUSE)
    text = f"value of '{assignment.name}'{suffix}: {reason}{hint}"
    warning = findings.diagnostic(Severity.WARNING, codes.IGNORED, element, text, clause)
    assignment.findings.unreached(assignment.element, warning)


@reads("the parameter set cannot be read", SspError)
def apply_parameter_set(
    system: System,
    values: str | Path | bytes,
    mapping: str | Path | bytes | None = None,
    prefix: str = "",
    *,
    strict: bool = False,
) -> System:
    """Apply a parameter set as the last parameter binding of a system would.

    Its values override those of the system.

    Parameters
    ----------
    system
        Nested or flat: a component ``"arm/motor"`` of a flat one is ``arm.motor`` here as well.
    values
        An .ssv file, or its text.
    mapping
        An .ssm file, or its text: what it does not name is not applied.
    prefix
        Goes before every name of the set, such as ``"arm."``.
    strict
        Whether a name that reaches nothing is refused, instead of ignored and logged: an SSD may
        give values to what is not there, a file that was chosen for this system should not.

    Raises
    ------
    SspError
        All problems together, with file and line.
    """
    root, findings = _opened(values, Schema.PARAMETER_VALUES, strict=strict)
    parameters = read_parameters(root, prefix, findings)
    if mapping is not None:
        parameters = list(mapped(parameters, *_opened(mapping, Schema.PARAMETER_MAPPING, findings)))
    changed = assigned(system, parameters)
    findings.settle()
    findings.close()
    return changed


def _opened(
    source: str | Path | bytes,
    schema: Schema,
    other_findings: Findings | None = None,
    *,
    strict: bool = False,
) -> tuple[etree._Element, Findings]:
    label = schema.value if isinstance(source, bytes) else str(source)
    findings = other_findings.for_file(label) if other_findings else Findings(label, strict=strict)
    content = source if isinstance(source, bytes) else file_bytes(Path(source))
    root = etree.Element("none")
    with findings.guard(None, codes.UNREADABLE):
        root = parsed(content, label)
        expect_valid(root, schema, findings)
    return root, findings
