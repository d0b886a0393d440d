"""Transformations of connections and of mapped parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.lexical import (
    attribute,
    boolean,
    boolean_text,
    integer,
    real,
    real_text,
)
from orchestrator.core.ssp.common.names import add, children, full, tag
from orchestrator.core.system import (
    Connector,
    DataType,
    Enumeration,
    LinearTransformation,
    MappingTransformation,
    Transformation,
)

Scalar = float | int | bool | str | bytes

_CLAUSE: Final = "SSP 2.0, 4.5.2"
_Key = int | str

_READ: Final[Mapping[str, Callable[[str], _Key]]] = {
    "ssc:BooleanMappingTransformation": boolean,
    "ssc:IntegerMappingTransformation": integer,
    "ssc:EnumerationMappingTransformation": str,
}


@dataclass(frozen=True, slots=True)
class ValueChange:
    """What a mapping of parameters makes of a value.

    Parameters
    ----------
    suppress_unit_conversion
        Whether units are not looked at.
    linear
        Factor and offset, after the unit conversion.
    table
        Values, or names of items, by those of the source.
    """

    suppress_unit_conversion: bool = False
    linear: LinearTransformation | None = None
    table: Mapping[_Key, _Key] | None = None

    def of(self, value: Scalar) -> Scalar:
        """Return what becomes of a value; one that the table does not have stays."""
        if self.linear is not None:
            if isinstance(value, (bool, str, bytes)):
                raise DescriptionError(f"a linear transformation is for numbers, found {value!r}")
            return self.linear.factor * value + self.linear.offset
        if self.table is None:
            return value
        if isinstance(value, (float, bytes)):
            raise DescriptionError(f"a table is for values that can be listed, found {value!r}")
        mapped = self.table.get(value, value)
        return bool(mapped) if isinstance(value, bool) else mapped


def _transforming(parent: etree._Element) -> etree._Element | None:
    for inner in children(parent):
        if tag(inner) == "ssc:LinearTransformation" or tag(inner) in _READ:
            return inner
    return None


def _linear(element: etree._Element) -> LinearTransformation:
    factor, offset = (attribute(element, n, real, d) for n, d in (("factor", 1.0), ("offset", 0.0)))
    if not (isfinite(factor) and isfinite(offset)):
        raise refusal(
            codes.TRANSFORMATION, f"expected finite numbers, found {factor} and {offset}", _CLAUSE
        )
    return LinearTransformation(factor, offset)


def _table(element: etree._Element) -> dict[_Key, _Key]:
    read = _READ[tag(element)]
    table: dict[_Key, _Key] = {}
    nothing: _Key = ""
    for entry in element.findall(full("ssc:MapEntry")):
        source, target = (attribute(entry, end, read, nothing) for end in ("source", "target"))
        if source in table:
            raise refusal(codes.TRANSFORMATION, f"maps {source!r} twice", _CLAUSE)
        table[source] = target
    if not table:
        raise refusal(codes.TRANSFORMATION, "expected at least one MapEntry", _CLAUSE)
    return table


def read_change(entry: etree._Element) -> ValueChange:
    """Read what an ssm:MappingEntry makes of a value."""
    suppressed = attribute(entry, "suppressUnitConversion", boolean, default=False)
    element = _transforming(entry)
    if element is None:
        return ValueChange(suppressed)
    if tag(element) == "ssc:LinearTransformation":
        return ValueChange(suppressed, linear=_linear(element))
    return ValueChange(suppressed, table=_table(element))


def read_transformation(
    connection: etree._Element, source: Connector | None, target: Connector | None
) -> Transformation | None:
    """Read the transformation of an ssd:Connection."""
    element = _transforming(connection)
    if element is None:
        return None
    if tag(element) == "ssc:LinearTransformation":
        return _linear(element)
    table = _table(element)
    for same in _unmapped(tag(element), source, target):
        table.setdefault(same, same)
    entries = [
        (_value(one, source, "source"), _value(other, target, "target"))
        for one, other in table.items()
    ]
    return MappingTransformation(tuple(entries))


def _unmapped(kind: str, source: Connector | None, target: Connector | None) -> Iterable[_Key]:
    """List what passes unchanged where a table does not name it, as far as it can be listed."""
    if kind == "ssc:BooleanMappingTransformation":
        return (False, True)
    if kind == "ssc:EnumerationMappingTransformation" and source and target:
        known = target.enumeration.items if target.enumeration else {}
        return [item for item in _items(source) if item in known]
    return ()


def _items(connector: Connector) -> Iterable[str]:
    return connector.enumeration.items if connector.enumeration else ()


def _value(value: _Key, connector: Connector | None, which: str) -> int:
    if not isinstance(value, str):
        return int(value)
    enumeration = connector.enumeration if connector else None
    if enumeration is None or value not in enumeration.items:
        known = ", ".join(enumeration.items) if enumeration else "no enumeration is declared"
        raise refusal(
            codes.TRANSFORMATION, f"the {which} has no item '{value}'; it has: {known}", _CLAUSE
        )
    return enumeration.items[value]


def add_transformation(
    connection: etree._Element,
    transformation: Transformation | None,
    source: Connector | None,
    target: Connector | None,
    version: str,
) -> None:
    """Append the transformation of a connection between two connectors."""
    if transformation is None:
        return
    if isinstance(transformation, LinearTransformation):
        add(
            connection,
            "ssc:LinearTransformation",
            factor=real_text(transformation.factor),
            offset=real_text(transformation.offset),
        )
        return
    kind, texts = _form(transformation, source, target, version)
    element = add(connection, f"ssc:{kind}MappingTransformation")
    for one, other in texts:
        add(element, "ssc:MapEntry", source=one, target=other)


def _form(
    table: MappingTransformation,
    source: Connector | None,
    target: Connector | None,
    version: str,
) -> tuple[str, list[tuple[str, str]]]:
    ends = [end for end in (source, target) if end is not None]
    types = {end.type for end in ends}
    if types == {DataType.BOOLEAN}:
        if any(value not in {0, 1} for pair in table.entries for value in pair):
            raise DescriptionError(f"a table of truth values: expected 0 and 1, found {table}")
        return "Boolean", [(boolean_text(s), boolean_text(t)) for s, t in table.entries]
    if not types <= {DataType.INTEGER}:
        raise CapabilityError(
            f"a table from {' to '.join(end.type for end in ends)}; SSP has tables from Boolean to"
            " Boolean and from Integer to Integer"
        )
    first, last = (_names(end.enumeration if end else None) for end in (source, target))
    if all(s in first and t in last for s, t in table.entries):
        return "Enumeration", [(first[s], last[t]) for s, t in table.entries]
    bits = 31 if version == "1.0" else 63
    for value in (value for pair in table.entries for value in pair):
        if not -(2**bits) <= value < 2**bits:
            raise DescriptionError(f"{value} does not fit the {bits + 1} bits of SSP {version}")
    return "Integer", [(str(s), str(t)) for s, t in table.entries]


def _names(enumeration: Enumeration | None) -> dict[int, str]:
    """Names of items by value, the first where there are several."""
    names: dict[int, str] = {}
    for name, value in (enumeration.items if enumeration else {}).items():
        names.setdefault(value, name)
    return names
