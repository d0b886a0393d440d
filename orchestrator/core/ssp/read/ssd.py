"""Reading of a system from an SSD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.garbage import collection_paused
from orchestrator.core.ssp.archive.sources import Place, file_bytes, read_source, with_connected
from orchestrator.core.ssp.archive.unpacking import nested_definition, nested_package
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import read_experiment, read_options, read_power_ports
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    DEFINITION_TYPE,
    FMU_TYPE,
    PACKAGE_TYPE,
    child,
    encoded,
    full,
    group,
    tag,
)
from orchestrator.core.ssp.common.signal_types import Definitions
from orchestrator.core.ssp.read.bindings import assigned, read_bindings, values_for
from orchestrator.core.ssp.read.connections import End, read_connections
from orchestrator.core.ssp.read.connectors import (
    UNSPECIFIED,
    DeclaredConnectors,
    Dictionary,
    completed,
    read_bus,
    read_connectors,
    read_dictionaries,
)
from orchestrator.core.ssp.read.parameter_values import Assignment
from orchestrator.core.ssp.read.reading import Reading, check_description, parsed
from orchestrator.core.structs import MutableStruct, Struct, field, replace
from orchestrator.core.system import (
    Bus,
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    Endpoint,
    Source,
    SourceKind,
    System,
    Value,
)
from orchestrator.core.system.source import stays_unopened

_CLAUSE: Final = "SSP 2.0, 5.2.1"
#: Kinds that neither systems nor components have, and what is found then.
NO_KIND: Final[Mapping[str, Code]] = {
    Causality.INOUT: codes.KIND,
    UNSPECIFIED: codes.UNSPECIFIED,
}


def compare(declared: DeclaredConnectors, system: System, findings: Findings) -> None:
    """Compare what a component declares with the system that it stands for."""
    for name, kind in declared.kinds.items():
        actual, stated = system.connectors.get(name), declared.connectors.get(name)
        if actual is None or str(actual.causality) != kind:
            actual_text = "has none" if actual is None else f"has an {actual.causality}"
            text = f"declared as {kind}, but the system {actual_text} of this name"
        elif stated is not None and (stated.type, stated.shape) != (actual.type, actual.shape):
            text = f"declared as {stated.type}, but the system has {actual.type}"
        else:
            continue
        findings.error(codes.MISMATCH, declared.element(name), text, _CLAUSE)


def own_connectors(
    declared: DeclaredConnectors,
    lines: tuple[Connection, ...],
    ends: Mapping[str, End],
    findings: Findings,
) -> dict[str, Connector]:
    """Complete a system's own connectors by the connectors that they are connected with."""
    connectors: dict[str, Connector] = {}
    for name, kind in declared.kinds.items():
        if kind in NO_KIND:
            text = (
                f"a connector of a system of kind '{kind}' is not supported; expected input,"
                " output, parameter or the like"
            )
            findings.error(NO_KIND[kind], declared.element(name), text, _CLAUSE)
        elif name in declared.connectors:
            connectors[name] = declared.connectors[name]
        elif name in declared.partial:
            connectors[name] = _deduced(name, declared, lines, ends, findings)
    return connectors


def _deduced(
    name: str,
    declared: DeclaredConnectors,
    lines: tuple[Connection, ...],
    ends: Mapping[str, End],
    findings: Findings,
) -> Connector:
    element, typed = declared.element(name), declared.partial[name]
    others = list(_neighbours(name, lines, ends))
    kinds, units = {(c.type, c.shape) for c in others}, {c.unit for c in others}
    model = Connector(name, Causality.INPUT, typed.type or DataType.REAL)
    if len(kinds) == 1:
        model = others[0] if len(units) == 1 else replace(others[0], unit=None)
    else:
        text = (
            f"the type is missing, and the connected elements have {len(kinds)} types;"
            f" {model.type} is used"
        )
        findings.warning(codes.NO_TYPE, element, text, _CLAUSE)
    return completed(element, typed, declared.kinds[name], model)


def _neighbours(
    name: str, lines: tuple[Connection, ...], ends: Mapping[str, End]
) -> Iterator[Connector]:
    """What a system's own connector is connected with."""
    for own_end, far_end in (pair for line in lines for pair in (line.ends, line.ends[::-1])):
        if own_end == Endpoint("", name) and far_end.component and far_end.component in ends:
            far_connector = ends[far_end.component].connector(far_end.connector)
            if far_connector is not None:
                yield far_connector


def read_file(
    root: etree._Element, location: Place, findings: Findings, reading: Reading
) -> System:
    """Read the system of a file, with its default experiment; problems go to the findings."""
    top = child(root, "ssd:System")
    if top is None:
        raise refusal(codes.SCHEMA, "expected an ssd:System", "SSP 2.0, 5.1")
    reader = _SystemReader(root, location, findings, Definitions.of(root, "ssd", findings), reading)
    with reading.within(location.label):
        system = reader.system(top, top.get("name", ""), {})
    experiment = DefaultExperiment()
    for element in root.findall(full("ssd:DefaultExperiment")):
        with findings.guard(element, codes.EXPERIMENT):
            experiment = read_experiment(element)
    name = top.get("name", "")
    if root.get("name", name) != name:
        findings.note(codes.METADATA, root, f"name '{root.get('name')}' of {tag(root)}")
    return replace(system, experiment=experiment)


class _Parts(MutableStruct):
    """What is in a system."""

    components: dict[str, Component] = field(default_factory=dict)
    systems: dict[str, System] = field(default_factory=dict)
    buses: dict[str, Bus] = field(default_factory=dict)
    ends: dict[str, End] = field(default_factory=dict)


def _add_system(system: System, parts: _Parts) -> None:
    kinds = {key: str(connector.causality) for key, connector in system.connectors.items()}
    parts.systems[system.name] = system
    parts.ends[system.name] = End(system.name, kinds, system.connectors)


class _SystemReader(Struct):
    """Reads the systems of one file."""

    root: etree._Element
    place: Place
    findings: Findings
    definitions: Definitions
    reading: Reading
    sources: dict[tuple[str | None, str | None], Source] = field(default_factory=dict)
    declared: dict[bytes, DeclaredConnectors] = field(default_factory=dict)

    def system(self, element: etree._Element, name: str, scope: Mapping[str, Dictionary]) -> System:
        """Read an ssd:System with all that is in it."""
        declared = self._connectors(element)
        own_dictionaries = read_dictionaries(element, self.place, self.findings, self.reading)
        scope = {**scope, **own_dictionaries}
        parts = _Parts()
        for inner in group(element, "ssd:Elements"):
            self._element(inner, parts, scope)
        parts.ends[""] = End("", declared.kinds, declared.connectors)
        connections = read_connections(element, parts.ends, self.place, self.findings)
        system = System(
            name,
            with_connected(parts.components, connections),
            connections,
            description=element.get("description", ""),
            connectors=own_connectors(declared, connections, parts.ends, self.findings),
            systems=parts.systems,
            buses=parts.buses,
        )
        with self.findings.guard(element, codes.OWN):
            system = replace(system, power_ports=read_power_ports(element))
        return assigned(system, self._bindings(element, None))

    def _element(
        self, element: etree._Element, parts: _Parts, scope: Mapping[str, Dictionary]
    ) -> None:
        kind, element_name = tag(element), element.get("name", "")
        if kind not in {"ssd:Component", "ssd:System", "ssd:SignalDictionaryReference"}:
            return  # the schema has listed it
        self.reading.count()
        name = encoded(element_name)
        if name in parts.ends or not name:
            text = (
                f"the name '{element_name}' is taken by another element"
                if element_name
                else "expected a name"
            )
            self.findings.error(codes.TAKEN, element, text, "SSP 2.0, 5.2")
            return
        parts.ends[name] = End(name, {}, {}, is_open=True)
        with self.findings.guard(element, codes.SOURCE):
            if kind == "ssd:System":
                with self.reading.within(f"{self.place.label}#{id(element)}"):
                    inner = self.system(element, name, scope)
                _add_system(inner, parts)
            elif kind == "ssd:SignalDictionaryReference":
                declared = self._connectors(element)
                bus = read_bus(element, name, declared, scope, self.findings)
                parts.buses[name] = bus
                parts.ends[name] = End(name, declared.kinds, bus.connectors)
                if child(element, "ssd:ParameterBindings") is not None:
                    text = "entries of a bus take no values; ignored"
                    self.findings.warning(codes.BUS_VALUES, element, text)
            else:
                self._component(element, name, parts, scope)

    def _component(
        self, element: etree._Element, name: str, parts: _Parts, scope: Mapping[str, Dictionary]
    ) -> None:
        declared = self._connectors(element)
        is_open = not declared.kinds
        parts.ends[name] = End(name, declared.kinds, declared.connectors, is_open=is_open)
        opened = self._opened(element, name, declared, scope)
        if opened is not None:
            system = assigned(opened[0], self._bindings(element, opened[1]))
            compare(declared, system, self.findings)
            _add_system(system, parts)
            return
        options = read_options(element)
        source = self._source(element)
        connectors = declared.connectors
        if not NO_KIND.keys().isdisjoint(declared.kinds.values()):
            connectors = {n: c for n, c in connectors.items() if c.causality is not Causality.INOUT}
            for key, kind in declared.kinds.items():
                if kind in NO_KIND:
                    text = f"a component cannot have the kind '{kind}'; that of its source is taken"
                    self.findings.warning(NO_KIND[kind], declared.element(key), text, _CLAUSE)
        ports = read_power_ports(element)
        values: dict[str, Value] = {}
        part = Component(
            name, source, connectors, values=values, options=options, power_ports=ports
        )
        container = Path(source.location) if source.kind is SourceKind.FMU else None
        values |= values_for(part, self._bindings(element, container))  # by what it has
        parts.components[name] = part
        is_open |= stays_unopened(source)
        parts.ends[name] = End(name, declared.kinds, connectors, source, is_open)

    def _source(self, element: etree._Element) -> Source:
        key = element.get("type"), element.get("source")
        if key not in self.sources:
            self.sources[key] = read_source(element, self.place)
        return self.sources[key]

    def _opened(
        self,
        element: etree._Element,
        name: str,
        declared: DeclaredConnectors,
        scope: Mapping[str, Dictionary],
    ) -> tuple[System, Path | None] | None:
        """Open the system that a component stands for, if it does, and the archive it is in."""
        kind, source = element.get("type", FMU_TYPE), element.get("source")
        if not source and kind in {FMU_TYPE, DEFINITION_TYPE, PACKAGE_TYPE}:
            self.findings.warning(
                codes.NO_SOURCE, element, "has no source; read as an empty system", "SSP 2.0, 5.4"
            )
            connectors = own_connectors(declared, (), {}, self.findings)
            return System(name, connectors=connectors), None
        source, container = source or "", None
        if source.startswith("#"):
            return self._referred(source[1:], name, scope), None
        if kind == DEFINITION_TYPE:
            content, location = nested_definition(source, self.place)
        elif kind == PACKAGE_TYPE:
            content, location, container = nested_package(source, self.place)
        else:
            return None
        other_findings = self.findings.for_file(location.label)
        root = self.reading.description(content, other_findings)
        system = read_file(root, location, other_findings, self.reading)
        if system.experiment != DefaultExperiment():
            text = "default experiment of a nested system"
            self.findings.note(codes.INNER_EXPERIMENT, element, text)
        return replace(system, name=name, experiment=DefaultExperiment()), container

    def _referred(self, reference: str, name: str, scope: Mapping[str, Dictionary]) -> System:
        """Read the system of this file that has an id, again under another name."""
        reference = unquote(reference)
        for system in self.root.iter(full("ssd:System")):
            if system.get("id") == reference:
                with self.reading.within(f"{self.place.label}#{id(system)}"):
                    return self.system(system, name, scope)
        raise refusal(codes.URI, f"source '#{reference}': no system has this id", "SSP 2.0, 5.4")

    def _connectors(self, element: etree._Element) -> DeclaredConnectors:
        return read_connectors(element, self.definitions, self.findings, self.declared)

    def _bindings(self, element: etree._Element, container: Path | None) -> list[Assignment]:
        return list(read_bindings(element, self.place, self.findings, self.reading, container))


@reads("the system cannot be read", SspError)
def read_ssd(path: str | Path) -> System:
    """Read a system from an .ssd file.

    Relative sources start from the file's folder. The feed-through and the start values of
    connectors are not part of SSP: they come from the sources, when the system is resolved.
    """
    path = Path(path)
    return read_document(file_bytes(path), Place(str(path), path.parent))


def read_document(
    source: bytes | etree._Element, location: Place, findings: Findings | None = None
) -> System:
    """Read a system from an SSD that stands at some place, of which something may be known."""
    findings = Findings(location.label) if findings is None else findings
    system = read_into(source, location, findings)
    findings.close()
    if system is None:  # there is an error then
        raise SspError.in_file(location.label, "cannot be read")
    return system


@collection_paused()
def read_into(source: bytes | etree._Element, location: Place, findings: Findings) -> System | None:
    """Read a system as far as it goes; what is wrong and what is lost goes to the findings."""
    root: etree._Element | None = None
    try:
        root = parsed(source, location.label) if isinstance(source, bytes) else source
        check_description(root, findings)
        return read_file(root, location, findings, Reading())
    except SspError as error:
        findings.refused(error, root, codes.UNREADABLE)
    finally:
        findings.settle()
    return None
