"""Units and enumerations that a file defines for itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.lexical import attribute, integer, real
from orchestrator.core.ssp.common.names import add, child, full, listed
from orchestrator.core.system import BaseUnit, Enumeration
from orchestrator.core.system.units.meaning import BASE_UNITS
from orchestrator.core.system.units.unit import base_said, definition_beyond, file_unit, is_unit

_UNITS_CLAUSE = "SSP 2.0, 4.4.2"
_ENUMERATIONS_CLAUSE = "SSP 2.0, 4.4.1"


@dataclass(frozen=True, slots=True)
class Definitions:
    """What one file defines: units and enumerations count in their own file only.

    A set or dictionary that stands in an .ssd has those of the .ssd, too; its own come first.

    Parameters
    ----------
    prefix
        Namespace of the groups that hold them: ``"ssd"``, ``"ssv"`` or ``"ssb"``.
    units, enumerations
        Elements by name.
    findings
        Where problems go.
    """

    prefix: str
    units: Mapping[str, etree._Element]
    enumerations: Mapping[str, etree._Element]
    findings: Findings
    _known_units: dict[str, tuple[str | None, BaseUnit | None]] = field(default_factory=dict)
    _known_enumerations: dict[str, Enumeration | None] = field(default_factory=dict)

    @classmethod
    def of(cls, root: etree._Element, prefix: str, findings: Findings) -> Definitions:
        """Collect the definitions below a root element."""
        units = _by_name(listed(root, f"{prefix}:Units", "ssc:Unit"), findings)
        items = _by_name(listed(root, f"{prefix}:Enumerations", "ssc:Enumeration"), findings)
        file = root.getroottree().getroot()
        if file is not root:
            units = _around(file, "ssd:Units", "ssc:Unit") | units
            items = _around(file, "ssd:Enumerations", "ssc:Enumeration") | items
        return cls(prefix, units, items, findings)

    def unit(self, user: etree._Element) -> tuple[str | None, BaseUnit | None]:
        """Return name and definition of the unit of an element.

        No name if it has none, or one that is neither defined nor known; no definition if the
        unit is what its name says. What is wrong with it is reported once, at its first user.
        """
        name = user.get("unit")
        if name is None:
            return None, None
        if name not in self._known_units:
            self._known_units[name] = self._unit(name, user)
        return self._known_units[name]

    def _unit(self, name: str, user: etree._Element) -> tuple[str | None, BaseUnit | None]:
        element = self.units.get(name)
        base = None if element is None else child(element, "ssc:BaseUnit")
        understood = is_unit(name)
        if base is None and not name:
            return None, None
        if base is None:
            said = "it is what its name says" if understood else "it is not looked at"
            self.findings.warning(
                codes.NO_UNIT,
                user,
                f"unit '{name}' is not defined in the file; {said}",
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
        if name not in self._known_enumerations:
            self._known_enumerations[name] = self._enumeration(name, user)
        return self._known_enumerations[name]

    def _enumeration(self, name: str, user: etree._Element) -> Enumeration | None:
        element = self.enumerations.get(name)
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


def _around(file: etree._Element, group: str, kind: str) -> dict[str, etree._Element]:
    return {each.get("name", ""): each for each in reversed(listed(file, group, kind))}


def _by_name(elements: Iterable[etree._Element], findings: Findings) -> dict[str, etree._Element]:
    found: dict[str, etree._Element] = {}
    for element in elements:
        name = element.get("name", "")
        if name in found:
            findings.error(codes.TAKEN, element, f"'{name}' is defined twice", _UNITS_CLAUSE)
        found.setdefault(name, element)
    return found


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
    said = element.attrib
    powers = {
        symbol: attribute(element, symbol, integer, 0) for symbol in BASE_UNITS if symbol in said
    }
    if any(abs(power) > 100 for power in powers.values()):
        raise SspError("expected exponents of at most 100")
    factor = attribute(element, "factor", real, 1.0)
    offset = attribute(element, "offset", real, 0.0)
    if not (0.0 < abs(factor) < float("inf")) or not abs(offset) < float("inf"):
        raise SspError(f"expected a factor other than 0 and an offset, found {factor}, {offset}")
    return BaseUnit({symbol: power for symbol, power in powers.items() if power}, factor, offset)


def add_units(parent: etree._Element, prefix: str, units: Mapping[str, BaseUnit | None]) -> None:
    """Append the definitions of units, sorted by name; nothing if there is none.

    Raises
    ------
    UnitMismatchError
        If a unit without a definition is none that its name says.
    """
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
