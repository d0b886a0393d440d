"""What a command works on: an experiment, or a system that becomes an experiment of one case."""

from __future__ import annotations

from pathlib import Path

from orchestrator.campaign import Experiment, read_experiment
from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.prepare import prepare_all
from orchestrator.campaign.validate import expect_sound
from orchestrator.errors import LoadError
from orchestrator.system import System


def experiment_of(target: Path) -> tuple[Experiment, Path]:
    """Read an experiment and the folder that its paths are relative to.

    A folder stands for the ``experiment.toml`` in it, else for its ``SystemStructure.ssd``.
    """
    if target.is_dir():
        inside = [target / "experiment.toml", target / "SystemStructure.ssd"]
        found = next((path for path in inside if path.is_file()), None)
        if found is None:
            raise LoadError(f"{target}: expected experiment.toml or SystemStructure.ssd in it")
        target = found
    if target.suffix in {".ssd", ".ssp"}:
        if not target.is_file():
            raise LoadError(f"{target}: no such file")
        case = Case(system=target.name)
        return Experiment(title=target.stem, case={target.stem: case}), target.parent
    if target.suffix != ".toml":
        raise LoadError(f"{target}: expected a .toml, .ssd or .ssp file, or a folder with one")
    return read_experiment(target), target.parent


def systems_of(target: Path) -> dict[str, System]:
    """All systems of a target, prepared and checked, by case name."""
    experiment, folder = experiment_of(target)
    systems = prepare_all(experiment.case, folder)
    expect_sound(experiment, systems)
    return systems


def with_options(experiment: Experiment, options: RunOptions) -> Experiment:
    """Let options of the command line win over those of every case."""
    given = {key: value for key, value in options.model_dump().items() if value is not None}
    cases = {name: case.model_copy(update=given) for name, case in experiment.case.items()}
    return experiment.model_copy(update={"case": cases})
