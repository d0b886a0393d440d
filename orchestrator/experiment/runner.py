"""Running of an experiment: cases, sweeps, figures, files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.experiment.file.experiment import Experiment, ParameterFile, Setting
from orchestrator.experiment.file.table import Time
from orchestrator.experiment.measure.case_measures import with_measures
from orchestrator.experiment.measure.outcome import CaseOutcome, ExperimentOutcome
from orchestrator.experiment.output.diagram import nested_of
from orchestrator.experiment.output.files import write_rest
from orchestrator.experiment.prepare.case_notes import case_notes
from orchestrator.experiment.prepare.chosen_step import with_chosen_steps
from orchestrator.experiment.prepare.prepare import prepare_all
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.present_names import with_present_names
from orchestrator.experiment.prepare.requested_names import (
    expect_components,
    expect_isolated,
    requested_cases,
    with_processes,
)
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader
from orchestrator.experiment.run.arming import (
    BeforeArming,
    armed,
    commanded,
    expect_armed,
    with_arming,
)
from orchestrator.experiment.run.case_runs import CaseRuns, Progress
from orchestrator.experiment.run.pace import expect_paced, realtime_of
from orchestrator.experiment.run.supervision import Findings, states_of, tracks_of
from orchestrator.experiment.validate import expect_sound
from orchestrator.recording import whole_folder
from orchestrator.simunits import expect_flawless
from orchestrator.system import System

if TYPE_CHECKING:
    from orchestrator.experiment.verification.refinement import Refinement
    from orchestrator.linearisation.step_choice.choice import StepChoice


def run_experiment(
    experiment: Experiment,
    folder: Path,
    output: Path,
    *,
    only: Collection[str] = (),
    settings: Mapping[str, Setting] | None = None,
    swaps: Mapping[str, str] | None = None,
    delays: Mapping[str, Time] | None = None,
    parameters: Sequence[ParameterFile] = (),
    isolated: Collection[str] = (),
    notes: Sequence[str] = (),
    strict: bool = False,
    verify: bool = False,
    realtime: float | None = None,
    figures: bool = False,
    progress: Progress | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results and a report.

    All systems are prepared and checked before the first is run, and nothing is written before
    that. All files take their place at one moment, when all are written: see
    :func:`~orchestrator.recording.whole_folder`. Until then each finished case's results are there
    as ``NAME.partial.FORMAT``, so a later failure loses nothing, and what a case has recorded while
    it runs is kept in the folder ``NAME.partial``, see :class:`~orchestrator.recording.Journal`.

    Parameters
    ----------
    experiment
        As read by :func:`read_experiment`.
    folder
        What its paths are relative to.
    output
        Folder for the files; made if absent.
    only
        Cases to run; empty means all. Sweeps and figures are done if all that they need is run.
    settings, swaps
        Changes by ``component.parameter`` and by ``component``, for every case that has the
        component.
    delays
        Delays by ``source -> target``, for every case that has the connection.
    parameters
        Parameter sets for every case, over its own values and under the settings; paths start from
        the present folder. A name that reaches nothing is an error.
    isolated
        Components that run in processes of their own, in every case that has them; ``"all"`` means
        every component.
    notes
        Sentences to put into every result: what was changed for this run.
    strict
        Whether FMUs whose model descriptions break rules of FMI are refused; else what does no
        harm is said in the result.
    verify
        Whether every case is run again with H/2 and H/4, and all are compared: see
        :func:`~orchestrator.verify`. Results are those of the run with H.
    realtime
        Simulated seconds per second on the wall that every case keeps to; ``None``: those of the
        experiment's ``[realtime]``, if it has one. Sweeps and finer runs keep to none.
    figures
        Whether pictures of all figures and systems are drawn as files, too.
    progress
        See :data:`Progress`.

    Raises
    ------
    SoftdockError
        If a description is wrong, a file cannot be opened, or a unit fails.
    """
    asked = RunSettings(
        values=settings or {},
        swaps=swaps or {},
        delays=delays or {},
        parameters=parameters,
        only=only,
        isolated=isolated,
        notes=notes,
        strict=strict,
        verify=verify,
        realtime=realtime,
        figures=figures,
    )
    return run_with(experiment, folder, output, asked, progress)


def run_with(
    experiment: Experiment,
    folder: Path,
    output: Path,
    settings: RunSettings,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results and a report; see :func:`run_experiment`.

    ``announce`` is told, before anything moves, which devices are going to, how far and how fast.
    """
    reader = SystemReader(folder)
    experiment, cases, choices = prepared_cases(experiment, reader, settings)
    realtime = realtime_of(experiment, settings, cases)
    expect_paced(cases, realtime)
    tell = progress or (lambda _job, _share: None)
    where = output.absolute()  # stays the same if a unit changes the working directory
    known = _known(experiment, reader.folder, cases, settings, where, tell, announce)
    twins = known.twins
    armings = armed(experiment, cases, reader, settings, twins)
    expect_armed(armings)
    refinements = _refinements(cases) if settings.verify else {}
    if experiment.animation:
        _expect_viewer(experiment, cases)
    nested: dict[str, System] = {}
    notes: dict[str, Sequence[str]] = {}
    paced = realtime is not None
    for name, case in cases.items():
        nested[name] = nested_of(case.case, reader.read(case.case), case.system, settings.values)
        chosen = choices.get(name)
        notes[name] = case_notes(experiment, case, reader, settings, chosen, paced=paced)
        if name in armings:
            notes[name] = (*notes[name], *armings[name].notes, *known.remarks.get(name, ()))
    outcome = ExperimentOutcome(experiment.title)
    with whole_folder(where) as draft:
        found = {name: Findings(twins.get(name, ()), armings.get(name)) for name in cases}
        runs = CaseRuns(experiment, where, draft, outcome, realtime, tell, found)
        finished = runs.run(cases, notes)
        results = {name: left.result for name, left in finished.items()}
        for name, case in cases.items():
            result, measured = with_measures(
                case, results, outcome, realtime.clock if realtime else None
            )
            result = with_arming(result, armings.get(name))
            outcome.cases[name] = CaseOutcome(
                case.case.title or name,
                case.system,
                nested[name],
                result,
                measured,
                finished[name].ledger,
                step_choice=choices.get(name),
                account=finished[name].account,
                arming=armings.get(name),
                twins=twins.get(name, ()),
                tracks=tracks_of(where, case, experiment.supervisor),
                states=states_of(where, case, experiment.supervisor),
            )
        if refinements:
            _verify(outcome, refinements, tell)
        if experiment.sweep:
            _sweep(experiment, cases, outcome, tell)
        write_rest(experiment, outcome, draft, output, tell, pictures=settings.figures)
    outcome.files += [output / page.relative_to(where) for page in known.pages]
    return outcome


def _expect_viewer(experiment: Experiment, cases: Mapping[str, PreparedCase]) -> None:
    from orchestrator.animation import expect_viewer
    from orchestrator.experiment.output.animations import drawable

    if drawable(experiment, cases):
        expect_viewer()


def _refinements(cases: Mapping[str, PreparedCase]) -> dict[str, Refinement]:
    from orchestrator.experiment.run.case_verification import refinements_of

    return refinements_of(cases)


def _verify(
    outcome: ExperimentOutcome, refinements: Mapping[str, Refinement], tell: Progress
) -> None:
    from orchestrator.experiment.run.case_verification import verified_case

    for name, refinement in refinements.items():
        done = partial(tell, f"{name} with H/2 and H/4")
        outcome.cases[name] = verified_case(outcome.cases[name], refinement, done)


def _sweep(
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    outcome: ExperimentOutcome,
    tell: Progress,
) -> None:
    """Run the sweeps in the short form whose cases were run."""
    from orchestrator.experiment.sweep.listed import run_listed

    for name, sweep in experiment.listed_sweeps.items():
        if sweep.case in cases:
            done = partial(tell, f"sweep {name}")
            outcome.sweeps[name] = run_listed(name, experiment, cases, done)


def _known(
    experiment: Experiment,
    folder: Path,
    cases: Mapping[str, PreparedCase],
    settings: RunSettings,
    output: Path,
    tell: Progress,
    announce: Callable[[str], None] | None,
) -> BeforeArming:
    if not any(commanded(case.system) for case in cases.values()):
        return BeforeArming()
    from orchestrator.experiment.identification.before_arming import identified_cases

    said = announce or (lambda _text: None)
    return identified_cases(experiment, folder, cases, settings, output, tell, said)


def prepared_cases(
    experiment: Experiment, reader: SystemReader, settings: RunSettings
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, StepChoice]]:
    """Prepare and check cases, and expect that what is asked of the run fits some of them.

    Steps are chosen where that is asked for.

    Names of connectors are the present ones in what is returned; choices are by case.
    """
    names = requested_cases(experiment, settings.only)
    cases = prepare_all(experiment, names, reader, settings)
    systems = {name: case.system for name, case in cases.items()}
    expect_components(settings, systems)
    expect_isolated(settings, systems)
    if settings.strict:
        expect_flawless(*systems.values())
    experiment, cases, choices = with_chosen_steps(experiment, cases)
    cases = {
        name: replace(case, system=with_processes(case.system, settings.isolated))
        for name, case in cases.items()
    }
    experiment, cases = with_present_names(experiment, cases)
    expect_sound(experiment, cases)
    return experiment, cases, choices
