"""What units take as values: the rules for what is set before a run, and for what is fed in it.

A value of an enumeration is one of its items; :meth:`Connector.refusal` says so, beside the limits
of blocks. The ranges of FMUs are here, as their model descriptions have them: what lies beyond is
run, with a note, and is refused where it is set while a run goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.simunits.registry import description_of
from orchestrator.core.structs import replace
from orchestrator.core.system import Component, Connector, SourceKind
from orchestrator.core.system.ports import Limits


def ranges_of(component: Component) -> Mapping[str, Limits]:
    """Return the ranges that an FMU's description gives what can be set, by connector."""
    if component.source.kind is not SourceKind.FMU:
        return {}
    try:
        return description_of(component, runnable=False).ranges
    except SoftdockError:  # which whoever reads the FMU is told
        return {}


def beyond(connector: Connector, limits: Limits, value: object) -> str | None:
    """Say what is expected of a value beyond a range; ``None`` if it is inside."""
    return replace(connector, limits=limits, enumeration=None).refusal(value)


def values_beyond(component: Component, ranges: Mapping[str, Limits]) -> Iterator[tuple[str, str]]:
    """Yield the values of an FMU beyond the ranges of its description: connector, and a sentence.

    A value that is the FMU's own start is none of the user's.
    """
    if component.source.kind is not SourceKind.FMU:
        return  # a block refuses it
    for name, value in component.values.items():
        connector = component.connectors.get(name)
        if connector is None or name not in ranges or value == connector.start:
            continue
        if connector.accepts(value) and (reason := beyond(connector, ranges[name], value)):
            yield name, f"{reason} (min, max of the FMU)"


def value_notes(component: Component, ranges: Mapping[str, Limits]) -> list[str]:
    """Say of each value of a component that lies beyond its range."""
    return [
        f"component '{component.name}': value of '{name}': {text}"
        for name, text in values_beyond(component, ranges)
    ]
