"""Parameter sets (.ssv): values by name, before it is known what they fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final, NamedTuple

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError, counted, with_article
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    binary,
    boolean,
    children,
    full,
    integer,
    listed,
    real,
    tag,
)
from orchestrator.core.ssp.common.signal_types import MOST_ELEMENTS, TYPES, Definitions, read_shape
from orchestrator.core.ssp.read.line_annotations import Scalar, ValueChange
from orchestrator.core.system import (
    Causality,
    Connector,
    DataType,
    Enumeration,
    Value,
    conversion_between,
)
from orchestrator.core.system.checks import expected_value

_READ: Final[Mapping[DataType, Callable[[str], Scalar]]] = {
    DataType.REAL: real,
    DataType.INTEGER: integer,
    DataType.BOOLEAN: boolean,
    DataType.STRING: str,
    DataType.BINARY: binary,
}
#: Causalities of connectors that a value cannot be given to.
FIXED: Final = {Causality.OUTPUT, Causality.CALCULATED_PARAMETER, Causality.CONSTANT}


class Assignment(NamedTuple):
    """One value that a file gives, before it is known to fit.

    name: Of the parameter, as the level that it is applied at calls it.
    elements: The value, row by row.
    is_array: Whether it is that of an array.
    source: Its type and unit, as a connector of the file.
    items: Whether the elements are names of an enumeration's items.
    element, findings: Where it stands.
    change: What a mapping makes of it.
    is_ambiguous: Whether the file gives another value to the same name, too.
    mapping: The entry of the mapping that named it so, and the findings of its file.
    """

    name: str
    elements: tuple[Scalar, ...]
    is_array: bool
    source: Connector
    items: bool
    element: etree._Element
    findings: Findings
    change: ValueChange | None = None
    is_ambiguous: bool = False
    mapping: tuple[etree._Element, Findings] | None = None

    def value_for(self, target: Connector | None) -> Value:
        """Return the value as a connector takes it, in the connector's unit."""
        if self.is_ambiguous:
            raise DescriptionError("the parameter has two different values")
        if self.source.unit is not None and (target is None or target.unit is None):
            self.findings.warning(
                codes.NO_CONVERSION,
                self.element,
                f"the value is in '{self.source.unit}', but '{self.name}' has no unit; it is taken"
                " as it is",
            )
        if target is None:
            return self._joined(self._changed(self.elements, None))
        if target.causality in FIXED and target.start is None:
            raise DescriptionError(
                f"'{self.name}' is {with_article(target.causality)} and cannot be set"
            )
        suppressed = self.change is not None and self.change.suppress_unit_conversion
        elements = self.elements
        if not suppressed and target.type is DataType.REAL and not self.items:
            factor, offset = conversion_between(self.source, target)
            if (factor, offset) != (1.0, 0.0):
                elements = tuple(factor * _number(element) + offset for element in elements)
        value = self._joined(self._changed(elements, target.enumeration), target.shape)
        if not target.accepts(value):
            raise DescriptionError(f"expected {expected_value(target)}, found {_cut(value)}")
        return value

    def _changed(
        self, elements: tuple[Scalar, ...], target: Enumeration | None
    ) -> tuple[Scalar, ...]:
        if self.change is not None:
            elements = tuple(map(self.change.of, elements))
        return tuple(self._item(str(e), target) for e in elements) if self.items else elements

    def _item(self, name: str, target: Enumeration | None) -> int:
        for enumeration in (target, self.source.enumeration):
            if enumeration is not None and name in enumeration.items:
                return enumeration.items[name]
        for enumeration in (target, self.source.enumeration):
            if enumeration is not None and name in map(str, enumeration.items.values()):
                self.findings.warning(
                    codes.ITEM,
                    self.element,
                    f"expected the name of an item, found the number {name}; it is taken for that",
                    "SSP 2.0, 6.2.15",
                )
                return int(name)
        own_enumeration = target or self.source.enumeration
        raise DescriptionError(
            f"item '{name}' is not known; "
            + (
                f"it has: {', '.join(own_enumeration.items)}"
                if own_enumeration
                else "the enumeration is not defined"
            )
        )

    def _joined(self, elements: tuple[Scalar, ...], shape: tuple[int, ...] = ()) -> Value:
        if shape or self.is_array or len(elements) != 1:
            return elements  # type: ignore[return-value] # of one type, as they were read
        return elements[0]


def _number(value: Scalar) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DescriptionError(f"expected a number, found {value!r}")
    return float(value)


def _cut(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def read_parameters(values: etree._Element, prefix: str, findings: Findings) -> list[Assignment]:
    """Read the parameters of an ssv:ParameterSet; problems go to the findings."""
    definitions = Definitions.of(values, "ssv", findings)
    parameters: dict[str, Assignment] = {}
    for parameter in listed(values, "ssv:Parameters", "ssv:Parameter"):
        name = parameter.get("name", "")
        with findings.guard(parameter, codes.VALUE):
            read = _assignment(prefix + name, parameter, definitions, findings)
            if read is None:
                continue
            before = parameters.get(name)
            if before is not None:
                read = _repeated(before, read)
            parameters[name] = read
    return list(parameters.values())


def _repeated(first: Assignment, second: Assignment) -> Assignment:
    """Report a name that is given twice: it does harm if the values differ and reach something."""
    same = (first.elements, first.source) == (second.elements, second.source)
    difference = "the same value" if same else "another value"
    second.findings.warning(
        codes.TAKEN, second.element, f"the name occurs before, with {difference}", "SSP 2.0, 6.2"
    )
    return second._replace(is_ambiguous=first.is_ambiguous or not same)


def _assignment(
    name: str, parameter: etree._Element, definitions: Definitions, findings: Findings
) -> Assignment | None:
    for inner in children(parameter):
        prefix, _, local = tag(inner).partition(":")
        if prefix == "ssv" and local in TYPES:
            break
    else:
        return None  # the schema has listed it
    kind = TYPES[local]
    if kind not in _READ:
        raise refusal(codes.VALUE, f"expected a value, found a {kind}")
    shape = read_shape(parameter)
    items = local == "Enumeration"
    elements = _elements(inner, str if items else _READ[kind], is_text=kind.is_text or items)
    if shape and len(elements) != prod(shape):
        raise refusal(
            codes.VALUE,
            f"has {counted(len(elements), 'element')}; expected {prod(shape)} of {shape}",
        )
    enumeration_name = inner.get("name")
    unit, definition = definitions.unit(inner)
    connector = Connector(
        parameter.get("name", ""),
        Causality.PARAMETER,
        kind,
        unit,
        enumeration=definitions.enumeration(enumeration_name, inner)
        if items and enumeration_name
        else None,
        unit_definition=definition,
    )
    return Assignment(name, elements, shape != (), connector, items, parameter, findings)


def _elements(
    inner: etree._Element, read: Callable[[str], Scalar], *, is_text: bool
) -> tuple[Scalar, ...]:
    several = inner.findall(full("ssv:Value")) if len(inner) else []
    text = inner.get("value")
    if (text is None) == (not several):
        raise SspError(f"{tag(inner)}: expected either a value or elements ssv:Value")
    if text is None:
        texts = [element.get("value", "") for element in several]
    else:
        texts = [text] if is_text else text.split()
    if len(texts) > MOST_ELEMENTS:
        raise refusal(codes.LIMIT, f"has {len(texts)} elements; at most {MOST_ELEMENTS}")
    return tuple(map(read, texts))
