"""What modelDescription.xml of FMI 2.0 and of FMI 3.0 have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lxml import etree

from orchestrator.export.dependency import is_exact
from orchestrator.export.layout import Layout, Region, Slot
from orchestrator.export.recipe import Recipe
from orchestrator.export.residual_dae import DataType, Kind
from orchestrator.export.type_definition import (
    TypeDefinitions,
    definition_of,
    limit_text,
    limits,
    measures,
)
from orchestrator.export.unit_definition import base_unit, display_conversion, per_second

GENERATOR = "Softdock"
SOURCE_FILE = "fmu.c"
DisplayUnits = dict[str, set[str]]
_LOG_CATEGORIES = {  # those of runtime/log.c
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logStatusWarning": "What the user should know although the simulation goes on",
    "logStatusDiscard": "Why a call has to be tried again with other values",
    "logEvents": "State and time events, reinit() and terminate(), with their times",
}


def root_element(layout: Layout, attributes: dict[str, str]) -> etree._Element:
    """Start a model description; the attributes are those of one version."""
    root = etree.Element(
        "fmiModelDescription",
        {
            **attributes,
            "modelName": layout.ode.name,
            "generationTool": GENERATOR,
            "variableNamingConvention": "structured",
        },
    )
    if layout.ode.description:
        root.set("description", layout.ode.description)
    return root


def encoded(root: etree._Element) -> bytes:
    """Text of the file, in UTF-8."""
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text


def add_units(root: etree._Element, names: Iterable[str], displayed: DisplayUnits) -> None:
    """Add UnitDefinitions with the display units of each."""
    listed = sorted(names)
    if not listed:
        return
    definitions = etree.SubElement(root, "UnitDefinitions")
    for name in listed:
        base = base_unit(name)
        attributes = {symbol: str(exponent) for symbol, exponent in base.exponents.items()}
        if base.factor != 1.0:
            attributes["factor"] = repr(base.factor)
        if base.offset != 0.0:
            attributes["offset"] = repr(base.offset)
        unit = etree.SubElement(definitions, "Unit", name=name)
        etree.SubElement(unit, "BaseUnit", attributes)
        for display in sorted(displayed.get(name, ())):
            factor, offset = display_conversion(name, display)
            conversion = {"name": display, "factor": repr(factor), "offset": repr(offset)}
            etree.SubElement(unit, "DisplayUnit", conversion)


def units_of(layout: Layout) -> set[str]:
    """Units of all variables."""
    return {unit for slot in layout.slots if (unit := unit_of(slot))}


def display_units_of(layout: Layout) -> DisplayUnits:
    """Display units of all variables, by unit."""
    found: DisplayUnits = {}
    for slot in layout.slots:
        if display := measures(slot.variable).get("displayUnit"):
            found.setdefault(str(slot.variable.unit), set()).add(display)
    return found


def unit_of(slot: Slot) -> str | None:
    """Unit of a slot; that of a derivative follows from its state's."""
    unit = slot.variable.unit if slot.type is DataType.REAL else None
    return per_second(unit) if unit and slot.region is Region.DERIVATIVE else unit


def add_log_categories(root: etree._Element) -> None:
    """Add LogCategories: what the runtime sends."""
    categories = etree.SubElement(root, "LogCategories")
    for name, description in _LOG_CATEGORIES.items():
        etree.SubElement(categories, "Category", name=name, description=description)


def add_default_experiment(root: etree._Element, recipe: Recipe) -> None:
    """Add DefaultExperiment."""
    experiment = recipe.experiment
    start, stop = experiment.interval
    attributes = {"startTime": repr(start), "stopTime": repr(stop)}
    attributes["tolerance"] = repr(recipe.solver.relative_tolerance)
    if experiment.step_size is not None:
        attributes["stepSize"] = repr(experiment.step_size)
    etree.SubElement(root, "DefaultExperiment", attributes)


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


def classification(layout: Layout, slot: Slot) -> tuple[str, str, str | None]:
    """Causality, variability and initial of a slot (FMI 2.0, section 2.2.7)."""
    real = slot.type is DataType.REAL
    moving = "continuous" if real else "discrete"
    if slot.region is Region.STATE:
        causality = "output" if slot.variable.kind is Kind.OUTPUT else "local"
        first = layout.of(Region.STATE)[0].reference
        exact = is_exact(layout.ode, slot.reference - first)
        return causality, moving, "exact" if exact else "approx"
    if slot.region is Region.DISCRETE:
        equation = layout.ode.events.discrete[slot.reference - layout.of(slot.region)[0].reference]
        causality = "output" if slot.variable.is_output else "local"
        return causality, "discrete", "exact" if equation.exact else "calculated"
    variability = "tunable" if layout.tunable(slot) else "fixed"
    return {
        Region.CONSTANT: ("local", "constant", "exact"),
        Region.INPUT: ("input", moving, None),
        Region.PARAMETER: ("parameter", variability, "exact"),
        Region.CALCULATED: ("calculatedParameter", variability, "calculated"),
        Region.OUTPUT: ("output", moving, "calculated"),
        Region.LOCAL: ("local", moving, "calculated"),
        Region.DERIVATIVE: ("local", moving, "calculated"),
        Region.INDICATOR: ("local", moving, "calculated"),
    }[slot.region]


def output_slots(layout: Layout) -> list[Slot]:
    """Outputs, states and discrete ones included, by value reference."""
    states = [slot for slot in layout.of(Region.STATE) if slot.variable.kind is Kind.OUTPUT]
    discrete = [slot for slot in layout.of(Region.DISCRETE) if slot.variable.is_output]
    return [*states, *discrete, *layout.of(Region.OUTPUT)]


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
