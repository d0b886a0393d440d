"""modelDescription.xml and buildDescription.xml of an FMI 3.0 FMU.

Arrays of the Modelica model are variables with dimensions, as far as `array_layout` allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lxml import etree

from orchestrator.export.array_layout import Entry, entries
from orchestrator.export.compiler import SUNDIALS
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
from orchestrator.export.residual_dae import DataType
from orchestrator.export.sampled_dependency import dependencies_of
from orchestrator.export.type_definition import TypeDefinitions, add_items, type_definitions

_GENERALITY = ("constant", "fixed", "tunable", "dependent")
_TYPES = {
    DataType.REAL: "Float64",
    DataType.INTEGER: "Int32",
    DataType.BOOLEAN: "Boolean",
    DataType.ENUMERATION: "Enumeration",
}
_COMMON = {
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canGetAndSetFMUState": "true",
    "canSerializeFMUState": "true",
    "providesDirectionalDerivatives": "true",
    "providesAdjointDerivatives": "true",
}
_INTERFACES = {
    "ModelExchange": {"needsCompletedIntegratorStep": "false"},
    "CoSimulation": {
        "canHandleVariableCommunicationStepSize": "true",
        "maxOutputDerivativeOrder": "1",
        "providesIntermediateUpdate": "false",
        "mightReturnEarlyFromDoStep": "false",
        "hasEventMode": "false",
    },
}
_SAMPLED = {
    "CoSimulation": {
        **_INTERFACES["CoSimulation"],
        "maxOutputDerivativeOrder": "0",
        "providesDirectionalDerivatives": "false",
        "providesAdjointDerivatives": "false",
    },
}


def write(layout: Layout, recipe: Recipe, token: str) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    root = root_element(layout, {"fmiVersion": "3.0", "instantiationToken": token})
    for tag, own in (_INTERFACES if layout.ode.sampled is None else _SAMPLED).items():
        attributes = {"modelIdentifier": recipe.name, **_COMMON, **own}
        if tag == "ModelExchange" and layout.ode.events.assertions:
            attributes["needsCompletedIntegratorStep"] = "true"
        if tag == "CoSimulation" and layout.ode.events:
            attributes |= {"mightReturnEarlyFromDoStep": "true", "hasEventMode": "true"}
        etree.SubElement(root, tag, attributes)
    add_units(root, units_of(layout) | {"s"}, display_units_of(layout))
    types = type_definitions(layout)
    _types(root, types)
    add_log_categories(root)
    add_default_experiment(root, recipe)
    variables = etree.SubElement(root, "ModelVariables")
    listed = entries(layout)
    for entry in listed:
        _variable(variables, layout, entry, listed, types)
    independent = {
        "name": "time",
        "valueReference": str(len(layout.slots)),
        "description": "Simulation time",
        "causality": "independent",
        "variability": "continuous",
        "unit": "s",
    }
    etree.SubElement(variables, "Float64", independent)
    _structure(root, layout, listed)
    return encoded(root)


def write_build_description(recipe: Recipe) -> bytes:
    """Text of sources/buildDescription.xml: how another platform compiles the FMU."""
    root = etree.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = etree.SubElement(root, "BuildConfiguration", modelIdentifier=recipe.name)
    files = etree.SubElement(configuration, "SourceFileSet", language="C11")
    etree.SubElement(files, "SourceFile", name=SOURCE_FILE)
    for name in SUNDIALS if recipe.solver.is_implicit else ():
        attributes = {"name": name, "version": "6", "external": "true"}
        etree.SubElement(configuration, "Library", attributes)
    return encoded(root)


def _types(root: etree._Element, types: TypeDefinitions) -> None:
    if types:
        group = etree.SubElement(root, "TypeDefinitions")
        for definition in types.values():
            tag = f"{_TYPES[definition.type]}Type"
            attributes = {"name": definition.name, **definition.attributes}
            add_items(etree.SubElement(group, tag, attributes), definition)


def _variable(
    parent: etree._Element,
    layout: Layout,
    entry: Entry,
    listed: Sequence[Entry],
    types: TypeDefinitions,
) -> None:
    attributes = identity(layout, entry.first) | quantities(layout, entry.slots, types)
    attributes["name"] = entry.name
    if entry.first.region is Region.DERIVATIVE:
        state = next(s for s in listed if s.first.variable is entry.first.variable)
        attributes["derivative"] = str(state.reference)
        attributes["description"] = f"Time derivative of {state.name}"
    element = etree.SubElement(parent, _TYPES[entry.first.type], attributes)
    for size in entry.shape:
        etree.SubElement(element, "Dimension", start=str(size))


def _structure(root: etree._Element, layout: Layout, listed: Sequence[Entry]) -> None:
    structure = etree.SubElement(root, "ModelStructure")
    table = dependencies_of(layout)
    owners = {slot.reference: entry for entry in listed for slot in entry.slots}
    for tag, slots, dependencies in (
        ("Output", output_slots(layout), table.continuous),
        ("ContinuousStateDerivative", layout.of(Region.DERIVATIVE), table.continuous),
        ("InitialUnknown", initial_unknowns(layout), table.initial),
    ):
        for entry in dict.fromkeys(owners[slot.reference] for slot in slots):
            etree.SubElement(structure, tag, _unknown(entry, dependencies, owners))
    for slot in layout.of(Region.INDICATOR):
        etree.SubElement(structure, "EventIndicator", valueReference=str(slot.reference))


def _unknown(
    entry: Entry, dependencies: Callable[[Slot], Dependencies], owners: Mapping[int, Entry]
) -> dict[str, str]:
    """The union over the elements; of several kinds the most general one."""
    found: dict[int, str] = {}
    for slot in entry.slots:
        for known, kind in dependencies(slot):
            owner = owners[known.reference].reference
            found[owner] = max(found.get(owner, kind), kind, key=_GENERALITY.index)
    listed = sorted(found)
    return {
        "valueReference": str(entry.reference),
        "dependencies": " ".join(map(str, listed)),
        "dependenciesKind": " ".join(found[reference] for reference in listed),
    }
