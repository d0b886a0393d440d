"""Interfaces and model structure of FMUs."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import prod

from lxml import etree

from orchestrator.core.simunits.fmi.description_part import (
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
