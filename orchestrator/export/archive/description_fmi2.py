"""modelDescription.xml of an FMI 2.0 FMU: co-simulation and model exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orchestrator.core.diagnostics import ModelicaError
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
    write_fmi2,
)
from orchestrator.export.codegen.layout import Layout, Region, Slot, output_slots
from orchestrator.export.dae.residual_dae import DataType
from orchestrator.export.recipe import Recipe

#: Highest derivative of inputs that a generated FMU uses: see runtime/input_derivatives.c.
INPUT_ORDER = 3
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
    return write_fmi2(describe(layout, recipe, guid))


def describe(layout: Layout, recipe: Recipe, guid: str) -> ExportedDescription:
    """Say what modelDescription.xml says."""
    interfaces = {}
    for tag, own in (_INTERFACES if layout.ode.sampled is None else _SAMPLED).items():
        interfaces[tag] = {"modelIdentifier": recipe.name, **_COMMON, **own}
        if tag == "ModelExchange" and layout.ode.events.assertions:
            interfaces[tag]["completedIntegratorStepNotNeeded"] = "false"
    types = type_definitions(layout)
    listed = [slot for slot in layout.slots if slot.region is not Region.INDICATOR]
    if not listed:
        raise ModelicaError(
            f"{layout.ode.name}: the model has no variable, and FMI 2.0 wants one; build it for FMI"
            " 3.0 (--fmi 3), or declare an output"
        )
    return ExportedDescription(
        name=layout.ode.name,
        description=layout.ode.description,
        token=guid,
        interfaces=interfaces,
        units=units(units_of(layout), display_units_of(layout)),
        types=types_of(types, {kind: kind.value for kind in DataType}),
        log_categories=LOG_CATEGORIES,
        experiment=experiment(recipe),
        variables=[_variable(layout, slot, types) for slot in listed],
        structure=_structure(layout),
        indicators=len(layout.of(Region.INDICATOR)),
        source_file=SOURCE_FILE if recipe.sources else None,
        input_order=INPUT_ORDER if layout.ode.sampled is None else 0,
    )


def _variable(layout: Layout, slot: Slot, types: TypeDefinitions) -> DescribedVariable:
    details = quantities(layout, [slot], types)
    if slot.region is Region.DERIVATIVE:
        state = next(s for s in layout.of(Region.STATE) if s.variable is slot.variable)
        details["derivative"] = str(_index(state))
    return DescribedVariable(slot.type.value, identity(layout, slot), details)


def _structure(layout: Layout) -> list[tuple[str, list[Unknown]]]:
    table = dependencies_of(layout)
    return [
        ("Outputs", _unknowns(output_slots(layout), table.continuous)),
        ("Derivatives", _unknowns(layout.of(Region.DERIVATIVE), table.continuous)),
        ("InitialUnknowns", _unknowns(initial_unknowns(layout), table.initial)),
    ]


def _unknowns(slots: Iterable[Slot], dependencies: Callable[[Slot], Dependencies]) -> list[Unknown]:
    unknowns = []
    for slot in sorted(slots, key=_index):
        found = dependencies(slot)
        knowns, kinds = [_index(known) for known, _ in found], [kind for _, kind in found]
        unknowns.append(Unknown(_index(slot), knowns, kinds))
    return unknowns


def _index(slot: Slot) -> int:
    """1-based position in ModelVariables."""
    return slot.reference + 1
