"""Connectors of systems: what their file does not say comes from what they are connected with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from lxml import etree

from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.read.connections import End
from orchestrator.core.ssp.read.connectors import UNSPECIFIED, Declared, completed
from orchestrator.core.system import Causality, Connection, Connector, DataType, System

#: Kinds that neither systems nor components have.
NO_KIND: Final = {Causality.INOUT, UNSPECIFIED}


def compare(declared: Declared, system: System, findings: Findings) -> None:
    """Compare what a component declares with the system that it stands for."""
    for name, where in declared.elements.items():
        actual, said = system.connectors.get(name), declared.connectors.get(name)
        if actual is None or str(actual.causality) != declared.kinds[name]:
            found = "has none" if actual is None else f"has an {actual.causality}"
            findings.error(
                codes.MISMATCH,
                where,
                f"declared as {declared.kinds[name]}, but the system {found} of this name",
                "SSP 2.0, 5.2.1",
            )
        elif said is not None and (said.type, said.shape) != (actual.type, actual.shape):
            findings.error(
                codes.MISMATCH,
                where,
                f"declared as {said.type}, but the system has {actual.type}",
                "SSP 2.0, 5.2.1",
            )


def own_connectors(
    declared: Declared,
    lines: tuple[Connection, ...],
    ends: Mapping[str, End],
    findings: Findings,
) -> dict[str, Connector]:
    """Complete a system's own connectors by those that they are connected with.

    Parameters
    ----------
    declared
        What the file says.
    lines, ends
        What they are connected with inside.
    findings
        Where problems go.
    """
    found: dict[str, Connector] = {}
    for name, kind in declared.kinds.items():
        element = declared.elements[name]
        if kind in NO_KIND:
            findings.error(
                codes.UNSPECIFIED if kind != Causality.INOUT else codes.KIND,
                element,
                f"a connector of a system of kind '{kind}' is not supported; expected input,"
                " output, parameter or the like",
                "SSP 2.0, 5.2.1",
            )
        elif name in declared.connectors:
            found[name] = declared.connectors[name]
        elif name in declared.partial:
            found[name] = _deduced(element, declared, lines, ends, findings)
    return found


def _deduced(
    element: etree._Element,
    declared: Declared,
    lines: tuple[Connection, ...],
    ends: Mapping[str, End],
    findings: Findings,
) -> Connector:
    name = element.get("name", "")
    typed = declared.partial[name]
    others = _neighbours(name, lines, {end.key: end for end in ends.values()})
    kinds = {(c.type, c.shape) for c in others}
    units = {(c.unit) for c in others}
    model = Connector(name, Causality.INPUT, typed.type or DataType.REAL)
    if len(kinds) == 1:
        model = others[0] if len(units) == 1 else replace(others[0], unit=None)
    else:
        findings.warning(
            codes.NO_TYPE,
            element,
            f"the type is not said, and what it is connected with has {len(kinds)} types;"
            f" {model.type} is taken",
            "SSP 2.0, 5.2.1",
        )
    return completed(element, typed, declared.kinds[name], model)


def _neighbours(
    name: str, lines: tuple[Connection, ...], ends: Mapping[str, End]
) -> list[Connector]:
    found = []
    for line in lines:
        pair = (line.source, line.target)
        for own, other in (pair, pair[::-1]):
            end = ends.get(other.component)
            if own.component or own.connector != name or not other.component or end is None:
                continue
            known = end.connector(other.connector)
            if known is not None:
                found.append(known)
    return found
