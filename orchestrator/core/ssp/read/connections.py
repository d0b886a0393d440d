"""Connections of a system: between what, in which direction, with what on the line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, choices_for
from orchestrator.core.ssp.archive.sources import Place, interface_of
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    add,
    child,
    decoded,
    encoded,
    listed,
)
from orchestrator.core.ssp.read.connectors import UNSPECIFIED
from orchestrator.core.ssp.read.line_annotations import (
    add_line,
    read_line,
)
from orchestrator.core.system import (
    Bus,
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    Source,
    System,
)

_CLAUSE: Final = "SSP 2.0, 5.3.2"
#: Kinds of an element's connectors that give a signal; of a system's own, as seen from inside.
_ELEMENT_SOURCES: Final = {
    Causality.OUTPUT,
    Causality.CALCULATED_PARAMETER,
    Causality.CONSTANT,
    Causality.LOCAL,
}
_OWN_SOURCES: Final = {
    Causality.INPUT,
    Causality.PARAMETER,
    Causality.STRUCTURAL_PARAMETER,
}
_WILD: Final = {Causality.INOUT, UNSPECIFIED}


class End(NamedTuple):
    """Something that connections may end at: an element of a system, or the system itself.

    key: Name in the system; empty for the system itself.
    kinds: Kind of every connector that is declared.
    connectors: Those whose type is known.
    source: What it is made from, if it is a component.
    is_open: Whether it may have connectors that are not declared: it declares none, or could not be
        read.
    """

    key: str
    kinds: Mapping[str, str]
    connectors: Mapping[str, Connector]
    source: Source | None = None
    is_open: bool = False

    def connector(self, name: str) -> Connector | None:
        """Return a connector as the file declares it, else as the source has it."""
        declared = self.connectors.get(name)
        if declared is not None or self.source is None:
            return declared
        return (interface_of(self.source) or {}).get(name)

    def kind(self, name: str) -> str | None:
        """Return the kind of a connector, of its source if it is not declared."""
        declared_kind = self.kinds.get(name)
        if declared_kind is not None:
            return declared_kind
        connector_found = self.connector(name)
        return None if connector_found is None else str(connector_found.causality)

    def gives(self, kind: str | None) -> bool | None:
        """Whether a connector of a kind is a source inside; ``None`` if it may be either."""
        if kind is None or kind in _WILD:
            return None
        return kind in (_ELEMENT_SOURCES if self.key else _OWN_SOURCES)


def read_connections(
    system: etree._Element, ends: Mapping[str, End], location: Place, findings: Findings
) -> tuple[Connection, ...]:
    """Read the connections of a system; problems go to the findings."""
    connections = []
    for element in listed(system, "ssd:Connections", "ssd:Connection"):
        with findings.guard(element, codes.OWN):
            connections.append(_connection(element, ends, location, findings))
    return tuple(connections)


def _connection(
    element: etree._Element, ends: Mapping[str, End], location: Place, findings: Findings
) -> Connection:
    if "startIndices" in element.attrib or "endIndices" in element.attrib:
        raise refusal(
            codes.INDICES,
            "startIndices and endIndices are not supported; connect whole arrays",
            _CLAUSE,
        )
    first = _end(element, "start", ends, findings)
    last = _end(element, "end", ends, findings)
    (source, name, kind), (target, into, _) = _directed(first, last)
    if kind == Causality.CALCULATED_PARAMETER:
        findings.warning(
            codes.CALCULATED,
            element,
            f"'{name}' is calculated when its component is initialised, so connected elements do"
            " not get it",
            _CLAUSE,
        )
    ends_of_line = Endpoint(source.key, name), Endpoint(target.key, into)
    if not len(element) and "suppressUnitConversion" not in element.attrib:
        return Connection(*ends_of_line)
    if child(element, "ssc:IntegerMappingTransformation") is not None:
        findings.note(
            codes.TABLE,
            element,
            "values that the table does not have stop the run",
            "SSP 2.0, 4.5.2",
        )
    connectors = source.connector(name), target.connector(into)
    return Connection(*ends_of_line, **read_line(element, connectors, location))


#: An end, the name of the connector there, and its kind.
_Side = tuple[End, str, str | None]


def _end(element: etree._Element, side: str, ends: Mapping[str, End], findings: Findings) -> _Side:
    name, connector = element.get(f"{side}Element", ""), element.get(f"{side}Connector", "")
    end = ends.get(encoded(name))
    if end is None:
        choices = choices_for(name, map(decoded, filter(None, ends)), "element")
        raise refusal(codes.UNKNOWN_END, f"no element '{name}'{choices}", _CLAUSE)
    kind = end.kind(connector)
    if connector in end.kinds or end.is_open:
        return end, connector, kind
    subject = f"element '{name}'" if name else "the system"
    if kind is not None:
        findings.warning(
            codes.UNDECLARED,
            element,
            f"{subject} does not declare the connector '{connector}', but its source has it",
            "SSP 2.0, 5.2.1",
        )
        return end, connector, kind
    raise refusal(
        codes.UNKNOWN_END,
        f"{subject} has no connector '{connector}'"
        f"{choices_for(connector, end.kinds, 'connector', 'its')}",
        _CLAUSE,
    )


def _directed(first: _Side, last: _Side) -> tuple[_Side, _Side]:
    """Put the end that gives the signal first: start and end do not say it."""
    first_gives, last_gives = first[0].gives(first[2]), last[0].gives(last[2])
    if last_gives is not True and first_gives is not False:
        return first, last
    if first_gives is not True and last_gives is not False:
        return last, first
    kinds = [
        f"{kind} '{name}' of {'an element' if end.key else 'the system'}"
        for end, name, kind in (first, last)
    ]
    raise refusal(
        codes.KINDS,
        f"{kinds[0]} is connected with {kinds[1]}; expected one that gives a signal inside the"
        " system and one that takes it",
        "SSP 2.0, 5.3.2.1",
    )


def add_connections(parent: etree._Element, system: System, version: str) -> None:
    """Append the connections of a system."""
    if not system.connections:
        return
    group = add(parent, "ssd:Connections")
    problems: list[str] = []
    for line in system.connections:
        try:
            _add_connection(group, line, system, version)
        except (DescriptionError, ValueError) as error:
            texts = error.problems if isinstance(error, DescriptionError) else (str(error),)
            problems += [f"connection {line}: {text}" for text in texts]
    if problems:
        raise DescriptionError(*problems)


def _add_connection(group: etree._Element, line: Connection, system: System, version: str) -> None:
    source, target = (_declared(system, end) for end in line.ends)
    element = add(group, "ssd:Connection")
    for side, end in (("start", line.source), ("end", line.target)):
        if end.component:
            element.set(f"{side}Element", decoded(end.component))
        element.set(f"{side}Connector", end.connector)
    add_line(element, line, (source, target), version)


_Owner = Component | System | Bus


def _declared(system: System, end: Endpoint) -> Connector | None:
    """Return a connector; ``None`` if its component gets them from its source."""
    owner: _Owner = system
    if end.component:
        every: dict[str, _Owner] = {**system.components, **system.systems, **system.buses}
        if end.component not in every:
            choices = choices_for(end.component, every, "component")
            raise DescriptionError(f"no component '{end.component}'{choices}")
        owner = every[end.component]
    connectors = owner.connectors
    if not connectors and isinstance(owner, Component):
        return None
    if end.connector not in connectors:
        subject = f"component '{end.component}'" if end.component else "the system"
        raise DescriptionError(
            f"{subject} has no connector '{end.connector}'"
            f"{choices_for(end.connector, connectors, 'connector', 'its')}"
        )
    return connectors[end.connector]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
