"""Power ports of components and systems in an SSD.

::

    <ssd:Annotations>
      <ssc:Annotation type="io.softdock.power">
        <sd:PowerPorts>
          <sd:PowerPort name="tip" frame="tool" positive="in">
            <sd:Pair effort="force" flow="velocity"/>
            <sd:Displacement connector="position"/>
          </sd:PowerPort>
        </sd:PowerPorts>
      </ssc:Annotation>
    </ssd:Annotations>
"""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from orchestrator.errors import SspError
from orchestrator.ssp.annotations import POWER_TYPE, annotate, empty, only, own
from orchestrator.ssp.names import add, children, tag
from orchestrator.system import Positive, PowerPort


def add_ports(parent: etree._Element, ports: Mapping[str, PowerPort]) -> None:
    """Append the annotation of power ports to an ssd:Component or ssd:System, if there are any."""
    if not ports:
        return
    every = add(annotate(parent, POWER_TYPE), "sd:PowerPorts")
    for port in ports.values():
        said = {"name": port.name}
        if port.frame is not None:
            said["frame"] = port.frame
        if port.positive is not None:
            said["positive"] = str(port.positive)
        element = add(every, "sd:PowerPort", **said)
        for effort, flow in zip(port.effort, port.flow, strict=True):
            add(element, "sd:Pair", effort=effort, flow=flow)
        for connector in port.displacement:
            add(element, "sd:Displacement", connector=connector)


def read_ports(parent: etree._Element) -> dict[str, PowerPort]:
    """Read the power ports of an ssd:Component or ssd:System.

    Raises
    ------
    SspError, DescriptionError
        If the annotation is not as it is written.
    """
    every = own(parent, POWER_TYPE, "sd:PowerPorts")
    found: dict[str, PowerPort] = {}
    for element in [] if every is None else children(every):
        port = _port(element)
        if port.name in found:
            raise SspError(f"power port '{port.name}': expected it once, found it twice")
        found[port.name] = port
    return found


def _port(element: etree._Element) -> PowerPort:
    if tag(element) != "sd:PowerPort":
        raise SspError(f"sd:PowerPorts: expected sd:PowerPort in it, found {tag(element)}")
    only(element, ("name", "frame", "positive"))
    efforts, flows, along = [], [], []
    for inner in children(element):
        empty(inner)
        match tag(inner):
            case "sd:Pair":
                only(inner, ("effort", "flow"))
                efforts.append(_told(inner, "effort"))
                flows.append(_told(inner, "flow"))
            case "sd:Displacement":
                only(inner, ("connector",))
                along.append(_told(inner, "connector"))
            case other:
                raise SspError(
                    f"sd:PowerPort: expected sd:Pair or sd:Displacement in it, found {other}"
                )
    positive = element.get("positive")
    if positive is not None and positive not in set(Positive):
        raise SspError(
            f"sd:PowerPort: expected positive {' or '.join(Positive)}, found '{positive}'"
        )
    return PowerPort(
        _told(element, "name"),
        tuple(efforts),
        tuple(flows),
        tuple(along),
        element.get("frame"),
        None if positive is None else Positive(positive),
    )


def _told(element: etree._Element, name: str) -> str:
    text = element.get(name)
    if text is None:
        raise SspError(f"{tag(element)}: expected the attribute {name}")
    return text
