"""Systems compared by what Softdock writes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lxml import etree

from orchestrator.ssp.names import children, tag
from orchestrator.ssp.write import document
from orchestrator.system import Component, Connector, System

Form = tuple[str, tuple[tuple[str, str], ...], str, tuple["Form", ...]]
#: Definitions, of which a file may hold more than are used.
_DEFINITIONS = {"ssd:Units", "ssd:Enumerations", "ssv:Units"}


def written(system: System, fmu_uri: Callable[[Component], str]) -> etree._Element:
    """Return the tree of what Softdock writes of a system."""
    return etree.fromstring(document(system, fmu_uri))


def same_system(one: System, other: System, fmu_uri: Callable[[Component], str]) -> bool:
    """Whether two systems are written alike, but for the order of what is in them."""
    return _form(written(one, fmu_uri)) == _form(written(other, fmu_uri))


def _form(element: etree._Element) -> Form:
    inside = sorted(_form(c) for c in children(element) if tag(c) not in _DEFINITIONS)
    attributes = tuple(sorted((str(key), str(text)) for key, text in element.attrib.items()))
    return tag(element), attributes, (element.text or "").strip(), tuple(inside)


def as_declared(new: System, old: System) -> System:
    """Leave out the connectors that sources have, but that neither a file nor a line names.

    Of components that were there before, from the same source.
    """
    used = {end for line in new.connections for end in (line.source, line.target)}

    def needed(component: Component) -> dict[str, Connector]:
        before = old.components.get(component.name)
        if before is None or before.source != component.source:
            return dict(component.connectors)
        named = {end.connector for end in used if end.component == component.name}
        named |= component.values.keys() | before.connectors.keys()
        if not before.connectors:  # the file leaves all of them to the source
            return {}
        return {key: c for key, c in component.connectors.items() if key in named}

    return replace(
        new,
        components={
            name: replace(component, connectors=needed(component))
            for name, component in new.components.items()
        },
        systems={
            name: as_declared(inner, old.systems[name]) if name in old.systems else inner
            for name, inner in new.systems.items()
        },
    )
