"""modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml, of models of equations.

In FMI 3.0 arrays of the Modelica model are variables with dimensions, as far as ``layout.entries``
allows.
"""

from __future__ import annotations

import itertools
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from lxml import etree

from orchestrator.core.diagnostics import ModelicaError, SoftdockError
from orchestrator.core.structs import replace
from orchestrator.core.system import conversion
from orchestrator.core.units.conversion import base_unit, is_expressible, per_second
from orchestrator.export.archive.dependency import Dependent, dependencies_of
from orchestrator.export.archive.model_description import (
    DescribedVariable,
    ExportedDescription,
    TypeDefinition,
    Unit,
    Unknown,
    encoded,
    time_variable,
)
from orchestrator.export.codegen.compiler import SUNDIALS
from orchestrator.export.codegen.layout import (
    ArrayVariable,
    Layout,
    Region,
    Slot,
    classification,
    entries,
    is_exact,
    output_slots,
)
from orchestrator.export.dae.residual_dae import DataType, Variable
from orchestrator.export.recipe import Recipe

_LOGGER = logging.getLogger(__name__)
SOURCE_FILE = "fmu.c"
#: Highest derivative of inputs that a generated FMU uses: see runtime/input_derivatives.c.
_INPUT_ORDER = 3
_LOG_CATEGORIES = {  # those of runtime/log.c
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logStatusWarning": "What the user should know although the simulation goes on",
    "logStatusDiscard": "Why a call has to be tried again with other values",
    "logEvents": "State and time events, reinit() and terminate(), with their times",
}
_GENERALITY = ("constant", "fixed", "tunable", "dependent")
# What follows is by version of FMI.
_TAGS = {
    "2.0": {kind: kind.value for kind in DataType},
    "3.0": {
        DataType.REAL: "Float64",
        DataType.INTEGER: "Int32",
        DataType.BOOLEAN: "Boolean",
        DataType.ENUMERATION: "Enumeration",
    },
}
_GROUPS = {
    "2.0": ("Outputs", "Derivatives", "InitialUnknowns"),
    "3.0": ("Output", "ContinuousStateDerivative", "InitialUnknown"),
}
_COMMON = {
    "2.0": {
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
        "providesDirectionalDerivative": "true",
    },
    "3.0": {
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canGetAndSetFMUState": "true",
        "canSerializeFMUState": "true",
        "providesDirectionalDerivatives": "true",
        "providesAdjointDerivatives": "true",
    },
}
_INTERFACES = {
    "2.0": {
        "ModelExchange": {"completedIntegratorStepNotNeeded": "true"},
        "CoSimulation": {
            "canHandleVariableCommunicationStepSize": "true",
            "canInterpolateInputs": "true",
            "maxOutputDerivativeOrder": "1",
            "canRunAsynchronuously": "false",
        },
    },
    "3.0": {
        "ModelExchange": {"needsCompletedIntegratorStep": "false"},
        "CoSimulation": {
            "canHandleVariableCommunicationStepSize": "true",
            "maxOutputDerivativeOrder": "1",
            "providesIntermediateUpdate": "true",
            "mightReturnEarlyFromDoStep": "false",
            "hasEventMode": "false",
        },
    },
}
_SAMPLED = {
    "2.0": {
        "CoSimulation": {
            "canHandleVariableCommunicationStepSize": "true",
            "providesDirectionalDerivative": "false",
        },
    },
    "3.0": {
        "CoSimulation": {
            **_INTERFACES["3.0"]["CoSimulation"],
            "maxOutputDerivativeOrder": "0",
            "providesIntermediateUpdate": "false",
            "providesDirectionalDerivatives": "false",
            "providesAdjointDerivatives": "false",
        },
    },
}
_ASSERTING = {
    "2.0": {"completedIntegratorStepNotNeeded": "false"},
    "3.0": {"needsCompletedIntegratorStep": "true"},
}
_Key = tuple[str, tuple[str, ...]]  # name as declared, literals
_Types = Mapping[_Key, TypeDefinition]


def describe(layout: Layout, recipe: Recipe, fmi: str, token: str) -> ExportedDescription:
    """Say what modelDescription.xml says, in the words of one version of FMI."""
    ode, is_new = layout.ode, fmi == "3.0"
    types = _type_definitions(layout, _TAGS[fmi])
    scalars = (slot for slot in layout.slots if slot.region is not Region.INDICATOR)
    listed = entries(layout) if is_new else [ArrayVariable((slot,)) for slot in scalars]
    if not (listed or is_new):
        raise ModelicaError(
            f"{ode.name}: the model has no variable, and FMI 2.0 wants one; build it for FMI"
            " 3.0 (--fmi 3), or declare an output"
        )
    description = ExportedDescription(
        name=ode.name,
        description=ode.description,
        token=token,
        interfaces=_interfaces(layout, recipe, fmi),
        units=units({*map(_unit_of, layout.slots), "s" if is_new else None}, _displays(layout)),
        types=list(types.values()),
        log_categories=_LOG_CATEGORIES,
        experiment=_experiment(recipe),
        variables=[_variable(layout, entry, listed, types, fmi) for entry in listed],
        structure=_structure(layout, listed, fmi),
    )
    if not is_new:
        return replace(
            description,
            indicators=len(layout.of(Region.INDICATOR)),
            source_file=SOURCE_FILE if recipe.sources else None,
            input_order=_INPUT_ORDER if ode.sampled is None else 0,
        )
    return replace(
        description, variables=[*description.variables, time_variable(len(layout.slots))]
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


def _interfaces(layout: Layout, recipe: Recipe, fmi: str) -> dict[str, dict[str, str]]:
    interfaces = (_INTERFACES if layout.ode.sampled is None else _SAMPLED)[fmi]
    capabilities = {
        tag: {"modelIdentifier": recipe.name, **_COMMON[fmi], **attributes}
        for tag, attributes in interfaces.items()
    }
    if layout.ode.events.assertions:
        capabilities["ModelExchange"] |= _ASSERTING[fmi]
    if layout.ode.events and fmi == "3.0":
        capabilities["CoSimulation"] |= {
            "mightReturnEarlyFromDoStep": "true",
            "hasEventMode": "true",
        }
    return capabilities


def _experiment(recipe: Recipe) -> dict[str, str]:
    """Attributes of DefaultExperiment."""
    start, stop = recipe.experiment.interval
    attributes = {"startTime": repr(start), "stopTime": repr(stop)}
    attributes["tolerance"] = repr(recipe.solver.relative_tolerance)
    if recipe.experiment.step_size is not None:
        attributes["stepSize"] = repr(recipe.experiment.step_size)
    return attributes


def _variable(
    layout: Layout, entry: ArrayVariable, listed: Sequence[ArrayVariable], types: _Types, fmi: str
) -> DescribedVariable:
    slot = entry.first
    causality, variability, initial = classification(layout, slot)
    attributes = {"name": entry.name, "valueReference": str(entry.reference)}
    details: dict[str, str] = {}
    if slot.region is Region.DERIVATIVE:
        state = next(
            entry_of_state
            for entry_of_state in listed
            if entry_of_state.first.variable is slot.variable
        )
        attributes["description"] = f"Time derivative of {state.name}"
        if unit := _unit_of(slot):
            details["unit"] = unit
    else:
        if slot.variable.description:
            attributes["description"] = slot.variable.description
        if definition := types.get(_key(slot.variable)):
            details["declaredType"] = definition.name
        details |= _measures(slot.variable) | _limits(slot.variable)
    attributes |= {"causality": causality, "variability": variability}
    if initial is not None:
        attributes["initial"] = initial
    if initial != "calculated":
        details["start"] = " ".join(_number_text(layout.start(s), s.type) for s in entry.slots)
    if slot.region is Region.DERIVATIVE:
        details["derivative"] = str(_number(state, fmi))
    is_moving = slot.region is Region.INPUT and slot.type is DataType.REAL
    if is_moving and fmi == "3.0" and layout.ode.sampled is None:
        attributes["intermediateUpdate"] = "true"
    return DescribedVariable(_TAGS[fmi][slot.type], attributes, details, entry.shape)


def _number(entry: ArrayVariable, fmi: str) -> int:
    """What stands for a variable: its place in FMI 2.0, counted from 1, else its reference."""
    return entry.reference + (fmi == "2.0")


def _structure(
    layout: Layout, listed: Sequence[ArrayVariable], fmi: str
) -> list[tuple[str, list[Unknown]]]:
    running, at_start = dependencies_of(layout)
    owners = {slot.reference: entry for entry in listed for slot in entry.slots}
    unknowns = []
    groups = (
        (output_slots(layout), running),
        (layout.of(Region.DERIVATIVE), running),
        (_initial_unknowns(layout), at_start),
    )
    for tag, (slots, dependencies) in zip(_GROUPS[fmi], groups, strict=True):
        states = dict.fromkeys(owners[slot.reference] for slot in slots)
        unknowns.append((tag, [_unknown(entry, dependencies, owners, fmi) for entry in states]))
    if fmi == "3.0":
        indicators = [Unknown(slot.reference, None) for slot in layout.of(Region.INDICATOR)]
        unknowns.append(("EventIndicator", indicators))
    return unknowns


def _unknown(
    entry: ArrayVariable,
    dependencies: Dependent,
    owners: Mapping[int, ArrayVariable],
    fmi: str,
) -> Unknown:
    """The union over the elements; of several kinds the most general one."""
    dependency_kinds: dict[int, str] = {}
    for slot in entry.slots:
        for source, kind in dependencies(slot):
            owner = _number(owners[source.reference], fmi)
            dependency_kinds[owner] = max(
                dependency_kinds.get(owner, kind), kind, key=_GENERALITY.index
            )
    listed = sorted(dependency_kinds)
    return Unknown(_number(entry, fmi), listed, [dependency_kinds[number] for number in listed])


def _initial_unknowns(layout: Layout) -> list[Slot]:
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


def _type_definitions(layout: Layout, tags: Mapping[DataType, str]) -> _Types:
    """Types of all variables but those whose name stands for different units or quantities."""
    users: dict[_Key, list[Variable]] = defaultdict(list)
    for slot in layout.slots:
        if slot.region is not Region.DERIVATIVE and (key := _key(slot.variable)) != ("", ()):
            users[key].append(slot.variable)
    taken = {slot.name for slot in layout.slots}
    types = {}
    for key, variables in sorted(users.items()):
        (name, literals), kind = key, variables[0].type
        if literals:  # FMI needs a type for each enumeration
            numbered = (f"{name} {number}" for number in itertools.count(2))
            name = next(n for n in itertools.chain([name], numbered) if n and n not in taken)
        elif name in taken or len({(v.type, *_measures(v).items()) for v in variables}) != 1:
            continue
        taken.add(name)
        agreed = set.intersection(*(set(_limits(variable).items()) for variable in variables))
        attributes = _measures(variables[0]) | dict(sorted(agreed))
        items = tuple((literal, value) for value, literal in enumerate(literals, start=1))
        types[key] = TypeDefinition(name, tags[kind], attributes, items)
    return types


def _key(variable: Variable) -> _Key:
    return variable.declared_type, variable.literals


def _measures(variable: Variable) -> dict[str, str]:
    """Quantity, unit and a displayUnit that fits, where the type of variable may have them."""
    if variable.type is DataType.BOOLEAN:
        return {}
    attributes = {"quantity": variable.quantity}
    if variable.type is DataType.REAL:
        attributes["unit"] = variable.unit
        display_unit = variable.display_unit
        if display_unit and variable.unit and not _display_misfit(variable.unit, display_unit):
            attributes["displayUnit"] = display_unit
    return {key: text for key, text in attributes.items() if text}


def _limits(variable: Variable) -> dict[str, str]:
    """Min, max and nominal; those of an enumeration are its first and last literal."""
    if variable.type in {DataType.BOOLEAN, DataType.ENUMERATION}:
        return {}
    attributes = {"min": variable.minimum, "max": variable.maximum}
    if variable.type is DataType.REAL:
        attributes["nominal"] = variable.nominal
    return {key: _number_text(v, variable.type) for key, v in attributes.items() if v is not None}


def _number_text(value: float, data_type: DataType) -> str:
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return repr(float(value)) if data_type is DataType.REAL else str(round(value))


def units(names: Iterable[str | None], displayed: Mapping[str, Iterable[str]]) -> list[Unit]:
    """Definitions of units, with the display units of each."""
    return [
        Unit(
            name,
            base_unit(name).attributes() if is_expressible(name) else None,  # a level in dB is not
            tuple(_displayed(name, display) for display in sorted(displayed.get(name, ()))),
        )
        for name in sorted(filter(None, names))
    ]


def _displayed(unit: str, display: str) -> dict[str, str]:
    factor, offset = conversion(unit, display)
    return {"name": display, "factor": repr(factor), "offset": repr(offset)}


def _unit_of(slot: Slot) -> str | None:
    """Unit of a slot; that of a derivative follows from its state's."""
    unit = slot.variable.unit if slot.type is DataType.REAL else None
    return per_second(unit) if unit and slot.region is Region.DERIVATIVE else unit


def _displays(layout: Layout) -> dict[str, set[str]]:
    """Display units of all variables, by unit; warn of unsuitable ones."""
    displays: dict[str, set[str]] = defaultdict(set)
    reported: set[str] = set()
    for slot in layout.slots:
        unit, display = slot.variable.unit, slot.variable.display_unit
        if display_name := _measures(slot.variable).get("displayUnit"):
            displays[str(unit)].add(display_name)
        reason = _display_misfit(unit, display) if unit and display else ""
        if reason and reason not in reported:
            reported.add(reason)
            _LOGGER.warning(
                "variable '%s': its displayUnit '%s' is left out: %s", slot.name, display, reason
            )
    return displays


@cache
def _display_misfit(unit: str, display: str) -> str:
    """Why values in a unit cannot be displayed in another one; empty if they can."""
    try:
        conversion(unit, display)
    except SoftdockError as error:
        return str(error)
    return ""
