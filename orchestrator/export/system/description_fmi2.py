"""modelDescription.xml of an exported system for FMI 2.0."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.export.archive.model_description import Variable as Described
from orchestrator.export.archive.model_description import write_fmi2
from orchestrator.export.system.description import (
    Abilities,
    described,
    details,
    identity,
    start_text,
    truth,
)
from orchestrator.export.system.variable import Variable


def describe_fmi2(about: Abilities, variables: Sequence[Variable]) -> bytes:
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


def _variable(variable: Variable, reference: int) -> Described:
    attributes = details(variable)
    if variable.start:
        attributes["start"] = start_text(variable)
    connector = variable.connector
    tag = "Enumeration" if connector.enumeration is not None else str(connector.type)
    return Described(tag, identity(variable, reference), attributes)
