"""modelDescription.xml of an exported system for FMI 2.0."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from orchestrator.system import DataType
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


def describe_fmi2(about: Abilities, variables: Sequence[Variable]) -> bytes:
    """Text of modelDescription.xml, encoded in UTF-8."""
    root = root_element(about, variables, {"fmiVersion": "2.0", "guid": about.token})
    etree.SubElement(
        root,
        "CoSimulation",
        modelIdentifier=about.identifier,
        canHandleVariableCommunicationStepSize=truth(value=about.varies),
        canInterpolateInputs="false",
        maxOutputDerivativeOrder="0",
        canRunAsynchronuously="false",
        canBeInstantiatedOnlyOncePerProcess=truth(value=about.once_per_process),
        canNotUseMemoryManagementFunctions="true",
        canGetAndSetFMUstate=truth(value=about.keeps_states),
        canSerializeFMUstate=truth(value=about.serializes),
        providesDirectionalDerivative="false",
    )
    add_units(root, variables, ())
    if kinds := enumerations(variables):
        definitions = etree.SubElement(root, "TypeDefinitions")
        for kind in kinds.values():
            simple = etree.SubElement(definitions, "SimpleType", name=kind.name)
            add_items(etree.SubElement(simple, "Enumeration"), kind)
    add_log_categories(root)
    add_default_experiment(root, about)
    listed = etree.SubElement(root, "ModelVariables")
    for number, variable in enumerate(variables):
        _variable(listed, variable, number + 1)
    structure = etree.SubElement(root, "ModelStructure")
    for tag in ("Outputs", "InitialUnknowns"):
        if own := outputs(variables):
            group = etree.SubElement(structure, tag)
            for reference, output in own:
                known = " ".join(map(str, depends_on(about, output, variables)))
                etree.SubElement(group, "Unknown", index=str(reference), dependencies=known)
    return encoded(root)


def _variable(parent: etree._Element, variable: Variable, reference: int) -> None:
    element = etree.SubElement(parent, "ScalarVariable", identity(variable, reference))
    connector = variable.connector
    attributes = {}
    if connector.enumeration is not None:
        attributes["declaredType"] = connector.enumeration.name
    if connector.unit and connector.type is DataType.REAL:
        attributes["unit"] = connector.unit
    if variable.start:
        attributes["start"] = start_text(variable)
    tag = "Enumeration" if connector.enumeration is not None else str(connector.type)
    etree.SubElement(element, tag, attributes)
