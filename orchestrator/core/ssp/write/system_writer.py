"""Writing of a system's element, with all that is in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp.archive.sources import own_source
from orchestrator.core.ssp.common.element_names import decoded
from orchestrator.core.ssp.common.names import FMU_TYPE, add
from orchestrator.core.ssp.common.power_annotation import add_power_ports
from orchestrator.core.ssp.common.unit_annotation import add_options
from orchestrator.core.ssp.read.connections import add_connections
from orchestrator.core.ssp.read.connectors import NEW_KINDS, add_connectors, together
from orchestrator.core.ssp.write.dictionaries import add_dictionaries
from orchestrator.core.ssp.write.values import add_bindings
from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Component,
    Connector,
    Endpoint,
    Enumeration,
    SourceKind,
    System,
)
from orchestrator.core.system.units.unit import file_unit


@dataclass(slots=True)
class SystemWriter:
    """Writes systems, and collects what they use and what is wrong with them."""

    version: str
    file_uri: Callable[[Component], str]
    parameters: str | None
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
        parent = element.getparent()
        is_top = parent is not None and parent.getparent() is None
        with self.gather(where):
            _check_names(system)
            if self.parameters is None:
                add_bindings(element, system.name, system.values, system.connectors, self.version)
            elif is_top:
                group = add(element, "ssd:ParameterBindings")
                add(group, "ssd:ParameterBinding", source=self.parameters)
        if system.components or system.systems or system.buses:
            self._elements(add(element, "ssd:Elements"), system)
        with self.gather(where):
            add_connections(element, system, self.version)
        if is_top:
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
        named = component.source.named()
        uri = None if named.file is None else self.file_uri(component)
        if named.inner is not None and named.inner.file is not None:
            within = self.file_uri(replace(component, source=named.inner))
            named = named.around(named.inner.with_file(unquote(within)))
        kind, source = own_source(named, uri) if named.kind != "fmu" else (FMU_TYPE, uri or "")
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
                component.values if self.parameters is None else {},
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
                file_unit(unit)
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


def _buses(system: System) -> Iterator[Bus]:
    yield from system.buses.values()
    for inner in system.systems.values():
        yield from _buses(inner)
