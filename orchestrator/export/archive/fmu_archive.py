"""The archive of an FMU, with terminals and CMakeLists.txt, and a stamp of what made it."""

from __future__ import annotations

import hashlib
import json
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import casadi as ca
from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files.archive import DAMAGE, add_file
from orchestrator.core.operating_system.platforms import Platform
from orchestrator.export.archive.description import SOURCE_FILE, describe, write_build_description
from orchestrator.export.archive.model_description import encoded, write
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.compiler import (
    FLAGS,
    SUNDIALS,
    ZIG_FLAGS,
    compiler_facts,
    library_command,
    run_compilers,
    sundials_libraries,
)
from orchestrator.export.codegen.layout import ArrayVariable, Layout, Region, entries
from orchestrator.export.dae.residual_dae import ResidualDae, Variable
from orchestrator.export.recipe import FIXED_STEP_METHODS, METHODS, Recipe, platforms_of

_EXPORT = Path(__file__).parents[1]
RUNTIME = _EXPORT / "runtime"
STAMP_FILE = "extra/softdock/build.json"


def stamp(
    model: str, source: str, settings: dict[str, Any], platforms: Sequence[Platform]
) -> dict[str, str]:
    """Facts about a build; ``key`` hashes everything that decides about the FMU's content."""
    facts = {
        "settings": json.dumps(settings, sort_keys=True),
        "compiler": "; ".join(map(compiler_facts, platforms)),
        "casadi": version("casadi"),
        "rumoca": version("rumoca"),
    }
    digest = hashlib.sha256(f"{_exporter()}\0{source}\0{json.dumps(facts)}".encode())
    return {**facts, "model": model, "key": digest.hexdigest()}


def hash_of(contents: list[tuple[str, bytes]]) -> str:
    """Hash of named contents; the same bytes under other names are something else."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def stored_key(target: Path) -> str | None:
    """Key inside an existing FMU; a damaged one counts as absent and is replaced."""
    try:
        with zipfile.ZipFile(target) as archive:
            return str(json.loads(archive.read(STAMP_FILE))["key"])
    except (KeyError, TypeError, *DAMAGE):
        return None


def _runtime_files() -> list[Path]:
    """The C half of every FMU."""
    return sorted(path for path in RUNTIME.iterdir() if path.suffix in {".c", ".h"})


@cache
def _exporter() -> str:
    rooms = ("archive", "blocks", "codegen", "dae", "modelica")
    sources = sorted(
        [*_EXPORT.glob("*.py"), *(f for r in rooms for f in (_EXPORT / r).rglob("*.py"))]
    )
    return hash_of(
        [
            (file.relative_to(_EXPORT).as_posix(), file.read_bytes())
            for file in (*sources, *_runtime_files())
        ]
    )


def dae_hash(dae: ResidualDae) -> str:
    """Hash of the expressions and of all attributes of the variables.

    CasADi writes an expression as a function of its symbols, operation by operation, so equal
    texts are equal expressions; the plain text of an expression would leave out what is deep in it.
    """
    symbols = [dae.time, *(variable.symbol for variable in dae.variables)]
    symbols += [dae.derivatives[name] for name in sorted(dae.derivatives)]
    symbols += dae.events.symbols
    residuals = (*dae.residuals, *dae.initial)
    expressions = [ca.SX(residual.expression) for residual in residuals]
    for variable in dae.variables:
        expressions += [
            ca.SX(part) for part in (variable.start, variable.value) if part is not None
        ]
    expressions += [ca.SX(part) for part in dae.events.expressions()]
    function = ca.Function("dae", symbols, expressions).serialize()
    names = [f.name for f in fields(Variable) if f.name not in {"symbol", "start", "value"}]
    facts = [
        dae.name,
        dae.description,
        sorted(dae.derivatives),
        [residual.origin for residual in residuals],
        len(dae.initial),
        repr(dae.events),
        [
            [getattr(variable, key) for key in names] + [variable.value is None]
            for variable in dae.variables
        ],
    ]
    return hash_of([("function", function.encode()), ("facts", repr(facts).encode())])


_SAID_BY_CMAKE = {"-std=c11", "-fPIC", "-shared", "-s", "-fvisibility=hidden"}
_OF_ZIG = {"-fno-sanitize=all"}
_TEXT = """\
# cmake -S sources -B build && cmake --build build && cmake --install build
# puts the library for this machine into the folder of binaries beside `sources`.
cmake_minimum_required(VERSION 3.16...3.30)
project(@NAME@ LANGUAGES C)

add_library(@NAME@ MODULE @MAIN@)
set_target_properties(@NAME@ PROPERTIES
  PREFIX "" C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
# No fused multiply-add, and nothing that lets a compiler round otherwise.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(@NAME@ PRIVATE @GCC@)
else()
  target_compile_options(@NAME@ PRIVATE @CLANG@)
endif()
if(UNIX)
  target_link_libraries(@NAME@ PRIVATE @LIBRARIES@)
endif()

# The folder as FMI @FMI@ calls it.
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
string(REGEX REPLACE "^amd64$" "x86_64" processor "${processor}")
string(REGEX REPLACE "^arm64$" "aarch64" processor "${processor}")
set(platform "${processor}-${system}")
@SHORT@if(APPLE)
  set_target_properties(@NAME@ PROPERTIES SUFFIX ".dylib")
endif()
install(TARGETS @NAME@ LIBRARY DESTINATION "${CMAKE_CURRENT_SOURCE_DIR}/../binaries/${platform}")
"""
_SHORT = """\
if(processor STREQUAL "x86_64")
  string(REGEX REPLACE "windows" "win" system "${system}")
  set(platform "${system}64")
endif()
"""


def _cmake_text(recipe: Recipe, fmi: str) -> str:
    """Text of CMakeLists.txt."""
    libraries = [*(SUNDIALS if recipe.solver.is_implicit else ()), "m"]
    parts = {
        "NAME": recipe.name,
        "MAIN": SOURCE_FILE,
        "GCC": " ".join(flag for flag in FLAGS if flag not in _SAID_BY_CMAKE),
        "CLANG": " ".join(flag for flag in ZIG_FLAGS if flag not in _SAID_BY_CMAKE | _OF_ZIG),
        "LIBRARIES": " ".join(libraries),
        "FMI": fmi,
        "SHORT": _SHORT if fmi == "2.0" else "",
    }
    text = _TEXT
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _terminals(listed: Sequence[ArrayVariable]) -> bytes | None:
    """Text of terminalsAndIcons.xml; None for a model without connectors that have members."""
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    terminals = etree.SubElement(root, "Terminals")
    elements: dict[str, etree._Element] = {}
    for entry in listed:
        variable = entry.first.variable
        if not variable.connector or entry.first.region is Region.DERIVATIVE:
            continue
        name = variable.connector
        if name not in elements:
            elements[name] = etree.SubElement(terminals, "Terminal", name=name, matchingRule="plug")
        attributes = {
            "variableName": entry.name,
            "memberName": entry.name.removeprefix(f"{name}."),
            "variableKind": "inflow" if variable.flow else "signal",  # positive into the component
        }
        etree.SubElement(elements[name], "TerminalMemberVariable", attributes)
    return encoded(root) if elements else None


def write_fmu(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], target: Path
) -> None:
    """Write an archive in one version of FMI; an older one stays if anything fails."""
    write_archive(target, lambda folder: dict(_content(layout, recipe, fmi, stamp, folder)))


def write_archive(target: Path, content: Callable[[Path], Mapping[str, bytes]]) -> None:
    """Write an archive of files by name, which may be made in a new folder."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fmu-", dir=target.parent) as folder:
            archive = Path(folder) / target.name
            files = content(Path(folder))
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
                for name, data in files.items():
                    add_file(zipped, name, data)
            archive.replace(target)  # the same file system: all or nothing
    except OSError as error:
        raise FmuError(f"cannot write '{target}': {error.strerror or error}") from error


def stamp_text(stamp: Mapping[str, str]) -> bytes:
    """Content of the file of the stamp."""
    return json.dumps(stamp, indent=2, sort_keys=True).encode()


def _content(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], folder: Path
) -> Iterator[tuple[str, bytes]]:
    token, solver = guid_of(stamp), recipe.solver
    sources = {file.name: file.read_bytes() for file in _needed(layout, recipe, fmi)}
    sources["model.h"] = c_code.model_header(layout, solver, token, fmi).encode()
    sources["functions.c"] = c_code.functions(layout.ode, solver, fmi).encode()
    libraries = _libraries(recipe, fmi, sources, folder)
    if fmi == "3.0":
        sources["buildDescription.xml"] = write_build_description(recipe)
    sources["CMakeLists.txt"] = _cmake_text(recipe, fmi).encode()
    yield "modelDescription.xml", write(describe(layout, recipe, fmi, token), fmi)
    if fmi == "3.0" and (listed := _terminals(entries(layout))):
        yield "terminalsAndIcons/terminalsAndIcons.xml", listed
    yield from libraries.items()
    for name in sorted(sources) if recipe.sources else ():
        yield f"sources/{name}", sources[name]
    yield STAMP_FILE, stamp_text(stamp)


def _libraries(
    recipe: Recipe, fmi: str, sources: Mapping[str, bytes], folder: Path
) -> dict[str, bytes]:
    """The compiled libraries by their places in the archive, several compiled at one time."""
    platforms = platforms_of(recipe.platforms)
    others = [platform.name for platform in platforms if not platform.is_here]
    if recipe.solver.is_implicit and others:
        raise FmuError(
            f"solver.method = '{recipe.solver.method}' links SUNDIALS of this machine, and not for"
            f" {', '.join(others)}; choose another method, or build for this machine alone"
        )
    linked = sundials_libraries() if recipe.solver.is_implicit else ()
    there = folder / "sources"
    there.mkdir()
    for name, text in sources.items():
        (there / name).write_bytes(text)
    libraries = {}
    commands = []
    for platform in platforms:
        library = folder / platform.name / f"{recipe.name}{platform.suffix}"
        library.parent.mkdir()
        commands.append(library_command(SOURCE_FILE, library, libraries=linked, platform=platform))
        libraries[f"{platform.folder(fmi)}/{library.name}"] = library
    run_compilers(commands, there)
    return {name: library.read_bytes() for name, library in libraries.items()}


def guid_of(stamp: Mapping[str, str]) -> str:
    """The guid, or instantiation token, of what a stamp describes."""
    return f"{{{uuid.uuid5(uuid.NAMESPACE_URL, 'softdock:' + stamp['key'])}}}"


def target_name(recipe: Recipe, fmi: str) -> str:
    """File name of a recipe's FMU; the archives of two versions can share a folder."""
    return f"{recipe.name}.fmu" if fmi == "2.0" else f"{recipe.name}.fmi3.fmu"


def _needed(layout: Layout, recipe: Recipe, fmi: str) -> Iterator[Path]:
    """Files of the runtime that a model needs: one version, one solver or way of stepping."""
    sampled, method = layout.ode.sampled, recipe.solver.method
    templates = (*METHODS, "fixed_step", "sampled", "delay_line")
    needed = {Path(sampled.code).stem or "sampled"} if sampled else {method}
    if method in FIXED_STEP_METHODS and not sampled:
        needed.add("fixed_step")
    for file in _runtime_files():
        is_other = file.name.startswith("fmi3" if fmi == "2.0" else "fmi2")
        if not is_other and (file.stem not in templates or file.stem in needed):
            yield file
