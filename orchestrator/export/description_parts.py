"""What modelDescription.xml of FMI 2.0 and of FMI 3.0 have in common."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from orchestrator.export.dependency import is_exact
from orchestrator.export.layout import Layout, Region, Slot
from orchestrator.export.recipe import Recipe
from orchestrator.export.residual_dae import DataType, Kind
from orchestrator.export.unit_definition import base_unit

GENERATOR = "Softdock"
SOURCE_FILE = "fmu.c"
_LOG_CATEGORIES = ("logStatusWarning", "logStatusError")


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


def add_units(root: etree._Element, names: Iterable[str]) -> None:
    """Add UnitDefinitions."""
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
        etree.SubElement(etree.SubElement(definitions, "Unit", name=name), "BaseUnit", attributes)


def units_of(layout: Layout) -> set[str]:
    """Units of all variables."""
    return {unit for slot in layout.slots if (unit := unit_of(slot))}


def unit_of(slot: Slot) -> str | None:
    """Unit of a slot; derivatives are given none, since Modelica declares none for them."""
    real = slot.type is DataType.REAL and slot.region is not Region.DERIVATIVE
    return slot.variable.unit if real else None


def add_log_categories(root: etree._Element) -> None:
    """Add LogCategories: what the runtime sends."""
    categories = etree.SubElement(root, "LogCategories")
    for name in _LOG_CATEGORIES:
        etree.SubElement(categories, "Category", name=name)


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


def quantities(layout: Layout, slot: Slot) -> dict[str, str]:
    """Attributes that say which values a variable has."""
    variable = slot.variable
    details: dict[str, str] = {}
    if unit := unit_of(slot):
        details["unit"] = unit
    limits = (("min", variable.minimum), ("max", variable.maximum), ("nominal", variable.nominal))
    for key, value in limits:
        writable = key != "nominal" or slot.type is DataType.REAL
        if (
            value is not None
            and writable
            and slot.type is not DataType.BOOLEAN
            and slot.region is not Region.DERIVATIVE
        ):
            details[key] = _number(value, slot.type)
    if classification(layout, slot)[2] != "calculated":
        details["start"] = _number(layout.start(slot), slot.type)
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
    variability = "tunable" if layout.tunable(slot) else "fixed"
    return {
        Region.CONSTANT: ("local", "constant", "exact"),
        Region.INPUT: ("input", moving, None),
        Region.PARAMETER: ("parameter", variability, "exact"),
        Region.CALCULATED: ("calculatedParameter", variability, "calculated"),
        Region.OUTPUT: ("output", moving, "calculated"),
        Region.LOCAL: ("local", moving, "calculated"),
        Region.DERIVATIVE: ("local", moving, "calculated"),
    }[slot.region]


def output_slots(layout: Layout) -> list[Slot]:
    """Outputs, those that are states included, by value reference."""
    states = [slot for slot in layout.of(Region.STATE) if slot.variable.kind is Kind.OUTPUT]
    return [*states, *layout.of(Region.OUTPUT)]


def initial_unknowns(layout: Layout) -> list[Slot]:
    """What initialisation computes, by value reference."""
    states = layout.of(Region.STATE)
    return [
        *(slot for i, slot in enumerate(states) if not is_exact(layout.ode, i)),
        *layout.of(Region.CALCULATED),
        *layout.of(Region.OUTPUT),
        *layout.of(Region.DERIVATIVE),
    ]


def _number(value: float, data_type: DataType) -> str:
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return str(round(value)) if data_type is DataType.INTEGER else repr(float(value))
