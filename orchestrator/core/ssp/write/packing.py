"""Packing of systems with their FMUs into an .ssp archive, and SSP Traceability in one.

References
----------
Modelica Association: SSP Traceability Specification 1.0, layered standard of SSP: where both files
stand in an archive (packaging), and their elements.
"""

from __future__ import annotations

import filecmp
import hashlib
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, SspError
from orchestrator.core.files.archive import numbered, open_archive, plain_entry, store_file
from orchestrator.core.ssp.archive.sources import expect_packable, file_path, packed_block
from orchestrator.core.ssp.archive.unpacking import replacing
from orchestrator.core.ssp.common.names import MAIN_SSD, SSD_SUFFIX
from orchestrator.core.ssp.write.ssd import document, in_version, linked_values
from orchestrator.core.system import Component, SourceKind, System


def write_ssp(
    system: System,
    path: str | Path,
    variants: Mapping[str, System] = MappingProxyType({}),
    version: str | None = None,
    *,
    adapt: Callable[[bytes], bytes] | None = None,
    parameters: str | None = None,
) -> None:
    """Pack a system, its variants and all their FMUs and files of blocks into an .ssp archive.

    The same systems with the same FMUs give the same bytes: entries are stored in a fixed order
    with a fixed time and without compression (FMUs are compressed themselves).

    Parameters
    ----------
    system
        Becomes SystemStructure.ssd.
    path
        The archive.
    variants
        Other systems by name; each becomes NAME.ssd next to the main one.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``; ``None``: the first of these that can hold all systems.
    adapt
        Function that changes the text of each .ssd before it is packed.
    parameters
        Name of a parameter set in ``resources``, which gets all values of the system and is
        linked, instead of values inside of the .ssd; those of variants stay inside.

    Raises
    ------
    DescriptionError
        If a variant has no usable name, or this version of SSP cannot hold a system.
    FmuError
        All FMUs that are missing, together.
    PluginError
        If the file of a block is missing or fails.
    SspError
        If the archive cannot be written, or a block is of a module and not of a file; an old one
        is untouched.
    """
    path = Path(path)
    systems = {MAIN_SSD: system}
    for name, variant in sorted(variants.items()):
        systems[_variant_file(name)] = variant
    entry_names, packed = _files(list(systems.values()))

    def texts_in(version: str) -> tuple[bytes | None, dict[str, bytes]]:
        values = None if parameters is None else linked_values(system, parameters, version)
        link = None if values is None else f"resources/{quote(str(parameters))}"
        return values, {
            name: document(
                part,
                lambda c: quote(entry_names[file_path(c)]),
                version,
                parameters=link if name == MAIN_SSD else None,
            )
            for name, part in systems.items()
        }

    values, texts = in_version(version, texts_in)
    if adapt is not None:
        texts = {name: adapt(text) for name, text in texts.items()}
    if values is not None:
        texts[f"resources/{parameters}"] = values
    with replacing(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, text in texts.items():
            archive.writestr(plain_entry(name), text)
        for name, file in sorted(packed.items()):
            store_file(archive, name, file)


def _variant_file(name: str) -> str:
    plain = name.removesuffix(SSD_SUFFIX)
    if not plain or set(plain) & set("/\\:\0") or f"{plain}{SSD_SUFFIX}" == MAIN_SSD:
        raise DescriptionError(
            f"variant '{name}': expected the name of a file other than {MAIN_SSD}"
        )
    return plain + SSD_SUFFIX


def _files(systems: list[System]) -> tuple[dict[Path, str], dict[str, Path]]:
    """Give every file its place under resources/; equal FMUs of equal names share one.

    The files of a block lie in a folder of their own, as they did before.
    """
    entry_names: dict[Path, str] = {}
    packed: dict[str, Path] = {}
    taken: dict[str, Path] = {}
    missing = []
    for component in _with_files(systems):
        if component.source.kind is SourceKind.TWIN:
            raise CapabilityError(
                f"component '{component.name}' ({component.source}): an archive does not hold"
                " twins; write an .ssd or .toml file, or leave out the twin"
            )
        try:
            path = file_path(component)
        except DescriptionError as error:
            raise type(error)(f"component '{component.name}': {error}") from None
        if path in entry_names:
            continue
        if component.source.kind is SourceKind.BLOCK:
            name = next(name for name in numbered(path.stem) if name.casefold() not in taken)
            taken[name.casefold()] = path
            folder, inside = f"resources/{name}", packed_block(component)
            entry_names[path] = f"{folder}/{path.name}"
            packed |= {f"{folder}/{name}": file for name, file in inside.items()}
            continue
        if not path.is_file():
            missing.append(f"component '{component.name}': {path}: no such FMU")
            continue
        entry_names[path] = f"resources/{_free_name(path, taken)}"
        packed.setdefault(entry_names[path], path)
    if missing:
        raise FmuError("\n".join(missing))
    return entry_names, packed


def _with_files(systems: Iterable[System]) -> Iterator[Component]:
    for system in systems:
        parts = system.components.values()
        for part in parts:
            try:
                expect_packable(part.source.without_class())
            except DescriptionError as error:
                raise type(error)(f"component '{part.name}': {error}") from None
            except SspError as error:
                raise SspError(f"component '{part.name}': {error}") from None
        yield from (part for part in parts if part.source.file is not None)
        yield from _with_files(system.systems.values())


def _free_name(path: Path, taken: dict[str, Path]) -> str:
    """Find a name that is not taken by another file, on any file system."""
    for name in numbered(path.stem, path.suffix):
        holder = taken.setdefault(name.casefold(), path)
        if holder is path or filecmp.cmp(holder, path, shallow=False):
            break
    return name


_BASE = "http://ssp-standard.org/SSPTraceability1/"
_STC, _STMD, _SRMD = (
    f"{_BASE}{name}"
    for name in ("SSPTraceabilityCommon", "SimulationTaskMetaData", "SimulationResourceMetaData")
)
#: Where both stand in an archive, as the standard says, and, next to the first, what it leads to.
STMD_ENTRY = "extra/org.ssp-standard.ssp-traceability.stmd/SimulationTask.stmd"
SRMD_ENTRY = "extra/org.ssp-standard.ssp-traceability.srmd/resourceMetaData.srmd"
REPORT_ENTRY = "extra/org.softdock.certificate/certificate.json"
_VERSION = "1.0.0"


def write_traced(
    archive: Path, target: Path, report: bytes, facts: Mapping[str, str], kind: str
) -> None:
    """Write a copy of an .ssp archive with a report of how its system was assured.

    archive, target: The archive, which stays as it is, and the copy; equal input gives equal bytes.
    report: JSON, stored as it is.
    facts: Its main figures by keyword, for whoever reads the metadata alone.
    kind: Name of the classification that they are in, in reverse domain order.
    Raises SspError: if the archive cannot be read, or the copy cannot be written.
    """
    with open_archive(archive, SspError) as source:
        if MAIN_SSD not in source.namelist():
            raise SspError.in_file(archive, f"expected an archive with {MAIN_SSD}")
        system = source.read(MAIN_SSD)
        added = {
            REPORT_ENTRY: report,
            SRMD_ENTRY: srmd(archive.stem, system, facts, kind),
            STMD_ENTRY: stmd(archive.stem, system, report),
        }
        with replacing(target) as draft, zipfile.ZipFile(draft, "w") as copy:
            for entry in source.infolist():
                if entry.filename not in added:
                    copy.writestr(entry, source.read(entry))
            for name, data in added.items():
                copy.writestr(plain_entry(name), data)


def srmd(name: str, system: bytes, facts: Mapping[str, str], kind: str) -> bytes:
    """Return the metadata of an archive as a whole: the figures by keyword."""
    root = etree.Element(
        f"{{{_SRMD}}}SimulationResourceMetaData",
        {
            "version": _VERSION,
            "name": name,
            "data": f"../../{MAIN_SSD}",
            "checksum": hashlib.sha3_256(system).hexdigest(),
            "checksumType": "SHA3-256",
            "generationTool": "Softdock",
        },
        nsmap={"srmd": _SRMD, "stc": _STC},
    )
    listed = etree.SubElement(root, f"{{{_STC}}}Classification", {"type": kind})
    for keyword, text in facts.items():
        entry = etree.SubElement(listed, f"{{{_STC}}}ClassificationEntry", {"keyword": keyword})
        entry.text = text
    return _bytes(root)


def stmd(name: str, system: bytes, report: bytes) -> bytes:
    """Return the simulation task: its quality was assured, of which system and by which report."""
    guid = uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(system + report).hexdigest())
    root = etree.Element(
        f"{{{_STMD}}}SimulationTaskMetaData",
        {
            "version": _VERSION,
            "name": name,
            "GUID": str(guid),
            "generationTool": "Softdock",
        },
        nsmap={"stmd": _STMD, "stc": _STC},
    )
    phase = etree.SubElement(root, f"{{{_STMD}}}ImplementationPhase")
    step = etree.SubElement(phase, f"{{{_STMD}}}AssureSimulationSetupQuality")
    taken = etree.SubElement(step, f"{{{_STC}}}Input")
    _resource(taken, "system", "application/x-ssp-definition", f"../../{MAIN_SSD}")
    output = etree.SubElement(step, f"{{{_STC}}}Output")
    element = _resource(output, "report", "application/json", f"../../{REPORT_ENTRY}")
    source = {"source": f"../../{SRMD_ENTRY}", "type": "application/x-srmd-meta-data"}
    etree.SubElement(element, f"{{{_STC}}}MetaData", {"kind": "quality", **source})
    return _bytes(root)


def _resource(parent: etree._Element, kind: str, mime: str, source: str) -> etree._Element:
    attributes = {"kind": kind, "type": mime, "source": source}
    return etree.SubElement(parent, f"{{{_STC}}}Resource", attributes)


def _bytes(root: etree._Element) -> bytes:
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))
