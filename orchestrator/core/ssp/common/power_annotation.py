"""The annotation of a component or a system that says which connectors are connected as one.

::

    <ssc:Annotation type="io.softdock.power">
      <sd:PowerPorts>
        <sd:PowerPort name="flange" frame="body" positive="in">
          <sd:Effort connector="force"/>
          <sd:Flow connector="velocity"/>
          <sd:Displacement connector="position"/>
        </sd:PowerPort>
      </sd:PowerPorts>
    </ssc:Annotation>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.annotations import POWER_TYPE, annotate, empty, only, own
from orchestrator.core.ssp.common.names import add, children, tag
from orchestrator.core.system import PowerPort

_ROLES: Final = {"sd:Effort": "effort", "sd:Flow": "flow", "sd:Displacement": "displacement"}


def read_power_ports(element: etree._Element) -> dict[str, PowerPort]:
    """Read the power ports of an ssd:Component or ssd:System."""
    annotation = own(element, POWER_TYPE, "sd:PowerPorts")
    if annotation is None:
        return {}
    only(annotation, ())
    found: dict[str, PowerPort] = {}
    for inner in children(annotation):
        if tag(inner) != "sd:PowerPort":
            raise SspError(f"sd:PowerPorts: expected sd:PowerPort in it, found {tag(inner)}")
        port = _port(inner)
        if not port.name or port.name in found:
            raise SspError(f"sd:PowerPort: expected every name once, found '{port.name}'")
        found[port.name] = port
    return found


def _port(element: etree._Element) -> PowerPort:
    only(element, ("name", "frame", "positive"))
    roles: dict[str, list[str]] = {role: [] for role in _ROLES.values()}
    for inner in children(element):
        if tag(inner) not in _ROLES or not inner.get("connector"):
            raise SspError(
                f"sd:PowerPort: expected {', '.join(_ROLES)} with a connector, found {tag(inner)}"
            )
        only(inner, ("connector",))
        empty(inner)
        roles[_ROLES[tag(inner)]].append(inner.get("connector", ""))
    return PowerPort.of(
        element.get("name", ""),
        tuple(roles["effort"]),
        tuple(roles["flow"]),
        displacement=tuple(roles["displacement"]),
        frame=element.get("frame"),
        positive=element.get("positive"),
    )


def add_power_ports(element: etree._Element, ports: Mapping[str, PowerPort]) -> None:
    """Append the power ports of a component or system."""
    if not ports:
        return
    group = add(annotate(element, POWER_TYPE), "sd:PowerPorts")
    for port in ports.values():
        written = add(group, "sd:PowerPort", name=port.name)
        for name, said in (("frame", port.frame), ("positive", port.positive)):
            if said is not None:
                written.set(name, str(said))
        for kind, role in _ROLES.items():
            for connector in getattr(port, role):
                add(written, kind, connector=connector)
