"""Values that an SSD gives more than once: which of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from orchestrator.checks.context import finding
from orchestrator.core.diagnostics import Diagnostic, LoadError
from orchestrator.core.diagnostics.errors import Code, note, warning
from orchestrator.core.ssp.archive.locations import SspFile, elements, line_of
from orchestrator.core.ssp.common.names import child, children, full, listed, tag

CODES: tuple[Code, ...] = (
    warning(
        "VAL107",
        "a value is given twice with different figures",
        "Two parameter bindings of one element give the same parameter different values. The later"
        " one holds; the message says where it is.",
        "SSP 1.0.1, 5.2.3",
    ),
    note(
        "VAL108",
        "a value that a higher binding overrides",
        "A binding of an outer system gives the parameter another value, which holds.",
        "SSP 1.0.1, 5.2.3",
    ),
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One value of one binding; ``depth`` 0 is the top system, ``binding`` the element."""

    name: str
    depth: int
    binding: etree._Element
    value: str
    file: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def check(ssp_file: SspFile) -> Iterator[Diagnostic]:
    """Compare the parameter bindings of all elements of an .ssd."""
    by_name: dict[str, list[_Entry]] = {}
    for top in ssp_file.root.iterfind(full("ssd:System")):
        for entry in _entries(ssp_file, top, "", 0):
            by_name.setdefault(entry.name, []).append(entry)
    for entries in by_name.values():
        if len(entries) < 2:
            continue
        # Inner ones first; of equal depth in the order of the file. The last one holds.
        ordered = sorted(entries, key=lambda entry: -entry.depth)
        held = ordered[-1]
        for entry in ordered[:-1]:
            if _same(entry.value, held.value) or entry.binding is held.binding:
                continue  # a set that gives a name twice is told by the reader
            code = "VAL107" if entry.depth == held.depth else "VAL108"
            text = f"{entry.value} does not hold: {held.place} gives it {held.value}"
            yield finding(code, entry.name, text, entry.file, entry.line)


def _same(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def _entries(ssp_file: SspFile, element: etree._Element, path: str, depth: int) -> Iterator[_Entry]:
    prefix = f"{path.replace('/', '.')}." if path else ""
    for binding in listed(element, "ssd:ParameterBindings", "ssd:ParameterBinding"):
        try:
            yield from _binding(ssp_file, binding, prefix, depth)
        except (LoadError, OSError):
            continue  # the reader has told
    for inside, inner in elements(element, path):
        yield from _entries(ssp_file, inner, inside, depth + 1)


def _binding(
    ssp_file: SspFile, binding: etree._Element, prefix: str, depth: int
) -> Iterator[_Entry]:
    source = binding.get("source")
    if binding.get("sourceBase", "SSD") != "SSD":
        return
    here = ssp_file.beside(source) if source else ssp_file
    values = here.root if source else _inline(binding, "ssd:ParameterValues")
    if values is None:
        return
    own = binding.get("prefix", "")
    targets = _mapping(ssp_file, binding)
    for parameter in listed(values, "ssv:Parameters", "ssv:Parameter"):
        typed = next(iter(children(parameter)), None)
        if typed is None:
            continue
        name = own + parameter.get("name", "")
        unit = typed.get("unit")
        value = typed.get("value", "") + (f" {unit}" if unit else "")
        for target, changed in [(name, "")] if targets is None else targets.get(name, []):
            line = line_of(parameter)
            yield _Entry(prefix + target, depth, binding, f"{value}{changed}", here.label, line)


def _inline(parent: etree._Element, group: str) -> etree._Element | None:
    found = child(parent, group)
    return None if found is None else next(iter(children(found)), None)


def _mapping(ssp_file: SspFile, binding: etree._Element) -> dict[str, list[tuple[str, str]]] | None:
    """Targets by source name, each with a remark if the value is changed; ``None`` without."""
    element = child(binding, "ssd:ParameterMapping")
    if element is None:
        return None
    source = element.get("source")
    root = ssp_file.beside(source).root if source else next(iter(children(element)), None)
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in children(root) if root is not None else ():
        if tag(entry) == "ssm:MappingEntry":
            changed = " (transformed)" if children(entry) else ""
            found.setdefault(entry.get("source", ""), []).append((entry.get("target", ""), changed))
    return found
