"""The form of a DCPX: which elements and attributes stand where, and what their values are.

Written from chapter 5 of the standard. Its XSD files are of version 1.1, which libxml2 does not
read, and half of what must hold are their assertions: those are checks of values, in
``description.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lxml import etree

from orchestrator.core.diagnostics import choices_for
from orchestrator.core.structs import Struct, field
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description import FLAGS, MODES

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
TRUE, FALSE = ("true", "1"), ("false", "0")
VARIABILITIES = ("fixed", "tunable", "discrete", "continuous")
NAMING = ("flat", "structured")


def _integer(low: int, high: int) -> Callable[[str], str | None]:
    def refusal(text: str) -> str | None:
        # Numbers with a thousand digits cost more than they can mean.
        right = len(text) < 40 and _WHOLE.fullmatch(text) and low <= int(text) <= high
        return None if right else f"expected a whole number, {low} to {high}"

    return refusal


def _number(text: str) -> str | None:
    try:
        right = math.isfinite(float(text)) and "_" not in text
    except ValueError:
        right = False
    return None if right else "expected a finite number"


def _one_of(*allowed: str) -> Callable[[str], str | None]:
    return lambda text: None if text.strip() in allowed else f"expected one of {', '.join(allowed)}"


def _line(text: str) -> str | None:
    return "expected a text without line feeds and tabs" if set(text) & set("\r\n\t") else None


def _any(_: str) -> None:
    return None


def _uuid(text: str) -> str | None:
    expected = "expected a UUID such as 12345678-1234-1234-1234-123456789abc"
    return None if _UUID.fullmatch(text) else expected


_BOOLEAN = _one_of(*TRUE, *FALSE)
_BYTE, _SHORT = _integer(0, 255), _integer(0, 65535)
_INT, _LONG = _integer(0, 2**32 - 1), _integer(0, 2**64 - 1)
_COUNT = _integer(1, 2**32 - 1)
Check = Callable[[str], str | None]


class Form(Struct):
    """What an element has.

    attributes: Check of each attribute, by its name; required names end in ``!``.
    children: In their order; ``!``: exactly one, ``?``: one at most, ``*``: any number, ``+``: one
        or more. Names between bars are a choice.
    anything: Whether its content is not looked at.
    """

    attributes: Mapping[str, Check] = field(default_factory=dict)
    children: tuple[str, ...] = ()
    anything: bool = False


_TYPES = [kind.element for kind in DcpType]
_PORTS = ("AvailablePortRange|AvailablePort*",)
_IPV4 = ("Control?", "DAT_input_output?", "DAT_parameter?")
_STEPS = {"defaultSteps": _COUNT, "fixedSteps": _BOOLEAN, "minSteps": _COUNT, "maxSteps": _COUNT}
_UNIT = {"factor": _number, "offset": _number}
_VALUE = (f"{'|'.join(_TYPES)}!", "Dimensions?")
_DEPENDENCY = Form({"vr!": _LONG, "dependencyKind!": _one_of("linear", "dependent")})


def _type_form(kind: DcpType) -> Form:
    if kind.is_text:
        more = {"mimeType": _line} if kind is DcpType.BINARY else {}
        return Form({"maxSize": _INT, "start": _any, **more})
    check = _integer(*kind.range) if kind.is_integer else _number
    numbers: dict[str, Check] = {"min": check, "max": check, "gradient": check, "start": _any}
    if not kind.is_integer:
        words = dict.fromkeys(("quantity", "unit", "displayUnit"), _line)
        numbers |= {"nominal": check, **words}
    return Form(numbers)


FORMS: Mapping[str, Form] = {
    "dcpSlaveDescription": Form(
        {
            "dcpMajorVersion!": _BYTE,
            "dcpMinorVersion!": _BYTE,
            "dcpSlaveName!": _any,
            "uuid!": _uuid,
            "variableNamingConvention": _one_of(*NAMING),
            **dict.fromkeys(("description", "author", "version", "copyright", "license"), _any),
            **dict.fromkeys(("generationTool", "generationDateAndTime"), _any),
        },
        (
            "OpMode!",
            "UnitDefinitions?",
            "TypeDefinitions?",
            "VendorAnnotations?",
            "TimeRes!",
            "Heartbeat?",
            "TransportProtocols!",
            "CapabilityFlags!",
            "Variables!",
            "Log?",
        ),
    ),
    "OpMode": Form({}, tuple(f"{mode}?" for mode in MODES.values())),
    "HardRealTime": Form(),
    "SoftRealTime": Form(),
    "NonRealTime": Form(_STEPS),
    "UnitDefinitions": Form({}, ("Unit+",)),
    "Unit": Form({"name!": _line}, ("BaseUnit?", "DisplayUnit*")),
    "BaseUnit": Form(
        {
            **dict.fromkeys(("kg", "m", "s", "A", "K", "mol", "cd", "rad"), _integer(-100, 100)),
            **_UNIT,
        }
    ),
    "DisplayUnit": Form({"name!": _line, **_UNIT}),
    "TypeDefinitions": Form({}, ("SimpleType+",)),
    "SimpleType": Form({"name!": _line, "description": _any}, _VALUE[:1]),
    "VendorAnnotations": Form(anything=True),
    "Annotations": Form(anything=True),
    "TimeRes": Form({}, ("Resolution|ResolutionRange*",)),
    "Resolution": Form(
        {"numerator": _COUNT, "denominator": _COUNT, "fixed": _BOOLEAN, "recommended": _BOOLEAN}
    ),
    "ResolutionRange": Form(
        {"numeratorFrom!": _COUNT, "numeratorTo!": _COUNT, "denominator!": _COUNT}
    ),
    "Heartbeat": Form({}, ("MaximumPeriodicInterval!",)),
    "MaximumPeriodicInterval": Form({"numerator": _COUNT, "denominator": _COUNT}),
    "TransportProtocols": Form({}, ("UDP_IPv4?", "CAN?", "USB2?", "Bluetooth?", "TCP_IPv4?")),
    "UDP_IPv4": Form({"maxPduSize": _INT}, _IPV4),
    "TCP_IPv4": Form({"maxPduSize": _INT}, _IPV4),
    "CAN": Form(anything=True),
    "USB2": Form(anything=True),
    "Bluetooth": Form(anything=True),
    "Control": Form({"host": _line, "port": _SHORT}),
    "DAT_input_output": Form({"host": _line}, _PORTS),
    "DAT_parameter": Form({"host": _line}, _PORTS),
    "AvailablePortRange": Form({"from!": _SHORT, "to!": _SHORT}),
    "AvailablePort": Form({"port!": _SHORT}),
    "CapabilityFlags": Form(dict.fromkeys(FLAGS.values(), _BOOLEAN)),
    "Variables": Form({}, ("Variable+",)),
    "Variable": Form(
        {
            "name!": _line,
            "valueReference!": _LONG,
            "description": _any,
            "variability": _one_of(*VARIABILITIES),
            "preEdge": _number,
            "postEdge": _number,
            "maxConsecMissedPdus": _INT,
            "declaredType": _line,
        },
        ("Input|Output|Parameter|StructuralParameter!", "Annotations?"),
    ),
    "Input": Form({}, _VALUE),
    "Output": Form({**_STEPS, "initialization": _BOOLEAN}, (*_VALUE, "Dependencies?")),
    "Parameter": Form({}, _VALUE),
    "StructuralParameter": Form({}, ("Uint8|Uint16|Uint32|Uint64!",)),
    "Dimensions": Form({}, ("Dimension+",)),
    "Dimension": Form({"constant": _integer(1, 2**64 - 1), "linkedVR": _LONG}),
    "Dependencies": Form({}, ("Initialization?", "Run?")),
    "Initialization": Form({}, ("Dependency*",)),
    "Run": Form({}, ("Dependency*",)),
    "Dependency": _DEPENDENCY,
    "Log": Form({}, ("Categories!", "Templates!")),
    "Categories": Form({}, ("Category+",)),
    "Category": Form({"id!": _integer(1, 255), "name!": _line}),
    "Templates": Form({}, ("Template+",)),
    "Template": Form({"id!": _BYTE, "category!": _BYTE, "level!": _integer(0, 4), "msg!": _line}),
    **{kind.element: _type_form(kind) for kind in DcpType},
}


class Misfit(Struct):
    """What does not have the form, and where."""

    line: int | None
    text: str


def misfits(root: etree._Element) -> list[Misfit]:
    """Return everything below an element, itself included, that does not have its form."""
    errors: list[Misfit] = []
    waiting = [root]
    while waiting:
        element = waiting.pop()
        form = FORMS[str(element.tag)]
        if form.anything:
            continue
        errors += _of_attributes(element, form)
        children = [child for child in element if isinstance(child.tag, str)]
        errors += _of_children(element, form, [str(child.tag) for child in children])
        waiting += [child for child in reversed(children) if child.tag in FORMS]
    return errors


def _of_attributes(element: etree._Element, form: Form) -> Iterator[Misfit]:
    checks = {name.rstrip("!"): check for name, check in form.attributes.items()}
    line = _line_of(element)
    for name in form.attributes:
        if name.endswith("!") and name[:-1] not in element.attrib:
            yield Misfit(line, f"<{element.tag}>: expected the attribute '{name[:-1]}', found none")
    for key, text in element.attrib.items():
        name = str(key)
        if name.startswith("{"):  # of another namespace, such as xsi:noNamespaceSchemaLocation
            continue
        if name not in checks:
            choices = choices_for(name, checks, "attribute", "its")
            yield Misfit(line, f"<{element.tag}> has no attribute '{name}'{choices}")
        elif (expected := checks[name](str(text))) is not None:
            yield Misfit(line, f"<{element.tag}> {name}: {expected}, found '{str(text)[:60]}'")


def _of_children(element: etree._Element, form: Form, tags: list[str]) -> Iterator[Misfit]:
    line, at = _line_of(element), 0
    for rule in form.children:
        names, many = rule[:-1].split("|"), rule[-1]
        begin = at
        while at < len(tags) and tags[at] in names and (many in "*+" or at == begin):
            at += 1
        if many in "!+" and at == begin:
            expected = " or ".join(f"<{name}>" for name in names)
            tag_at = f"<{tags[at]}>" if at < len(tags) else "none"
            yield Misfit(line, f"<{element.tag}>: expected {expected}, found {tag_at}")
            return
    if at < len(tags):
        order = ", ".join(rule[:-1] for rule in form.children) or "nothing"
        yield Misfit(
            line, f"<{element.tag}>: <{tags[at]}> is not allowed here; expected, in order: {order}"
        )


def _line_of(element: etree._Element) -> int | None:
    line: Any = element.sourceline
    return line if isinstance(line, int) else None
