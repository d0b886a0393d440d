"""Builds FMUs: sources, library and description in one archive that knows its origin."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import tempfile
import time
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from orchestrator.errors import FmuError
from orchestrator.export import c_code, model_description, model_description_fmi3, terminals
from orchestrator.export.array_layout import entries
from orchestrator.export.compiler import FLAGS, compile_library, compiler_path, compiler_version
from orchestrator.export.description_parts import SOURCE_FILE
from orchestrator.export.explicit_ode import make_explicit
from orchestrator.export.flat_reader import read
from orchestrator.export.frontend import class_file, flatten, modelica_files
from orchestrator.export.layout import Layout
from orchestrator.export.recipe import METHODS, Recipe, Solver

_LOGGER = logging.getLogger(__name__)
_RUNTIME = Path(__file__).parent / "runtime"
_STAMP = "extra/softdock/build.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal sources make equal archives


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build gave.

    Attributes
    ----------
    files
        The FMU of each version of FMI.
    name, model
        Its name and the Modelica class.
    seconds
        Wall time of the build.
    cached
        The FMUs that were there had been built from the same content and were kept.
    """

    files: Mapping[str, Path]
    name: str
    model: str
    seconds: float
    cached: bool

    @property
    def path(self) -> Path:
        """The FMU; the first if several versions of FMI were asked for."""
        return next(iter(self.files.values()))


def build_recipe(
    recipe: Path, output: Path, *, fmi: Sequence[str] = (), force: bool = False
) -> BuildResult:
    """Build the FMUs of a recipe.

    Parameters
    ----------
    recipe
        TOML file; see ``fmus/README.md``.
    output
        Folder for ``<name>.fmu`` (FMI 2.0) and ``<name>.fmi3.fmu``; created if missing.
    fmi
        Versions of FMI, ``"2.0"`` and ``"3.0"``; default those of the recipe.
    force
        Build even if nothing changed.

    Raises
    ------
    LoadError, DescriptionError
        If the recipe cannot be read or is wrong.
    ModelicaError
        If the model is not valid or outside the supported subset.
    FmuError
        If compiling or writing fails.
    """
    chosen = Recipe.read(recipe)
    return _build(replace(chosen, fmi=tuple(fmi) or chosen.fmi), output, force=force)


def build_model(
    model: str,
    root: Path,
    output: Path,
    *,
    name: str | None = None,
    solver: Solver | None = None,
    fmi: Sequence[str] = ("2.0",),
    force: bool = False,
) -> BuildResult:
    """Build the FMU of a Modelica class, without a recipe file.

    Parameters
    ----------
    model
        Qualified class name, such as ``SpaceDocking.Bodies.Chaser``.
    root
        Folder that contains the package.
    output
        Folder for ``<name>.fmu``; created if missing.
    name
        Name of the FMU; default the last part of the class name.
    solver
        Default: Dormand-Prince with error control.
    fmi
        Versions of FMI, ``"2.0"`` and ``"3.0"``.
    force
        Build even if nothing changed.

    Raises
    ------
    DescriptionError, ModelicaError, FmuError
        As :func:`build_recipe`.
    """
    name = name or model.rpartition(".")[2]
    chosen = Recipe(model, root, name, solver or Solver(), fmi=tuple(fmi))
    return _build(chosen, output, force=force)


def _build(recipe: Recipe, output: Path, *, force: bool) -> BuildResult:
    begin = time.perf_counter()
    class_file(recipe.model, recipe.root)  # a missing class is worth a better message than a hash
    files = {fmi: output / target_name(recipe, fmi) for fmi in recipe.fmi}
    stamps = {fmi: _stamp(recipe, fmi) for fmi in recipe.fmi}
    missing = [fmi for fmi in recipe.fmi if force or _stored_key(files[fmi]) != stamps[fmi]["key"]]
    if missing:
        layout = Layout(make_explicit(read(flatten(recipe.model, recipe.root))))
        for fmi in missing:
            _write(layout, recipe, fmi, stamps[fmi], files[fmi])
    seconds = time.perf_counter() - begin
    if missing:
        _LOGGER.info("built %s from %s in %.2f s", output, recipe.model, seconds)
    return BuildResult(files, recipe.name, recipe.model, seconds, cached=not missing)


def _write(layout: Layout, recipe: Recipe, fmi: str, stamp: dict[str, str], target: Path) -> None:
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
    for file in _runtime_files():
        if not (_belongs_to_other_version(file, fmi) or _is_other_solver(file, recipe)):
            (sources / file.name).write_bytes(file.read_bytes())
    (sources / "model.h").write_text(
        c_code.model_header(layout, recipe.solver, guid, fmi), encoding="utf-8"
    )
    (sources / "functions.c").write_text(c_code.functions(layout.ode, fmi), encoding="utf-8")
    library = folder / f"{recipe.name}.so"
    compile_library(sources, SOURCE_FILE, library)
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
        _add(zipped, _STAMP, json.dumps(stamp, indent=2, sort_keys=True).encode())
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


def _runtime_files() -> list[Path]:
    return sorted(path for path in _RUNTIME.iterdir() if path.suffix in {".c", ".h"})


def _stamp(recipe: Recipe, fmi: str) -> dict[str, str]:
    """What the FMU is built from; ``key`` hashes everything that decides about its content."""
    digest = hashlib.sha256()
    own = sorted(Path(__file__).parent.glob("*.py"))
    for file in (*own, *_runtime_files(), *modelica_files(recipe.root)):
        shown = file.relative_to(recipe.root) if file.is_relative_to(recipe.root) else file.name
        content = file.read_bytes()
        digest.update(f"{shown}\0{len(content)}\0".encode() + content)
    stamp = {
        "settings": json.dumps(recipe.settings(fmi), sort_keys=True),
        "compiler": f"{compiler_version(compiler_path())} {' '.join(FLAGS)}",
        "casadi": version("casadi"),
        "rumoca": version("rumoca"),
    }
    digest.update(json.dumps(stamp, sort_keys=True).encode())
    return {**stamp, "model": recipe.model, "key": digest.hexdigest()}


def _stored_key(target: Path) -> str | None:
    """Key inside an existing FMU; a damaged one counts as absent and is replaced."""
    try:
        with zipfile.ZipFile(target) as archive:
            return str(json.loads(archive.read(_STAMP))["key"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
