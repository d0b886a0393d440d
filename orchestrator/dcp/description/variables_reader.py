"""The variables of a DCPX, with what their declared types say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from lxml import etree

from orchestrator.core.diagnostics import nearest
from orchestrator.dcp.data_types import DcpType, Scalar
from orchestrator.dcp.description.forms import TRUE
from orchestrator.dcp.description.variable import Dependencies, StepChoice, Variable, VariableKind


def said(element: etree._Element, name: str) -> str:
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


def steps_of(element: etree._Element) -> StepChoice:
    """Return the steps that an element allows."""
    return StepChoice(
        default=int(element.get("defaultSteps", "1")),
        fixed=truth(element, "fixedSteps", default=True),
        least=_optional(element, "minSteps"),
        most=_optional(element, "maxSteps"),
    )


_TYPES = {kind.element: kind for kind in DcpType}
_KINDS = {kind.value: kind for kind in VariableKind}


def read_variables(root: etree._Element) -> tuple[tuple[Variable, ...], list[str]]:
    """Return the variables, and what is wrong with their types and values."""
    types = {said(each, "name"): each for each in root.iterfind("TypeDefinitions/SimpleType")}
    problems: list[str] = []
    found = []
    for element in root.iterfind("Variables/Variable"):
        wrong: list[str] = []
        found.append(_variable(element, types, wrong))
        problems += [f"variable '{said(element, 'name')}': {text}" for text in wrong]
    return tuple(found), problems


def _typed(parent: etree._Element) -> etree._Element:
    return next(child for child in parent if child.tag in _TYPES)


def _variable(
    element: etree._Element, types: dict[str, etree._Element], wrong: list[str]
) -> Variable:
    body = next(child for child in element if child.tag in _KINDS)
    held = _typed(body)
    kind, of = _TYPES[str(held.tag)], attributes_of(held)
    if (name := element.get("declaredType")) is not None:
        of = {**_declared(name, kind, types, wrong), **of}
    dimensions = list(_dimensions(body, wrong))
    is_parameter = body.tag in {"Parameter", "StructuralParameter"}
    missed = element.get("maxConsecMissedPdus")
    return Variable(
        name=said(element, "name"),
        reference=int(said(element, "valueReference")),
        kind=_KINDS[str(body.tag)],
        type=kind,
        start=_start(of.get("start"), kind, wrong),
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
        max_missed=None if missed is None else int(missed),
        steps=steps_of(body) if body.tag == "Output" else StepChoice(),
        initialization_only=truth(body, "initialization"),
        dependencies=_dependencies(body),
        description=element.get("description", ""),
    )


def _declared(
    name: str, kind: DcpType, types: dict[str, etree._Element], wrong: list[str]
) -> dict[str, str]:
    if name not in types:
        wrong.append(f"its declaredType '{name}' is not defined{nearest(name, types)}")
        return {}
    defined = _typed(types[name])
    if defined.tag != kind.element:
        wrong.append(f"it is a {kind.element}, and its declaredType '{name}' a {defined.tag}")
        return {}
    return attributes_of(defined)


def _start(text: str | None, kind: DcpType, wrong: list[str]) -> tuple[Scalar, ...]:
    if text is None:
        return ()
    if kind is DcpType.STRING:
        return (text,)
    if kind is DcpType.BINARY:
        with suppress(ValueError):
            return (bytes.fromhex(text),)
        wrong.append(f"start: expected hexadecimal digits, found '{text[:40]}'")
        return ()
    return tuple(_numbers(text, kind, wrong))


def _numbers(text: str, kind: DcpType, wrong: list[str]) -> Iterator[Scalar]:
    for word in text.split():
        value: int | float | None = None
        with suppress(ValueError):
            if "_" not in word and len(word) < 400:
                value = int(word) if kind.is_integer else float(word)
        expected = kind.refusal(value)
        if value is None or expected is not None:
            wrong.append(f"start: {expected}, found '{word[:40]}'")
            return
        yield value


def _dimensions(body: etree._Element, wrong: list[str]) -> Iterator[tuple[int, bool]]:
    for each in body.iterfind("Dimensions/Dimension"):
        constant, linked = each.get("constant"), each.get("linkedVR")
        if (constant is None) is (linked is None):
            wrong.append("a dimension has either 'constant' or 'linkedVR'")
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
    found = element.find(tag)
    if found is None:
        return None
    return tuple(int(said(each, "vr")) for each in found.iterfind("Dependency"))
