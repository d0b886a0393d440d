"""What the result of a case says of how it was prepared, before it is run."""

from __future__ import annotations

from orchestrator.core.wings import of_wing
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings
from orchestrator.study.prepare.system_reader import SystemReader
from orchestrator.study.section import Section


def case_notes(
    experiment: Experiment,
    case: PreparedCase,
    reader: SystemReader,
    settings: RunSettings,
    choice: Section | None,
) -> tuple[str, ...]:
    """Return the notes of a case, most important first."""
    notes = tuple(settings.notes)
    if experiment.names_twins:
        notes += of_wing("rig.notes_on_delays")(case.system, experiment, reader.folder)
    if experiment.derived or settings.values:
        written = reader.read(case.case).written_flat
        from orchestrator.study.prepare.dependents import kept_values

        notes += tuple(kept_values(experiment.derived, written, case.system, settings.values))
    return notes if choice is None else (choice.note, *notes)
