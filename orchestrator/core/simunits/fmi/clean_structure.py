"""Interfaces, model structure and build descriptions of FMUs that keep all rules of FMI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from math import prod
from types import MappingProxyType
from typing import Any, Final

from lxml import etree

from orchestrator.core.archive import parse_xml
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_part import TRUE, Part, copied
from orchestrator.core.simunits.fmi.model_description import schema_of

#: Fields of an interface, with what they are where nothing is said.
_INTERFACE: Final = MappingProxyType(
    {
        "modelIdentifier": None,
        **dict.fromkeys(
            (
                "needsExecutionTool",
                "canBeInstantiatedOnlyOncePerProcess",
                "canGetAndSetFMUstate",
                "canSerializeFMUstate",
                "providesAdjointDerivatives",
                "providesPerElementDependencies",
                "canNotUseMemoryManagementFunctions",
                "providesDirectionalDerivative",
            ),
            False,
        ),
    }
)
_MODEL_EXCHANGE: Final = MappingProxyType(
    {
        **_INTERFACE,
        "needsCompletedIntegratorStep": False,
        "providesEvaluateDiscreteStates": False,
        "completedIntegratorStepNotNeeded": False,
    }
)
_CO_SIMULATION: Final = MappingProxyType(
    {
        **_INTERFACE,
        "canHandleVariableCommunicationStepSize": False,
        "fixedInternalStepSize": None,
        "maxOutputDerivativeOrder": 0,
        "recommendedIntermediateInputSmoothness": 0,
        "canInterpolateInputs": False,
        "providesIntermediateUpdate": False,
        "mightReturnEarlyFromDoStep": False,
        "canReturnEarlyAfterIntermediateUpdate": False,
        "hasEventMode": False,
        "providesEvaluateDiscreteStates": False,
        "canRunAsynchronuously": False,
    }
)


def complete_fmi1(found: Part, root: etree._Element) -> None:
    """Add the interface and the units of FMI 1.0, which has no model structure."""
    found.numberOfContinuousStates = int(root.get("numberOfContinuousStates", ""))
    identifier = root.get("modelIdentifier")
    if root.find("Implementation") is not None:
        found.coSimulation = Part(**{**_CO_SIMULATION, "modelIdentifier": identifier})
    else:
        found.modelExchange = Part(**{**_MODEL_EXCHANGE, "modelIdentifier": identifier})
    found.unitDefinitions = [
        Part(
            name=unit.get("unit"),
            baseUnit=None,
            displayUnits=[
                Part(
                    name=shown.get("displayUnit"),
                    factor=float(shown.get("gain", "1")),
                    offset=float(shown.get("offset", "0")),
                )
                for shown in unit.findall("DisplayUnitDefinition")
            ],
        )
        for unit in root.findall("UnitDefinitions/BaseUnit")
    ]


def complete_fmi2(found: Part, root: etree._Element) -> None:
    """Add interfaces and model structure of FMI 2.0."""
    by_index = dict(enumerate(found.modelVariables, 1))
    found.numberOfContinuousStates = len(root.findall("ModelStructure/Derivatives/Unknown"))
    exchanges, simulations = root.findall("ModelExchange"), root.findall("CoSimulation")
    for element in exchanges:
        found.modelExchange = Part(**copied(element, _MODEL_EXCHANGE))
        needs_not = element.get("completedIntegratorStepNotNeeded") in TRUE
        found.modelExchange.needsCompletedIntegratorStep = not needs_not
        found.modelExchange.completedIntegratorStepNotNeeded = False  # FMPy turns it round
    for element in simulations:
        found.coSimulation = Part(**copied(element, _CO_SIMULATION))
    found.buildConfigurations = list(builds_of_fmi2([*exchanges, *simulations]))
    for name, tag in (
        ("outputs", "Outputs"),
        ("derivatives", "Derivatives"),
        ("initialUnknowns", "InitialUnknowns"),
    ):
        for element in root.findall(f"ModelStructure/{tag}/Unknown"):
            getattr(found, name).append(_unknown(element, by_index, "index"))
    for variable in found.modelVariables:
        if variable.derivative is not None:
            variable.derivative = by_index[int(variable.derivative)]


def _unknown(element: etree._Element, variables: Mapping[int, Part], key: str) -> Part:
    """Return an element of the model structure; what it names is looked up."""
    dependencies, kinds = element.get("dependencies"), element.get("dependenciesKind")
    if key == "valueReference":  # FMI 3.0: an empty list may have blanks
        dependencies = None if dependencies is None else dependencies.strip()
        kinds = None if kinds is None else kinds.strip()
    return Part(
        index=0,
        variable=variables[int(element.get(key, ""))],
        dependencies=None
        if dependencies is None
        else [variables[int(number)] for number in _split(dependencies)],
        dependenciesKind=None if kinds is None else _split(kinds),
        sourceline=element.sourceline,
    )


def _split(text: str) -> list[str]:
    return text.strip().split(" ") if text else []


def complete_fmi3(found: Part, root: etree._Element, by_reference: Mapping[int, Part]) -> None:
    """Add interfaces and model structure of FMI 3.0."""
    for name, tag, fields in (
        ("modelExchange", "ModelExchange", _MODEL_EXCHANGE),
        ("coSimulation", "CoSimulation", _CO_SIMULATION),
        ("scheduledExecution", "ScheduledExecution", _INTERFACE),
    ):
        for element in root.findall(tag):
            interface = Part(**copied(element, fields))
            interface.canGetAndSetFMUstate = element.get("canGetAndSetFMUState") in TRUE
            interface.canSerializeFMUstate = element.get("canSerializeFMUState") in TRUE
            setattr(found, name, interface)
    found.modelVariables += [
        _alias(variable, alias) for variable in found.modelVariables for alias in variable.aliases
    ]
    for name, tag in (
        ("outputs", "Output"),
        ("derivatives", "ContinuousStateDerivative"),
        ("clockedStates", "ClockedState"),
        ("initialUnknowns", "InitialUnknown"),
        ("eventIndicators", "EventIndicator"),
    ):
        for element in root.findall(f"ModelStructure/{tag}"):
            getattr(found, name).append(_unknown(element, by_reference, "valueReference"))
    for variable in found.modelVariables:
        if variable.derivative is not None:
            variable.derivative = by_reference[int(variable.derivative)]
        if variable.clocks is not None:
            clocks = variable.clocks.strip().split(" ")
            variable.clocks = [by_reference[int(reference)] for reference in clocks]
    sizes = [prod(unknown.variable.shape) for unknown in found.derivatives]
    found.numberOfContinuousStates = sum(sizes)
    found.numberOfEventIndicators += sum(prod(u.variable.shape) for u in found.eventIndicators)


def _alias(variable: Part, alias: Part) -> Part:
    found = copy(variable)
    found.name, found.alias = alias.name, variable
    found.description = alias.description or variable.description
    found.displayUnit = alias.displayUnit or variable.displayUnit
    return found


def builds_of_fmi2(interfaces: Iterable[etree._Element]) -> Iterator[Part]:
    """Yield what the sources of FMI 2.0 are built of, once for each identifier."""
    first: list[str | None] = []
    for element in interfaces:
        identifier = element.get("modelIdentifier")
        files = [file.get("name") for file in element.findall("SourceFiles/File")]
        if files and identifier not in first[:1]:
            first.append(identifier)
            yield _build(identifier, [_file_set(sourceFiles=files)])


def builds_of(content: bytes) -> Iterator[Part]:
    """Yield the configurations of a buildDescription.xml."""
    root = parse_xml(content, "buildDescription.xml", FmuError)
    if not root.get("fmiVersion", "").startswith("3.0") or not schema_of(3, "Build").validate(root):
        raise ValueError("no build description of FMI 3.0")
    for element in root.findall("BuildConfiguration"):
        sets = [
            _file_set(
                language=each.get("language"),
                preprocessorDefinitions=[
                    Part(
                        name=macro.get("name"),
                        value=macro.get("value"),
                        optional=macro.get("optional") in TRUE,
                        description=macro.get("description"),
                    )
                    for macro in each.findall("PreprocessorDefinition")
                ],
                sourceFiles=[file.get("name") for file in each.findall("SourceFile")],
                includeDirectories=[f.get("name") for f in each.findall("IncludeDirectory")],
            )
            for each in element.findall("SourceFileSet")
        ]
        yield _build(element.get("modelIdentifier"), sets)


def _build(identifier: str | None, sets: list[Part]) -> Part:
    return Part(modelIdentifier=identifier, sourceFileSets=sets)


def _file_set(**said: Any) -> Part:
    lists = ("preprocessorDefinitions", "sourceFiles", "includeDirectories")
    texts = ("name", "language", "compiler", "compilerOptions")
    return Part(**{**dict.fromkeys(texts), **{name: [] for name in lists}, **said})
