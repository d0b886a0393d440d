"""modelDescription.xml of an exported system, for FMI 2.0 and 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import BaseUnit, DataType, DefaultExperiment, Enumeration, seconds
from orchestrator.core.system.units import base_said
from orchestrator.export.archive.model_description import DescribedVariable as Described
from orchestrator.export.archive.model_description import (
    ExportedDescription,
    TypeDefinition,
    Unit,
    Unknown,
    write_fmi2,
    write_fmi3,
)
from orchestrator.export.system.inner_fmu import SystemVariable, VariablePlace

_CATEGORIES = {  # those of engine/src/exported/instance.cpp
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logInner": "Messages of the FMUs inside, with the name of the component",
}
_IDENTIFIER = r"(?:[A-Za-z_][A-Za-z0-9_]*|'(?:[^'\\]|\\.)+')"
_INDEX = r"(?:\[[0-9]+(?:, ?[0-9]+)*\])?"
_STRUCTURED = re.compile(rf"{_IDENTIFIER}{_INDEX}(?:\.{_IDENTIFIER}{_INDEX})*")


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the exported FMU can.

    identifier, token, system, description: Its names.
    experiment: Start and stop, as the system has them.
    step_ns: Its own communication step.
    varies: Whether its algorithm chooses the steps inside, so that any length can be asked for.
    keeps_states, serializes, once_per_process: What all FMUs inside can, and what one of them
        cannot.
    dependencies: For every own output the own inputs that act on it at once.
    """

    identifier: str
    token: str
    system: str
    description: str
    experiment: DefaultExperiment
    step_ns: int
    varies: bool
    keeps_states: bool
    serializes: bool
    once_per_process: bool
    dependencies: Mapping[str, tuple[str, ...]]


def truth(*, value: bool) -> str:
    """Write a Boolean as XML has it."""
    return "true" if value else "false"


def described(
    about: Abilities,
    variables: Sequence[SystemVariable],
    interface: dict[str, str],
    units: Iterable[str],
    listed: Sequence[Described],
    groups: tuple[str, str],
) -> ExportedDescription:
    """Say what modelDescription.xml says, in the words of one version of FMI."""
    unknowns = [
        Unknown(i + 1, _known(about, variable, variables))
        for i, variable in enumerate(variables)
        if variable.causality == "output"
    ]
    return ExportedDescription(
        name=about.system,
        description=about.description,
        token=about.token,
        interfaces={"CoSimulation": interface},
        units=_units(variables, units),
        types=_types(variables),
        log_categories=_CATEGORIES,
        experiment=_experiment(about),
        variables=listed,
        structure=[(tag, unknowns) for tag in groups],
        structured=all(_STRUCTURED.fullmatch(variable.name) for variable in variables),
    )


def _units(variables: Iterable[SystemVariable], more: Iterable[str]) -> list[Unit]:
    """Units, in terms of SI base units where they are made of them."""
    defined: dict[str, BaseUnit | None] = dict.fromkeys(more)
    for variable in variables:
        connector = variable.connector
        if connector.type is not DataType.REAL or not connector.unit:
            continue
        known = defined.setdefault(connector.unit, connector.unit_definition)
        given = connector.unit_definition
        if known is None:
            defined[connector.unit] = given
        elif given is not None and given != known:
            raise DescriptionError(
                f"'{variable.name}': its unit '{connector.unit}' is defined as {given}, and"
                f" elsewhere in the system as {known}; give one of them another name"
            )
    bases = {name: definition or base_said(name) for name, definition in sorted(defined.items())}
    return [Unit(name, base.attributes() if base else None) for name, base in bases.items()]


def _types(variables: Iterable[SystemVariable]) -> list[TypeDefinition]:
    """Definitions of the enumerations of all variables."""
    found: dict[str, Enumeration] = {}
    for variable in variables:
        kind = variable.connector.enumeration
        if kind is None:
            continue
        if found.setdefault(kind.name, kind).items != kind.items:
            raise DescriptionError(
                f"'{variable.name}': enumeration '{kind.name}' has other items elsewhere in the"
                " system; give one of them another name"
            )
    return [
        TypeDefinition(kind.name, "Enumeration", {}, tuple(kind.items.items()))
        for kind in found.values()
    ]


def _experiment(about: Abilities) -> dict[str, str]:
    """Attributes of DefaultExperiment; the step size is the system's own step."""
    attributes = {"startTime": repr(seconds(about.experiment.start_ns))}
    if about.experiment.stop_ns is not None:
        attributes["stopTime"] = repr(seconds(about.experiment.stop_ns))
    attributes["stepSize"] = repr(seconds(about.step_ns))
    return attributes


def identity(variable: SystemVariable, reference: int) -> dict[str, str]:
    """Attributes that say what a variable is."""
    attributes = {"name": variable.name, "valueReference": str(reference)}
    if variable.connector.description:
        attributes["description"] = variable.connector.description
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    if variable.causality != "input":
        attributes["initial"] = (
            "exact" if variable.kind is VariablePlace.PARAMETER else "calculated"
        )
    return attributes


def details(variable: SystemVariable) -> dict[str, str]:
    """Attributes that say which values a variable has, without its start."""
    connector, attributes = variable.connector, {}
    if connector.enumeration is not None:
        attributes["declaredType"] = connector.enumeration.name
    if connector.unit and connector.type is DataType.REAL:
        attributes["unit"] = connector.unit
    return attributes


def start_text(variable: SystemVariable) -> str:
    """Start values as FMI writes them, one for each element."""
    return " ".join(map(_literal, variable.start))


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return truth(value=value)
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else repr(value)


def _known(
    about: Abilities, output: SystemVariable, variables: Sequence[SystemVariable]
) -> list[int]:
    """Value references of the own inputs that act on an output at once, elements included."""
    names = about.dependencies[output.connector.name]
    return [
        i + 1
        for i, v in enumerate(variables)
        if v.causality == "input" and v.connector.name in names
    ]


def describe_fmi2(about: Abilities, variables: Sequence[SystemVariable]) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    interface = {
        "modelIdentifier": about.identifier,
        "canHandleVariableCommunicationStepSize": truth(value=about.varies),
        "canInterpolateInputs": "false",
        "maxOutputDerivativeOrder": "0",
        "canRunAsynchronuously": "false",
        "canBeInstantiatedOnlyOncePerProcess": truth(value=about.once_per_process),
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": truth(value=about.keeps_states),
        "canSerializeFMUstate": truth(value=about.serializes),
        "providesDirectionalDerivative": "false",
    }
    listed = [_variable(variable, i + 1) for i, variable in enumerate(variables)]
    groups = ("Outputs", "InitialUnknowns")
    return write_fmi2(described(about, variables, interface, (), listed, groups))


def _variable(variable: SystemVariable, reference: int) -> Described:
    attributes = details(variable)
    if variable.start:
        attributes["start"] = start_text(variable)
    connector = variable.connector
    tag = "Enumeration" if connector.enumeration is not None else str(connector.type)
    return Described(tag, identity(variable, reference), attributes)


_TAGS = {
    DataType.REAL: "Float64",
    DataType.INTEGER: "Int64",
    DataType.BOOLEAN: "Boolean",
    DataType.STRING: "String",
    DataType.BINARY: "Binary",
}


def describe_fmi3(about: Abilities, variables: Sequence[SystemVariable]) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    interface = {
        "modelIdentifier": about.identifier,
        "canBeInstantiatedOnlyOncePerProcess": truth(value=about.once_per_process),
        "canGetAndSetFMUState": truth(value=about.keeps_states),
        "canSerializeFMUState": truth(value=about.serializes),
        "canHandleVariableCommunicationStepSize": truth(value=about.varies),
    }
    if not about.varies:
        interface["fixedInternalStepSize"] = repr(seconds(about.step_ns))
    time = {
        "name": _free_name("time", variables),
        "valueReference": "0",
        "description": "Simulation time",
        "causality": "independent",
        "variability": "continuous",
    }
    listed = [
        Described("Float64", time, {"unit": "s"}),
        *(_variable_fmi3(variable, i + 1) for i, variable in enumerate(variables)),
    ]
    groups = ("Output", "InitialUnknown")
    return write_fmi3(described(about, variables, interface, ("s",), listed, groups))


def _free_name(name: str, variables: Sequence[SystemVariable]) -> str:
    taken = {variable.name for variable in variables}
    while name in taken:
        name += "_"
    return name


def _variable_fmi3(variable: SystemVariable, reference: int) -> Described:
    connector, attributes = variable.connector, details(variable)
    if variable.start and not connector.type.is_text:
        attributes["start"] = start_text(variable)
    texts = [v.hex() if isinstance(v, bytes) else str(v) for v in variable.start]
    return Described(
        "Enumeration" if connector.enumeration is not None else _TAGS[connector.type],
        identity(variable, reference),
        attributes,
        connector.shape,
        texts if connector.type.is_text else (),
    )
