"""modelDescription.xml of an exported system for FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from orchestrator.system import DataType, seconds
from orchestrator.system_fmu.description import (
    Abilities,
    add_default_experiment,
    add_items,
    add_log_categories,
    add_units,
    depends_on,
    encoded,
    enumerations,
    identity,
    outputs,
    root_element,
    start_text,
    truth,
)
from orchestrator.system_fmu.variable import Variable

_TAGS = {
    DataType.REAL: "Float64",
    DataType.INTEGER: "Int64",
    DataType.BOOLEAN: "Boolean",
    DataType.STRING: "String",
    DataType.BINARY: "Binary",
}


def describe_fmi3(about: Abilities, variables: Sequence[Variable]) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    root = root_element(about, variables, {"fmiVersion": "3.0", "instantiationToken": about.token})
    interface = etree.SubElement(
        root,
        "CoSimulation",
        modelIdentifier=about.identifier,
        canBeInstantiatedOnlyOncePerProcess=truth(value=about.once_per_process),
        canGetAndSetFMUState=truth(value=about.keeps_states),
        canSerializeFMUState=truth(value=about.serializes),
        canHandleVariableCommunicationStepSize=truth(value=about.varies),
    )
    if not about.varies:
        interface.set("fixedInternalStepSize", repr(seconds(about.step_ns)))
    add_units(root, variables, ("s",))
    if kinds := enumerations(variables):
        definitions = etree.SubElement(root, "TypeDefinitions")
        for kind in kinds.values():
            add_items(etree.SubElement(definitions, "EnumerationType", name=kind.name), kind)
    add_log_categories(root)
    add_default_experiment(root, about)
    listed = etree.SubElement(root, "ModelVariables")
    etree.SubElement(
        listed,
        "Float64",
        name=_free_name("time", variables),
        valueReference="0",
        description="Simulation time",
        causality="independent",
        variability="continuous",
        unit="s",
    )
    for number, variable in enumerate(variables):
        _variable(listed, variable, number + 1)
    structure = etree.SubElement(root, "ModelStructure")
    for tag in ("Output", "InitialUnknown"):
        for reference, output in outputs(variables):
            known = " ".join(map(str, depends_on(about, output, variables)))
            etree.SubElement(structure, tag, valueReference=str(reference), dependencies=known)
    return encoded(root)


def _free_name(name: str, variables: Sequence[Variable]) -> str:
    taken = {variable.name for variable in variables}
    while name in taken:
        name += "_"
    return name


def _variable(parent: etree._Element, variable: Variable, reference: int) -> None:
    connector = variable.connector
    attributes = identity(variable, reference)
    if connector.enumeration is not None:
        attributes["declaredType"] = connector.enumeration.name
    if connector.unit and connector.type is DataType.REAL:
        attributes["unit"] = connector.unit
    if variable.start and not connector.type.is_text:
        attributes["start"] = start_text(variable)
    tag = "Enumeration" if connector.enumeration is not None else _TAGS[connector.type]
    element = etree.SubElement(parent, tag, attributes)
    for size in connector.shape:
        etree.SubElement(element, "Dimension", start=str(size))
    if connector.type.is_text:
        for value in variable.start:
            text = value.hex() if isinstance(value, bytes) else str(value)
            etree.SubElement(element, "Start", value=text)
