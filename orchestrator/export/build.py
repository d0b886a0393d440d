"""Building of FMUs: one, or many at once."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, partial
from pathlib import Path

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.structs import Struct, replace
from orchestrator.export.archive.fmu_archive import (
    dae_hash,
    hash_of,
    stamp,
    stored_key,
    target_name,
    write_fmu,
)
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.dae.residual_dae import ResidualDae
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.front_end_process import instantiated
from orchestrator.export.modelica.frontend import flatten_flat, flatten_place
from orchestrator.export.modelica.source.class_place import place_by_name, place_in_file
from orchestrator.export.modelica.source.flat_text import plain_text, read_flat
from orchestrator.export.modelica.source.text import Experiment, ModelicaText
from orchestrator.export.recipe import Recipe, Solver, platforms_of

_LOGGER = logging.getLogger(__name__)


class BuildResult(Struct):
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
        """The FMU; the first if several versions of FMI were requested."""
        return next(iter(self.files.values()))


def build_recipe(
    recipe: str | Path | Recipe,
    output: str | Path,
    *,
    fmi: Sequence[str] = (),
    force: bool = False,
) -> BuildResult:
    """Build the FMUs of a recipe.

    Parameters
    ----------
    recipe
        TOML file, see ``fmus/README.md``; or what was read from one and changed.
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
    settings = recipe if isinstance(recipe, Recipe) else Recipe.read(Path(recipe))
    settings = replace(settings, fmi=tuple(fmi) or settings.fmi)
    if settings.front_end == "none" and settings.file is not None:
        flat, source_name = read_flat(settings.file), settings.file.name
        completed = settings.completed(
            ModelicaText(settings.file, flat.text).experiment(flat.model)
        )
        key = hash_of([(source_name, flat.text.encode())])
        make_flat = partial(flatten_flat, flat, source_name)
        return _build(completed, key, lambda: read(make_flat()), Path(output), force=force)
    location = (
        place_by_name(settings.model, settings.roots)
        if settings.file is None
        else place_in_file(settings.file, settings.model, settings.roots)
    )
    completed = settings.completed(ModelicaText(location.file).experiment(location.local_name))
    files = [(location.relative_name(file), file.read_bytes()) for file in location.files]

    def make() -> ResidualDae:
        if settings.front_end != "omc":
            return read(flatten_place(location))
        text = instantiated(location.model, location.file, location.roots)
        return read(flatten_flat(plain_text(text), f"{location.model} as omc makes it flat"))

    return _build(completed, hash_of(files), make, Path(output), force=force)


def build_model(
    model: str | None,
    root: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    name: str | None = None,
    solver: Solver | None = None,
    fmi: Sequence[str] = ("2.0",),
    experiment: Experiment | None = None,
    platforms: Sequence[str] = (),
    sources: bool = True,
    force: bool = False,
) -> BuildResult:
    """Build the FMU of a Modelica class, without a recipe file.

    Parameters
    ----------
    model
        Qualified class name, such as ``SpaceDocking.Bodies.Chaser``; None if the first root is a
        file that holds one model.
    root
        Folders that contain the packages, the Modelica Standard Library for example. The first may
        be a ``.mo`` file: then its own package is found from it.
    output
        Folder for ``<name>.fmu``; created if missing.
    name
        Name of the FMU; default the last part of the class name.
    solver
        Default: Dormand-Prince with error control.
    fmi
        Versions of FMI, ``"2.0"`` and ``"3.0"``.
    experiment
        Default experiment; what it leaves out is that of the class's experiment annotation.
    platforms
        That the FMU has binaries for, by their names in FMI 2.0 or 3.0, such as ``"win64"`` or
        ``"x86_64-windows"``; default: this machine's. Others need the extra ``cross``.
    sources
        Whether the C code goes into the FMU.
    force
        Build even if nothing changed.

    Raises
    ------
    DescriptionError, ModelicaError, FmuError
        As :func:`build_recipe`.
    """
    roots = tuple(map(Path, (root,) if isinstance(root, str | Path) else root))
    if roots and roots[0].suffix == ".mo":
        recipe = Recipe.of_file(roots[0], model, roots[1:])
    elif model is None:
        raise DescriptionError("model: expected the name of a class, or a .mo file as the root")
    else:
        recipe = Recipe(model, roots, model.rpartition(".")[2])
    recipe = replace(
        recipe,
        name=name or recipe.name,
        solver=solver or Solver(),
        experiment=experiment or Experiment(),
        fmi=tuple(fmi),
        platforms=tuple(platforms),
        sources=sources,
    )
    return build_recipe(recipe, output, force=force)


def build_dae(
    dae: ResidualDae,
    output: str | Path,
    *,
    name: str | None = None,
    solver: Solver | None = None,
    fmi: Sequence[str] = ("2.0",),
    experiment: Experiment | None = None,
    platforms: Sequence[str] = (),
    sources: bool = True,
    force: bool = False,
) -> BuildResult:
    """Build the FMU of a plant that was written in Python with CasADi.

    Parameters
    ----------
    dae
        Its equations and variables.
    output, solver, fmi, platforms, sources, force
        As for :func:`build_model`.
    name
        Name of the FMU; default the last part of the model's name.
    experiment
        Default experiment; by default from 0 to 1 s.

    Raises
    ------
    DescriptionError, FmuError
        As :func:`build_recipe`.
    ModelicaError
        If the equations cannot be solved for the unknowns; the message names them.
    """
    recipe = Recipe(
        dae.name,
        (),
        name or dae.name.rpartition(".")[2],
        solver or Solver(),
        experiment or Experiment(),
        tuple(fmi),
        platforms=tuple(platforms),
        sources=sources,
    ).completed(Experiment())
    return _build(recipe, dae_hash(dae), lambda: dae, Path(output), force=force)


def _build(
    recipe: Recipe, source: str, make: Callable[[], ResidualDae], output: Path, *, force: bool
) -> BuildResult:
    files = {fmi: output / target_name(recipe, fmi) for fmi in recipe.fmi}
    layout = cache(lambda: Layout(make_explicit(make())))
    return write_changed(
        recipe, source, lambda *subject: write_fmu(layout(), recipe, *subject), files, force=force
    )


def write_changed(
    recipe: Recipe,
    source: str,
    write: Callable[[str, dict[str, str], Path], None],
    files: Mapping[str, Path],
    *,
    force: bool = False,
) -> BuildResult:
    """Write the FMUs that are not there yet, or were built from something else."""
    begin = time.perf_counter()
    platforms = platforms_of(recipe.platforms)
    stamps = {
        fmi: stamp(recipe.model, source, recipe.settings(fmi), platforms) for fmi in recipe.fmi
    }
    missing = [fmi for fmi in recipe.fmi if force or stored_key(files[fmi]) != stamps[fmi]["key"]]
    for fmi in missing:
        write(fmi, stamps[fmi], files[fmi])
    seconds = time.perf_counter() - begin
    if missing:
        paths = ", ".join(str(files[fmi]) for fmi in missing)
        _LOGGER.info("built %s from %s in %.2f s", paths, recipe.model, seconds)
    return BuildResult(files, recipe.name, recipe.model, seconds, cached=not missing)


class BuildJob(Struct):
    """A recipe and the folder for its FMUs."""

    recipe: Recipe
    output: Path


def build_all(
    jobs: Sequence[BuildJob],
    *,
    workers: int | None = None,
    force: bool = False,
    done: Callable[[int], None] | None = None,
) -> list[BuildResult | SoftdockError]:
    """Build FMUs in parallel; one that fails does not stop the others.

    Each runs in a process: none waits for another.

    Parameters
    ----------
    workers
        Builds at one time; default the number of processors.
    force
        Build even if nothing changed.
    done
        Called with the number of finished builds after each.

    Returns
    -------
    list
        In the order of the jobs: what each gave, or why it failed.
    """
    workers = min(len(jobs), workers or os.cpu_count() or 1)
    if not operating_system.has_process_pools():
        workers = 1
    report = done or (lambda _: None)
    outcomes: list[BuildResult | SoftdockError] = []
    if workers <= 1:
        for job in jobs:
            outcomes.append(_outcome(partial(_run, job, force)))
            report(len(outcomes))
        return outcomes
    context = multiprocessing.get_context(operating_system.POOL_START)
    context.set_forkserver_preload([__name__])  # its imports take longer than a small build
    # the server keeps the environment of its first caller, whose compiler may be another
    initial_arguments = (dict(os.environ),)
    with ProcessPoolExecutor(workers, context, _take_environment, initial_arguments) as pool:
        futures = [pool.submit(_run, job, force) for job in jobs]
        for finished, _ in enumerate(as_completed(futures), start=1):
            report(finished)
    return [_outcome(future.result) for future in futures]


def _take_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _run(job: BuildJob, force: bool) -> BuildResult:  # noqa: FBT001 - called by the pool alone
    return build_recipe(job.recipe, job.output, force=force)


def _outcome(make: Callable[[], BuildResult]) -> BuildResult | SoftdockError:
    try:
        return make()
    except SoftdockError as error:
        return error
