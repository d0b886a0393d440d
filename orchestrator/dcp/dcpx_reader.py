"""Reading a DCPX: XML of unknown origin to a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from uuid import UUID

from lxml import etree

from orchestrator.core.diagnostics import (
    Diagnostic,
    LoadError,
    Severity,
    choices_for,
    with_article,
)
from orchestrator.core.files.archive import parse_xml
from orchestrator.core.system import BaseUnit
from orchestrator.dcp.data_types import DcpType, Scalar
from orchestrator.dcp.dcpx_forms import TRUE, misfits
from orchestrator.dcp.description import (
    FLAGS,
    MODES,
    TCP_LIMIT,
    TRANSPORTS,
    UDP_LIMIT,
    Dependencies,
    Ipv4,
    LogTemplate,
    PduSteps,
    PortRange,
    Resolution,
    ResolutionRange,
    SlaveCapabilities,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
    contradictions,
    placeholders,
)
from orchestrator.dcp.identifiers import LogLevel, Transport


def attribute(element: etree._Element, name: str) -> str:
    """Return an attribute that must be there."""
    return str(element.attrib[name])


def attributes_of(element: etree._Element) -> dict[str, str]:
    """Return all attributes."""
    return {str(name): str(text) for name, text in element.attrib.items()}


def truth(element: etree._Element, name: str, *, default: bool = False) -> bool:
    """Return a Boolean attribute."""
    text = element.get(name)
    return default if text is None else text.strip() in TRUE


def _optional(element: etree._Element, name: str) -> int | None:
    text = element.get(name)
    return None if text is None else int(text)


def steps_of(element: etree._Element) -> PduSteps:
    """Return the steps that an element allows."""
    return PduSteps(
        default=int(element.get("defaultSteps", "1")),
        fixed=truth(element, "fixedSteps", default=True),
        least=_optional(element, "minSteps"),
        most=_optional(element, "maxSteps"),
    )


_TYPES = {kind.element: kind for kind in DcpType}
_KINDS = {kind.value: kind for kind in VariableKind}


def read_variables(root: etree._Element) -> tuple[tuple[SlaveVariable, ...], list[str]]:
    """Return the variables, and what is wrong with their types and values."""
    types = {
        attribute(child, "name"): child for child in root.iterfind("TypeDefinitions/SimpleType")
    }
    problems: list[str] = []
    variables = []
    for element in root.iterfind("Variables/Variable"):
        errors: list[str] = []
        variables.append(_variable(element, types, errors))
        problems += [f"variable '{attribute(element, 'name')}': {text}" for text in errors]
    return tuple(variables), problems


def _typed(parent: etree._Element) -> etree._Element:
    return next(child for child in parent if child.tag in _TYPES)


def _variable(
    element: etree._Element, types: dict[str, etree._Element], errors: list[str]
) -> SlaveVariable:
    body = next(child for child in element if child.tag in _KINDS)
    held = _typed(body)
    kind, of = _TYPES[str(held.tag)], attributes_of(held)
    if (name := element.get("declaredType")) is not None:
        of = {**_declared(name, kind, types, errors), **of}
    dimensions = list(_dimensions(body, errors))
    is_parameter = body.tag in {"Parameter", "StructuralParameter"}
    return SlaveVariable(
        name=attribute(element, "name"),
        reference=int(attribute(element, "valueReference")),
        kind=_KINDS[str(body.tag)],
        type=kind,
        start=_start(of.get("start"), kind, errors),
        dimensions=tuple(extent for extent, _ in dimensions),
        linked=tuple(linked for _, linked in dimensions),
        unit=of.get("unit"),
        minimum=float(of["min"]) if "min" in of else None,
        maximum=float(of["max"]) if "max" in of else None,
        max_size=int(of["maxSize"]) if "maxSize" in of else None,
        # The schema's default is not allowed for parameters: one that says nothing is fixed.
        variability=str(
            element.get("variability", "fixed" if is_parameter else "continuous")
        ).strip(),
        max_missed=_optional(element, "maxConsecMissedPdus"),
        steps=steps_of(body) if body.tag == "Output" else PduSteps(),
        initialization_only=truth(body, "initialization"),
        dependencies=_dependencies(body),
        description=element.get("description", ""),
    )


def _declared(
    name: str, kind: DcpType, types: dict[str, etree._Element], errors: list[str]
) -> dict[str, str]:
    if name not in types:
        errors.append(f"its declaredType '{name}' is not defined{choices_for(name, types, 'type')}")
        return {}
    defined = _typed(types[name])
    if defined.tag != kind.element:
        errors.append(
            f"it is {with_article(kind.element)}, and its declaredType '{name}' is"
            f" {with_article(defined.tag)}"
        )
        return {}
    return attributes_of(defined)


def _start(text: str | None, kind: DcpType, errors: list[str]) -> tuple[Scalar, ...]:
    if text is None:
        return ()
    if kind is DcpType.STRING:
        return (text,)
    if kind is DcpType.BINARY:
        with suppress(ValueError):
            return (bytes.fromhex(text),)
        errors.append(f"start: expected hexadecimal digits, found '{text[:40]}'")
        return ()
    return tuple(_numbers(text, kind, errors))


def _numbers(text: str, kind: DcpType, errors: list[str]) -> Iterator[Scalar]:
    for word in text.split():
        value: int | float | None = None
        with suppress(ValueError):
            if "_" not in word and len(word) < 400:
                value = int(word) if kind.is_integer else float(word)
        expected = kind.refusal(value)
        if value is None or expected is not None:
            errors.append(f"start: {expected}, found '{word[:40]}'")
            return
        yield value


def _dimensions(body: etree._Element, errors: list[str]) -> Iterator[tuple[int, bool]]:
    for dimension in body.iterfind("Dimensions/Dimension"):
        constant, linked = dimension.get("constant"), dimension.get("linkedVR")
        if (constant is None) is (linked is None):
            errors.append("a dimension has either 'constant' or 'linkedVR'")
        elif constant is not None:
            yield int(constant), False
        else:
            yield int(linked or "0"), True


def _dependencies(body: etree._Element) -> Dependencies | None:
    element = body.find("Dependencies")
    if element is None:
        return None
    return Dependencies(_referred(element, "Initialization"), _referred(element, "Run"))


def _referred(element: etree._Element, tag: str) -> tuple[int, ...] | None:
    list_element = element.find(tag)
    if list_element is None:
        return None
    return tuple(
        int(attribute(dependency, "vr")) for dependency in list_element.iterfind("Dependency")
    )


_ROOT = "dcpSlaveDescription"
_MODES = {tag: mode for mode, tag in MODES.items()}
_LIMITS = {Transport.UDP_IPV4: UDP_LIMIT, Transport.TCP_IPV4: TCP_LIMIT}
_SI = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def read_dcpx(content: bytes, location: str) -> SlaveDescription:
    """Read a description."""
    root = parse_xml(content, location, LoadError)
    if root.tag != _ROOT:
        raise LoadError.in_file(location, f"expected <{_ROOT}>, found <{root.tag}>")
    if errors := misfits(root):
        raise LoadError(*(_file_problem(location, misfit.text, misfit.line) for misfit in errors))
    description, problems = _description(root)
    problems += contradictions(description)
    if problems:
        raise LoadError(*(_file_problem(location, text) for text in problems))
    return description


def _file_problem(location: str, text: str, line: int | None = None) -> Diagnostic:
    return Diagnostic(LoadError.__name__, Severity.ERROR, text, location, line)


def _description(root: etree._Element) -> tuple[SlaveDescription, list[str]]:
    nrt = root.find("OpMode/NonRealTime")
    beat = root.find("Heartbeat/MaximumPeriodicInterval")
    (flags,) = root.iterfind("CapabilityFlags")
    templates, problems = _templates(root)
    variables, more = read_variables(root)
    description = SlaveDescription(
        name=attribute(root, "dcpSlaveName"),
        uuid=UUID(attribute(root, "uuid")),
        variables=variables,
        op_modes=frozenset(_MODES[str(child.tag)] for child in _elements(root, "OpMode")),
        nrt_steps=PduSteps() if nrt is None else steps_of(nrt),
        resolutions=tuple(_resolution(child) for child in _elements(root, "TimeRes")),
        transports={
            transport: _ipv4(element, _LIMITS[transport])
            for transport, tag in TRANSPORTS.items()
            if (element := root.find(f"TransportProtocols/{tag}")) is not None
        },
        capabilities=SlaveCapabilities(**{name: truth(flags, tag) for name, tag in FLAGS.items()}),
        heartbeat=None if beat is None else _fraction(beat, 1),
        units={
            attribute(unit, "name"): _base(unit) for unit in root.iterfind("UnitDefinitions/Unit")
        },
        categories={
            int(attribute(c, "id")): attribute(c, "name") for c in root.iterfind(".//Category")
        },
        templates=templates,
        major=int(attribute(root, "dcpMajorVersion")),
        minor=int(attribute(root, "dcpMinorVersion")),
        description=root.get("description", ""),
        tool=root.get("generationTool", ""),
    )
    return description, problems + more


def _elements(root: etree._Element, path: str) -> list[etree._Element]:
    parent = root.find(path)
    return [] if parent is None else [child for child in parent if isinstance(child.tag, str)]


def _fraction(element: etree._Element, denominator: int) -> tuple[int, int]:
    return int(element.get("numerator", "1")), int(element.get("denominator", denominator))


def _resolution(element: etree._Element) -> Resolution | ResolutionRange:
    if element.tag == "ResolutionRange":
        ends = ("numeratorFrom", "numeratorTo", "denominator")
        return ResolutionRange(*(int(attribute(element, end)) for end in ends))
    fixed, recommended = truth(element, "fixed", default=True), truth(element, "recommended")
    return Resolution(*_fraction(element, 1000), fixed, recommended)


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
    ranges = []
    for child in (
        () if element is None else element.iterchildren("AvailablePortRange", "AvailablePort")
    ):
        ends = ("from", "to") if child.tag == "AvailablePortRange" else ("port", "port")
        ranges.append(PortRange(*(int(attribute(child, end)) for end in ends)))
    return tuple(ranges)


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
    templates, problems = [], []
    for element in root.iterfind("Log/Templates/Template"):
        of = attributes_of(element)
        kinds, errors = placeholders(of["msg"])
        problems += [f"log template {of['id']}: '%{word}' is not a data type" for word in errors]
        level = LogLevel(int(of["level"]))
        templates.append(LogTemplate(int(of["id"]), int(of["category"]), level, of["msg"], kinds))
    return tuple(templates), problems
