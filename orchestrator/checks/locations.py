"""The XML of an SSD as it stands, and where in it everything is that a system is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from orchestrator.checks.context import inside
from orchestrator.core.diagnostics import SspError
from orchestrator.core.files.archive import open_archive, read_entry
from orchestrator.core.ssp.archive.unpacking import ssd_of
from orchestrator.core.ssp.common.names import children, full, listed, parse_ssp, tag
from orchestrator.core.structs import Struct, field

_ELEMENTS = ("ssd:Component", "ssd:System", "ssd:SignalDictionaryReference")


class SspFile(Struct):
    """One XML file.

    label: As the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    root: Its root element.
    path: The folder or the archive that it is in.
    """

    label: str
    root: etree._Element
    path: Path

    def neighbour(self, uri: str) -> SspFile:
        """Open a file that this one refers to, or raise SspError or OSError."""
        name = unquote(uri)
        if self.path.is_file():
            label = f"{self.path}:{uri}"
            with open_archive(self.path, SspError) as archive:
                content = read_entry(self.path, archive, name, SspError)
        else:
            label = str(Path(self.label).parent / name)
            path = (self.path / name).resolve()
            if not path.is_relative_to(self.path.resolve()):
                raise SspError(f"'{uri}' is outside of the folder of the .ssd")
            content = path.read_bytes()
        return SspFile(label, parse_ssp(content, label), self.path)


def open_ssp_file(path: Path, variant: str | None = None) -> SspFile:
    """Open an .ssd or another XML file of SSP, or an .ssd of an archive or a folder."""
    path, name = ssd_of(path, variant)
    if name:
        with open_archive(path, SspError) as archive:
            content = read_entry(path, archive, name, SspError)
        label = f"{path}:{name}"
        return SspFile(label, parse_ssp(content, label), path)
    try:
        content = path.read_bytes()
    except OSError as reason:
        raise SspError.in_file(path, f"cannot be read: {reason.strerror or reason}") from None
    return SspFile(str(path), parse_ssp(content, str(path)), path.parent)


class Locations(Struct):
    """Where everything stands.

    file: As the user knows it.
    lines: Line by path of an element (``"arm/motor"``), of a connector (``"arm/motor.torque"``) and
        by connection (``"arm/motor.speed -> arm/gear.speed"``, and ``"-> arm/gear.speed"``).
    """

    file: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def of(self, at: str) -> int | None:
        """Return the line of what is called so, else of what it is in."""
        if at in self.lines:
            return self.lines[at]
        _, arrow, target = at.rpartition(" -> ")
        if arrow:
            line = self.lines.get(f"-> {target}")
            return line if line is not None else self.of(target)
        path, dot, _ = at.partition(".")
        if dot:
            return self.of(path)
        outer = at.rpartition("/")[0]
        return self.of(outer) if outer else self.lines.get("")


def locations(ssp_file: SspFile) -> Locations:
    """Note the lines of everything in an .ssd; nothing if it holds no system."""
    lines: dict[str, int] = {}
    for top in ssp_file.root.iterfind(full("ssd:System")):
        for at, element in _element_paths(top, ""):
            lines.setdefault(at, line_of(element))
    return Locations(ssp_file.label, lines)


def _element_paths(element: etree._Element, path: str) -> Iterator[tuple[str, etree._Element]]:
    yield path, element
    here = f"{path}." if path else ""
    for connector in listed(element, "ssd:Connectors", "ssd:Connector"):
        yield f"{here}{connector.get('name')}", connector
    for line in listed(element, "ssd:Connections", "ssd:Connection"):
        ends = ((line.get(f"{s}Element"), line.get(f"{s}Connector", "")) for s in ("start", "end"))
        at = inside(path, " -> ".join(".".join(filter(None, end)) for end in ends))
        yield at, line
        yield f"-> {at.partition(' -> ')[2]}", line
    for path_inside, inner in elements(element, path):
        yield from _element_paths(inner, path_inside)


def elements(system: etree._Element, path: str) -> Iterator[tuple[str, etree._Element]]:
    """Return what is directly in a system, by path."""
    for group in system.iterfind(full("ssd:Elements")):
        for inner in children(group):
            if tag(inner) in _ELEMENTS:
                name = inner.get("name", "")
                yield (f"{path}/{name}" if path else name), inner


def line_of(element: etree._Element) -> int:
    """Return the line at which an element begins."""
    line: int | None = element.sourceline  # type: ignore[assignment] # the stubs have no type
    return line or 1
