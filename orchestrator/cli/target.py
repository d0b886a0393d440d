"""What a command works on: an experiment, or a system that becomes an experiment of one case."""

from __future__ import annotations

from pathlib import Path

from orchestrator.authoring import is_system_file
from orchestrator.campaign import Experiment, read_experiment
from orchestrator.campaign.diagram import nested_of
from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.prepare import merged, prepare
from orchestrator.campaign.validate import expect_sound
from orchestrator.errors import LoadError, UnknownNameError
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
    if target.suffix in {".ssd", ".ssp", ".toml"} and not target.is_file():
        raise LoadError(f"{target}: no such file")
    is_system = target.suffix == ".toml" and is_system_file(target)
    if is_system or target.suffix in {".ssd", ".ssp"}:
        case = Case(system=target.name)
        return Experiment(title=target.stem, case={target.stem: case}), target.parent
    if target.suffix != ".toml":
        raise LoadError(f"{target}: expected a .toml, .ssd or .ssp file, or a folder with one")
    return read_experiment(target), target.parent


def systems_of(target: Path) -> dict[str, System]:
    """All systems of a target, prepared and checked, by case name."""
    experiment, folder = experiment_of(target)
    systems = {name: prepare(name, case, folder, {}, {}) for name, case in experiment.case.items()}
    expect_sound(experiment, systems)
    return systems


def drawn_systems(
    target: Path, case: str | None = None
) -> dict[str, tuple[System, System, RunOptions]]:
    """Systems of a target, or of one case of it: flat, as they are nested, and how they are run.

    They are prepared, and may be such that no algorithm can run them.

    Raises
    ------
    UnknownNameError
        If there is no such case.
    """
    experiment, folder = experiment_of(target)
    if case is not None and case not in experiment.case:
        raise UnknownNameError(f"{target}: no case '{case}'; it has: {', '.join(experiment.case)}")
    found = {}
    for name, chosen in experiment.case.items():
        if case in {None, name}:
            flat = prepare(name, chosen, folder, {}, {})
            options = merged(chosen, experiment.defaults)
            found[name] = (flat, nested_of(chosen, folder, flat), options)
    return found


def with_options(experiment: Experiment, options: RunOptions) -> Experiment:
    """Let options of the command line win over those of every case."""
    given = {key: value for key, value in options.model_dump().items() if value is not None}
    cases = {name: case.model_copy(update=given) for name, case in experiment.case.items()}
    return experiment.model_copy(update={"case": cases})
