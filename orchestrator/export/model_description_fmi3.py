"""modelDescription.xml and buildDescription.xml of an FMI 3.0 FMU.

Arrays of the Modelica model are written as their elements: the exporter knows scalars only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lxml import etree

from orchestrator.export.compiler import SUNDIALS
from orchestrator.export.dependency import Dependencies, DependencyTable
from orchestrator.export.description_parts import (
    SOURCE_FILE,
    add_default_experiment,
    add_log_categories,
    add_units,
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

_TYPES = {DataType.REAL: "Float64", DataType.INTEGER: "Int32", DataType.BOOLEAN: "Boolean"}
_COMMON = {
    "canBeInstantiatedOnlyOncePerProcess": "false",
    "canGetAndSetFMUState": "true",
    "canSerializeFMUState": "true",
    "providesDirectionalDerivatives": "true",
}
_INTERFACES = {
    "ModelExchange": {"needsCompletedIntegratorStep": "false"},
    "CoSimulation": {
        "canHandleVariableCommunicationStepSize": "true",
        "maxOutputDerivativeOrder": "0",
        "providesIntermediateUpdate": "false",
        "mightReturnEarlyFromDoStep": "false",
        "hasEventMode": "false",
    },
}


def write(layout: Layout, recipe: Recipe, token: str) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    root = root_element(layout, {"fmiVersion": "3.0", "instantiationToken": token})
    adjoint = {"providesAdjointDerivatives": "true" if layout.ode.is_explicit else "false"}
    for tag, own in _INTERFACES.items():
        attributes = {"modelIdentifier": recipe.name, **own, **_COMMON, **adjoint}
        etree.SubElement(root, tag, attributes)
    add_units(root, units_of(layout) | {"s"})
    add_log_categories(root)
    add_default_experiment(root, recipe)
    variables = etree.SubElement(root, "ModelVariables")
    states = {slot.variable.name: slot for slot in layout.of(Region.STATE)}
    for slot in layout.slots:
        attributes = {**identity(layout, slot), **quantities(layout, slot)}
        if slot.region is Region.DERIVATIVE:
            attributes["derivative"] = str(states[slot.variable.name].reference)
        etree.SubElement(variables, _TYPES[slot.type], attributes)
    independent = {
        "name": "time",
        "valueReference": str(len(layout.slots)),
        "description": "Simulation time",
        "causality": "independent",
        "variability": "continuous",
        "unit": "s",
    }
    etree.SubElement(variables, "Float64", independent)
    _structure(root, layout)
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


def _structure(root: etree._Element, layout: Layout) -> None:
    structure = etree.SubElement(root, "ModelStructure")
    table = DependencyTable(layout)
    derivatives = layout.of(Region.DERIVATIVE)
    _unknowns(structure, "Output", output_slots(layout), table.continuous)
    _unknowns(structure, "ContinuousStateDerivative", derivatives, table.continuous)
    _unknowns(structure, "InitialUnknown", initial_unknowns(layout), table.initial)


def _unknowns(
    parent: etree._Element,
    tag: str,
    slots: Iterable[Slot],
    dependencies: Callable[[Slot], Dependencies],
) -> None:
    for slot in slots:
        found = dependencies(slot)
        attributes = {
            "valueReference": str(slot.reference),
            "dependencies": " ".join(str(known.reference) for known, _ in found),
            "dependenciesKind": " ".join(kind for _, kind in found),
        }
        etree.SubElement(parent, tag, attributes)
