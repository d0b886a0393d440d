"""Running of an experiment: cases, sweeps, figures, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Unpack

from orchestrator.core.diagnostics import SoftdockError, enumerated
from orchestrator.core.display import progress_bar
from orchestrator.core.recording import whole_folder
from orchestrator.study.experiment import Experiment
from orchestrator.study.extension import Look, Progress, Run, loaded
from orchestrator.study.measure.measures import with_measures
from orchestrator.study.measure.outcome import CaseOutcome, ExperimentOutcome, write_summary
from orchestrator.study.prepare.prepare import case_notes
from orchestrator.study.prepare.prepared_case import RunKeywords, RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases
from orchestrator.study.run.case_runs import run_cases
from orchestrator.study.run.extension_calls import begun, ended


def run_experiment(
    experiment: Experiment,
    folder: str | Path,
    output: str | Path,
    *,
    progress: Progress | None = None,
    **settings: Unpack[RunKeywords],
) -> ExperimentOutcome:
    """Run an experiment and write results and a report.

    All systems are prepared and checked before the first is run, and nothing is written before
    that. A second run into a folder is refused while the first is under way. All files take their
    place at one moment, when all are written: see
    :func:`~orchestrator.core.recording.whole_folder`. Until then each finished case's results are
    there as ``NAME.partial.FORMAT``, so a later failure loses nothing, and what a case has recorded
    while it runs is kept in the folder ``NAME.partial``, see
    :class:`~orchestrator.core.recording.Journal`.

    Parameters
    ----------
    experiment
        As read by :func:`read_experiment`.
    folder
        What its paths are relative to.
    output
        Folder for the files; made if absent.
    progress
        See :data:`Progress`. ``None``: a notebook shows a bar.
    **settings
        Those of :class:`~orchestrator.study.prepare.prepared_case.RunSettings`.

    Raises
    ------
    SoftdockError
        If a description is wrong, a file cannot be opened, or a unit fails.
    """
    run_settings = RunSettings(**settings)
    with progress_bar(experiment.title) as bar:
        report = None if bar is None else lambda job, share: bar(share, job)
        return run_with(experiment, Path(folder), Path(output), run_settings, progress or report)


def run_with(
    experiment: Experiment,
    folder: Path,
    output: Path,
    settings: RunSettings,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
    look: Look | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results and a report; see :func:`run_experiment`.

    ``announce`` receives, before anything moves, which devices will, how far and how fast.
    ``look`` is entered for the steps of each case.
    """
    reader = SystemReader(folder, settings.platform)
    experiment, cases, choices = prepared_cases(experiment, reader, settings)
    outcome = ExperimentOutcome(experiment.title)
    tell, announce_text = progress or (lambda _job, _share: None), announce or (lambda _text: None)
    results_folder = output.absolute()  # stays the same if a unit changes the working directory
    run = Run(experiment, settings, reader, cases, results_folder, tell, announce_text, outcome)
    run.look = look
    for name, case in cases.items():
        run.notes[name] += case_notes(experiment, case, reader, settings, choices.get(name))
    extensions, left_out = loaded(experiment, settings, cases)
    for remarks in run.remarks.values():
        remarks.extend(left_out)
    with whole_folder(results_folder, alone=True) as run.draft:
        for extension in extensions:
            begun(run, extension)
        results = run_cases(run, extensions)
        for name, case in run.cases.items():
            clock = run.realtime.clock if run.realtime else None
            result, measured = with_measures(case, results, outcome, clock)
            title, sections = case.case.title or name, run.sections[name]
            outcome.cases[name] = CaseOutcome(title, case.system, result, measured, sections)
            if name in choices:
                run.add(name, choices[name])
        with _recordings_named(run, output):
            for extension in extensions:
                ended(run, extension)
            write_summary(outcome, run.draft, output)
    return outcome


@contextmanager
def _recordings_named(run: Run, output: Path) -> Iterator[None]:
    """Add to an error of writing, as on a full disk, which recordings of the run are kept."""
    try:
        yield
    except SoftdockError as error:
        names = [path.name for case in run.cases for path in run.output.glob(f"{case}.partial.*")]
        if not isinstance(error.__cause__, OSError) or not names:
            raise
        listed = enumerated(sorted(names))
        raise SoftdockError(
            f"{error}; {output} keeps the recordings: {listed}"
        ) from error.__cause__
