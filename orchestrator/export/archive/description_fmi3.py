"""modelDescription.xml and buildDescription.xml of an FMI 3.0 FMU.

Arrays of the Modelica model are variables with dimensions, as far as `array_layout` allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lxml import etree

from orchestrator.export.archive.dependency import Dependencies, dependencies_of
from orchestrator.export.archive.description_parts import (
    LOG_CATEGORIES,
    SOURCE_FILE,
    TypeDefinitions,
    display_units_of,
    experiment,
    identity,
    initial_unknowns,
    quantities,
    type_definitions,
    types_of,
    units,
    units_of,
)
from orchestrator.export.archive.model_description import (
    DescribedVariable,
    ExportedDescription,
    Unknown,
    encoded,
    write_fmi3,
)
from orchestrator.export.codegen.compiler import SUNDIALS
from orchestrator.export.codegen.layout import (
    ArrayVariable,
    Layout,
    Region,
    Slot,
    entries,
    output_slots,
)
from orchestrator.export.dae.residual_dae import DataType
from orchestrator.export.recipe import Recipe

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
        "providesIntermediateUpdate": "true",
        "mightReturnEarlyFromDoStep": "false",
        "hasEventMode": "false",
    },
}
_SAMPLED = {
    "CoSimulation": {
        **_INTERFACES["CoSimulation"],
        "maxOutputDerivativeOrder": "0",
        "providesIntermediateUpdate": "false",
        "providesDirectionalDerivatives": "false",
        "providesAdjointDerivatives": "false",
    },
}


def write(layout: Layout, recipe: Recipe, token: str) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    return write_fmi3(describe(layout, recipe, token))


def describe(layout: Layout, recipe: Recipe, token: str) -> ExportedDescription:
    """Say what modelDescription.xml says."""
    interfaces = {}
    for tag, own in (_INTERFACES if layout.ode.sampled is None else _SAMPLED).items():
        attributes = {"modelIdentifier": recipe.name, **_COMMON, **own}
        if tag == "ModelExchange" and layout.ode.events.assertions:
            attributes["needsCompletedIntegratorStep"] = "true"
        if tag == "CoSimulation" and layout.ode.events:
            attributes |= {"mightReturnEarlyFromDoStep": "true", "hasEventMode": "true"}
        interfaces[tag] = attributes
    types, listed = type_definitions(layout), entries(layout)
    independent = {
        "name": "time",
        "valueReference": str(len(layout.slots)),
        "description": "Simulation time",
        "causality": "independent",
        "variability": "continuous",
    }
    return ExportedDescription(
        name=layout.ode.name,
        description=layout.ode.description,
        token=token,
        interfaces=interfaces,
        units=units(units_of(layout) | {"s"}, display_units_of(layout)),
        types=types_of(types, _TYPES),
        log_categories=LOG_CATEGORIES,
        experiment=experiment(recipe),
        variables=[
            *(_variable(layout, entry, listed, types) for entry in listed),
            DescribedVariable("Float64", independent, {"unit": "s"}),
        ],
        structure=_structure(layout, listed),
    )


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


def _variable(
    layout: Layout, entry: ArrayVariable, listed: Sequence[ArrayVariable], types: TypeDefinitions
) -> DescribedVariable:
    named = identity(layout, entry.first) | {"name": entry.name}
    details = quantities(layout, entry.slots, types)
    is_moving = entry.first.region is Region.INPUT and entry.first.type is DataType.REAL
    if is_moving and layout.ode.sampled is None:
        named["intermediateUpdate"] = "true"
    if entry.first.region is Region.DERIVATIVE:
        state = next(s for s in listed if s.first.variable is entry.first.variable)
        details["derivative"] = str(state.reference)
        named["description"] = f"Time derivative of {state.name}"
    return DescribedVariable(_TYPES[entry.first.type], named, details, entry.shape)


def _structure(layout: Layout, listed: Sequence[ArrayVariable]) -> list[tuple[str, list[Unknown]]]:
    table = dependencies_of(layout)
    owners = {slot.reference: entry for entry in listed for slot in entry.slots}
    found = []
    for tag, slots, dependencies in (
        ("Output", output_slots(layout), table.continuous),
        ("ContinuousStateDerivative", layout.of(Region.DERIVATIVE), table.continuous),
        ("InitialUnknown", initial_unknowns(layout), table.initial),
    ):
        own = dict.fromkeys(owners[slot.reference] for slot in slots)
        found.append((tag, [_unknown(entry, dependencies, owners) for entry in own]))
    indicators = [Unknown(slot.reference, None) for slot in layout.of(Region.INDICATOR)]
    return [*found, ("EventIndicator", indicators)]


def _unknown(
    entry: ArrayVariable,
    dependencies: Callable[[Slot], Dependencies],
    owners: Mapping[int, ArrayVariable],
) -> Unknown:
    """The union over the elements; of several kinds the most general one."""
    found: dict[int, str] = {}
    for slot in entry.slots:
        for known, kind in dependencies(slot):
            owner = owners[known.reference].reference
            found[owner] = max(found.get(owner, kind), kind, key=_GENERALITY.index)
    listed = sorted(found)
    return Unknown(entry.reference, listed, [found[reference] for reference in listed])
