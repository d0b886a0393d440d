"""What modelDescription.xml of FMI 2.0 and of FMI 3.0 have in common."""

from __future__ import annotations

import itertools
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.system import conversion
from orchestrator.core.system.units import base_unit, is_expressible, per_second
from orchestrator.export.archive.model_description import TypeDefinition as Described
from orchestrator.export.archive.model_description import Unit
from orchestrator.export.codegen.layout import Layout, Region, Slot, classification, is_exact
from orchestrator.export.dae.residual_dae import DataType, Variable
from orchestrator.export.recipe import Recipe


@cache
def display_misfit(unit: str, display: str) -> str:
    """Why values in a unit cannot be displayed in another one; empty if they can."""
    try:
        conversion(unit, display)
    except SoftdockError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """One type.

    name: As the declarations write it, such as ``Units.Length``; if that name is taken, an
        enumeration has a number behind it.
    attributes: Attributes in which all its variables agree, in the notation of FMI.
    literals: Names of the values 1, 2, .. of an enumeration.
    """

    name: str
    type: DataType
    attributes: dict[str, str]
    literals: tuple[str, ...] = ()


_Key = tuple[str, tuple[str, ...]]  # name as declared, literals
TypeDefinitions = dict[_Key, DeclaredType]


def type_definitions(layout: Layout) -> TypeDefinitions:
    """Types of all variables. A name that stands for different units or quantities is left out.

    Enumerations never are: FMI wants a type for each of their variables.
    """
    users: dict[_Key, list[Variable]] = defaultdict(list)
    for slot in layout.slots:
        if slot.region is not Region.DERIVATIVE and (key := _key(slot.variable)) != ("", ()):
            users[key].append(slot.variable)
    taken = {slot.name for slot in layout.slots}
    found = {}
    for key, variables in sorted(users.items()):
        one, (name, literals) = variables[0], key
        if literals:
            name = _free_name(name, taken)
        elif name in taken or len({_meaning(variable) for variable in variables}) != 1:
            continue
        taken.add(name)
        found[key] = DeclaredType(name, one.type, _attributes(variables), literals)
    return found


def definition_of(slot: Slot, definitions: TypeDefinitions) -> DeclaredType | None:
    """Type of a slot; a derivative has none."""
    return None if slot.region is Region.DERIVATIVE else definitions.get(_key(slot.variable))


def limit_text(value: float, data_type: DataType) -> str:
    """A number in the notation of XML for this type."""
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return repr(float(value)) if data_type is DataType.REAL else str(round(value))


def measures(variable: Variable) -> dict[str, str]:
    """Quantity, unit and a displayUnit that fits, where the type of variable may have them."""
    if variable.type is DataType.BOOLEAN:
        return {}
    found = {"quantity": variable.quantity}
    if variable.type is DataType.REAL:
        found["unit"] = variable.unit
        shown = variable.display_unit
        if shown and variable.unit and not display_misfit(variable.unit, shown):
            found["displayUnit"] = shown
    return {key: text for key, text in found.items() if text}


def limits(variable: Variable) -> dict[str, str]:
    """Min, max and nominal, where the type of variable may have them.

    The limits of an enumeration are its first and last literal.
    """
    if variable.type in {DataType.BOOLEAN, DataType.ENUMERATION}:
        return {}
    found = {"min": variable.minimum, "max": variable.maximum}
    if variable.type is DataType.REAL:
        found["nominal"] = variable.nominal
    return {key: limit_text(v, variable.type) for key, v in found.items() if v is not None}


def _key(variable: Variable) -> _Key:
    return variable.declared_type, variable.literals


def _free_name(name: str, taken: set[str]) -> str:
    numbered = (f"{name} {number}" for number in itertools.count(2))
    return next(n for n in itertools.chain([name], numbered) if n and n not in taken)


def _meaning(variable: Variable) -> tuple[object, ...]:
    return variable.type, tuple(measures(variable).items())


def _attributes(variables: list[Variable]) -> dict[str, str]:
    common = set(limits(variables[0]).items())
    for variable in variables[1:]:
        common &= set(limits(variable).items())
    return measures(variables[0]) | dict(sorted(common))


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
