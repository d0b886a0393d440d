"""Build recipes, one TOML file per FMU, and the platforms that FMUs are built for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from orchestrator.core.diagnostics import DescriptionError, FmuError, LoadError, UnknownNameError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.diagnostics.validation import Table, valid
from orchestrator.core.files.plain_data import toml_data
from orchestrator.core.operating_system.platforms import PLATFORMS, Platform, machine
from orchestrator.core.structs import Struct, field, replace
from orchestrator.export.modelica.source.class_place import place_in_file
from orchestrator.export.modelica.source.flat_text import read_flat
from orchestrator.export.modelica.source.text import Experiment

_HERE = ("linux64", "win64")  # hosts on which FMUs are built


def this_platform() -> Platform:
    """Platform of this machine."""
    for platform in PLATFORMS:
        if platform.is_here and platform.name in _HERE:
            return platform
    raise FmuError(
        "FMUs are built on 64-bit Linux and Windows on x86; this is"
        f" {' on '.join(machine())}, for which the exporter fills no folder"
    )


def platforms_of(names: Iterable[str]) -> tuple[Platform, ...]:
    """Platforms by their names in FMI 2.0 or FMI 3.0, each once; of none: that of this machine."""
    by_name = {
        name: platform for platform in PLATFORMS for name in (platform.name, platform.long_name)
    }
    listed = list(names)
    unknown = [name for name in listed if name not in by_name]
    if unknown:
        raise UnknownNameError(
            f"platform {', '.join(map(repr, unknown))}: expected one of {', '.join(by_name)}"
        )
    return tuple(dict.fromkeys(by_name[name] for name in listed)) or (this_platform(),)


def names_of(platforms: Sequence[Platform]) -> list[str]:
    """Names in FMI 2.0."""
    return [platform.name for platform in platforms]


_Number = StrictInt | StrictFloat


class FmuTable(Table):
    """``[fmu]``: a Modelica class, the folders of its packages, the name of the FMU."""

    model: StrictStr
    root: StrictStr | Annotated[tuple[StrictStr, ...], Field(min_length=1)] = "../modelica"
    name: StrictStr | None = None

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders."""
        return (self.root,) if isinstance(self.root, str) else self.root


class FmiTable(Table):
    """``[fmi]``: the versions of the archives."""

    versions: tuple[StrictStr, ...] = ("2.0",)


class SolverTable(Table):
    """``[solver]``: how a co-simulation FMU integrates."""

    method: StrictStr = "dopri5"
    max_step: _Number | None = None
    tolerance: _Number | None = None


class ExperimentTable(Table):
    """``[experiment]``: what an importer may propose."""

    start_time: _Number | None = None
    stop_time: _Number | None = None
    step_size: _Number | None = None


class RecipeFile(Table):
    """Everything that a recipe says."""

    fmu: FmuTable
    fmi: FmiTable = FmiTable()
    solver: SolverTable = SolverTable()
    experiment: ExperimentTable = ExperimentTable()


_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_LONGEST_STEPS = {
    "dopri5": math.inf,
    "cvode": math.inf,
    "rk4": 1e-3,
    "verlet": 1e-3,
}  # of each method, unless said otherwise
METHODS = tuple(_LONGEST_STEPS)
FIXED_STEP_METHODS = ("rk4", "verlet")
FMI_VERSIONS = ("2.0", "3.0")
DEFAULT_TOLERANCE = 1e-8


class Solver(Struct):
    """How a co-simulation FMU integrates.

    Attributes
    ----------
    method
        ``dopri5``: Dormand-Prince 5(4) with error control. ``cvode``: backward differentiation
        formulas of SUNDIALS, for stiff models. ``rk4``: fixed steps, for real time.
        ``verlet``: the same for what swings stiffly without much damping, with one evaluation a
        step; it takes states whose derivative is another state as positions.
    max_step
        Longest internal step in seconds; default: 1 ms for ``rk4`` and ``verlet``, any
        for the others.
    tolerance
        Relative tolerance where the importer gives none; default: that of the model's experiment
        annotation, else 1e-8.
    """

    method: str = "dopri5"
    max_step: float | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise DescriptionError(
                f"solver.method: expected one of {', '.join(METHODS)}, got '{self.method}'"
            )
        max_step = self.max_step
        if max_step is not None and not (math.isfinite(max_step) and max_step > 0):
            raise DescriptionError(
                f"solver.max_step: expected a positive number of seconds, got {self.max_step}"
            )
        if self.tolerance is not None and not 0 < self.tolerance < 1:
            raise DescriptionError(
                f"solver.tolerance: expected a number between 0 and 1, got {self.tolerance}"
            )

    @property
    def is_implicit(self) -> bool:
        """The method asks for the Jacobian, and its library is linked into the FMU."""
        return self.method == "cvode"

    @property
    def relative_tolerance(self) -> float:
        """The tolerance, with the default filled in."""
        return DEFAULT_TOLERANCE if self.tolerance is None else self.tolerance

    @property
    def longest_step(self) -> float:
        """Longest internal step in seconds; may be infinite."""
        return _LONGEST_STEPS[self.method] if self.max_step is None else self.max_step


class Recipe(Struct):
    """What to build: a Modelica class, where its package lies, and how the FMU shall integrate.

    Attributes
    ----------
    roots
        Folders that contain the packages, such as the model's own and the Modelica
        Standard Library.
    name
        File name of the FMU without suffix, and its modelIdentifier.
    fmi
        Versions of FMI: one archive for each, since both want their modelDescription.xml at the
        root.
    platforms
        Names of the platforms that the archive has binaries for; default: this machine's.
    sources
        Whether the archive has the C code.
    file
        File of the class; default: where its name says that it lies below the roots.
    front_end
        Who makes the class flat: ``rumoca``, ``omc`` (OpenModelica's compiler, which must be
        installed), or ``none`` if the file holds a flat class.
    """

    model: str
    roots: tuple[Path, ...]
    name: str
    solver: Solver = field(default_factory=Solver)
    experiment: Experiment = field(default_factory=Experiment)
    fmi: tuple[str, ...] = ("2.0",)
    file: Path | None = None
    platforms: tuple[str, ...] = ()
    sources: bool = True
    front_end: Literal["rumoca", "omc", "none"] = "rumoca"

    def __post_init__(self) -> None:
        if not _QUALIFIED.fullmatch(self.model):
            raise DescriptionError(
                f"model: expected a qualified class name such as SpaceDocking.Bodies.Chaser, got"
                f" '{self.model}'"
            )
        if not _IDENTIFIER.fullmatch(self.name):
            raise DescriptionError(
                f"name: expected letters, digits and '_' (an identifier), got '{self.name}'"
            )
        unknown = [version for version in self.fmi if version not in FMI_VERSIONS]
        if unknown or not self.fmi or len(set(self.fmi)) != len(self.fmi):
            raise DescriptionError(
                f"fmi.versions: expected one or both of {', '.join(FMI_VERSIONS)}, got"
                f" {list(self.fmi)}"
            )

    @classmethod
    @reads("expected a recipe")
    def read(cls, path: Path) -> Recipe:
        """Read a recipe.

        Raises
        ------
        LoadError
            If the file is missing or not TOML.
        DescriptionError
            If keys are missing, unknown or of a wrong type; all problems at once.
        """
        try:
            content = toml_data(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise LoadError(f"recipe '{path}' cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise LoadError(f"recipe '{path}' is not valid TOML: {error}") from error
        table = valid(RecipeFile, content, path)
        try:
            return cls(
                table.fmu.model,
                tuple((path.parent / root).resolve() for root in table.fmu.roots),
                table.fmu.model.rpartition(".")[2] if table.fmu.name is None else table.fmu.name,
                Solver(**dict(table.solver)),
                Experiment(**dict(table.experiment)),
                table.fmi.versions,
            )
        except DescriptionError as error:
            raise error.of_file(path) from None

    @classmethod
    def of_file(cls, file: Path, model: str | None, roots: tuple[Path, ...]) -> Recipe:
        """The recipe that builds a model of a Modelica file; None: the only one in it.

        Raises
        ------
        ModelicaError
            If the file holds no such model, or several and none is named.
        """
        location = place_in_file(file, model, roots)
        return cls(location.model, roots, location.model.rpartition(".")[2], file=file)

    @classmethod
    def of_flat(cls, file: Path) -> Recipe:
        """The recipe that builds the flat class of a file, as OpenModelica prints it.

        Raises
        ------
        ModelicaError
            If the file cannot be read or has no class.
        """
        model = read_flat(file).title
        return cls(model, (), model.rpartition(".")[2], file=file, front_end="none")

    def completed(self, annotation: Experiment) -> Recipe:
        """The recipe with what the model's own experiment annotation says where it is silent."""
        tolerance = self.solver.tolerance
        solver = replace(
            self.solver, tolerance=annotation.tolerance if tolerance is None else tolerance
        )
        experiment = self.experiment.or_else(annotation)
        _ = experiment.interval  # refused here rather than after the equations are read
        return replace(self, solver=solver, experiment=experiment)

    def settings(self, fmi: str) -> dict[str, Any]:
        """What decides about the content of one FMU, without places on this machine."""
        return {
            "fmi": fmi,
            "model": self.model,
            "name": self.name,
            "solver": asdict(self.solver),
            "experiment": asdict(self.experiment),
            "platforms": names_of(platforms_of(self.platforms)),
            "sources": self.sources,
            **({} if self.front_end == "rumoca" else {"front_end": self.front_end}),
        }


def find_recipes(folder: Path) -> list[Path]:
    """Recipes (``*.toml``) directly in a folder, sorted by name.

    Raises
    ------
    LoadError
        If the folder does not exist.
    """
    if not folder.is_dir():
        raise LoadError(f"recipe folder '{folder}' does not exist; expected a folder of TOML files")
    return sorted(path for path in folder.glob("*.toml") if path.is_file())
