"""What a command works on: an experiment, or a system that becomes an experiment of one case."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from orchestrator.author import is_system_file
from orchestrator.core.diagnostics import DescriptionError, LoadError, UnknownNameError, choices_for
from orchestrator.core.ssp.archive.sources import EXPERIMENT_FILE, main_file
from orchestrator.core.structs import Struct
from orchestrator.core.system import System
from orchestrator.core.system.hierarchy import unopened_notes
from orchestrator.core.system.source import packed_code_unopened
from orchestrator.study import Experiment
from orchestrator.study.experiment import Case, RunOptions

if TYPE_CHECKING:
    from orchestrator.pictures.drawing import Facts
    from orchestrator.study.prepare.prepared_case import PreparedCase, SystemReader


#: Of the names of cases.
_LONGEST = 100


def experiment_of(target: Path) -> tuple[Experiment, Path]:
    """Read an experiment and the folder that its paths are relative to."""
    target = main_file(target)
    if is_system(target):
        # what names of cases do not have becomes `_` or its letter
        plain = normalize("NFKD", target.stem).encode("ascii", "ignore").decode()
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", plain).lstrip(".-")[:_LONGEST] or "system"
        case = {name: Case(system=target.name)}
        return Experiment(title=target.stem, case=case), target.parent
    if target.suffix != ".toml":
        raise LoadError.in_file(target, "expected a .toml, .ssd or .ssp file, or a folder with one")
    from orchestrator.study import read_experiment

    return read_experiment(target), target.parent


def is_system(target: Path) -> bool:
    """Whether a file is a system, and no experiment."""
    return target.suffix in {".ssd", ".ssp"} or (
        target.suffix == ".toml" and is_system_file(target)
    )


def expect_case(target: Path, experiment: Experiment, name: str) -> None:
    """Expect that an experiment has a case, or raise UnknownNameError that lists those it has."""
    if name not in experiment.case:
        raise UnknownNameError.in_file(
            target,
            f"no case '{name}'{choices_for(name, experiment.case, 'case')}",
        )


def chosen_name(target: Path, experiment: Experiment, case: str | None) -> str:
    """Name of the requested case, which must exist, or of the first one."""
    if case is not None:
        expect_case(target, experiment, case)
    return case or next(iter(experiment.case))


def results_name(target: Path, folder: Path) -> str:
    """Name of the folder for the results of a target: its folder's, and its own if it is not alone.

    A folder has one ``experiment.toml``, and may have other experiments.
    """
    if target.is_dir() or target.name == EXPERIMENT_FILE:
        return folder.resolve().name
    if target.suffix == ".toml" and not is_system_file(target):
        return f"{folder.resolve().name}-{target.stem}"
    return target.stem


def systems_of(target: Path) -> dict[str, System]:
    """All systems of a target, prepared and checked, by case name."""
    experiment, folder = experiment_of(target)
    from orchestrator.study.prepare.prepare import prepare_all
    from orchestrator.study.prepare.prepared_case import SystemReader

    cases = prepare_all(experiment, experiment.case, SystemReader(folder))
    from orchestrator.study.reader import expect_sound

    expect_sound(experiment, cases)
    return {name: case.system for name, case in cases.items()}


def analysed_case(target: Path, case: str | None, overrides: RunOptions) -> PreparedCase:
    """Prepare the requested case, or the first one; the caller's options override its own."""
    from orchestrator.study.prepare.prepare import merged
    from orchestrator.study.prepare.prepared_case import PreparedCase

    experiment = experiment_of(target)[0]
    name = chosen_name(target, experiment, case)
    options = merged(with_options(experiment, overrides).case[name], experiment.defaults)
    return PreparedCase(name, experiment.case[name], options, systems_of(target)[name])


class Drawn(Struct):
    """A system to draw.

    nested: As it is written.
    facts: Of it as it is run; none if it cannot be prepared.
    note: Why it cannot be prepared or run, and which code was not opened; may be empty.
    """

    nested: System
    facts: Facts
    note: str


def drawn_systems(target: Path, case: str | None = None) -> dict[str, Drawn]:
    """Systems of a target, or of one case of it.

    One that cannot be prepared, such as a part of a system with inputs that nothing feeds, is
    drawn as it was written if the case changes nothing in it.
    """
    experiment, folder = experiment_of(target)
    if case is not None:
        expect_case(target, experiment, case)
    from orchestrator.study.prepare.prepared_case import SystemReader

    reader, names = SystemReader(folder), [case] if case else experiment.case
    with packed_code_unopened():
        return {
            name: _drawn_system(name, experiment.case[name], reader, experiment) for name in names
        }


def _drawn_system(name: str, case: Case, reader: SystemReader, experiment: Experiment) -> Drawn:
    from orchestrator.pictures.diagram import facts_of, nested_of
    from orchestrator.pictures.drawing import Facts
    from orchestrator.study.prepare.prepare import merged, prepare_with

    try:
        flat = prepare_with(name, case, reader, rig=experiment)
    except DescriptionError as error:
        if case.set or case.delays or case.swap or case.devices or case.unit or case.parameters:
            raise
        nested = reader.read(case).nested
        return Drawn(nested, Facts(), "\n".join((str(error), *unopened_lines(nested))))
    facts, note = facts_of(flat, merged(case, experiment.defaults))
    notes = [*unopened_lines(flat), *([note] if note else [])]
    return Drawn(nested_of(case, reader.read(case), flat), facts, "\n".join(notes))


def unopened_lines(system: System) -> list[str]:
    """Say which components are code of an archive that was not opened."""
    return [f"component '{name}': {note}" for name, note in unopened_notes(system).items()]


def with_options(experiment: Experiment, options: RunOptions) -> Experiment:
    """Let options of the command line win over those of every case."""
    values_given = {key: value for key, value in options.model_dump().items() if value is not None}
    cases = {name: case.model_copy(update=values_given) for name, case in experiment.case.items()}
    return experiment.model_copy(update={"case": cases})
