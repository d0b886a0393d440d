"""Writing of a system as an SSD."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from lxml import etree

from orchestrator.errors import DescriptionError
from orchestrator.ssp.connections import add_connections
from orchestrator.ssp.connectors import NEW_KINDS, add_connectors, together
from orchestrator.ssp.definitions import add_enumerations, add_units
from orchestrator.ssp.element_names import decoded
from orchestrator.ssp.experiment import add_experiment
from orchestrator.ssp.files import replacing
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.names import FMU_TYPE, NAMESPACES, add, full
from orchestrator.ssp.power_annotation import add_power_ports
from orchestrator.ssp.schema import VERSIONS, Schema, check
from orchestrator.ssp.sources import fmu_path, own_source, relative_uri
from orchestrator.ssp.unit_annotation import add_options
from orchestrator.ssp.write_dictionaries import add_dictionaries
from orchestrator.ssp.write_values import add_bindings
from orchestrator.system import (
    BaseUnit,
    Bus,
    Component,
    Connector,
    Endpoint,
    Enumeration,
    SourceKind,
    System,
)
from orchestrator.system.units import base_unit

_USED = ("ssc", "ssd", "ssv", "sd")


def write_ssd(system: System, path: str | Path, version: str = "1.0") -> None:
    """Write a system as an .ssd file, with the FMUs' paths relative to it.

    Equal systems give equal bytes, as long as their components stand in the same order. Nested
    systems are written in place; of default experiments there is only that of the whole.

    Parameters
    ----------
    system
        The system, nested or flat.
    path
        The file.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``.

    Raises
    ------
    DescriptionError
        All that this version of SSP cannot hold, together; CapabilityError if it is only that.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    content = document(system, lambda fmu: relative_uri(fmu_path(fmu), path.parent), version)
    with replacing(path) as file:
        file.write(content)


def document(system: System, fmu_uri: Callable[[Component], str], version: str = "1.0") -> bytes:
    """Return the text of a system's SSD.

    Parameters
    ----------
    system
        The system.
    fmu_uri
        Gives the source of an FMU component.
    version
        Of SSP.
    """
    if version not in VERSIONS:
        raise DescriptionError(f"expected SSP version {' or '.join(VERSIONS)}, found '{version}'")
    used = (*_USED, "ssb") if _has_buses(system) else _USED
    root = etree.Element(
        full(Schema.DESCRIPTION), nsmap={prefix: NAMESPACES[prefix] for prefix in used}
    )
    writer = _Writer(version, fmu_uri)
    this = f"system '{system.name}'"
    with writer.gather(this):
        root.set("version", version)
        root.set("name", system.name)
        root.set("generationTool", "Softdock")
    top = add(root, "ssd:System")
    with writer.gather(this):
        if not system.name:
            raise DescriptionError("SSP does not allow an empty name")
        top.set("name", system.name)
    writer.system(top, system, this)
    if not writer.problems:
        with writer.gather(this):
            add_enumerations(root, "ssd", writer.enumerations)
            add_units(root, "ssd", writer.units)
    with writer.gather(this):
        add_experiment(root, system.experiment)
    writer.raise_problems()
    etree.indent(root)
    findings = Findings(this)
    check(root, Schema.DESCRIPTION, findings)
    findings.close()
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _has_buses(system: System) -> bool:
    return bool(system.buses) or any(map(_has_buses, system.systems.values()))


def _buses(system: System) -> Iterator[Bus]:
    yield from system.buses.values()
    for inner in system.systems.values():
        yield from _buses(inner)


@dataclass(slots=True)
class _Writer:
    """Writes systems, and collects what they use and what is wrong with them."""

    version: str
    fmu_uri: Callable[[Component], str]
    problems: list[DescriptionError] = field(default_factory=list)
    units: dict[str, BaseUnit | None] = field(default_factory=dict)
    enumerations: dict[str, Enumeration] = field(default_factory=dict)

    def system(self, element: etree._Element, system: System, where: str) -> None:
        """Write what is in a system; dictionaries belong to the outermost one."""
        if system.description:
            with self.gather(where):
                element.set("description", system.description)
        with self.gather(where):
            self._connectors(element, system.connectors, own=True)
        with self.gather(where):
            _check_names(system)
            add_bindings(element, system.name, system.values, system.connectors, self.version)
        if system.components or system.systems or system.buses:
            self._elements(add(element, "ssd:Elements"), system)
        with self.gather(where):
            add_connections(element, system, self.version)
        parent = element.getparent()
        if parent is not None and parent.getparent() is None:
            with self.gather(where):
                add_dictionaries(element, list(_buses(system)), self.version)
        with self.gather(where):
            add_power_ports(element, system.power_ports)

    def _elements(self, elements: etree._Element, system: System) -> None:
        used = {end for line in system.connections for end in (line.source, line.target)}
        for component in system.components.values():
            with self.gather(f"component '{component.name}' ({component.source})"):
                self._component(elements, self._without_locals(component, used))
        for name, inner in system.systems.items():
            where = f"system '{name}'"
            with self.gather(where):
                element = add(elements, "ssd:System", name=decoded(name))
                self.system(element, inner, where)
        for bus in system.buses.values():
            with self.gather(f"bus '{bus.name}'"):
                reference = add(
                    elements,
                    "ssd:SignalDictionaryReference",
                    name=decoded(bus.name),
                    dictionary=bus.dictionary,
                )
                self._connectors(reference, bus.connectors, own=False)

    def _without_locals(self, component: Component, used: Collection[Endpoint]) -> Component:
        """Leave out what SSP 1.0 has no kind for, of FMUs and where nothing refers to it.

        The source has it all the same: a system that is resolved has all variables of its FMUs.
        """
        if self.version != "1.0" or component.source.kind is not SourceKind.FMU:
            return component
        kept = {
            name: connector
            for name, connector in component.connectors.items()
            if connector.causality not in NEW_KINDS
            or name in component.values
            or Endpoint(component.name, name) in used
        }
        return replace(component, connectors=kept)

    def _component(self, elements: etree._Element, component: Component) -> None:
        if component.source.kind is SourceKind.FMU:
            kind, source = FMU_TYPE, self.fmu_uri(component)
        else:
            kind, source = own_source(component.source)
        element = add(
            elements, "ssd:Component", name=decoded(component.name), type=kind, source=source
        )
        problems = len(self.problems)
        with self.gather(""):
            self._connectors(element, component.connectors, own=False)
        with self.gather("values"):
            add_bindings(
                element,
                component.name,
                component.values,
                component.connectors,
                self.version,
                outputs=component.source.kind is SourceKind.FMU,
            )
        with self.gather(""):
            add_options(element, component.options)
            add_power_ports(element, component.power_ports)
        found = self.problems[problems:]
        del self.problems[problems:]
        if found:
            raise together(found)

    def _connectors(
        self, parent: etree._Element, connectors: Mapping[str, Connector], *, own: bool
    ) -> None:
        """Write connectors, and collect units and enumerations that they use."""
        problems: list[DescriptionError] = []
        try:
            add_connectors(parent, connectors.values(), self.version, own=own)
        except DescriptionError as error:
            problems.append(error)
        for connector in connectors.values():
            try:
                self._use(connector)
            except DescriptionError as error:
                told = (f"connector '{connector.name}': {text}" for text in error.problems)
                problems.append(type(error)(*told))
        if problems:
            raise together(problems)

    def _use(self, connector: Connector) -> None:
        unit, enumeration = connector.unit, connector.enumeration
        if unit is not None:
            if connector.unit_definition is None:
                base_unit(unit)
            known = self.units.setdefault(unit, connector.unit_definition)
            if known != connector.unit_definition:
                raise DescriptionError(f"unit '{unit}' is defined in two ways in one file")
        if enumeration is None:
            return
        if self.enumerations.setdefault(enumeration.name, enumeration) != enumeration:
            raise DescriptionError(
                f"enumeration '{enumeration.name}' is defined in two ways in one file"
            )

    @contextmanager
    def gather(self, what: str) -> Iterator[None]:
        """Collect the errors raised inside, with what they are about put before them."""
        before = f"{what}: " if what else ""
        try:
            yield
        except DescriptionError as error:
            self.problems.append(type(error)(*(before + text for text in error.problems)))
        except ValueError as error:  # lxml: a control character or half a surrogate pair
            self.problems.append(DescriptionError(f"{before}XML cannot hold its text: {error}"))

    def raise_problems(self) -> None:
        """Raise problems together."""
        if self.problems:
            raise together(self.problems)


def _check_names(system: System) -> None:
    """Refuse values of own connectors whose name also means a parameter of an element."""
    elements = {decoded(key) for key in (*system.components, *system.systems, *system.buses)}
    for name in system.values:
        dots = (at for at, letter in enumerate(name) if letter == ".")
        if any(name[:at] in elements for at in dots):
            raise DescriptionError(
                f"connector '{name}' has a value, and its name means a parameter of an element,"
                " too; SSP would set both: rename one"
            )
