"""Types of connectors and dictionary entries: SSP's many, and the six that a system has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.definitions import Definitions
from orchestrator.core.ssp.common.lexical import attribute, integer
from orchestrator.core.ssp.common.names import add, children, full, tag
from orchestrator.core.system import BaseUnit, Connector, DataType, Enumeration

#: Type of a system by SSP's name of it, without the prefix.
TYPES: Final[Mapping[str, DataType]] = {
    **dict.fromkeys(("Real", "Float64", "Float32"), DataType.REAL),
    **dict.fromkeys(
        ("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"),
        DataType.INTEGER,
    ),
    "Enumeration": DataType.INTEGER,
    "Boolean": DataType.BOOLEAN,
    "String": DataType.STRING,
    "Binary": DataType.BINARY,
    "Clock": DataType.CLOCK,
}
#: Types that SSP 1.0 has no name for.
_NEW: Final = {DataType.CLOCK}

#: Elements and extents of an array; more is no array of signals.
MOST_ELEMENTS: Final = 1_000_000
MOST_DIMENSIONS: Final = 32
_CLAUSE: Final = "SSP 2.0, 4.5.3"


@dataclass(frozen=True, slots=True)
class Typed:
    """What a file says about the type of a signal.

    Parameters
    ----------
    type
        ``None``: nothing, it comes from the source.
    unit, definition
        Of a Real: the name, and what the file defines it to be if that is not what it says.
    enumeration
        Of an Integer with named values.
    shape
        ``None``: an extent is not known from the file.
    """

    type: DataType | None
    unit: str | None = None
    definition: BaseUnit | None = None
    enumeration: Enumeration | None = None
    shape: tuple[int, ...] | None = ()


def read_type(element: etree._Element, definitions: Definitions) -> Typed:
    """Read the type and the dimensions of a connector or dictionary entry.

    Parameters
    ----------
    element
        The connector or entry.
    definitions
        Units and enumerations of its file.

    Raises
    ------
    RefusalError
        If a dimension is not as the standard says, or the array is too large.
    """
    shape = read_shape(element)
    for inner in children(element):
        prefix, _, local = tag(inner).partition(":")
        if prefix != "ssc" or local not in TYPES:
            continue
        unit, definition = definitions.unit(inner)
        named = inner.get("name") if local == "Enumeration" else None
        enumeration = None if named is None else definitions.enumeration(named, inner)
        if inner.get("mime-type", "application/octet-stream") != "application/octet-stream":
            definitions.findings.note(
                codes.DETAIL, inner, f"type {inner.get('mime-type')} of binary data"
            )
        return Typed(TYPES[local], unit, definition, enumeration, shape)
    return Typed(None, shape=shape)


def read_shape(element: etree._Element) -> tuple[int, ...] | None:
    """Read the extents of an array; ``()`` of a scalar, ``None`` if the file does not say one.

    Raises
    ------
    RefusalError
        If a dimension is not as the standard says, or the array is too large.
    """
    dimensions = list(element.iterchildren(full("ssc:Dimension")))
    if len(dimensions) > MOST_DIMENSIONS:
        raise refusal(
            codes.LIMIT,
            f"has {len(dimensions)} dimensions; expected at most {MOST_DIMENSIONS}",
            _CLAUSE,
        )
    shape = [_extent(dimension) for dimension in dimensions]
    known = [extent for extent in shape if extent is not None]
    if prod(known) > MOST_ELEMENTS:
        raise refusal(
            codes.LIMIT, f"has {prod(known)} elements; expected at most {MOST_ELEMENTS}", _CLAUSE
        )
    return tuple(known) if len(known) == len(shape) else None


def _extent(dimension: etree._Element) -> int | None:
    if "size" not in dimension.attrib:
        return None
    if "sizeConnector" in dimension.attrib:
        raise refusal(codes.DIMENSION, "expected either size or sizeConnector, found both", _CLAUSE)
    size = attribute(dimension, "size", integer, -1)
    if size < 0:
        raise refusal(codes.DIMENSION, f"expected a size >= 0, found {size}", _CLAUSE)
    return size


def add_type(parent: etree._Element, connector: Connector, version: str) -> None:
    """Append the type and the dimensions of a connector or dictionary entry.

    Raises
    ------
    CapabilityError
        If the version has no such type.
    """
    if connector.shape and version == "1.0":
        raise CapabilityError(
            f"is an array of shape {connector.shape}; SSP 1.0 has no arrays: write version 2.0,"
            " or use scalar connectors"
        )
    if connector.type in _NEW and version == "1.0":
        raise CapabilityError(
            f"is a {connector.type}, which SSP 1.0 has no type for: write version 2.0, or leave"
            " it out"
        )
    if connector.unit is not None and connector.type is not DataType.REAL:
        raise CapabilityError(
            f"is of type {connector.type} in {connector.unit}; SSP has units of Reals only"
        )
    enumeration = connector.enumeration
    if enumeration is not None:
        if connector.type is not DataType.INTEGER or not enumeration.items:
            raise CapabilityError(
                f"is of type {connector.type} with the enumeration '{enumeration.name}' of"
                f" {len(enumeration.items)} items; expected an Integer and at least one item"
            )
        add(parent, "ssc:Enumeration", name=enumeration.name)
    else:
        typed = add(parent, f"ssc:{connector.type}")
        if connector.unit is not None:
            typed.set("unit", connector.unit)
    for extent in connector.shape:
        add(parent, "ssc:Dimension", size=str(extent))
