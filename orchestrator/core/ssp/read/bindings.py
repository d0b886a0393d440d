"""Parameter bindings: which values a component or a system gets, from where, under what names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import nearest
from orchestrator.core.ssp.archive.sources import Place
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.names import (
    PARAMETER_MAPPING_TYPE,
    PARAMETER_SET_TYPE,
    child,
    children,
    full,
    listed,
    tag,
)
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.common.transformations import ValueChange, read_change
from orchestrator.core.ssp.read.parameter_values import Assignment, read_parameters
from orchestrator.core.ssp.read.reading import Reading

_CLAUSE: Final = "SSP 2.0, 5.2.3"
_MAPPING_CLAUSE: Final = "SSP 2.0, 7.1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a mapping: the names of a parameter, and what becomes of its value."""

    source: str
    target: str
    change: ValueChange
    element: etree._Element
    findings: Findings


def read_bindings(
    parent: etree._Element,
    place: Place,
    findings: Findings,
    reading: Reading,
    container: Path | None = None,
) -> Iterator[Assignment]:
    """Read the parameter bindings of a component or system; later ones take precedence."""
    for binding in listed(parent, "ssd:ParameterBindings", "ssd:ParameterBinding"):
        with findings.guard(binding, codes.BINDING):
            document = _Sources(binding, place, findings, reading, container)
            values, where = document.values()
            read = read_parameters(values, binding.get("prefix", ""), where)
            mapping = child(binding, "ssd:ParameterMapping")
            if mapping is None:
                yield from read
                continue
            root, beside = document.mapping(mapping)
            yield from mapped(read, read_mapping(root, beside))


@dataclass(frozen=True, slots=True)
class _Sources:
    """What a binding refers to, or holds."""

    binding: etree._Element
    place: Place
    findings: Findings
    reading: Reading
    container: Path | None

    def values(self) -> tuple[etree._Element, Findings]:
        inline = child(self.binding, "ssd:ParameterValues")
        return self._root(
            self.binding, inline, PARAMETER_SET_TYPE, Schema.PARAMETER_VALUES, "ParameterValues"
        )

    def mapping(self, element: etree._Element) -> tuple[etree._Element, Findings]:
        inline = element if children(element) else None
        return self._root(
            element, inline, PARAMETER_MAPPING_TYPE, Schema.PARAMETER_MAPPING, "ParameterMapping"
        )

    def _root(
        self,
        element: etree._Element,
        inline: etree._Element | None,
        mime: str,
        schema: Schema,
        what: str,
    ) -> tuple[etree._Element, Findings]:
        kind, source = element.get("type", mime), element.get("source")
        if kind != mime:
            raise refusal(codes.CONTENT_TYPE, f"{what} of type {kind}: expected {mime}")
        if (source is None) == (inline is None):
            raise refusal(codes.BINDING, f"expected either a source or inline {what}", _CLAUSE)
        if inline is not None:
            content = [inner for inner in children(inline) if tag(inner) not in _BESIDE]
            if [tag(inner) for inner in content] != [schema]:
                found = ", ".join(map(tag, content)) or "nothing"
                raise refusal(codes.BINDING, f"{what}: expected one {schema}, found {found}")
            return content[0], self.findings
        if element.get("sourceBase", "SSD") == "SSD":
            return self.reading.document(source or "", self.place, schema, self.findings)
        if self.container is None:
            raise refusal(
                codes.BINDING,
                "sourceBase component: the source of the element is no FMU and no archive",
                _CLAUSE,
            )
        return self.reading.inner(source or "", self.container, schema, self.findings)


#: May stand beside an inline mapping in SSP 2.0.
_BESIDE: Final = frozenset({"ssc:MetaData", "ssc:Signature"})


def read_mapping(root: etree._Element, findings: Findings) -> list[Entry]:
    """Read an ssm:ParameterMapping; problems go to the findings."""
    found: list[Entry] = []
    targets: set[str] = set()
    for element in root.findall(full("ssm:MappingEntry")):
        target = element.get("target", "")
        if target in targets:
            findings.error(
                codes.MAPPING, element, f"'{target}' is mapped to more than once", _MAPPING_CLAUSE
            )
            continue
        targets.add(target)
        with findings.guard(element, codes.TRANSFORMATION):
            change = read_change(element)
            found.append(Entry(element.get("source", ""), target, change, element, findings))
    return found


def mapped(values: list[Assignment], mapping: list[Entry]) -> Iterator[Assignment]:
    """Apply a mapping: what it does not name is not applied (SSP 2.0, 7.1)."""
    by_name: dict[str, list[Assignment]] = {}
    for value in values:
        by_name.setdefault(value.name, []).append(value)
    for entry in mapping:
        found = by_name.get(entry.source)
        if found is None:
            text = f"no parameter '{entry.source}' is given"
            if hint := nearest(entry.source, by_name):
                entry.findings.warning(codes.IGNORED, entry.element, f"{text}{hint}")
            else:
                entry.findings.note(codes.IGNORED, entry.element, text)
            continue
        for value in found:
            yield replace(
                value,
                name=entry.target,
                change=entry.change,
                mapping=(entry.element, entry.findings),
            )
