"""Power ports that are found by the names and units of connectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orchestrator.core.system.components.component import Component
from orchestrator.core.system.naming import lacking
from orchestrator.core.system.ports.connector import Causality, Connector, DataType
from orchestrator.core.system.power.power_port import PowerPort
from orchestrator.core.system.power.unit_products import is_power

if TYPE_CHECKING:
    from orchestrator.core.system.system import System

_WORDS = {
    "effort": ("force", "torque", "voltage", "pressure", "wrench"),
    "flow": ("angular_velocity", "velocity", "speed", "current", "volume_flow", "twist"),
    "displacement": ("position", "angle", "charge", "orientation"),
}
#: Of a port whose connectors have no further name, such as ``force`` and ``velocity``.
_PLAIN = "port"


def power_ports(owner: Component | System) -> dict[str, PowerPort]:
    """Return the power ports of a component or system: declared ones, and those found by names.

    An effort and a flow are a port if their names are the same but for the words for them, as
    ``force_a`` and ``velocity_a`` are, they go in opposite directions, and the product of their
    units is a power. The port is then called by the rest of the name, ``a``, or ``port`` if there
    is none. A position of the same name goes along. Connectors of a declared port are in no other.
    """
    declared = dict(owner.power_ports)
    used = {name for port in declared.values() for name in port.connectors}
    by_stem: dict[str, dict[str, list[Connector]]] = {}
    for connector in owner.connectors.values():
        said = _said(connector.name)
        signal = connector.causality in {Causality.INPUT, Causality.OUTPUT}
        if said and signal and connector.type is DataType.REAL and connector.name not in used:
            kind, stem = said
            by_stem.setdefault(stem, {}).setdefault(kind, []).append(connector)
    for stem, kinds in by_stem.items():
        port = _port(stem or _PLAIN, kinds)
        if port is not None and port.name not in declared:
            declared[port.name] = port
    return declared


def power_port(owner: Component | System, name: str) -> PowerPort:
    """Return a power port by name, or raise UnknownNameError that lists those that there are."""
    ports = power_ports(owner)
    if name not in ports:
        raise lacking(f"'{owner.name}'", "power port", name, ports)
    return ports[name]


def _said(name: str) -> tuple[str, str] | None:
    """Kind and rest of a connector's name, if it holds one of the words."""
    for kind, words in _WORDS.items():
        for word in words:
            parts = re.fullmatch(rf"(.*?)[_.]?{word}(?:[_.](.*))?", name)
            if parts and (not parts[1] or name[len(parts[1])] in "_."):
                return kind, "_".join(filter(None, parts.groups()))
    return None


def _port(name: str, kinds: dict[str, list[Connector]]) -> PowerPort | None:
    efforts, flows = kinds.get("effort", []), kinds.get("flow", [])
    pairs = [
        (effort, flow)
        for effort in efforts
        for flow in flows
        if effort.shape == flow.shape
        and effort.causality is not flow.causality
        and is_power(effort, flow)
    ]
    if not pairs or len(pairs) != max(len(efforts), len(flows)):
        return None  # none, or one that would have to be guessed
    along = [c.name for c in kinds.get("displacement", []) if c.causality is pairs[0][1].causality]
    return PowerPort(
        name,
        tuple(effort.name for effort, _ in pairs),
        tuple(flow.name for _, flow in pairs),
        tuple(along),
    )
