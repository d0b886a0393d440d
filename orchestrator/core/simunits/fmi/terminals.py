"""Power ports of FMUs of FMI 3.0: terminals that hold an effort and a flow."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from lxml import etree

from orchestrator.core.archive import open_archive, parse_xml, read_entry
from orchestrator.core.diagnostics import FmuError, UnitMismatchError
from orchestrator.core.system import (
    Causality,
    Connector,
    DataType,
    Positive,
    PowerPort,
    conversion,
    is_power,
)

logger = logging.getLogger(__name__)
_ENTRY = "terminalsAndIcons/terminalsAndIcons.xml"
#: What is an effort; of a pair whose product is a power the other one is the flow.
_EFFORTS = ("N", "N.m", "V", "Pa")
#: What goes along with a flow.
_DISPLACEMENTS = ("m", "rad", "C", "m3")
_KINDS = {"inflow": Positive.IN, "outflow": Positive.OUT}


def power_ports(path: Path, connectors: Mapping[str, Connector]) -> dict[str, PowerPort]:
    """Return the terminals of an FMU whose members are efforts and flows, as power ports.

    A terminal counts if every effort among its members has one flow that goes in the opposite
    direction, with which it makes a power. Where a member is an inflow, the power counts into the
    component, as FMI 3.0 and Modelica have it; an outflow, out of it.
    """
    try:
        terminals = list(_terminals(path))
    except FmuError as error:
        logger.warning("terminals are not read: %s", error)
        return {}
    found = {}
    for name, members in terminals:
        ends = {
            variable: (connectors[variable], kind)
            for variable, kind in members
            if variable in connectors and _is_signal(connectors[variable])
        }
        port = _port(name, ends)
        if port is not None:
            found[name] = port
    return found


def _is_signal(connector: Connector) -> bool:
    ways = {Causality.INPUT, Causality.OUTPUT}
    return connector.causality in ways and connector.type is DataType.REAL


def _terminals(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Name of every terminal, with name and kind of its variables; nested ones after their own."""
    with open_archive(path, FmuError) as archive:
        if _ENTRY not in archive.namelist():
            return
        content = read_entry(path, archive, _ENTRY, FmuError)
    root = parse_xml(content, f"{path}: {_ENTRY}", FmuError)
    for terminal in root.iter("Terminal"):
        names = [terminal.get("name", "")]
        above: etree._Element | None = terminal.getparent()
        while above is not None and above.tag == "Terminal":
            names.insert(0, above.get("name", ""))
            above = above.getparent()
        members = [
            (member.get("variableName", ""), member.get("variableKind", ""))
            for member in terminal.findall("TerminalMemberVariable")
        ]
        yield ".".join(names), members


def _port(name: str, ends: Mapping[str, tuple[Connector, str]]) -> PowerPort | None:
    efforts = [c for c, _ in ends.values() if _measures(c, _EFFORTS)]
    flows: list[Connector] = []
    for effort in efforts:
        fitting = [
            c
            for c, _ in ends.values()
            if c not in efforts
            and c.shape == effort.shape
            and c.causality is not effort.causality
            and is_power(effort, c)
        ]
        if len(fitting) != 1:
            return None
        flows += fitting
    kinds = {_KINDS[kind] for _, kind in ends.values() if kind in _KINDS}
    if not efforts or len(set(kinds)) > 1:
        return None
    along = [
        c.name
        for c, _ in ends.values()
        if _measures(c, _DISPLACEMENTS) and c.causality is flows[0].causality
    ]
    return PowerPort(
        name,
        tuple(c.name for c in efforts),
        tuple(c.name for c in flows),
        tuple(along),
        positive=kinds.pop() if kinds else None,
    )


def _measures(connector: Connector, units: tuple[str, ...]) -> bool:
    """Whether a connector has the dimension of one of some units."""
    return connector.unit is not None and any(_converts(connector.unit, unit) for unit in units)


@cache
def _converts(unit: str, other: str) -> bool:
    try:
        conversion(unit, other)
    except UnitMismatchError:
        return False
    return True
