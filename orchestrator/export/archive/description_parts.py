"""What modelDescription.xml of FMI 2.0 and of FMI 3.0 have in common."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.core.system import conversion
from orchestrator.core.system.units.unit import base_unit, is_expressible, per_second
from orchestrator.export.archive.display_unit import display_misfit
from orchestrator.export.archive.model_description import TypeDefinition as Described
from orchestrator.export.archive.model_description import Unit
from orchestrator.export.archive.type_definition import (
    TypeDefinitions,
    definition_of,
    limit_text,
    limits,
    measures,
)
from orchestrator.export.codegen.classification import classification, is_exact
from orchestrator.export.codegen.layout import Layout, Region, Slot
from orchestrator.export.dae.residual_dae import DataType
from orchestrator.export.recipe import Recipe

_LOGGER = logging.getLogger(__name__)
SOURCE_FILE = "fmu.c"
DisplayUnits = dict[str, set[str]]
LOG_CATEGORIES = {  # those of runtime/log.c
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logStatusWarning": "What the user should know although the simulation goes on",
    "logStatusDiscard": "Why a call has to be tried again with other values",
    "logEvents": "State and time events, reinit() and terminate(), with their times",
}


def units(names: Iterable[str], displayed: DisplayUnits) -> list[Unit]:
    """Definitions of units, with the display units of each."""
    return [
        Unit(
            name,
            base_unit(name).attributes() if is_expressible(name) else None,  # a level in dB is not
            tuple(_displayed(name, display) for display in sorted(displayed.get(name, ()))),
        )
        for name in sorted(names)
    ]


def _displayed(unit: str, display: str) -> dict[str, str]:
    factor, offset = conversion(unit, display)
    return {"name": display, "factor": repr(factor), "offset": repr(offset)}


def units_of(layout: Layout) -> set[str]:
    """Units of all variables."""
    return {unit for slot in layout.slots if (unit := unit_of(slot))}


def display_units_of(layout: Layout) -> DisplayUnits:
    """Display units of all variables, by unit."""
    found: DisplayUnits = {}
    for slot in layout.slots:
        if display := measures(slot.variable).get("displayUnit"):
            found.setdefault(str(slot.variable.unit), set()).add(display)
    _warn_of_misfits(layout)
    return found


def _warn_of_misfits(layout: Layout) -> None:
    told: set[str] = set()
    for slot in layout.slots:
        unit, display = slot.variable.unit, slot.variable.display_unit
        why = display_misfit(unit, display) if unit and display else ""
        if why and why not in told:
            told.add(why)
            _LOGGER.warning(
                "variable '%s': its displayUnit '%s' is left out: %s", slot.name, display, why
            )


def unit_of(slot: Slot) -> str | None:
    """Unit of a slot; that of a derivative follows from its state's."""
    unit = slot.variable.unit if slot.type is DataType.REAL else None
    return per_second(unit) if unit and slot.region is Region.DERIVATIVE else unit


def experiment(recipe: Recipe) -> dict[str, str]:
    """Attributes of DefaultExperiment."""
    start, stop = recipe.experiment.interval
    attributes = {"startTime": repr(start), "stopTime": repr(stop)}
    attributes["tolerance"] = repr(recipe.solver.relative_tolerance)
    if recipe.experiment.step_size is not None:
        attributes["stepSize"] = repr(recipe.experiment.step_size)
    return attributes


def identity(layout: Layout, slot: Slot) -> dict[str, str]:
    """Attributes that say what a variable is."""
    causality, variability, initial = classification(layout, slot)
    attributes = {"name": slot.name, "valueReference": str(slot.reference)}
    if slot.region is Region.DERIVATIVE:
        attributes["description"] = f"Time derivative of {slot.variable.name}"
    elif slot.variable.description:
        attributes["description"] = slot.variable.description
    attributes |= {"causality": causality, "variability": variability}
    if initial is not None:
        attributes["initial"] = initial
    return attributes


def quantities(layout: Layout, slots: Sequence[Slot], types: TypeDefinitions) -> dict[str, str]:
    """Attributes that say which values a scalar has, or all elements of an array."""
    slot = slots[0]
    details: dict[str, str] = {}
    if definition := definition_of(slot, types):
        details["declaredType"] = definition.name
    if slot.region is Region.DERIVATIVE:
        if unit := unit_of(slot):
            details["unit"] = unit
    else:
        details |= measures(slot.variable) | limits(slot.variable)
    if classification(layout, slot)[2] != "calculated":
        details["start"] = " ".join(limit_text(layout.start(s), s.type) for s in slots)
    return details


def initial_unknowns(layout: Layout) -> list[Slot]:
    """What initialisation computes, by value reference."""
    states = layout.of(Region.STATE)
    return [
        *(slot for i, slot in enumerate(states) if not is_exact(layout.ode, i)),
        *layout.of(Region.CALCULATED),
        *(
            slot
            for slot in layout.of(Region.DISCRETE)
            if slot.variable.is_output and classification(layout, slot)[2] != "exact"
        ),
        *layout.of(Region.OUTPUT),
        *layout.of(Region.DERIVATIVE),
    ]


def types_of(types: TypeDefinitions, tags: Mapping[DataType, str]) -> list[Described]:
    """Type definitions, under the tags of one version."""
    return [
        Described(
            definition.name,
            tags[definition.type],
            definition.attributes,
            tuple((name, value) for value, name in enumerate(definition.literals, start=1)),
        )
        for definition in types.values()
    ]
