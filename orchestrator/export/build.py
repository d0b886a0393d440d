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
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from orchestrator.errors import FmuError
from orchestrator.export import c_code, model_description
from orchestrator.export.compiler import FLAGS, compile_library, compiler_path, compiler_version
from orchestrator.export.explicit_ode import make_explicit
from orchestrator.export.flat_reader import read
from orchestrator.export.frontend import class_file, flatten, modelica_files
from orchestrator.export.layout import Layout
from orchestrator.export.recipe import Recipe, Solver

_LOGGER = logging.getLogger(__name__)
_RUNTIME = Path(__file__).parent / "runtime"
_STAMP = "extra/softdock/build.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal sources make equal archives


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build gave.

    Attributes
    ----------
    path
        The FMU.
    name, model
        Its name and the Modelica class.
    seconds
        Wall time of the build.
    cached
        The FMU that was there had been built from the same content and was kept.
    """

    path: Path
    name: str
    model: str
    seconds: float
    cached: bool


def build_recipe(recipe: Path, output: Path, *, force: bool = False) -> BuildResult:
    """Build the FMU of a recipe.

    Parameters
    ----------
    recipe
        TOML file; see ``fmus/README.md``.
    output
        Folder for ``<name>.fmu``; created if missing.
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
    return _build(Recipe.read(recipe), output, force=force)


def build_model(
    model: str,
    root: Path,
    output: Path,
    *,
    name: str | None = None,
    solver: Solver | None = None,
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
        Default: Runge-Kutta 4 with steps of at most 1 ms.
    force
        Build even if nothing changed.

    Raises
    ------
    DescriptionError, ModelicaError, FmuError
        As :func:`build_recipe`.
    """
    chosen = Recipe(model, root, name or model.rpartition(".")[2], solver or Solver())
    return _build(chosen, output, force=force)


def _build(recipe: Recipe, output: Path, *, force: bool) -> BuildResult:
    begin = time.perf_counter()
    target = output / f"{recipe.name}.fmu"
    class_file(recipe.model, recipe.root)  # a missing class is worth a better message than a hash
    stamp = _stamp(recipe)
    if not force and _stored_key(target) == stamp["key"]:
        seconds = time.perf_counter() - begin
        return BuildResult(target, recipe.name, recipe.model, seconds, cached=True)
    layout = Layout(make_explicit(read(flatten(recipe.model, recipe.root))))
    guid = f"{{{uuid.uuid5(uuid.NAMESPACE_URL, 'softdock:' + stamp['key'])}}}"
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{recipe.name}-", dir=output) as folder:
            archive = _assemble(layout, recipe, guid, stamp, Path(folder))
            archive.replace(target)  # the same file system: all or nothing
    except OSError as error:
        raise FmuError(f"cannot write '{target}': {error}") from error
    seconds = time.perf_counter() - begin
    _LOGGER.info("built %s from %s in %.2f s", target, recipe.model, seconds)
    return BuildResult(target, recipe.name, recipe.model, seconds, cached=False)


def _assemble(
    layout: Layout, recipe: Recipe, guid: str, stamp: dict[str, str], folder: Path
) -> Path:
    sources = folder / "sources"
    sources.mkdir()
    for file in _runtime_files():
        (sources / file.name).write_bytes(file.read_bytes())
    (sources / "model.h").write_text(
        c_code.model_header(layout, recipe.solver, guid), encoding="utf-8"
    )
    (sources / "functions.c").write_text(c_code.functions(layout.ode), encoding="utf-8")
    library = folder / f"{recipe.name}.so"
    compile_library(sources, model_description.SOURCE_FILE, library)
    archive = folder / target_name(recipe)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        _add(zipped, "modelDescription.xml", model_description.write(layout, recipe, guid))
        _add(zipped, f"binaries/{_platform()}/{library.name}", library.read_bytes())
        for file in sorted(sources.iterdir()):
            _add(zipped, f"sources/{file.name}", file.read_bytes())
        _add(zipped, _STAMP, json.dumps(stamp, indent=2, sort_keys=True).encode())
    return archive


def target_name(recipe: Recipe) -> str:
    """File name of a recipe's FMU."""
    return f"{recipe.name}.fmu"


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
    archive.writestr(entry, content)


def _platform() -> str:
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "AMD64"}:
        raise FmuError(
            f"FMUs are built for 64-bit Linux on x86; this is {platform.system()} on"
            f" {platform.machine()}, for which FMI 2.0 names no folder that the exporter fills"
        )
    return "linux64"


def _runtime_files() -> list[Path]:
    return sorted(path for path in _RUNTIME.iterdir() if path.suffix in {".c", ".h"})


def _stamp(recipe: Recipe) -> dict[str, str]:
    """What the FMU is built from; ``key`` hashes everything that decides about its content."""
    digest = hashlib.sha256()
    own = sorted(Path(__file__).parent.glob("*.py"))
    for file in (*own, *_runtime_files(), *modelica_files(recipe.root)):
        shown = file.relative_to(recipe.root) if file.is_relative_to(recipe.root) else file.name
        content = file.read_bytes()
        digest.update(f"{shown}\0{len(content)}\0".encode() + content)
    stamp = {
        "settings": json.dumps(recipe.settings(), sort_keys=True),
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
