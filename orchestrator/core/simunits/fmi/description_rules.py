"""What FMI asks of a model description beyond its schema, and what a version leaves unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from itertools import product
from math import prod
from typing import Final

from lxml import etree

from orchestrator.core.simunits.fmi.description_parts import (
    REALS,
    TRUE,
    Alias,
    DisplayUnit,
    Interface,
    ModelDescription,
    Unit,
    Unknown,
    Variable,
    part_of,
)

#: What may come together of causality, variability and ``initial``.
_LEGAL: Final = frozenset(
    {
        *product(("structuralParameter", "parameter"), ("fixed", "tunable"), ("exact",)),
        *product(("calculatedParameter",), ("fixed", "tunable"), ("calculated", "approx")),
        *product(("input",), ("discrete", "continuous"), ("exact",)),
        *product(("output", "local"), ("constant",), ("exact",)),
        *product(
            ("output", "local"), ("discrete", "continuous"), ("calculated", "exact", "approx")
        ),
        *product(("local",), ("fixed", "tunable"), ("calculated", "approx")),
        ("independent", "continuous", None),
    }
)


def broken_rules(described: ModelDescription) -> Iterator[str]:
    """Say which rules a model description breaks."""
    variables, names = described.modelVariables, set()
    for v in variables:
        if v.name in names:
            yield f"the name of {_named(v)} is not unique"
        names.add(v.name)
        if v.type not in REALS and v.variability == "continuous":
            yield f"{_named(v)}: {v.type} must have another variability than 'continuous'"
    if described.fmiVersion == "1.0":
        return
    units = {unit.name: {d.name for d in unit.displayUnits} for unit in described.unitDefinitions}
    for v in variables:
        yield from _of_start(v)
        if (v.causality, v.variability, v.initial) not in _LEGAL:
            yield (
                f"{_named(v)}: causality '{v.causality}', variability '{v.variability}' and initial"
                f" '{v.initial or 'none'}' may not come together"
            )
        yield from _of_units(v, units)
    if described.fmiVersion.startswith("3"):
        if (count := sum(v.causality == "independent" for v in variables)) != 1:
            yield f"expected one independent variable, found {count}"
        yield from _of_references(variables)


def _named(variable: Variable) -> str:
    return f"variable '{variable.name}' (line {variable.sourceline})"


def _of_start(variable: Variable) -> Iterator[str]:
    """Say whether a start value is missing where it must be, or is where it must not be."""
    if variable.start is None:
        needs = variable.initial in {"exact", "approx"} or variable.causality == "input"
        if needs and variable.type != "Clock":
            yield f"{_named(variable)} has no start value"
    elif variable.start and variable.initial == "calculated":
        yield f"{_named(variable)} is calculated at the start, and has a start value"
    elif variable.start and variable.causality == "independent":
        yield f"{_named(variable)} is independent, and has a start value"


def _of_units(variable: Variable, units: Mapping[str | None, set[str | None]]) -> Iterator[str]:
    declared, unit = variable.declaredType, variable.unit
    if unit is None and declared is not None:
        unit = declared.unit
    if unit is not None and unit not in units:
        yield f"{_named(variable)}: the unit '{unit}' is not defined"
        return
    for shown in (variable.displayUnit, *(alias.displayUnit for alias in variable.aliases)):
        if shown is not None and shown not in units.get(unit, ()):
            yield f"{_named(variable)}: the display unit '{shown}' is not defined"


def _of_references(variables: list[Variable]) -> Iterator[str]:
    """Say which variables share a value reference, other than aliases."""
    seen: dict[int, Variable] = {}
    for variable in variables:
        before = seen.setdefault(variable.valueReference, variable)
        if before is not variable and variable.alias is None:
            yield f"{_named(variable)} has the value reference of {_named(before)}"


def complete_fmi1(found: ModelDescription, root: etree._Element) -> None:
    """Add the interface and the units of FMI 1.0, which has no model structure."""
    interface = Interface(root.get("modelIdentifier"))
    if root.find("Implementation") is not None:
        found.coSimulation = interface
    else:
        found.modelExchange = interface
    found.unitDefinitions = [
        Unit(
            name=unit.get("unit"),
            displayUnits=[
                DisplayUnit(
                    name=shown.get("displayUnit"),
                    factor=float(shown.get("gain", "1")),
                    offset=float(shown.get("offset", "0")),
                )
                for shown in unit.findall("DisplayUnitDefinition")
            ],
        )
        for unit in root.findall("UnitDefinitions/BaseUnit")
    ]


def complete_fmi2(found: ModelDescription, root: etree._Element) -> None:
    """Add interfaces and model structure of FMI 2.0."""
    by_index = dict(enumerate(found.modelVariables, 1))
    for element in root.findall("ModelExchange"):
        needs_not = element.get("completedIntegratorStepNotNeeded") in TRUE
        found.modelExchange = part_of(
            Interface, element, needsCompletedIntegratorStep=not needs_not
        )
    for element in root.findall("CoSimulation"):
        found.coSimulation = part_of(Interface, element)
    for unknowns, tag in (
        (found.outputs, "Outputs"),
        (found.derivatives, "Derivatives"),
        (found.initialUnknowns, "InitialUnknowns"),
    ):
        for element in root.findall(f"ModelStructure/{tag}/Unknown"):
            unknowns.append(_unknown(element, by_index, "index"))


def _unknown(element: etree._Element, variables: Mapping[int, Variable], key: str) -> Unknown:
    """Return an element of the model structure; what it names is looked up."""
    dependencies, kinds = element.get("dependencies"), element.get("dependenciesKind")
    if key == "valueReference":  # FMI 3.0: an empty list may have blanks
        dependencies = None if dependencies is None else dependencies.strip()
        kinds = None if kinds is None else kinds.strip()
    try:
        return Unknown(
            variables[int(element.get(key, ""))],
            None if dependencies is None else [variables[int(n)] for n in _split(dependencies)],
            None if kinds is None else _split(kinds),
            element.sourceline,
        )
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{element.tag} (line {element.sourceline}): there is no variable of {key} {error}"
        ) from None


def _split(text: str) -> list[str]:
    return text.strip().split(" ") if text else []


def complete_fmi3(
    found: ModelDescription, root: etree._Element, by_reference: Mapping[int, Variable]
) -> None:
    """Add interfaces and model structure of FMI 3.0."""
    for name, tag in (
        ("modelExchange", "ModelExchange"),
        ("coSimulation", "CoSimulation"),
        ("scheduledExecution", "ScheduledExecution"),
    ):
        for element in root.findall(tag):
            interface = part_of(
                Interface,
                element,
                canGetAndSetFMUstate=element.get("canGetAndSetFMUState") in TRUE,
                canSerializeFMUstate=element.get("canSerializeFMUState") in TRUE,
            )
            setattr(found, name, interface)
    found.modelVariables += [
        _alias(variable, alias) for variable in found.modelVariables for alias in variable.aliases
    ]
    for unknowns, tag in (
        (found.outputs, "Output"),
        (found.derivatives, "ContinuousStateDerivative"),
        (found.clockedStates, "ClockedState"),
        (found.initialUnknowns, "InitialUnknown"),
        (found.eventIndicators, "EventIndicator"),
    ):
        for element in root.findall(f"ModelStructure/{tag}"):
            unknowns.append(_unknown(element, by_reference, "valueReference"))
    found.numberOfEventIndicators += sum(prod(u.variable.shape) for u in found.eventIndicators)


def _alias(variable: Variable, alias: Alias) -> Variable:
    found = copy(variable)
    found.name, found.alias = alias.name or "", variable
    found.description = alias.description or variable.description
    found.displayUnit = alias.displayUnit or variable.displayUnit
    return found
