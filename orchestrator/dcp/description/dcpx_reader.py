"""Reading a DCPX: XML of unknown origin to a description."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from lxml import etree

from orchestrator.core.archive import parse_xml
from orchestrator.core.diagnostics import Diagnostic, LoadError, Severity
from orchestrator.core.system import BaseUnit
from orchestrator.dcp.description.contradictions import contradictions, placeholders
from orchestrator.dcp.description.description import (
    TCP_LIMIT,
    UDP_LIMIT,
    Capabilities,
    Ipv4,
    LogTemplate,
    PortRange,
    Resolution,
    ResolutionRange,
    SlaveDescription,
)
from orchestrator.dcp.description.forms import misfits
from orchestrator.dcp.description.variable import (
    StepChoice,
)
from orchestrator.dcp.description.variables_reader import (
    attributes_of,
    read_variables,
    said,
    steps_of,
    truth,
)
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport

_ROOT = "dcpSlaveDescription"
_MODES = {"HardRealTime": OpMode.HRT, "SoftRealTime": OpMode.SRT, "NonRealTime": OpMode.NRT}
_SI = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def read_dcpx(content: bytes, where: str) -> SlaveDescription:
    """Read a description."""
    root = parse_xml(content, where, LoadError)
    if root.tag != _ROOT:
        raise LoadError.in_file(where, f"expected <{_ROOT}>, found <{root.tag}>")
    if wrong := misfits(root):
        raise LoadError(*(_told(where, misfit.text, misfit.line) for misfit in wrong))
    found, problems = _description(root)
    problems += contradictions(found)
    if problems:
        raise LoadError(*(_told(where, text) for text in problems))
    return found


def _told(where: str, text: str, line: int | None = None) -> Diagnostic:
    return Diagnostic(LoadError.__name__, Severity.ERROR, text, where, line)


def _description(root: etree._Element) -> tuple[SlaveDescription, list[str]]:
    nrt = root.find("OpMode/NonRealTime")
    beat = root.find("Heartbeat/MaximumPeriodicInterval")
    templates, problems = _templates(root)
    variables, more = read_variables(root)
    found = SlaveDescription(
        name=said(root, "dcpSlaveName"),
        uuid=UUID(said(root, "uuid")),
        variables=variables,
        op_modes=frozenset(_MODES[str(each.tag)] for each in _elements(root, "OpMode")),
        nrt_steps=StepChoice() if nrt is None else steps_of(nrt),
        resolutions=tuple(_resolution(each) for each in _elements(root, "TimeRes")),
        transports=_transports(root),
        capabilities=_capabilities(root),
        heartbeat=None if beat is None else _fraction(beat, 1),
        units={said(unit, "name"): _base(unit) for unit in root.iterfind("UnitDefinitions/Unit")},
        categories={int(said(c, "id")): said(c, "name") for c in root.iterfind(".//Category")},
        templates=templates,
        major=int(said(root, "dcpMajorVersion")),
        minor=int(said(root, "dcpMinorVersion")),
        description=root.get("description", ""),
        tool=root.get("generationTool", ""),
    )
    return found, problems + more


def _elements(root: etree._Element, path: str) -> list[etree._Element]:
    parent = root.find(path)
    return [] if parent is None else [each for each in parent if isinstance(each.tag, str)]


def _fraction(element: etree._Element, denominator: int) -> tuple[int, int]:
    return int(element.get("numerator", "1")), int(element.get("denominator", denominator))


def _resolution(element: etree._Element) -> Resolution | ResolutionRange:
    if element.tag == "ResolutionRange":
        ends = ("numeratorFrom", "numeratorTo", "denominator")
        return ResolutionRange(*(int(said(element, end)) for end in ends))
    fixed, recommended = truth(element, "fixed", default=True), truth(element, "recommended")
    return Resolution(*_fraction(element, 1000), fixed, recommended)


def _transports(root: etree._Element) -> dict[Transport, Ipv4]:
    found = {}
    for tag, transport, limit in (
        ("UDP_IPv4", Transport.UDP_IPV4, UDP_LIMIT),
        ("TCP_IPv4", Transport.TCP_IPV4, TCP_LIMIT),
    ):
        element = root.find(f"TransportProtocols/{tag}")
        if element is not None:
            found[transport] = _ipv4(element, limit)
    return found


def _ipv4(element: etree._Element, limit: int) -> Ipv4:
    control = element.find("Control")
    of: Mapping[str, str] = {} if control is None else attributes_of(control)
    data, parameters = element.find("DAT_input_output"), element.find("DAT_parameter")
    return Ipv4(
        host=of.get("host") or None,
        port=int(of["port"]) if "port" in of else None,
        data_host=None if data is None else data.get("host") or None,
        data_ports=_ports(data),
        parameter_host=None if parameters is None else parameters.get("host") or None,
        parameter_ports=_ports(parameters),
        max_pdu_size=int(element.get("maxPduSize", limit)),
    )


def _ports(element: etree._Element | None) -> tuple[PortRange, ...]:
    found = []
    for each in (
        () if element is None else element.iterchildren("AvailablePortRange", "AvailablePort")
    ):
        ends = ("from", "to") if each.tag == "AvailablePortRange" else ("port", "port")
        found.append(PortRange(*(int(said(each, end)) for end in ends)))
    return tuple(found)


def _capabilities(root: etree._Element) -> Capabilities:
    (flags,) = root.iterfind("CapabilityFlags")
    return Capabilities(
        accept_config_pdus=truth(flags, "canAcceptConfigPdus"),
        handle_reset=truth(flags, "canHandleReset"),
        handle_variable_steps=truth(flags, "canHandleVariableSteps"),
        monitor_heartbeat=truth(flags, "canMonitorHeartbeat"),
        log_on_request=truth(flags, "canProvideLogOnRequest"),
        log_on_notification=truth(flags, "canProvideLogOnNotification"),
    )


def _base(unit: etree._Element) -> BaseUnit | None:
    base = unit.find("BaseUnit")
    if base is None:
        return None
    powers = {symbol: int(base.get(symbol, "0")) for symbol in _SI}
    return BaseUnit(
        {symbol: power for symbol, power in powers.items() if power},
        float(base.get("factor", "1")),
        float(base.get("offset", "0")),
    )


def _templates(root: etree._Element) -> tuple[tuple[LogTemplate, ...], list[str]]:
    found, problems = [], []
    for element in root.iterfind("Log/Templates/Template"):
        of = attributes_of(element)
        kinds, wrong = placeholders(of["msg"])
        problems += [f"log template {of['id']}: '%{word}' is no data type" for word in wrong]
        level = LogLevel(int(of["level"]))
        found.append(LogTemplate(int(of["id"]), int(of["category"]), level, of["msg"], kinds))
    return tuple(found), problems
