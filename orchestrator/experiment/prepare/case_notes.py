"""What the result of a case says of how it was prepared, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.prepare.hardware import Hardware, told_otherwise
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader

if TYPE_CHECKING:
    from orchestrator.linearisation.step_choice.choice import StepChoice


def case_notes(
    experiment: Experiment,
    case: PreparedCase,
    reader: SystemReader,
    settings: RunSettings,
    choice: StepChoice | None,
) -> tuple[str, ...]:
    """Return the notes of a case, most important first.

    Parameters
    ----------
    experiment, case
        As they are run.
    reader
        Of the systems as they are written.
    settings
        What is asked of the run; its own notes are among those returned.
    choice
        How the case's step was chosen, where that was asked for.
    """
    notes = tuple(settings.notes)
    hardware = Hardware.of(experiment, reader.folder)
    notes += tuple(f"{each.place} {each.message}" for each in told_otherwise(case.system, hardware))
    if experiment.derived or settings.values:
        written = reader.read(case.case).written_flat
        from orchestrator.experiment.prepare.dependents import kept_values

        notes += tuple(kept_values(experiment.derived, written, case.system, settings.values))
    if choice is None:
        return notes
    from orchestrator.experiment.prepare.chosen_step import choice_note

    return (choice_note(choice), *notes)
