"""Softdock's annotations in an SSD, and the default experiment.

Namespace ``https://softdock.io/ssp/1``; times are exact decimals, so that they come back as the
same count of nanoseconds.

Power ports::

    <ssc:Annotation type="io.softdock.power">
      <sd:PowerPorts>
        <sd:PowerPort name="flange" frame="body" positive="in">
          <sd:Effort connector="force"/>
          <sd:Flow connector="velocity"/>
          <sd:Displacement connector="position"/>
        </sd:PowerPort>
      </sd:PowerPorts>
    </ssc:Annotation>

How a component is run::

    <ssc:Annotation type="io.softdock.unit">
      <sd:Unit solver="cvode" tolerance="1e-08" isolation="process" stepTimeout="500 ms"/>
    </ssc:Annotation>

The interface is SSP's own attribute ``implementation``.

The default experiment::

    <ssc:Annotation type="io.softdock.master">
      <sd:Master algorithm="gauss-seidel" step="0.001" earlyReturn="true">
        <sd:Option name="tolerance" value="1e-06"/>
        <sd:Rate component="thermal" every="10"/>
        <sd:Tuning name="controller.k" minimum="50" maximum="400"/>
      </sd:Master>
    </ssc:Annotation>

The value of an option is JSON: a number, ``true``, ``false`` or a text in quotes. Limits are those
within which a value is tuned while it runs; of a connection's delay they are seconds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from decimal import Decimal
from math import isfinite
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError, counted
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.names import (
    add,
    attribute,
    boolean,
    boolean_text,
    child,
    children,
    integer,
    listed,
    real,
    tag,
)
from orchestrator.core.system import ComponentOptions, DefaultExperiment, PowerPort, nanoseconds
from orchestrator.core.system.component import OPTIONS
from orchestrator.core.system.experiment import tuning_limits
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import StepLength, in_seconds, step_length, step_text

OWN_TYPES: Final = "io.softdock."
DELAY_TYPE: Final = "io.softdock.delay"
LINE_TYPE: Final = "io.softdock.line"
MASTER_TYPE: Final = "io.softdock.master"
UNIT_TYPE: Final = "io.softdock.unit"
POWER_TYPE: Final = "io.softdock.power"
CONNECTOR_TYPE: Final = "io.softdock.connector"
#: Where each annotation stands.
PARENTS: Final = {
    DELAY_TYPE: ("ssd:Connection",),
    LINE_TYPE: ("ssd:Connection",),
    MASTER_TYPE: ("ssd:DefaultExperiment",),
    UNIT_TYPE: ("ssd:Component",),
    POWER_TYPE: ("ssd:Component", "ssd:System"),
    CONNECTOR_TYPE: ("ssd:Connector",),
}


def seconds_text(ns: int) -> str:
    """Write whole nanoseconds as exact decimal seconds, such as ``"0.016"``."""
    if abs(ns) > 2**63 - 1:
        raise DescriptionError(f"a time of {ns} ns does not fit 64 bits")
    text = f"{Decimal(ns).scaleb(-9):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def annotate(parent: etree._Element, kind: str) -> etree._Element:
    """Append an annotation of a type to an element, and return it."""
    group = child(parent, "ssd:Annotations")
    group = add(parent, "ssd:Annotations") if group is None else group
    return add(group, "ssc:Annotation", type=kind)


def own_annotation(parent: etree._Element, kind: str, name: str) -> etree._Element | None:
    """Return the content of the annotation of a type, after checking that it is the only one."""
    every = listed(parent, "ssd:Annotations", "ssc:Annotation")
    matches = [annotation for annotation in every if annotation.get("type") == kind]
    if not matches:
        return None
    content = [inner for annotation in matches for inner in children(annotation)]
    if len(matches) > 1 or len(content) != 1 or tag(content[0]) != name:
        inside = ", ".join(map(tag, content)) or "nothing"
        raise SspError(
            f"annotation {kind}: expected it once with one {name},"
            f" found it {counted(len(matches), 'time')} with {inside}"
        )
    return content[0]


def only(element: etree._Element, allowed: Collection[str]) -> None:
    """Refuse attributes that are not known."""
    unknown = [name for name in element.attrib if name not in allowed]
    if unknown:
        raise SspError(
            f"{tag(element)}: unknown attribute {', '.join(map(str, unknown))};"
            f" expected {', '.join(allowed)}"
        )


def empty(element: etree._Element) -> None:
    """Refuse an element with content."""
    if children(element) or (element.text or "").strip():
        raise SspError(f"{tag(element)}: expected an empty element")


_ROLES: Final = {"sd:Effort": "effort", "sd:Flow": "flow", "sd:Displacement": "displacement"}


def read_power_ports(element: etree._Element) -> dict[str, PowerPort]:
    """Read the power ports of an ssd:Component or ssd:System."""
    annotation = own_annotation(element, POWER_TYPE, "sd:PowerPorts")
    if annotation is None:
        return {}
    only(annotation, ())
    ports: dict[str, PowerPort] = {}
    for inner in children(annotation):
        if tag(inner) != "sd:PowerPort":
            raise SspError(f"sd:PowerPorts: expected sd:PowerPort in it, found {tag(inner)}")
        port = _port(inner)
        if not port.name or port.name in ports:
            raise SspError(f"sd:PowerPort: expected every name once, found '{port.name}'")
        ports[port.name] = port
    return ports


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
        for name, text in (("frame", port.frame), ("positive", port.positive)):
            if text is not None:
                written.set(name, str(text))
        for kind, role in _ROLES.items():
            for connector in getattr(port, role):
                add(written, kind, connector=connector)


_IMPLEMENTATIONS: Final = {"CoSimulation": "cs", "ModelExchange": "me"}
_INTERFACES: Final = {interface: name for name, interface in _IMPLEMENTATIONS.items()}
#: Attributes of ``sd:Unit``, by option.
_ATTRIBUTES: Final = {name: codec.ssp for name, codec in OPTIONS.items() if codec.ssp}
_USUAL: Final = ComponentOptions()


def read_options(component: etree._Element) -> ComponentOptions:
    """Read how an ssd:Component is run."""
    implementation = component.get("implementation", "any")
    if implementation not in {"any", *_IMPLEMENTATIONS}:
        raise refusal(
            codes.SCHEDULED,
            f"implementation '{implementation}' is not supported; expected CoSimulation,"
            " ModelExchange, any",
        )
    options: dict[str, object] = {"interface": _IMPLEMENTATIONS.get(implementation)}
    unit = own_annotation(component, UNIT_TYPE, "sd:Unit")
    if unit is not None:
        empty(unit)
        only(unit, tuple(_ATTRIBUTES.values()))
        for option, name in _ATTRIBUTES.items():
            if name in unit.attrib:
                options[option] = _value(unit, option, name)
    return _USUAL.changed(options)


def _value(unit: etree._Element, option: str, name: str) -> object:
    text = unit.get(name, "")
    match OPTIONS[option].kind:
        case "number":
            return attribute(unit, name, real, 0.0)
        case "count":
            return attribute(unit, name, integer, 0)
        case "flag":
            return attribute(unit, name, boolean, default=False)
        case "time" if not text.endswith("s"):
            return attribute(unit, name, real, 0.0)
    return text


def add_options(component: etree._Element, options: ComponentOptions) -> None:
    """Say how a component is run, as far as it differs from the defaults."""
    if options.interface is not None:
        component.set("implementation", _INTERFACES[options.interface])
    attributes = {
        _ATTRIBUTES[name]: _text(name, value)
        for name, value in options.differing().items()
        if name in _ATTRIBUTES
    }
    if attributes:
        add(annotate(component, UNIT_TYPE), "sd:Unit", **attributes)


def _text(option: str, value: float | str) -> str:
    if isinstance(value, bool):
        return boolean_text(value)
    if isinstance(value, str) or OPTIONS[option].kind == "count":
        return str(value)
    return repr(float(value))


_MOST_STEPS: Final = 10**9


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
        is_whole = not isinstance(experiment.step_ns, StepLength)
        text = seconds_text if is_whole else step_text
        attributes["step"] = text(experiment.step_ns)
    if experiment.early_return is not None:
        attributes["earlyReturn"] = boolean_text(experiment.early_return)
    inside = experiment.algorithm_options, experiment.rates, experiment.tuning
    if not (attributes or any(inside)):
        return
    master = add(annotate(element, MASTER_TYPE), "sd:Master", **attributes)
    for name, value in experiment.algorithm_options.items():
        add(master, "sd:Option", name=name, value=json.dumps(value, ensure_ascii=False))
    for name, every in experiment.rates.items():
        add(master, "sd:Rate", component=name, every=str(every))
    for name, limits in experiment.tuning.items():
        ends = {"minimum": limits.least, "maximum": limits.most}
        is_delay = "->" in name
        attributes_of_limits = {
            key: seconds_text(round(end)) if is_delay else repr(end)
            for key, end in ends.items()
            if isfinite(end)
        }
        add(master, "sd:Tuning", name=name, **attributes_of_limits)


def read_experiment(element: etree._Element) -> DefaultExperiment:
    """Read an ssd:DefaultExperiment.

    Raises
    ------
    SspError, DescriptionError
        If a time is not a whole number of nanoseconds, or the annotation is not as it is written.
    """
    stop = element.get("stopTime")
    start_ns = nanoseconds(in_seconds(element.get("startTime", "0")), "startTime")
    stop_ns = None if stop is None else nanoseconds(in_seconds(stop), "stopTime")
    master = own_annotation(element, MASTER_TYPE, "sd:Master")
    if master is None:
        return DefaultExperiment(start_ns, stop_ns)
    only(master, ("algorithm", "step", "earlyReturn"))
    step = master.get("step")
    options: dict[str, float | bool | str] = {}
    rates: dict[str, int] = {}
    tuning: dict[str, Limits] = {}
    for inner in children(master):
        empty(inner)
        if tag(inner) == "sd:Option":
            only(inner, ("name", "value"))
            _once(options, inner, "name")
            options[inner.get("name", "")] = _option(inner.get("value", ""))
        elif tag(inner) == "sd:Rate":
            only(inner, ("component", "every"))
            _once(rates, inner, "component")
            every = attribute(inner, "every", integer, 0)
            if not 1 <= every <= _MOST_STEPS:
                raise SspError(f"sd:Rate: expected every as a whole number >= 1, found {every}")
            rates[inner.get("component", "")] = every
        elif tag(inner) == "sd:Tuning":
            only(inner, ("name", "minimum", "maximum"))
            _once(tuning, inner, "name")
            name = inner.get("name", "")
            ends = (
                attribute(inner, key, real, 0.0) if key in inner.attrib else None
                for key in ("minimum", "maximum")
            )
            tuning[name] = tuning_limits(name, *ends)
        else:
            raise SspError(
                f"sd:Master: expected sd:Option, sd:Rate and sd:Tuning in it, found {tag(inner)}"
            )
    return DefaultExperiment(
        start_ns,
        stop_ns,
        None if step is None else step_length(in_seconds(step), "step"),
        master.get("algorithm"),
        options,
        rates,
        attribute(master, "earlyReturn", boolean, default=False)
        if "earlyReturn" in master.attrib
        else None,
        tuning,
    )


def _once(entries: object, element: etree._Element, name: str) -> None:
    key = element.get(name)
    if not key or key in entries:  # type: ignore[operator] # a dictionary
        raise SspError(f"{tag(element)}: expected every {name} once, found '{key or ''}'")


def _option(text: str) -> float | bool | str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise SspError(
            f"sd:Option: expected a number, true, false or a text in quotes, found '{text[:60]}'"
        ) from None
    if not isinstance(value, (int, float, bool, str)):
        raise SspError(f"sd:Option: expected a number, truth value or text, found '{text[:60]}'")
    return value
