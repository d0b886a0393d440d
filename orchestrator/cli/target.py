"""What a command works on: an experiment, or a system that becomes an experiment of one case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.authoring import is_system_file, read_system
from orchestrator.campaign import Experiment, read_experiment
from orchestrator.campaign.diagram import nested_of
from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.prepare import merged, prepare, prepare_all
from orchestrator.campaign.validate import expect_sound
from orchestrator.errors import DescriptionError, LoadError, UnknownNameError
from orchestrator.simunits import resolve
from orchestrator.system import System

_INSIDE = ("experiment.toml", "SystemStructure.ssd", "system.toml")


def experiment_of(target: Path) -> tuple[Experiment, Path]:
    """Read an experiment and the folder that its paths are relative to.

    A folder stands for the ``experiment.toml`` in it, else for its ``SystemStructure.ssd``, else
    for its ``system.toml``.
    """
    if target.is_dir():
        inside = [target / name for name in _INSIDE]
        found = next((path for path in inside if path.is_file()), None)
        if found is None:
            raise LoadError(f"{target}: expected {', '.join(_INSIDE[:-1])} or {_INSIDE[-1]} in it")
        target = found
    if not target.is_file():
        raise LoadError(f"{target}: no such file or folder")
    is_system = target.suffix == ".toml" and is_system_file(target)
    if is_system or target.suffix in {".ssd", ".ssp"}:
        case = Case(system=target.name)
        return Experiment(title=target.stem, case={target.stem: case}), target.parent
    if target.suffix != ".toml":
        raise LoadError(f"{target}: expected a .toml, .ssd or .ssp file, or a folder with one")
    return read_experiment(target), target.parent


def results_name(target: Path, folder: Path) -> str:
    """Name of the folder for the results of a target: its folder's, and its own if it is not alone.

    A folder has one ``experiment.toml``, and may have other experiments.
    """
    if target.is_dir() or target.name == _INSIDE[0]:
        return folder.resolve().name
    if target.suffix == ".toml" and not is_system_file(target):
        return f"{folder.resolve().name}-{target.stem}"
    return target.stem


def systems_of(target: Path) -> dict[str, System]:
    """All systems of a target, prepared and checked, by case name."""
    experiment, folder = experiment_of(target)
    systems = prepare_all(experiment.case, folder)
    expect_sound(experiment, systems)
    return systems


@dataclass(frozen=True, slots=True)
class Drawn:
    """A system to draw.

    Parameters
    ----------
    nested
        As it is written.
    flat
        As it is run, though no algorithm may be able to; ``None`` if it cannot be prepared.
    options
        How it is run.
    note
        Why it cannot be prepared; empty if it can.
    """

    nested: System
    flat: System | None
    options: RunOptions
    note: str = ""


def drawn_systems(target: Path, case: str | None = None) -> dict[str, Drawn]:
    """Systems of a target, or of one case of it.

    One that cannot be prepared, such as a part of a system with inputs that nothing feeds, is
    drawn as it was written if the case changes nothing in it.

    Raises
    ------
    UnknownNameError
        If there is no such case.
    DescriptionError
        If what a case changes does not exist or fit.
    """
    experiment, folder = experiment_of(target)
    if case is not None and case not in experiment.case:
        raise UnknownNameError(f"{target}: no case '{case}'; it has: {', '.join(experiment.case)}")
    found = {}
    for name, chosen in experiment.case.items():
        if case in {None, name}:
            found[name] = _drawn(name, chosen, folder, merged(chosen, experiment.defaults))
    return found


def _drawn(name: str, case: Case, folder: Path, options: RunOptions) -> Drawn:
    try:
        flat = prepare(name, case, folder, {}, {})
    except DescriptionError as error:
        if case.set or case.delays or case.swap or case.unit or case.parameters:
            raise
        nested = resolve(read_system(folder / case.system, case.variant))
        return Drawn(nested, None, options, str(error))
    return Drawn(nested_of(case, folder, flat), flat, options)


def with_options(experiment: Experiment, options: RunOptions) -> Experiment:
    """Let options of the command line win over those of every case."""
    given = {key: value for key, value in options.model_dump().items() if value is not None}
    cases = {name: case.model_copy(update=given) for name, case in experiment.case.items()}
    return experiment.model_copy(update={"case": cases})
