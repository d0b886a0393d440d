"""Unit definitions of SSP: names with their SI base units."""

from __future__ import annotations

from collections.abc import Iterable
from math import isclose

from lxml import etree

from orchestrator.errors import UnitMismatchError
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.names import add, child, listed
from orchestrator.system.units import BASE_UNITS, BaseUnit, base_unit

#: Tools write pi/180 with as few as six digits; conversions use the exact figure.
_RELATIVE = 1e-5


def add_units(parent: etree._Element, group: str, units: Iterable[str]) -> None:
    """Append the definitions of units, sorted by name; nothing if there is none."""
    names = sorted(set(units))
    if not names:
        return
    definitions = add(parent, group)
    for name in names:
        base = base_unit(name)
        attributes = {symbol: str(power) for symbol, power in base.exponents.items()}
        if base.factor != 1.0:
            attributes["factor"] = repr(base.factor)
        if base.offset != 0.0:
            attributes["offset"] = repr(base.offset)
        add(add(definitions, "ssc:Unit", name=name), "ssc:BaseUnit", **attributes)


def check_units(
    root: etree._Element, group: str, users: Iterable[etree._Element], findings: Findings
) -> None:
    """Check that every unit in use is known, and is defined as Softdock understands it.

    Parameters
    ----------
    root
        The element that holds the group of definitions.
    group
        Name of the group, such as ``"ssd:Units"``.
    users
        Elements with an attribute ``unit``.
    findings
        Where problems go.
    """
    definitions = {u.get("name", ""): u for u in listed(root, group, "ssc:Unit")}
    checked: set[str] = set()
    for user in users:
        name = user.get("unit")
        if name is None or name in checked:
            continue
        checked.add(name)
        try:
            understood = base_unit(name)
        except UnitMismatchError as error:
            findings.problem(user, str(error))
            continue
        if name in definitions:
            _compare(definitions[name], understood, findings)


def _compare(definition: etree._Element, understood: BaseUnit, findings: Findings) -> None:
    element = child(definition, "ssc:BaseUnit")
    if element is None:  # the schema demands it
        return
    declared = BaseUnit(
        {
            symbol: int(element.get(symbol, "0"))
            for symbol in BASE_UNITS
            if int(element.get(symbol, "0"))
        },
        float(element.get("factor", "1")),
        float(element.get("offset", "0")),
    )
    same = (
        _without_angle(declared) == _without_angle(understood)
        and isclose(declared.factor, understood.factor, rel_tol=_RELATIVE)
        and isclose(declared.offset, understood.offset, rel_tol=_RELATIVE)
    )
    if not same:
        findings.problem(
            definition,
            f"is defined as {_text(declared)}, but Softdock takes the name for"
            f" {_text(understood)}; rename the unit or correct its definition",
        )


def _without_angle(base: BaseUnit) -> dict[str, int]:
    """Exponents without rad, which tools count or not."""
    return {symbol: power for symbol, power in base.exponents.items() if symbol != "rad"}


def _text(base: BaseUnit) -> str:
    powers = ".".join(f"{s}{p if p != 1 else ''}" for s, p in base.exponents.items()) or "1"
    return f"{base.factor:g} {powers}" + (f" + {base.offset:g}" if base.offset else "")
