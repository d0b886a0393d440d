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


def written(system: System, fmu_uri: Callable[[Component], str], version: str) -> etree._Element:
    """Return the tree of what Softdock writes of a system, in a version of SSP."""
    return etree.fromstring(document(system, fmu_uri, version))


def same_form(one: etree._Element, other: etree._Element) -> bool:
    """Whether two files say the same, but for the order of what is in them."""
    return _form(one) == _form(other)


def _form(element: etree._Element) -> Form:
    inside = sorted(_form(c) for c in children(element) if tag(c) not in _DEFINITIONS)
    attributes = tuple(sorted((str(key), str(text)) for key, text in element.attrib.items()))
    return tag(element), attributes, (element.text or "").strip(), tuple(inside)


def as_declared(new: System, old: System, base: System) -> System:
    """Return a changed system with as few connectors declared as the one in the file.

    Parameters
    ----------
    new
        The changed system.
    old
        The one in the file.
    base
        What the change started from: ``old``, or ``old`` completed by its sources. Connectors that
        are alike in ``base`` and ``new`` stay as the file declares them; those that it leaves to
        the source are declared where a line or a value of ``new`` names them.
    """
    used = {end for line in new.connections for end in (line.source, line.target)}

    def declared(component: Component) -> dict[str, Connector]:
        name = component.name
        before, start = old.components.get(name), base.components.get(name)
        if before is None or start is None or start.source != component.source:
            return dict(component.connectors)
        named = {end.connector for end in used if end.component == name} | component.values.keys()
        kept = {}
        for key, connector in component.connectors.items():
            if connector != start.connectors.get(key):
                kept[key] = connector
            elif key in before.connectors:
                kept[key] = before.connectors[key]
            elif before.connectors and key in named:
                kept[key] = connector
        return kept

    return replace(
        new,
        components={
            name: replace(component, connectors=declared(component))
            for name, component in new.components.items()
        },
        systems={
            name: as_declared(inner, old.systems[name], base.systems[name])
            if name in old.systems and name in base.systems
            else inner
            for name, inner in new.systems.items()
        },
    )
