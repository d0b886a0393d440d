"""terminalsAndIcons.xml of an FMI 3.0 FMU: the connectors that the model itself declares."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from orchestrator.export.archive.model_description import encoded
from orchestrator.export.codegen.array_layout import Entry
from orchestrator.export.codegen.layout import Region


def write(listed: Sequence[Entry]) -> bytes | None:
    """Text of the file; None for a model without connectors that have members.

    Modelica counts a flow variable positive into the component, which FMI calls inflow.
    """
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    terminals = etree.SubElement(root, "Terminals")
    found: dict[str, etree._Element] = {}
    for entry in listed:
        variable = entry.first.variable
        if not variable.connector or entry.first.region is Region.DERIVATIVE:
            continue
        name = variable.connector
        if name not in found:
            found[name] = etree.SubElement(terminals, "Terminal", name=name, matchingRule="plug")
        attributes = {
            "variableName": entry.name,
            "memberName": entry.name.removeprefix(f"{name}."),
            "variableKind": "inflow" if variable.flow else "signal",
        }
        etree.SubElement(found[name], "TerminalMemberVariable", attributes)
    return encoded(root) if found else None
