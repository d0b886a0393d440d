"""The archive of an FMU, with terminals of its connectors and a CMakeLists.txt for its sources."""

from __future__ import annotations

import json
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lxml import etree

from orchestrator.core.archive import add_file
from orchestrator.core.diagnostics import FmuError
from orchestrator.export.archive import description_fmi2, description_fmi3
from orchestrator.export.archive.description_parts import SOURCE_FILE
from orchestrator.export.archive.model_description import encoded
from orchestrator.export.archive.stamp import STAMP_FILE, runtime_files
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.compiler import (
    FLAGS,
    SUNDIALS,
    ZIG_FLAGS,
    library_command,
    run_compilers,
    sundials_libraries,
)
from orchestrator.export.codegen.layout import ArrayVariable, Layout, Region, entries
from orchestrator.export.codegen.looped_c import FILES, GENERATED
from orchestrator.export.recipe import FIXED_STEP_METHODS, METHODS, Recipe, platforms_of

CMAKE_FILE = "CMakeLists.txt"
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


def cmake_text(recipe: Recipe, fmi: str) -> str:
    """Text of the file, for one version of FMI."""
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


def write(listed: Sequence[ArrayVariable]) -> bytes | None:
    """Text of the file; None for a model without connectors that have members.

    Modelica counts a flow variable positive into the component, which FMI calls inflow.
    """
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    terminals = etree.SubElement(root, "Terminals")
    found: dict[str, etree._Element] = {}
    for entry in listed:
        variable = entry.first.variable
        if not variable.connector or entry.first.region is Region.DERIVATIVE:
            continue
        name = variable.connector
        if name not in found:
            found[name] = etree.SubElement(terminals, "Terminal", name=name, matchingRule="plug")
        attributes = {
            "variableName": entry.name,
            "memberName": entry.name.removeprefix(f"{name}."),
            "variableKind": "inflow" if variable.flow else "signal",
        }
        etree.SubElement(found[name], "TerminalMemberVariable", attributes)
    return encoded(root) if found else None


def write_fmu(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], target: Path
) -> None:
    """Write an archive in one version of FMI; an older one stays if anything fails."""
    write_archive(target, lambda folder: _assemble(layout, recipe, fmi, stamp, folder))


def write_archive(target: Path, assemble: Callable[[Path], Path]) -> None:
    """Put the archive that is assembled in a new folder in its place."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fmu-", dir=target.parent) as folder:
            assemble(Path(folder)).replace(target)  # the same file system: all or nothing
    except OSError as error:
        raise FmuError(f"cannot write '{target}': {error.strerror or error}") from error


def _assemble(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], folder: Path
) -> Path:
    guid = guid_of(stamp)
    sources = folder / "sources"
    sources.mkdir()
    for file in runtime_files():
        if not (
            _belongs_to_other_version(file, fmi)
            or _is_other_solver(file, recipe, layout)
            or _takes_other_steps(file, layout)
        ):
            (sources / file.name).write_bytes(file.read_bytes())
    (sources / "model.h").write_text(
        c_code.model_header(layout, recipe.solver, guid, fmi), encoding="utf-8"
    )
    (sources / "functions.c").write_text(
        c_code.functions(layout.ode, recipe.solver, fmi), encoding="utf-8"
    )
    libraries = _libraries(recipe, fmi, sources, folder)
    description = description_fmi2 if fmi == "2.0" else description_fmi3
    if fmi == "3.0":
        text = description_fmi3.write_build_description(recipe)
        (sources / "buildDescription.xml").write_bytes(text)
    (sources / CMAKE_FILE).write_text(cmake_text(recipe, fmi), encoding="utf-8")
    archive = folder / target_name(recipe, fmi)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        add_file(zipped, "modelDescription.xml", description.write(layout, recipe, guid))
        if fmi == "3.0" and (listed := write(entries(layout))):
            add_file(zipped, "terminalsAndIcons/terminalsAndIcons.xml", listed)
        for name, library in libraries.items():
            add_file(zipped, name, library.read_bytes())
        for file in sorted(sources.iterdir()) if recipe.sources else ():
            add_file(zipped, f"sources/{file.name}", file.read_bytes())
        add_file(zipped, STAMP_FILE, json.dumps(stamp, indent=2, sort_keys=True).encode())
    return archive


def _libraries(recipe: Recipe, fmi: str, sources: Path, folder: Path) -> dict[str, Path]:
    """The compiled libraries by their places in the archive, several compiled at one time."""
    platforms = platforms_of(recipe.platforms)
    others = [each.name for each in platforms if not each.is_here]
    if recipe.solver.is_implicit and others:
        raise FmuError(
            f"solver.method = '{recipe.solver.method}' links SUNDIALS of this machine, and not for"
            f" {', '.join(others)}; choose another method, or build for this machine alone"
        )
    linked = sundials_libraries() if recipe.solver.is_implicit else ()
    made = {
        f"{each.folder(fmi)}/{recipe.name}{each.suffix}": (
            folder / each.name / f"{recipe.name}{each.suffix}"
        )
        for each in platforms
    }
    commands = []
    for each, library in zip(platforms, made.values(), strict=True):
        library.parent.mkdir()
        commands.append(library_command(SOURCE_FILE, library, libraries=linked, platform=each))
    run_compilers(commands, sources)
    return made


def guid_of(stamp: Mapping[str, str]) -> str:
    """The guid, or instantiation token, of what a stamp describes."""
    return f"{{{uuid.uuid5(uuid.NAMESPACE_URL, 'softdock:' + stamp['key'])}}}"


def target_name(recipe: Recipe, fmi: str) -> str:
    """File name of a recipe's FMU; the archives of two versions lie beside each other."""
    return f"{recipe.name}.fmu" if fmi == "2.0" else f"{recipe.name}.fmi3.fmu"


def _belongs_to_other_version(file: Path, fmi: str) -> bool:
    return file.name.startswith("fmi3" if fmi == "2.0" else "fmi2")


def _is_other_solver(file: Path, recipe: Recipe, layout: Layout) -> bool:
    used = recipe.solver.method if layout.ode.sampled is None else ""
    if file.stem == "fixed_step":
        return used not in FIXED_STEP_METHODS
    return file.stem in METHODS and file.stem != used


def _takes_other_steps(file: Path, layout: Layout) -> bool:
    sampled = layout.ode.sampled
    return file.name in FILES - ({sampled.code or GENERATED} if sampled else set())
