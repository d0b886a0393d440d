"""FMU files: valid, whole, and the same ones that the system was made with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from lxml import etree

from orchestrator.checks.context import finding, first_inside
from orchestrator.checks.locations import SspFile, elements, line_of
from orchestrator.core.diagnostics import Diagnostic, FmuError, LoadError, SoftdockError, first_of
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.files.archive import DAMAGE, digest, open_archive
from orchestrator.core.operating_system.platforms import WINDOWS
from orchestrator.core.operating_system.platforms import machine as this_machine
from orchestrator.core.simunits import flaws_of, open_description, read_fmu
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmu_variable import units_of
from orchestrator.core.simunits.fmi.library_file import wrong_windows_library
from orchestrator.core.ssp.common.names import full, tag
from orchestrator.core.system import SEPARATOR, Component, SourceKind, System
from orchestrator.core.units.conversion import base_said

CODES: tuple[Code, ...] = (
    warning(
        "FMU104",
        "the model description violates rules of FMI",
        "The file violates the schema or a rule of the standard (FMPy's validation) in a harmless"
        " way, such as an undefined unit: Softdock uses the FMU, but another tool may refuse it."
        " `softdock run --strict` refuses it. `softdock fmu check` also calls the FMU.",
        "FMI 2.0.4, 2.2",
    ),
    warning(
        "FMU107",
        "the same model in several versions",
        "A system uses FMUs of one model name with different content: one of them is probably"
        " old. Use one file, or rename the model.",
    ),
    warning(
        "FMU121",
        "the definition of a unit contradicts its name",
        "The FMU defines a unit by SI base units, and the definition is not that of its name."
        " Softdock converts with the definition. One of the two is wrong.",
        "FMI 2.0.4, 2.2.2",
    ),
    error(
        "FMU108",
        "the FMU is not the one that the system was made with",
        "The checksum in the system differs from that of the file.",
        "SSP Traceability, SRMD",
    ),
    warning(
        "FMU109",
        "no GUID",
        "The model description has no GUID (FMI 3.0: instantiation token), by which an instance"
        " verifies its description.",
        "FMI 2.0.4, 2.2.1",
    ),
    error(
        "FMU113",
        "the library is not one for this machine",
        "The folder of this platform contains a file that is not a 64-bit library for this"
        " processor: it was built for another processor, or is in the wrong folder.",
        "FMI 2.0.4, 2.3",
    ),
    note(
        "FMU110",
        "a checksum of an unknown kind",
        "The system has a checksum of a method that Softdock does not compute; it was not checked.",
        "SSP Traceability, SRMD",
    ),
)

_LISTED = 5
#: Bytes up to the number of the processor.
_ELF_HEAD = 20
#: Numbers of processors in ELF (System V ABI, e_machine), little endian and of 64 bits.
_MACHINES = {("Linux", "x86_64"): 62, ("Linux", "aarch64"): 183}
_NAME = r"(?:[A-Za-z_]\w*|'(?:[^'\\]|\\.)+')(?:\[\d+(?:,\d+)*\])?"
_PATH = rf"{_NAME}(?:\.{_NAME})*"
#: FMI 2.0.4, 2.2.9: variable naming conventions.
_STRUCTURED = re.compile(rf"{_PATH}|der\({_PATH}(?:,\d+)?\)", re.ASCII)
_FLAT = re.compile(r"[^\r\n\t]*")


def check(components: Iterable[tuple[str, Component]]) -> Iterator[Diagnostic]:
    """Check every FMU once, at the first component that uses it."""
    paths: dict[Path, str] = {}
    for at, component in components:
        path = Path(component.source.location)
        if component.source.kind is SourceKind.FMU and path not in paths and path.is_file():
            paths[path] = at
            yield from check_file(path, at)
    yield from _versions(paths)


def check_file(path: Path, at: str) -> Iterator[Diagnostic]:
    """Check one FMU by itself."""
    try:
        described = open_description(path)
    except SoftdockError:
        return  # told with the sources
    if not described.guid:
        yield finding("FMU109", at, f"{path}: the model description has no GUID")
    for text in _violations(path, path.stat().st_mtime_ns):
        yield finding("FMU104", at, f"{path}: {text}")
    for name, definition in units_of(described).items():
        if (named_base := base_said(name)) is not None:
            text = (
                f"is defined as {definition}, but its name says {named_base}; the definition is"
                " used"
            )
            yield finding("FMU121", at, f"{path}: unit '{name}' {text}")
    yield from _library(path, at)


def _library(path: Path, at: str) -> Iterator[Diagnostic]:
    """Look at the library that would be loaded: of ELF, at its first bytes."""
    machine_code = _MACHINES.get(this_machine())
    try:
        library = read_fmu(path).library
        with open_archive(path, FmuError) as archive, archive.open(library) as file:
            content = file.read(-1 if WINDOWS.is_here else _ELF_HEAD)
    except SoftdockError:
        return  # told with the sources
    except DAMAGE as error:
        yield finding("FMU113", at, f"{path}: '{library}' cannot be unpacked: {error}")
        return
    if WINDOWS.is_here:
        if problem := wrong_windows_library(content):
            yield finding("FMU113", at, f"{path}: '{library}' {problem}")
        return
    is_elf = content[:6] == b"\x7fELF\x02\x01"
    machine = int.from_bytes(content[18:20], "little")
    if machine_code is not None and not (is_elf and machine == machine_code):
        available = f"one for the processor number {machine}" if is_elf else "none"
        expected = f"an ELF library for {this_machine()[1]}"
        yield finding("FMU113", at, f"{path}: '{library}': expected {expected}, found {available}")


@lru_cache(maxsize=256)
def _violations(path: Path, stamp: int) -> tuple[str, ...]:  # noqa: ARG001 - renews the cache
    from fmpy.validation import validate_model_description

    described = open_description(path)
    try:
        violations = validate_model_description(described, validate_model_structure=True)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding about the file
        violations = [f"FMPy's validation ends with {type(error).__name__}: {error}"]
    messages = dict.fromkeys((*flaws_of(path), *(" ".join(text.split()) for text in violations)))
    return (*messages, *_misnamed(described))


def _misnamed(described: ModelDescription) -> tuple[str, ...]:
    """Names of variables that break the naming convention that the FMU says it follows.

    FMPy checks them too, by a parser that takes 10 ms for each.
    """
    structured = described.variableNamingConvention == "structured"
    rule = _STRUCTURED if structured else _FLAT
    misnamed = [v.name for v in described.modelVariables if not rule.fullmatch(v.name)]
    if not misnamed:
        return ()
    convention = "structured" if structured else "flat"
    names = first_of(list(map(repr, misnamed)), _LISTED)
    return (f"names that break the {convention} naming convention: {names}",)


def _versions(paths: Mapping[Path, str]) -> Iterator[Diagnostic]:
    """FMUs of one model with different content."""
    models: dict[str, dict[str, Path]] = {}
    for path in paths:
        try:
            name = open_description(path).modelName
        except SoftdockError:
            continue  # told with the sources
        models.setdefault(name, {}).setdefault(digest(path), path)
    for name, files in models.items():
        if len(files) > 1:
            first, *others = files.values()
            for other_path in others:
                text = f"model '{name}' is also {first}, of other content; use one of them"
                yield finding("FMU107", paths[other_path], text)


_META_DATA = "application/x-srmd-meta-data"
_METHODS = {"SHA3-256": "sha3_256"}


def check_hashes(ssp_file: SspFile, system: System) -> Iterator[Diagnostic]:
    """Compare checksums of the components' FMUs with their files (the codes are those of FMUs)."""
    for top in ssp_file.root.iterfind(full("ssd:System")):
        yield from _inside(ssp_file, top, "", system)


def _inside(
    ssp_file: SspFile, element: etree._Element, path: str, system: System
) -> Iterator[Diagnostic]:
    for at, inner in elements(element, path):
        name = at.rpartition(SEPARATOR)[2]
        if tag(inner) == "ssd:System" and name in system.systems:
            yield from _inside(ssp_file, inner, at, system.systems[name])
        elif name in system.components:
            source = system.components[name].source
            file = Path(source.location)
            if source.kind is SourceKind.FMU and file.is_file():
                for meta in inner.iterfind(full("ssc:MetaData")):
                    yield from _compared(ssp_file, meta, at, file)


def _compared(ssp_file: SspFile, meta: etree._Element, at: str, file: Path) -> Iterator[Diagnostic]:
    if meta.get("type") != _META_DATA:
        return
    source = meta.get("source")
    try:
        here = ssp_file.neighbour(source) if source else ssp_file
    except (LoadError, OSError):
        return  # the reader has told
    root = here.root if source else first_inside(meta, "ssc:Content")
    checksum = None if root is None else root.get("checksum")
    if root is None or checksum is None or root.get("data"):
        return  # nothing is said, or of another file
    location = here.label, line_of(root)
    method = root.get("checksumType", "SHA3-256")
    if method not in _METHODS or _METHODS[method] not in hashlib.algorithms_available:
        text = f"the checksum of {file} is of the type {method}; it was not checked"
        yield finding("FMU110", at, text, *location)
        return
    actual = digest(file, _METHODS[method])
    if actual.lower() != checksum.lower():
        text = f"{file}: expected the {method} {checksum}, found {actual}: it is another file"
        yield finding("FMU108", at, text, *location)
