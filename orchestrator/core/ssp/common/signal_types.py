"""Types of connectors and dictionary entries: SSP's many, and the six that a system has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SspError, with_article
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    add,
    attribute,
    child,
    children,
    full,
    integer,
    listed,
    real,
    tag,
)
from orchestrator.core.structs import Struct
from orchestrator.core.system import BaseUnit, Connector, DataType, Enumeration
from orchestrator.core.units.conversion import base_said, definition_beyond, file_unit, is_unit
from orchestrator.core.units.tables import BASE_UNITS

_UNITS_CLAUSE = "SSP 2.0, 4.4.2"
_ENUMERATIONS_CLAUSE = "SSP 2.0, 4.4.1"


class Definitions(NamedTuple):
    """What one file defines: units and enumerations count in their own file only.

    A set or dictionary that stands in an .ssd has those of the .ssd, too; its own come first.

    root: What they are defined below; definitions of the whole file are known as well.
    units, enumerations: Elements of the root by name.
    findings: Where problems go.
    known_units, known_enumerations: What was read of them so far.
    """

    root: etree._Element
    units: Mapping[str, etree._Element]
    enumerations: Mapping[str, etree._Element]
    findings: Findings
    known_units: dict[str, tuple[str | None, BaseUnit | None]]
    known_enumerations: dict[str, Enumeration | None]

    @classmethod
    def of(cls, root: etree._Element, prefix: str, findings: Findings) -> Definitions:
        """Collect the definitions below a root, in groups of a namespace such as ``ssv``."""
        units = _by_name(listed(root, f"{prefix}:Units", "ssc:Unit"), findings)
        items = _by_name(listed(root, f"{prefix}:Enumerations", "ssc:Enumeration"), findings)
        return cls(root, units, items, findings, {}, {})

    def _around(self, name: str, group: str, kind: str) -> etree._Element | None:
        """Return the first definition of a name in the file that the root element stands in."""
        file = self.root.getroottree().getroot()
        every = [] if file is self.root else listed(file, group, kind)
        return next((element for element in every if element.get("name", "") == name), None)

    def unit(self, user: etree._Element) -> tuple[str | None, BaseUnit | None]:
        """Return name and definition of the unit of an element.

        No name if it has none, or one that is neither defined nor known; no definition if the
        unit is what its name says. What is wrong with it is reported once, at its first user.
        """
        name = user.get("unit")
        if name is None:
            return None, None
        if name not in self.known_units:
            self.known_units[name] = self._unit(name, user)
        return self.known_units[name]

    def _unit(self, name: str, user: etree._Element) -> tuple[str | None, BaseUnit | None]:
        element = self.units.get(name)
        if element is None:
            element = self._around(name, "ssd:Units", "ssc:Unit")
        base = None if element is None else child(element, "ssc:BaseUnit")
        understood = is_unit(name)
        if base is None and not name:
            return None, None
        if base is None:
            effect = "it is what its name says" if understood else "it is not looked at"
            self.findings.warning(
                codes.NO_UNIT,
                user,
                f"unit '{name}' is not defined in the file; {effect}",
                _UNITS_CLAUSE,
            )
            return (name if understood else None), None
        try:
            declared, beyond = _defined(name, tuple(base.items()))
        except SspError as error:
            self.findings.error(codes.SCHEMA, base, str(error), _UNITS_CLAUSE)
            return None, None
        if beyond is not None and (meant := base_said(name)) is not None:
            self.findings.warning(
                codes.OTHER_UNIT,
                element,
                f"is defined as {declared}, but its name says {meant}; the definition is used",
            )
        return name, beyond

    def enumeration(self, name: str, user: etree._Element) -> Enumeration | None:
        """Return an enumeration; ``None`` if the file does not define it, which is reported."""
        if name not in self.known_enumerations:
            self.known_enumerations[name] = self._enumeration(name, user)
        return self.known_enumerations[name]

    def _enumeration(self, name: str, user: etree._Element) -> Enumeration | None:
        element = self.enumerations.get(name)
        if element is None:
            element = self._around(name, "ssd:Enumerations", "ssc:Enumeration")
        if element is None:
            self.findings.warning(
                codes.NO_ENUMERATION,
                user,
                f"enumeration '{name}' is not defined in the file; read as Integer without names",
                _ENUMERATIONS_CLAUSE,
            )
            return None
        items: dict[str, int] = {}
        for item in element.findall(full("ssc:Item")):
            key = item.get("name", "")
            if key in items:
                self.findings.error(
                    codes.TAKEN,
                    item,
                    f"enumeration '{name}' has the item '{key}' twice",
                    _ENUMERATIONS_CLAUSE,
                )
            with self.findings.guard(item, codes.SCHEMA):
                items[key] = attribute(item, "value", integer, 0)
        return Enumeration(name, items)


def _by_name(elements: Iterable[etree._Element], findings: Findings) -> dict[str, etree._Element]:
    by_name: dict[str, etree._Element] = {}
    for element in elements:
        name = element.get("name", "")
        if name in by_name:
            findings.error(codes.TAKEN, element, f"'{name}' is defined twice", _UNITS_CLAUSE)
        by_name.setdefault(name, element)
    return by_name


@lru_cache(maxsize=256)
def _defined(
    name: str, attributes: tuple[tuple[str, str], ...]
) -> tuple[BaseUnit, BaseUnit | None]:
    """Return what an ssc:BaseUnit of these attributes defines, and what of it the name omits.

    Nothing else is looked at: every parameter set of a file defines the same few units again.
    """
    declared = _base_of(etree.Element(full("ssc:BaseUnit"), dict(attributes)))
    return declared, definition_beyond(name, declared)


def _base_of(element: etree._Element) -> BaseUnit:
    attributes = element.attrib
    powers = {
        symbol: attribute(element, symbol, integer, 0)
        for symbol in BASE_UNITS
        if symbol in attributes
    }
    if any(abs(power) > 100 for power in powers.values()):
        raise SspError("expected exponents of at most 100")
    factor = attribute(element, "factor", real, 1.0)
    offset = attribute(element, "offset", real, 0.0)
    if not (0.0 < abs(factor) < float("inf")) or not abs(offset) < float("inf"):
        raise SspError(f"expected a factor other than 0 and an offset, found {factor}, {offset}")
    return BaseUnit({symbol: power for symbol, power in powers.items() if power}, factor, offset)


def add_units(parent: etree._Element, prefix: str, units: Mapping[str, BaseUnit | None]) -> None:
    """Append the definitions of units, sorted by name; nothing if there is none."""
    if not units:
        return
    definitions = add(parent, f"{prefix}:Units")
    for name, defined in sorted(units.items()):
        attributes = (defined or file_unit(name)).attributes()
        add(add(definitions, "ssc:Unit", name=name), "ssc:BaseUnit", **attributes)


def add_enumerations(
    parent: etree._Element, prefix: str, enumerations: Mapping[str, Enumeration]
) -> None:
    """Append enumerations, sorted by name; nothing if there is none."""
    if not enumerations:
        return
    group = add(parent, f"{prefix}:Enumerations")
    for name, enumeration in sorted(enumerations.items()):
        element = add(group, "ssc:Enumeration", name=name)
        for item, value in enumeration.items.items():
            if value not in range(-(2**31), 2**31):
                raise DescriptionError(f"enumeration '{name}': {value} does not fit 32 bits")
            add(element, "ssc:Item", name=item, value=str(value))


def item_names(enumeration: Enumeration | None) -> dict[int, str]:
    """Return the names of items by value, the first where there are several."""
    items = enumeration.items.items() if enumeration else ()
    return {value: name for name, value in reversed(list(items))}


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


class Typed(Struct):
    """What a file says about the type of a signal.

    type: ``None``: nothing, it comes from the source.
    unit, definition: Of a Real: the name, and what the file defines it to be if that is not what it
        says.
    enumeration: Of an Integer with named values.
    shape: ``None``: an extent is not known from the file.
    """

    type: DataType | None
    unit: str | None = None
    definition: BaseUnit | None = None
    enumeration: Enumeration | None = None
    shape: tuple[int, ...] | None = ()


def read_type(element: etree._Element, definitions: Definitions) -> Typed:
    """Read the type and the dimensions of a connector or dictionary entry."""
    shape = read_shape(element)
    for inner in children(element):
        prefix, _, local = tag(inner).partition(":")
        if prefix != "ssc" or local not in TYPES:
            continue
        unit, definition = definitions.unit(inner)
        enumeration_name = inner.get("name") if local == "Enumeration" else None
        enumeration = (
            None if enumeration_name is None else definitions.enumeration(enumeration_name, inner)
        )
        if inner.get("mime-type", "application/octet-stream") != "application/octet-stream":
            definitions.findings.note(
                codes.DETAIL, inner, f"type {inner.get('mime-type')} of binary data"
            )
        return Typed(TYPES[local], unit, definition, enumeration, shape)
    return Typed(None, shape=shape)


def read_shape(element: etree._Element) -> tuple[int, ...] | None:
    """Read the extents of an array; ``()`` of a scalar, ``None`` if the file does not say one."""
    dimensions = list(element.iterchildren(full("ssc:Dimension")))
    if not dimensions:
        return ()
    if len(dimensions) > MOST_DIMENSIONS:
        raise refusal(
            codes.LIMIT,
            f"has {len(dimensions)} dimensions; expected at most {MOST_DIMENSIONS}",
            _CLAUSE,
        )
    shape = [_extent(dimension) for dimension in dimensions]
    extents = [extent for extent in shape if extent is not None]
    if prod(extents) > MOST_ELEMENTS:
        raise refusal(
            codes.LIMIT, f"has {prod(extents)} elements; expected at most {MOST_ELEMENTS}", _CLAUSE
        )
    return tuple(extents) if len(extents) == len(shape) else None


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
    """Append the type and the dimensions of a connector or dictionary entry."""
    if connector.shape and version == "1.0":
        raise CapabilityError(
            f"is an array of shape {connector.shape}; SSP 1.0 has no arrays: write version 2.0,"
            " or use scalar connectors"
        )
    if connector.type in _NEW and version == "1.0":
        raise CapabilityError(
            f"is {with_article(connector.type)}, which SSP 1.0 has no type for: write version"
            " 2.0, or leave"
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
