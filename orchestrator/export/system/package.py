"""The archive of an exported system, and its library for another platform, compiled by Zig."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.core.archive import add_file, open_archive
from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.recording import whole_file
from orchestrator.core.simunits.fmi.fmu_unit import is_whole
from orchestrator.core.simunits.fmi.model_exchange_unit import sundials_folder
from orchestrator.engine import system_library
from orchestrator.export.codegen.compiler import (
    compiler_of,
    compiler_version,
    run_compiler,
    run_compilers,
)
from orchestrator.export.recipe import Platform
from orchestrator.export.system.inner_fmu import InnerFmu

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
    kept = _cache() / f"{_key(command)}{platform.suffix}"
    try:
        if not kept.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=kept.parent) as folder:
                _compile(command, Path(folder), platform).replace(kept)
    except OSError as error:
        raise FmuError(f"cannot keep '{kept}': {error.strerror or error}") from error
    return kept


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
    digest = hashlib.sha256(options.encode())
    headers = [*(_ENGINE / "src").rglob("*.hpp"), *(_EXPORT / "runtime").glob("fmi*.h")]
    for file in sorted((*headers, *_sources())):
        content = file.read_bytes()
        digest.update(f"\0{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


def _compile(command: Sequence[str], folder: Path, platform: Platform) -> Path:
    parts = list(_parts(_sources(), folder))
    include = (f"-I{_ENGINE / 'src'}", f"-I{_EXPORT}")
    objects = [f"{part.stem}.o" for part in parts]
    compiles = [
        [*command, *include, "-c", "-o", each, part.name]
        for each, part in zip(objects, parts, strict=True)
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
        part.write_text("".join(lines), encoding="utf-8")
        yield part


TABLES = "resources/system.bin"
#: What of an inner FMU is of use when it runs, beside its library.
_KEPT = ("modelDescription.xml", "resources/", "documentation/licenses/")


def expect_library() -> None:
    """Raise CapabilityError where no library for the exported FMU is built, or it is damaged."""
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "AMD64"}:
        raise CapabilityError(
            f"systems are exported on 64-bit Linux on x86; this is {platform.system()} on"
            f" {platform.machine()}"
        )
    library = system_library()
    if not (library.is_file() and is_whole(library)):
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
    """Files of an inner FMU that it needs to run, with those beside its libraries."""
    beside = tuple(f"{each.folder(f'{inner.fmu.version}.0')}/" for each in platforms)
    with open_archive(inner.path, FmuError) as archive:
        for name in sorted(archive.namelist()):
            wanted = name == _KEPT[0] or name.startswith((*beside, *_KEPT[1:]))
            if wanted and not name.endswith("/"):
                yield name, archive.read(name)
