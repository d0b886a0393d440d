"""Writing of a system as an SSD."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.garbage import collection_paused
from orchestrator.core.ssp.archive.sources import file_path, own_source, relative_uri
from orchestrator.core.ssp.archive.unpacking import replacing
from orchestrator.core.ssp.common.annotations import add_experiment, add_options, add_power_ports
from orchestrator.core.ssp.common.names import FMU_TYPE, add, decoded
from orchestrator.core.ssp.common.schema import VERSIONS, Schema, checked_text, new_document
from orchestrator.core.ssp.common.signal_types import add_enumerations, add_units
from orchestrator.core.ssp.read.connections import add_connections
from orchestrator.core.ssp.read.connectors import NEW_KINDS, add_connector
from orchestrator.core.ssp.write.parameters import add_bindings, add_dictionaries, parameter_set
from orchestrator.core.structs import MutableStruct, field, replace
from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Component,
    Connector,
    Endpoint,
    Enumeration,
    Source,
    SourceKind,
    System,
)
from orchestrator.core.units.conversion import file_unit


class SystemWriter(MutableStruct):
    """Writes systems, and collects what they use and what is wrong with them."""

    version: str
    file_uri: Callable[[Component], str]
    parameters: str | None
    problems: list[DescriptionError] = field(default_factory=list)
    units: dict[str, BaseUnit | None] = field(default_factory=dict)
    enumerations: dict[str, Enumeration] = field(default_factory=dict)

    def system(self, element: etree._Element, system: System, location: str) -> None:
        """Write what is in a system; dictionaries belong to the outermost one."""
        if system.description:
            with self.gather(location):
                element.set("description", system.description)
        with self.gather(location):
            self._connectors(element, system.connectors, is_system_connector=True)
        parent = element.getparent()
        is_top = parent is not None and parent.getparent() is None
        with self.gather(location):
            _check_names(system)
            if self.parameters is None:
                add_bindings(element, system.name, system.values, system.connectors, self.version)
            elif is_top:
                group = add(element, "ssd:ParameterBindings")
                add(group, "ssd:ParameterBinding", source=self.parameters)
        if system.components or system.systems or system.buses:
            self._elements(add(element, "ssd:Elements"), system)
        with self.gather(location):
            add_connections(element, system, self.version)
        if is_top:
            with self.gather(location):
                add_dictionaries(element, list(_buses(system)), self.version)
        with self.gather(location):
            add_power_ports(element, system.power_ports)

    def _elements(self, elements: etree._Element, system: System) -> None:
        used = {end for line in system.connections for end in line.ends}
        for component in system.components.values():
            with self.gather(f"component '{component.name}' ({component.source})"):
                self._component(elements, self._without_locals(component, used))
        for name, inner in system.systems.items():
            location = f"system '{name}'"
            with self.gather(location):
                element = add(elements, "ssd:System", name=decoded(name))
                self.system(element, inner, location)
        for bus in system.buses.values():
            with self.gather(f"bus '{bus.name}'"):
                reference = add(
                    elements,
                    "ssd:SignalDictionaryReference",
                    name=decoded(bus.name),
                    dictionary=bus.dictionary,
                )
                self._connectors(reference, bus.connectors, is_system_connector=False)

    def _without_locals(self, component: Component, used: Collection[Endpoint]) -> Component:
        """Leave out what SSP 1.0 has no kind for, of FMUs and where nothing refers to it.

        The source has it all the same: a system that is resolved has all variables of its FMUs.
        """
        if self.version != "1.0" or component.source.kind is not SourceKind.FMU:
            return component
        connectors_kept = {
            name: connector
            for name, connector in component.connectors.items()
            if connector.causality not in NEW_KINDS
            or name in component.values
            or Endpoint(component.name, name) in used
        }
        return replace(component, connectors=connectors_kept)

    def _component(self, elements: etree._Element, component: Component) -> None:
        named_source = component.source.without_class()
        uri = None if named_source.file is None else self.file_uri(component)
        if named_source.inner is not None and named_source.inner.file is not None:
            within = self.file_uri(replace(component, source=named_source.inner))
            named_source = named_source.around(named_source.inner.with_file(unquote(within)))
        kind, source = (
            own_source(named_source, uri) if named_source.kind != "fmu" else (FMU_TYPE, uri or "")
        )
        element = add(
            elements, "ssd:Component", name=decoded(component.name), type=kind, source=source
        )
        problems = len(self.problems)
        with self.gather(""):
            self._connectors(element, component.connectors, is_system_connector=False)
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
        new_problems = self.problems[problems:]
        del self.problems[problems:]
        if new_problems:
            raise _together(new_problems)

    def _connectors(
        self,
        parent: etree._Element,
        connectors: Mapping[str, Connector],
        *,
        is_system_connector: bool,
    ) -> None:
        """Write connectors, and collect units and enumerations that they use."""
        if not connectors:
            return
        group = add(parent, "ssd:Connectors")
        problems: list[DescriptionError] = []
        for step in (
            partial(
                add_connector, group, version=self.version, is_system_connector=is_system_connector
            ),
            self._use,
        ):
            for connector in connectors.values():
                try:
                    step(connector)
                except DescriptionError as error:
                    problems.append(type(error)(*error.within(f"connector '{connector.name}'")))
        if problems:
            raise _together(problems)

    def _use(self, connector: Connector) -> None:
        unit, enumeration = connector.unit, connector.enumeration
        if unit is not None:
            if connector.unit_definition is None:
                file_unit(unit)
            definition = self.units.setdefault(unit, connector.unit_definition)
            if definition != connector.unit_definition:
                raise DescriptionError(f"unit '{unit}' is defined in two ways in one file")
        if enumeration is None:
            return
        if self.enumerations.setdefault(enumeration.name, enumeration) != enumeration:
            raise DescriptionError(
                f"enumeration '{enumeration.name}' is defined in two ways in one file"
            )

    @contextmanager
    def gather(self, label: str) -> Iterator[None]:
        """Collect the errors raised inside, with what they are about put before them."""
        try:
            yield
        except DescriptionError as error:
            problem = error
        except ValueError as error:  # lxml: a control character or half a surrogate pair
            problem = DescriptionError(f"XML cannot hold its text: {error}")
        else:
            return
        self.problems.append(type(problem)(*problem.within(label)) if label else problem)


def _together(problems: list[DescriptionError]) -> DescriptionError:
    """Join problems; the class is kept where they all have the same."""
    kinds = {type(problem) for problem in problems}
    kind = kinds.pop() if len(kinds) == 1 else DescriptionError
    return kind(*(diagnostic for problem in problems for diagnostic in problem.diagnostics))


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


def with_used_connectors(system: System) -> System:
    """Leave out connectors without a connection, a value or a power port, in nested systems too."""
    ends: dict[str, set[str]] = {}
    for end in (end for line in system.connections for end in line.ends):
        ends.setdefault(end.component, set()).add(end.connector)
    return replace(
        system,
        components={
            name: _used(part, ends.get(name, ())) for name, part in system.components.items()
        },
        systems={name: with_used_connectors(part) for name, part in system.systems.items()},
    )


def _used(part: Component, ends: Collection[str]) -> Component:
    ported = {name for port in part.power_ports.values() for name in port.connectors}
    used = {*ends, *part.values, *ported}
    used |= {name.partition("[")[0] for name in used}  # an element uses its array
    return replace(part, connectors={n: c for n, c in part.connectors.items() if n in used})


_T = TypeVar("_T")
_USED = ("ssc", "ssd", "ssv", "sd")


def write_ssd(
    system: System,
    path: str | Path,
    version: str | None = None,
    *,
    parameters: str | None = None,
    connectors: bool = True,
) -> None:
    """Write a system as an .ssd file, with the FMUs' paths relative to it.

    Equal systems with the same order of components give equal bytes. Nested systems are written in
    place; only the default experiment of the whole system is written.

    Parameters
    ----------
    system
        The system, nested or flat.
    path
        The file.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``; ``None``: the first of these that can hold the system.
    parameters
        Name of an .ssv file next to the .ssd that gets all values; the .ssd refers to it.
        ``None``: values are in the .ssd. A system without values has no such file.
    connectors
        Declare all connectors of components. ``False``: only connectors with a connection, a value
        or a power port; a reader gets the others from the sources.

    Raises
    ------
    DescriptionError
        If this version of SSP cannot hold the system; the message lists every reason. A
        CapabilityError if there is no other reason.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    if not connectors:
        system = with_used_connectors(system)
    uris: dict[Source, str] = {}

    def file_uri(part: Component) -> str:
        if part.source not in uris:
            uris[part.source] = relative_uri(file_path(part), path.parent)
        return uris[part.source]

    def content_in(version: str) -> tuple[bytes | None, bytes]:
        values = None if parameters is None else linked_values(system, parameters, version)
        link = None if values is None else quote(str(parameters))
        return values, document(system, file_uri, version, parameters=link)

    values, content = in_version(version, content_in)
    if values is not None:
        with replacing(path.parent / str(parameters)) as file:
            file.write(values)
    with replacing(path) as file:
        file.write(content)


def in_version(version: str | None, make: Callable[[str], _T]) -> _T:
    """Make what is written in a version of SSP; ``None``: in the first that can hold it."""
    if version is not None:
        return make(version)
    first, second = VERSIONS
    try:
        return make(first)
    except DescriptionError:
        return make(second)


def linked_values(system: System, name: str, version: str) -> bytes | None:
    """Return the text of the parameter set that a system's values go to; ``None`` without any."""
    if set(name) & set("/\\:\0") or not name.removesuffix(".ssv") or not name.endswith(".ssv"):
        raise DescriptionError(f"parameters '{name}': expected the name of a file, such as a.ssv")
    return parameter_set(system, version=version) if has_values(system) else None


def has_values(system: System) -> bool:
    """Whether a system or anything in it sets a value."""
    inside = any(c.values for c in system.components.values())
    return bool(system.values) or inside or any(map(has_values, system.systems.values()))


@collection_paused()
def document(
    system: System,
    file_uri: Callable[[Component], str],
    version: str = "1.0",
    *,
    parameters: str | None = None,
) -> bytes:
    """Return the text of a system's SSD."""
    used = (*_USED, "ssb") if next(_buses(system), None) else _USED
    root = new_document(Schema.DESCRIPTION, version, used)
    writer = SystemWriter(version, file_uri, parameters)
    this = f"system '{system.name}'"
    with writer.gather(this):
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
    if writer.problems:
        raise _together(writer.problems)
    return checked_text(root, Schema.DESCRIPTION, this)
