"""Writes one FMU: sources, library and description in one archive that knows its origin."""

from __future__ import annotations

import json
import platform
import tempfile
import uuid
import zipfile
from pathlib import Path

from orchestrator.errors import FmuError
from orchestrator.export import c_code, model_description, model_description_fmi3, terminals
from orchestrator.export.array_layout import entries
from orchestrator.export.compiler import compile_library, sundials_libraries
from orchestrator.export.description_parts import SOURCE_FILE
from orchestrator.export.layout import Layout
from orchestrator.export.recipe import METHODS, Recipe
from orchestrator.export.stamp import STAMP_FILE, runtime_files

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal sources make equal archives


def write_fmu(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], target: Path
) -> None:
    """Write an archive in one version of FMI; an older one stays if anything fails.

    Raises
    ------
    FmuError
        If compiling or writing fails.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{recipe.name}-", dir=target.parent) as folder:
            archive = _assemble(layout, recipe, fmi, stamp, Path(folder))
            archive.replace(target)  # the same file system: all or nothing
    except OSError as error:
        raise FmuError(f"cannot write '{target}': {error}") from error


def _assemble(
    layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], folder: Path
) -> Path:
    guid = f"{{{uuid.uuid5(uuid.NAMESPACE_URL, 'softdock:' + stamp['key'])}}}"
    sources = folder / "sources"
    sources.mkdir()
    for file in runtime_files():
        if not (_belongs_to_other_version(file, fmi) or _is_other_solver(file, recipe)):
            (sources / file.name).write_bytes(file.read_bytes())
    (sources / "model.h").write_text(
        c_code.model_header(layout, recipe.solver, guid, fmi), encoding="utf-8"
    )
    (sources / "functions.c").write_text(
        c_code.functions(layout.ode, recipe.solver, fmi), encoding="utf-8"
    )
    library = folder / f"{recipe.name}.so"
    libraries = sundials_libraries() if recipe.solver.is_implicit else ()
    compile_library(sources, SOURCE_FILE, library, libraries=libraries)
    description = model_description if fmi == "2.0" else model_description_fmi3
    if fmi == "3.0":
        text = model_description_fmi3.write_build_description(recipe)
        (sources / "buildDescription.xml").write_bytes(text)
    archive = folder / target_name(recipe, fmi)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        _add(zipped, "modelDescription.xml", description.write(layout, recipe, guid))
        if fmi == "3.0" and (listed := terminals.write(entries(layout))):
            _add(zipped, "terminalsAndIcons/terminalsAndIcons.xml", listed)
        _add(zipped, f"binaries/{_platform(fmi)}/{library.name}", library.read_bytes())
        for file in sorted(sources.iterdir()):
            _add(zipped, f"sources/{file.name}", file.read_bytes())
        _add(zipped, STAMP_FILE, json.dumps(stamp, indent=2, sort_keys=True).encode())
    return archive


def target_name(recipe: Recipe, fmi: str) -> str:
    """File name of a recipe's FMU; the archives of two versions lie beside each other."""
    return f"{recipe.name}.fmu" if fmi == "2.0" else f"{recipe.name}.fmi3.fmu"


def _belongs_to_other_version(file: Path, fmi: str) -> bool:
    return file.name.startswith("fmi3" if fmi == "2.0" else "fmi2")


def _is_other_solver(file: Path, recipe: Recipe) -> bool:
    return file.suffix == ".c" and file.stem in METHODS and file.stem != recipe.solver.method


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
    archive.writestr(entry, content)


def _platform(fmi: str) -> str:
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "AMD64"}:
        raise FmuError(
            f"FMUs are built for 64-bit Linux on x86; this is {platform.system()} on"
            f" {platform.machine()}, for which the exporter fills no folder"
        )
    return "linux64" if fmi == "2.0" else "x86_64-linux"
