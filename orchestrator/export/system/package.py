"""The archive of an exported system: tables in bytes, and its library, for all platforms.

The tables are its schedule, inner FMUs and variables: docs/reference/system-file.md describes them,
engine/src/exported/tables.cpp reads them. For another platform the library is compiled by Zig.
"""

from __future__ import annotations

import logging
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import astuple
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.files.archive import add_file, open_archive
from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.input_hold import SINK, SOURCE
from orchestrator.core.master.schedule.schedule import EventTable
from orchestrator.core.operating_system.platforms import LINUX, WINDOWS, Platform, here, machine
from orchestrator.core.recording import whole_file
from orchestrator.core.simunits.fmi.library_file import wrong_library
from orchestrator.core.simunits.fmi.model_exchange_unit import sundials_folder
from orchestrator.engine import ROWS, system_library
from orchestrator.export.archive.fmu_archive import hash_of
from orchestrator.export.codegen.compiler import (
    compiler_of,
    compiler_version,
    run_compiler,
    run_compilers,
)
from orchestrator.export.system.interface import InnerFmu, Port, SystemVariable, Type

#: Letters of `struct` for kinds of one value.
_LETTERS = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f64": "d"}


class _Writer:
    """Puts values one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def content(self) -> bytes:
        """Return all bytes so far."""
        return b"".join(self._parts)

    def tag(self, four: str) -> None:
        """Write the four letters that a table begins with."""
        self._parts.append(four.encode("ascii"))

    def put(self, kind: str, *values: float) -> None:
        """Write numbers of one kind, such as ``u32``; flags are ``u8``."""
        self._parts.append(struct.pack(f"<{len(values)}{_LETTERS[kind]}", *values))

    def text(self, text: str | bytes) -> None:
        """Write the length of a text in bytes, and its UTF-8."""
        data = text.encode() if isinstance(text, str) else text
        self.put("u32", len(data))
        self._parts.append(data)

    def count(self, rows: Sized) -> None:
        """Write the number of rows that follow."""
        self.put("u32", len(rows))

    def listed(self, kind: str, values: Iterable[Any]) -> None:
        """Write a counted row of texts, numbers, or tuples of these: ``i32``, or ``(i32, i32)``."""
        entries = list(values)
        self.count(entries)
        kinds = kind.strip("()").split(", ")
        letters = (
            "" if kind == "text" else "".join(_LETTERS[kind_of_value] for kind_of_value in kinds)
        )
        for value in entries:
            if kind == "text":
                self.text(value)
            else:
                parts = value if len(kinds) > 1 else [value]
                self._parts.append(struct.pack(f"<{letters}", *parts))

    def row(self, table: str, values: Sequence[Any]) -> None:
        """Write a row of one of the engine's tables, by its fields."""
        for (_, kind), value in zip(ROWS[table], values, strict=True):
            if kind in _LETTERS:
                self.put(kind, value)
            else:
                self.listed(kind.removesuffix("[]"), value)

    def rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write counted rows of one of the engine's tables."""
        self.count(rows)
        for values in rows:
            self.row(table, values)


MAGIC = b"SOFTDOCK"
VERSION = 5
_TEXTS = (Type.STRING, Type.BINARY)


def write_system(
    token: str, schedule: Schedule, fmus: Sequence[InnerFmu], variables: Sequence[SystemVariable]
) -> bytes:
    """Return the content of the file."""
    to = _Writer()
    to.text(token)
    to.put("i64", schedule.step_ns)
    to.put("u32", schedule.signals, schedule.texts)
    to.put("i32", schedule.initial_passes)
    to.listed("i32", schedule.read_early)
    to.tag("UNIT")
    to.count(fmus)
    for fmu in fmus:
        _write_fmu(to, fmu)
    _write_members(to, schedule, fmus)
    _write_tables(to, schedule)
    to.tag("VARS")
    to.count(variables)
    for variable in variables:
        _write_variable(to, variable)
    to.tag("END.")
    content = to.content()
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(content)) + content


def _write_port(to: _Writer, port: Port) -> None:
    to.text(port.name)
    to.put("u8", port.type)
    to.put("u32", port.reference, port.size)
    to.put("u8", port.is_discrete, port.is_continuous)
    to.listed("u32", port.clocks)


def _write_values(to: _Writer, kind: Type, values: Sequence[Any]) -> None:
    """Numbers, then texts: one of the two is empty."""
    to.listed("f64", [] if kind in _TEXTS else [float(value) for value in values])
    to.listed("text", values if kind in _TEXTS else [])


def _write_fmu(to: _Writer, inner: InnerFmu) -> None:
    fmu, can = inner.fmu, inner.description.capabilities
    for text in (inner.component.name, inner.folder, PurePosixPath(fmu.library).stem, fmu.guid):
        to.text(text)
    to.put("u8", fmu.version, inner.is_exchange, can.can_roll_back, can.can_serialize)
    to.put("u8", can.input_order, can.has_directional_derivatives)
    to.put("u8", can.has_event_mode, inner.early_return, inner.component.options.debug or fmu.logs)
    to.put("f64", fmu.relative_tolerance(inner.component.options.tolerance) or 0.0)
    to.listed("text", fmu.log_categories)
    for names in (inner.inputs, inner.outputs):
        ports = inner.ports(names)
        to.count(ports)
        for port in ports:
            _write_port(to, port)
    timers = inner.timers()
    to.count(timers)
    for reference, timer in timers:
        to.put("u32", reference)
        to.put("u8", timer.kind, timer.fraction)
        to.put("f64", timer.seconds)
        to.put("u64", timer.counter, timer.resolution)
        to.put("f64", timer.shift)
        to.put("u64", timer.shift_counter)
    starts = inner.starts()
    to.count(starts)
    for port, is_structural, values in starts:
        _write_port(to, port)
        to.put("u8", is_structural)
        _write_values(to, port.type, values)
    if inner.is_exchange:
        _write_integration(to, inner)


def _write_integration(to: _Writer, inner: InnerFmu) -> None:
    how = inner.exchange
    to.put("u8", inner.component.options.solver == "cvode", how.has_jacobian, how.tell_steps)
    to.put("u32", how.indicators)
    to.listed("u32", how.state_references)
    to.listed("u32", how.derivative_references)
    to.listed("u32", how.sizes)
    to.listed("text", how.states)


def _write_members(to: _Writer, schedule: Schedule, fmus: Sequence[InnerFmu]) -> None:
    numbers = {fmu.component.name: i for i, fmu in enumerate(fmus)}
    kinds = {SOURCE: 1, SINK: 2}
    to.count(schedule.members)
    for member in schedule.members:
        to.put("u8", kinds.get(member.name, 0))
        to.put("u32", numbers.get(member.name, 0))
        to.put("u32", member.input_offset, member.output_offset)
        to.put("u32", member.text_input_offset, member.text_output_offset)
        to.put("u32", member.input_size, member.output_size)
        to.put("u32", member.text_output_offset - member.text_input_offset)
        to.put("u32", member.text_output_end - member.text_output_offset)
        to.put("i32", member.ticks)


def _write_tables(to: _Writer, schedule: Schedule) -> None:
    to.tag("HIST")
    to.rows("channels", [astuple(channel) for channel in schedule.channels])
    to.rows("histories", schedule.histories)
    to.tag("LINE")
    to.rows("copies", schedule.copies)
    to.rows("reads", schedule.reads)
    to.rows("tables", schedule.tables)
    to.rows("table_entries", schedule.table_entries)
    rows = len(schedule.reads) + len(schedule.tables)
    to.listed("text", map(schedule.input_of, range(rows)))
    to.rows("mixes", schedule.mixes)
    to.rows("text_copies", schedule.text_copies)
    to.tag("OPER")
    to.rows("loops", [astuple(loop)[:8] for loop in schedule.loops])
    to.rows("operations", schedule.operations)
    to.row("rule", astuple(schedule.rule))
    to.tag("EVNT")
    _write_events(to, schedule.events)
    to.tag("FALT")
    to.rows("faults", [astuple(fault) for fault in schedule.faults])
    to.tag("COMP")
    to.rows("compensations", [astuple(row) for row in schedule.compensations])


def _write_events(to: _Writer, events: EventTable | None) -> None:
    to.put("u8", events is not None)
    if events is None:
        return
    to.listed("i32", events.members)
    to.rows("event_lines", events.lines)
    to.rows("event_clocks", events.clocks)
    to.put("i32", *events.held_back)
    to.put("u8", events.splits, events.early_return)


def _write_variable(to: _Writer, variable: SystemVariable) -> None:
    to.text(variable.name)
    to.put("u8", variable.kind, variable.type)
    to.put("u32", variable.connector.size)
    to.put("i32", variable.slot)
    to.put("u8", variable.is_tunable)
    _write_values(to, variable.type, variable.start)
    to.count(variable.targets)
    for target in variable.targets:
        to.put("u32", target.fmu)
        _write_port(to, target.port)
        to.put("f64", target.factor, target.offset)


_LOGGER = logging.getLogger(__name__)
_EXPORT = Path(__file__).parents[1]
_ENGINE = _EXPORT.with_name("engine")
#: As in CMakeLists.txt: no fused multiply-add, nothing seen but the functions of FMI.
_FLAGS = (
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-fno-sanitize=all",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-ffp-contract=off",
    "-DNDEBUG",
)
_TOGETHER = 6  # files that are compiled as one, since most of the time goes into headers


def engine_library(platform: Platform) -> Path:
    """The library for a platform; it is compiled once, and kept in the user's cache."""
    if platform.is_here:
        return system_library()
    command = (*compiler_of(platform, language="c++"), *_FLAGS)
    cached = _cache() / f"{_key(command)}{platform.suffix}"
    try:
        if not cached.is_file():
            cached.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=cached.parent) as folder:
                _compile(command, Path(folder), platform).replace(cached)
    except OSError as error:
        raise FmuError(f"cannot keep '{cached}': {error.strerror or error}") from error
    return cached


def _cache() -> Path:
    """Folder of what is compiled for other platforms."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softdock"


def _sources() -> list[Path]:
    """What CMake compiles into the library of this machine."""
    text = (_ENGINE / "CMakeLists.txt").read_text(encoding="utf-8")
    parts = re.findall(
        r"^(?:set\(CORE|add_library\(softdock_system MODULE)\n(.*?)^\)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return [_ENGINE / file for part in parts for file in re.findall(r"src/\S+\.cpp", part)]


def _key(command: Sequence[str]) -> str:
    """Hash of the compiler, its options, and all files that it may read."""
    options = " ".join((compiler_version(command[0]), *command[1:]))
    headers = [*(_ENGINE / "src").rglob("*.hpp"), *(_EXPORT / "runtime").glob("fmi*.h")]
    files = [(file.name, file.read_bytes()) for file in sorted((*headers, *_sources()))]
    return hash_of([("options", options.encode()), *files])[:32]


def _compile(command: Sequence[str], folder: Path, platform: Platform) -> Path:
    parts = list(_parts(_sources(), folder))
    include = (f"-I{_ENGINE / 'src'}", f"-I{_EXPORT}")
    objects = [f"{part.stem}.o" for part in parts]
    compiles = [
        [*command, *include, "-c", "-o", compiled, part.name]
        for compiled, part in zip(objects, parts, strict=True)
    ]
    _LOGGER.info("compiling the engine for %s, once for all systems", platform.name)
    run_compilers(compiles, folder)
    library = folder / f"softdock_system{platform.suffix}"
    run_compiler([*command[:4], "-shared", "-s", "-o", library.name, *objects], folder)
    return library


def _parts(sources: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Write files that include a few of the sources each."""
    for first in range(0, len(sources), _TOGETHER):
        part = folder / f"part{first}.cpp"
        lines = [f'#include "{file}"\n' for file in sources[first : first + _TOGETHER]]
        part.write_text("".join(lines), encoding="utf-8", newline="\n")
        yield part


TABLES = "resources/system.bin"
#: Files of an inner FMU that it uses when it runs, besides its library.
_KEPT = ("modelDescription.xml", "resources/", "documentation/licenses/")


def expect_library() -> None:
    """Raise CapabilityError where no library for the exported FMU is built, or it is damaged."""
    if here() not in {LINUX, WINDOWS}:
        raise CapabilityError(
            "systems are exported on 64-bit Linux and Windows on x86; this is"
            f" {' on '.join(machine())}"
        )
    library = system_library()
    if not library.is_file() or wrong_library(library):
        raise CapabilityError(
            f"'{library}', the library of exported systems, is missing or damaged: install Softdock"
            " again"
        )


def write_package(
    path: Path,
    version: int,
    identifier: str,
    content: Mapping[str, bytes],
    fmus: Sequence[InnerFmu],
    platforms: Sequence[Platform],
) -> None:
    """Write the archive; an older one stays if anything fails."""
    with whole_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, data in content.items():
            add_file(archive, name, data)
        for platform in platforms:
            library = f"{platform.folder(f'{version}.0')}/{identifier}{platform.suffix}"
            add_file(archive, library, engine_library(platform).read_bytes())
        for folder, inner in {inner.folder: inner for inner in fmus}.items():
            for name, data in _archive_parts(inner, platforms):
                add_file(archive, f"resources/{folder}/{name}", data)
        if any(inner.component.options.solver == "cvode" for inner in fmus):
            for file in sorted(sundials_folder().iterdir()):
                add_file(archive, f"resources/sundials/{file.name}", file.read_bytes())


def _archive_parts(inner: InnerFmu, platforms: Sequence[Platform]) -> Iterator[tuple[str, bytes]]:
    """Files of an inner FMU that it needs to run, with the files next to its libraries."""
    folders = tuple(f"{platform.folder(f'{inner.fmu.version}.0')}/" for platform in platforms)
    with open_archive(inner.path, FmuError) as archive:
        for name in sorted(archive.namelist()):
            is_needed = name == _KEPT[0] or name.startswith((*folders, *_KEPT[1:]))
            if is_needed and not name.endswith("/"):
                yield name, archive.read(name)
