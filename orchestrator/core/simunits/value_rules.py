"""What units take as values: the rules for what is set before a run, and for what is fed in it.

A value of an enumeration is one of its items; :meth:`Connector.refusal` says so, beside the limits
of blocks. The ranges of FMUs are here, as their model descriptions have them: what lies beyond is
run, with a note, and is refused where it is set while a run goes on. Softdock's own FMUs refuse a
parameter beyond its range, so a run refuses it before the first component is initialised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.simunits.fmi.fmu_description import open_description
from orchestrator.core.simunits.protocol import UnitDescription
from orchestrator.core.simunits.registry import description_of
from orchestrator.core.structs import replace
from orchestrator.core.system import Causality, Component, Connector, SourceKind
from orchestrator.core.system.ports import Limits

#: Code of a value that the FMU refuses.
REFUSED = "VAL122"
#: Code of a value that the FMU computes itself.
FIXED = "VAL106"
#: The generation tool of FMUs that this package makes.
_OWN_TOOL = "Softdock"
#: Causalities that are set before the initialisation.
_SETTABLE = {Causality.INPUT, Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER}


def fmu_description(component: Component) -> UnitDescription | None:
    """Return what an FMU's description says, ``None`` for others and if it cannot be read."""
    if component.source.kind is not SourceKind.FMU:
        return None
    try:
        return description_of(component, runnable=False)
    except SoftdockError:  # the reader of the FMU reports it
        return None


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


def unsettable(component: Component) -> Iterator[DescriptionError]:
    """Yield the errors of values that an FMU computes or fixes itself: constants, for example."""
    if component.source.kind is not SourceKind.FMU or not component.values:
        return
    try:
        described = open_description(Path(component.source.location))
    except SoftdockError:  # the reader of the FMU reports it
        return
    for variable in described.modelVariables:
        if variable.name not in component.values or variable.causality == Causality.OUTPUT:
            continue  # outputs: VAL102
        has_start = variable.initial in {"exact", "approx"} and variable.variability != "constant"
        # A parameter stays one if its variability is constant, which FMI does not allow.
        if variable.initial != "calculated" and (variable.causality in _SETTABLE or has_start):
            continue
        words = f"causality {variable.causality}, variability {variable.variability}"
        initial = f", initial {variable.initial}" if variable.initial else ""
        text = (
            f"value of '{variable.name}': the FMU does not allow to set it: it has {words}{initial}"
            "; remove the value"
        )
        key = f"{component.name}.{variable.name}"
        yield DescriptionError.about(
            text, code=FIXED, place=f"component '{component.name}'", key=key
        )


def refuses(component: Component, name: str, details: Mapping[str, str]) -> bool:
    """Whether an FMU refuses a value beyond the range of a connector: a parameter of Softdock's."""
    parameter = component.connectors[name].causality is Causality.PARAMETER
    return parameter and details.get("tool") == _OWN_TOOL


def value_notes(component: Component) -> list[str]:
    """Say of each value of a component that lies beyond its range.

    Raises DescriptionError: if the FMU refuses some; all of them together.
    """
    notes: list[str] = []
    refused = list(unsettable(component))
    description = fmu_description(component) if component.values else None
    for name, text in values_beyond(component, description.ranges) if description else ():
        if description and refuses(component, name, description.details):
            location, key = f"component '{component.name}'", f"{component.name}.{name}"
            message = f"value of '{name}': {text}, and the FMU refuses others"
            refused.append(DescriptionError.about(message, code=REFUSED, place=location, key=key))
        else:
            notes.append(f"component '{component.name}': value of '{name}': {text}")
    if refused:
        raise DescriptionError.collect(refused)
    return notes
