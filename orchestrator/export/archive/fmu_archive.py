"""Writes one FMU: sources, library and description in one archive that knows its origin."""

from __future__ import annotations

import json
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from orchestrator.core.archive import add_file
from orchestrator.core.diagnostics import FmuError
from orchestrator.export.archive import description_fmi2, description_fmi3, terminals
from orchestrator.export.archive.cmake import CMAKE_FILE, cmake_text
from orchestrator.export.archive.description_parts import SOURCE_FILE
from orchestrator.export.archive.stamp import STAMP_FILE, runtime_files
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.array_layout import entries
from orchestrator.export.codegen.compiler import (
    library_command,
    run_compilers,
    sundials_libraries,
)
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.codegen.sampled_c import FILES, GENERATED
from orchestrator.export.platforms import platforms_of
from orchestrator.export.recipe import FIXED_STEP_METHODS, METHODS, Recipe


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
        if fmi == "3.0" and (listed := terminals.write(entries(layout))):
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
