"""modelDescription.xml of an exported system for FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.system import DataType, seconds
from orchestrator.export.archive.model_description import Variable as Described
from orchestrator.export.archive.model_description import write_fmi3
from orchestrator.export.system.description import (
    Abilities,
    described,
    details,
    identity,
    start_text,
    truth,
)
from orchestrator.export.system.variable import Variable

_TAGS = {
    DataType.REAL: "Float64",
    DataType.INTEGER: "Int64",
    DataType.BOOLEAN: "Boolean",
    DataType.STRING: "String",
    DataType.BINARY: "Binary",
}


def describe_fmi3(about: Abilities, variables: Sequence[Variable]) -> bytes:
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
        *(_variable(variable, i + 1) for i, variable in enumerate(variables)),
    ]
    groups = ("Output", "InitialUnknown")
    return write_fmi3(described(about, variables, interface, ("s",), listed, groups))


def _free_name(name: str, variables: Sequence[Variable]) -> str:
    taken = {variable.name for variable in variables}
    while name in taken:
        name += "_"
    return name


def _variable(variable: Variable, reference: int) -> Described:
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
