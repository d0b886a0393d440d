"""modelDescription.xml of an exported system, for FMI 2.0 and 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import networkx as nx

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Schedule
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    DataType,
    Endpoint,
    Enumeration,
    System,
    seconds,
)
from orchestrator.core.units.conversion import base_said
from orchestrator.export.archive.model_description import DescribedVariable as Described
from orchestrator.export.archive.model_description import (
    ExportedDescription,
    TypeDefinition,
    Unit,
    Unknown,
    time_variable,
    write,
)
from orchestrator.export.system.interface import InnerFmu, SystemVariable, VariablePlace

_CATEGORIES = {  # those of engine/src/exported/instance.cpp
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logInner": "Messages of the FMUs inside, with the name of the component",
}
_IDENTIFIER = r"(?:[A-Za-z_][A-Za-z0-9_]*|'(?:[^'\\]|\\.)+')"
_INDEX = r"(?:\[[0-9]+(?:, ?[0-9]+)*\])?"
_STRUCTURED = re.compile(rf"{_IDENTIFIER}{_INDEX}(?:\.{_IDENTIFIER}{_INDEX})*")
_FMI3_TAGS = {
    DataType.REAL: "Float64",
    DataType.INTEGER: "Int64",
    DataType.BOOLEAN: "Boolean",
    DataType.STRING: "String",
    DataType.BINARY: "Binary",
}


def identifier_of(flat: System) -> str:
    """The modelIdentifier."""
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", flat.name) or "system"
    return f"_{identifier}" if identifier[0].isdigit() else identifier


def describe(
    flat: System,
    schedule: Schedule,
    fmus: Sequence[InnerFmu],
    variables: Sequence[SystemVariable],
    fmi: int,
    token: str,
) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    acting = _direct_inputs(flat)
    numbered = list(enumerate(variables, start=1))
    inputs = [(i, entry.connector.name) for i, entry in numbered if entry.causality == "input"]
    unknowns = [
        Unknown(i, [k for k, name in inputs if name in acting[output.connector.name]])
        for i, output in numbered
        if output.causality == "output"
    ]
    time = "time"
    while time in {variable.name for variable in variables}:
        time += "_"
    groups = ("Outputs", "InitialUnknowns") if fmi == 2 else ("Output", "InitialUnknown")
    times = {
        "startTime": flat.experiment.start_ns,
        "stopTime": flat.experiment.stop_ns,
        "stepSize": schedule.step_ns,
    }
    return write(
        ExportedDescription(
            name=flat.name,
            description=flat.description,
            token=token,
            interfaces={"CoSimulation": _interface(flat, schedule, fmus, fmi)},
            units=_units(variables, () if fmi == 2 else ("s",)),
            types=_types(variables),
            log_categories=_CATEGORIES,
            experiment={k: repr(seconds(ns)) for k, ns in times.items() if ns is not None},
            variables=[
                *([time_variable(0, time)] if fmi == 3 else []),
                *(_described(variable, i, fmi) for i, variable in numbered),
            ],
            structure=[(tag, unknowns) for tag in groups],
            structured=all(_STRUCTURED.fullmatch(variable.name) for variable in variables),
        ),
        f"{fmi}.0",
    )


def _interface(
    flat: System, schedule: Schedule, fmus: Sequence[InnerFmu], fmi: int
) -> dict[str, str]:
    """What the exported FMU can: what all FMUs inside can, and none that one of them cannot."""
    can = [inner.description.capabilities for inner in fmus]
    varies = _literal(schedule.varies)  # the algorithm chooses the steps inside: any may be asked
    once = _literal(any(capability.once_per_process for capability in can))
    keeps = _literal(all(capability.can_roll_back for capability in can))
    serializes = _literal(
        all(capability.can_roll_back and capability.can_serialize for capability in can)
    )
    if fmi == 2:
        return {
            "modelIdentifier": identifier_of(flat),
            "canHandleVariableCommunicationStepSize": varies,
            "canInterpolateInputs": "false",
            "maxOutputDerivativeOrder": "0",
            "canRunAsynchronuously": "false",
            "canBeInstantiatedOnlyOncePerProcess": once,
            "canNotUseMemoryManagementFunctions": "true",
            "canGetAndSetFMUstate": keeps,
            "canSerializeFMUstate": serializes,
            "providesDirectionalDerivative": "false",
        }
    fixed = {} if schedule.varies else {"fixedInternalStepSize": repr(seconds(schedule.step_ns))}
    return {
        "modelIdentifier": identifier_of(flat),
        "canBeInstantiatedOnlyOncePerProcess": once,
        "canGetAndSetFMUState": keeps,
        "canSerializeFMUState": serializes,
        "canHandleVariableCommunicationStepSize": varies,
        **fixed,
    }


def _units(variables: Iterable[SystemVariable], more: Iterable[str]) -> list[Unit]:
    """Units, in terms of SI base units where they are made of them."""
    defined: dict[str, BaseUnit | None] = dict.fromkeys(more)
    for variable in variables:
        connector = variable.connector
        if connector.type is not DataType.REAL or not connector.unit:
            continue
        unit_definition = defined.setdefault(connector.unit, connector.unit_definition)
        declared = connector.unit_definition
        if unit_definition is None:
            defined[connector.unit] = declared
        elif declared is not None and declared != unit_definition:
            raise DescriptionError(
                f"'{variable.name}': its unit '{connector.unit}' is defined as {declared}, and"
                f" elsewhere in the system as {unit_definition}; give one of them another name"
            )
    bases = {name: definition or base_said(name) for name, definition in sorted(defined.items())}
    return [Unit(name, base.attributes() if base else None) for name, base in bases.items()]


def _types(variables: Iterable[SystemVariable]) -> list[TypeDefinition]:
    """Definitions of the enumerations of all variables."""
    types: dict[str, Enumeration] = {}
    for variable in variables:
        kind = variable.connector.enumeration
        if kind is None:
            continue
        if types.setdefault(kind.name, kind).items != kind.items:
            raise DescriptionError(
                f"'{variable.name}': enumeration '{kind.name}' has other items elsewhere in the"
                " system; give one of them another name"
            )
    return [
        TypeDefinition(kind.name, "Enumeration", {}, tuple(kind.items.items()))
        for kind in types.values()
    ]


def _described(variable: SystemVariable, reference: int, fmi: int) -> Described:
    connector = variable.connector
    attributes = {"name": variable.name, "valueReference": str(reference)}
    if connector.description:
        attributes["description"] = connector.description
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    if variable.causality != "input":
        is_exact = variable.kind is VariablePlace.PARAMETER
        attributes["initial"] = "exact" if is_exact else "calculated"
    details, texts = {}, []
    tag = str(connector.type) if fmi == 2 else _FMI3_TAGS[connector.type]
    if connector.enumeration is not None:
        tag, details["declaredType"] = "Enumeration", connector.enumeration.name
    if connector.unit and connector.type is DataType.REAL:
        details["unit"] = connector.unit
    if fmi == 3 and connector.type.is_text:
        texts = list(map(_literal, variable.start))
    elif variable.start:
        details["start"] = " ".join(map(_literal, variable.start))
    return Described(tag, attributes, details, connector.shape, texts)


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else repr(value)


def _direct_inputs(system: System) -> dict[str, tuple[str, ...]]:
    """Return for every own output the own inputs that reach it through no state and no delay."""
    graph: nx.DiGraph[Endpoint] = nx.DiGraph()
    graph.add_nodes_from(Endpoint("", name) for name in system.connectors)
    lines = [line for line in system.connections if line.delay is None]
    graph.add_edges_from((line.source, line.target) for line in lines)
    for name, component in system.components.items():
        for output in component.of(Causality.OUTPUT):
            for acting in component.direct_inputs(output.name):
                graph.add_edge(Endpoint(name, acting), Endpoint(name, output.name))
    inputs = [c.name for c in system.connectors.values() if c.causality is Causality.INPUT]
    inputs_of = {}
    for name, connector in system.connectors.items():
        if connector.causality is Causality.OUTPUT:
            reached = nx.ancestors(graph, Endpoint("", name))
            inputs_of[name] = tuple(i for i in inputs if Endpoint("", i) in reached)
    return inputs_of
