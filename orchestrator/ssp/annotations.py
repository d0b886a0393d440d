"""Softdock's annotations in an SSD: transport delays, and how the master steps.

Namespace ``https://softdock.io/ssp/1``; times are exact decimals, so that they come back as the
same count of nanoseconds::

    <ssc:Annotation type="io.softdock.delay">
      <sd:TransportDelay nominal="0.016" unit="s" provenance="assumed"/>
    </ssc:Annotation>

    <ssc:Annotation type="io.softdock.master">
      <sd:Master algorithm="gauss-seidel" step="0.001"/>
    </ssc:Annotation>
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import Final

from lxml import etree

from orchestrator.errors import DescriptionError, SspError
from orchestrator.ssp.names import add, children, listed, tag
from orchestrator.system import DefaultExperiment, Provenance, TransportDelay, nanoseconds

OWN_TYPES: Final = "io.softdock."
DELAY_TYPE: Final = "io.softdock.delay"
MASTER_TYPE: Final = "io.softdock.master"
#: Where each annotation stands.
PARENTS: Final = {DELAY_TYPE: "ssd:Connection", MASTER_TYPE: "ssd:DefaultExperiment"}


def seconds_text(ns: int) -> str:
    """Write whole nanoseconds as exact decimal seconds, such as ``"0.016"``."""
    if abs(ns) > 2**63 - 1:
        raise DescriptionError(f"a time of {ns} ns does not fit 64 bits")
    text = f"{Decimal(ns).scaleb(-9):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _annotate(parent: etree._Element, kind: str) -> etree._Element:
    return add(add(parent, "ssd:Annotations"), "ssc:Annotation", type=kind)


def _own(parent: etree._Element, kind: str, name: str) -> etree._Element | None:
    """Return the content of the annotation of a type, after checking that it is the only one."""
    every = listed(parent, "ssd:Annotations", "ssc:Annotation")
    found = [annotation for annotation in every if annotation.get("type") == kind]
    if not found:
        return None
    content = [inner for annotation in found for inner in children(annotation)]
    if len(found) > 1 or len(content) != 1 or tag(content[0]) != name or children(content[0]):
        inside = ", ".join(map(tag, content)) or "nothing"
        raise SspError(
            f"annotation {kind}: expected it once with one empty {name},"
            f" found it {len(found)} times with {inside}"
        )
    return content[0]


def _only(element: etree._Element, allowed: Collection[str]) -> None:
    unknown = [name for name in element.attrib if name not in allowed]
    if unknown:
        raise SspError(
            f"{tag(element)}: unknown attribute {', '.join(map(str, unknown))};"
            f" expected {', '.join(allowed)}"
        )


def add_delay(connection: etree._Element, delay: TransportDelay) -> None:
    """Append the annotation of a transport delay to an ssd:Connection."""
    add(
        _annotate(connection, DELAY_TYPE),
        "sd:TransportDelay",
        nominal=seconds_text(delay.nominal_ns),
        unit="s",
        provenance=str(delay.provenance),
    )


def read_delay(connection: etree._Element) -> TransportDelay | None:
    """Read the transport delay of an ssd:Connection.

    Raises
    ------
    SspError, DescriptionError
        If the annotation is not as it is written.
    """
    element = _own(connection, DELAY_TYPE, "sd:TransportDelay")
    if element is None:
        return None
    _only(element, ("nominal", "unit", "provenance"))
    nominal = element.get("nominal")
    if nominal is None:
        raise SspError("sd:TransportDelay: expected the attribute nominal, in seconds")
    provenance = element.get("provenance", Provenance.ASSUMED.value)
    if provenance not in set(Provenance):
        raise SspError(
            f"sd:TransportDelay: expected provenance {', '.join(Provenance)}, found '{provenance}'"
        )
    time = nanoseconds(f"{nominal} {element.get('unit', 's')}", "delay")
    return TransportDelay(time, Provenance(provenance))


def add_experiment(root: etree._Element, experiment: DefaultExperiment) -> None:
    """Append an ssd:DefaultExperiment, unless it says nothing."""
    if experiment == DefaultExperiment():
        return
    element = add(root, "ssd:DefaultExperiment", startTime=seconds_text(experiment.start_ns))
    if experiment.stop_ns is not None:
        element.set("stopTime", seconds_text(experiment.stop_ns))
    attributes = {}
    if experiment.algorithm is not None:
        attributes["algorithm"] = experiment.algorithm
    if experiment.step_ns is not None:
        attributes["step"] = seconds_text(experiment.step_ns)
    if attributes:
        add(_annotate(element, MASTER_TYPE), "sd:Master", **attributes)


def read_experiment(element: etree._Element) -> DefaultExperiment:
    """Read an ssd:DefaultExperiment.

    Raises
    ------
    SspError, DescriptionError
        If a time is not a whole number of nanoseconds, or the annotation is not as it is written.
    """
    stop = element.get("stopTime")
    start_ns = nanoseconds(element.get("startTime", "0"), "startTime")
    stop_ns = None if stop is None else nanoseconds(stop, "stopTime")
    master = _own(element, MASTER_TYPE, "sd:Master")
    if master is None:
        return DefaultExperiment(start_ns, stop_ns)
    _only(master, ("algorithm", "step"))
    step = master.get("step")
    step_ns = None if step is None else nanoseconds(step, "step")
    return DefaultExperiment(start_ns, stop_ns, step_ns, master.get("algorithm"))
