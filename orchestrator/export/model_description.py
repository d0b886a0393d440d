"""modelDescription.xml of an FMI 2.0 co-simulation FMU."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lxml import etree

from orchestrator.export.dependency import Dependencies, DependencyTable, is_exact
from orchestrator.export.layout import Layout, Region, Slot
from orchestrator.export.recipe import Recipe
from orchestrator.export.residual_dae import DataType, Kind
from orchestrator.export.unit_definition import base_unit

GENERATOR = "Softdock"
SOURCE_FILE = "fmu.c"


def write(layout: Layout, recipe: Recipe, guid: str) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    root = etree.Element(
        "fmiModelDescription",
        {
            "fmiVersion": "2.0",
            "modelName": layout.ode.name,
            "guid": guid,
            "generationTool": GENERATOR,
            "variableNamingConvention": "structured",
            "numberOfEventIndicators": "0",
        },
    )
    if layout.ode.description:
        root.set("description", layout.ode.description)
    _co_simulation(root, recipe)
    _units(root, layout)
    categories = etree.SubElement(root, "LogCategories")
    etree.SubElement(categories, "Category", name="logStatusError")
    _default_experiment(root, recipe)
    variables = etree.SubElement(root, "ModelVariables")
    for slot in layout.slots:
        _variable(variables, layout, slot)
    _structure(root, layout)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text


def _co_simulation(root: etree._Element, recipe: Recipe) -> None:
    capabilities = etree.SubElement(
        root,
        "CoSimulation",
        {
            "modelIdentifier": recipe.name,
            "canHandleVariableCommunicationStepSize": "true",
            "canInterpolateInputs": "false",
            "maxOutputDerivativeOrder": "0",
            "canRunAsynchronuously": "false",
            "canBeInstantiatedOnlyOncePerProcess": "false",
            "canNotUseMemoryManagementFunctions": "true",
            "canGetAndSetFMUstate": "true",
            "canSerializeFMUstate": "true",
            "providesDirectionalDerivative": "true",
        },
    )
    files = etree.SubElement(capabilities, "SourceFiles")
    etree.SubElement(files, "File", name=SOURCE_FILE)


def _units(root: etree._Element, layout: Layout) -> None:
    names = sorted({unit for slot in layout.slots if (unit := _unit(slot))})
    if not names:
        return
    definitions = etree.SubElement(root, "UnitDefinitions")
    for name in names:
        base = base_unit(name)
        attributes = {symbol: str(exponent) for symbol, exponent in base.exponents.items()}
        if base.factor != 1.0:
            attributes["factor"] = repr(base.factor)
        if base.offset != 0.0:
            attributes["offset"] = repr(base.offset)
        etree.SubElement(etree.SubElement(definitions, "Unit", name=name), "BaseUnit", attributes)


def _unit(slot: Slot) -> str | None:
    """Unit of a slot; derivatives are given none, since Modelica declares none for them."""
    real = slot.type is DataType.REAL and slot.region is not Region.DERIVATIVE
    return slot.variable.unit if real else None


def _default_experiment(root: etree._Element, recipe: Recipe) -> None:
    experiment = recipe.experiment
    attributes = {"startTime": repr(experiment.start_time), "stopTime": repr(experiment.stop_time)}
    if experiment.step_size is not None:
        attributes["stepSize"] = repr(experiment.step_size)
    etree.SubElement(root, "DefaultExperiment", attributes)


def _variable(parent: etree._Element, layout: Layout, slot: Slot) -> None:
    variable = slot.variable
    causality, variability, initial = _classification(layout, slot)
    attributes = {"name": slot.name, "valueReference": str(slot.reference)}
    if slot.region is Region.DERIVATIVE:
        attributes["description"] = f"Time derivative of {variable.name}"
    elif variable.description:
        attributes["description"] = variable.description
    attributes |= {"causality": causality, "variability": variability}
    if initial is not None:
        attributes["initial"] = initial
    element = etree.SubElement(parent, "ScalarVariable", attributes)
    details: dict[str, str] = {}
    if unit := _unit(slot):
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
    if initial != "calculated":
        details["start"] = _number(layout.start(slot), slot.type)
    if slot.region is Region.DERIVATIVE:
        state = next(s for s in layout.of(Region.STATE) if s.variable is variable)
        details["derivative"] = str(_index(state))
    etree.SubElement(element, slot.type.value, details)


def _classification(layout: Layout, slot: Slot) -> tuple[str, str, str | None]:
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


def _structure(root: etree._Element, layout: Layout) -> None:
    structure = etree.SubElement(root, "ModelStructure")
    table = DependencyTable(layout)
    states = layout.of(Region.STATE)
    outputs = [slot for slot in states if slot.variable.kind is Kind.OUTPUT]
    outputs += layout.of(Region.OUTPUT)
    _unknowns(structure, "Outputs", outputs, table.continuous)
    _unknowns(structure, "Derivatives", layout.of(Region.DERIVATIVE), table.continuous)
    following = [s for i, s in enumerate(states) if not is_exact(layout.ode, i)]
    initial = (
        *following,
        *layout.of(Region.CALCULATED),
        *layout.of(Region.OUTPUT),
        *layout.of(Region.DERIVATIVE),
    )
    _unknowns(structure, "InitialUnknowns", initial, table.initial)


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


def _number(value: float, data_type: DataType) -> str:
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return str(round(value)) if data_type is DataType.INTEGER else repr(float(value))
