"""modelDescription.xml of an FMI 2.0 FMU: co-simulation and model exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lxml import etree

from orchestrator.errors import ModelicaError
from orchestrator.export.dependency import Dependencies
from orchestrator.export.description_parts import (
    SOURCE_FILE,
    add_default_experiment,
    add_log_categories,
    add_units,
    display_units_of,
    encoded,
    identity,
    initial_unknowns,
    output_slots,
    quantities,
    root_element,
    units_of,
)
from orchestrator.export.layout import Layout, Region, Slot
from orchestrator.export.recipe import Recipe
from orchestrator.export.sampled_dependency import dependencies_of
from orchestrator.export.type_definition import TypeDefinitions, add_items, type_definitions

_COMMON = {
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
    "providesDirectionalDerivative": "true",
}
_INTERFACES = {
    "ModelExchange": {"completedIntegratorStepNotNeeded": "true"},
    "CoSimulation": {
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true",
        "maxOutputDerivativeOrder": "1",
        "canRunAsynchronuously": "false",
    },
}
_SAMPLED = {
    "CoSimulation": {
        "canHandleVariableCommunicationStepSize": "true",
        "providesDirectionalDerivative": "false",
    },
}


def write(layout: Layout, recipe: Recipe, guid: str) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    indicators = str(len(layout.of(Region.INDICATOR)))
    versioned = {"fmiVersion": "2.0", "guid": guid, "numberOfEventIndicators": indicators}
    root = root_element(layout, versioned)
    for tag, own in (_INTERFACES if layout.ode.sampled is None else _SAMPLED).items():
        capabilities = {"modelIdentifier": recipe.name, **_COMMON, **own}
        if tag == "ModelExchange" and layout.ode.events.assertions:
            capabilities["completedIntegratorStepNotNeeded"] = "false"
        interface = etree.SubElement(root, tag, capabilities)
        etree.SubElement(etree.SubElement(interface, "SourceFiles"), "File", name=SOURCE_FILE)
    add_units(root, units_of(layout), display_units_of(layout))
    types = type_definitions(layout)
    _types(root, types)
    add_log_categories(root)
    add_default_experiment(root, recipe)
    variables = etree.SubElement(root, "ModelVariables")
    for slot in layout.slots:
        if slot.region is Region.INDICATOR:
            continue
        _variable(variables, layout, slot, types)
    if not len(variables):
        raise ModelicaError(
            f"{layout.ode.name}: the model has no variable, and FMI 2.0 wants one; build it for FMI"
            " 3.0 (--fmi 3), or declare an output"
        )
    _structure(root, layout)
    return encoded(root)


def _types(root: etree._Element, types: TypeDefinitions) -> None:
    if types:
        group = etree.SubElement(root, "TypeDefinitions")
        for definition in types.values():
            simple = etree.SubElement(group, "SimpleType", name=definition.name)
            kind = etree.SubElement(simple, definition.type.value, definition.attributes)
            add_items(kind, definition)


def _variable(parent: etree._Element, layout: Layout, slot: Slot, types: TypeDefinitions) -> None:
    element = etree.SubElement(parent, "ScalarVariable", identity(layout, slot))
    details = quantities(layout, [slot], types)
    if slot.region is Region.DERIVATIVE:
        state = next(s for s in layout.of(Region.STATE) if s.variable is slot.variable)
        details["derivative"] = str(_index(state))
    etree.SubElement(element, slot.type.value, details)


def _structure(root: etree._Element, layout: Layout) -> None:
    structure = etree.SubElement(root, "ModelStructure")
    table = dependencies_of(layout)
    _unknowns(structure, "Outputs", output_slots(layout), table.continuous)
    _unknowns(structure, "Derivatives", layout.of(Region.DERIVATIVE), table.continuous)
    _unknowns(structure, "InitialUnknowns", initial_unknowns(layout), table.initial)


def _unknowns(
    parent: etree._Element,
    tag: str,
    slots: Iterable[Slot],
    dependencies: Callable[[Slot], Dependencies],
) -> None:
    listed = sorted(slots, key=_index)
    if not listed:
        return
    group = etree.SubElement(parent, tag)
    for slot in listed:
        found = dependencies(slot)
        etree.SubElement(
            group,
            "Unknown",
            {
                "index": str(_index(slot)),
                "dependencies": " ".join(str(_index(known)) for known, _ in found),
                "dependenciesKind": " ".join(kind for _, kind in found),
            },
        )


def _index(slot: Slot) -> int:
    """1-based position in ModelVariables."""
    return slot.reference + 1
