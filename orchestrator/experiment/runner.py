"""Running of an experiment: cases, sweeps, figures, files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.analysis import EnergyLedger
from orchestrator.animation import expect_viewer
from orchestrator.diagnostics import DescriptionError, UnknownNameError
from orchestrator.experiment.file.experiment import Case, Experiment, ParameterFile, Setting
from orchestrator.experiment.file.table import Time
from orchestrator.experiment.measure.ledgers import (
    LedgerRequest,
    ledger_of,
    ledger_request,
    with_series,
    with_signals,
)
from orchestrator.experiment.measure.measures import evaluate
from orchestrator.experiment.measure.outcome import (
    CaseOutcome,
    ExperimentOutcome,
    Measured,
)
from orchestrator.experiment.output.animations import drawable
from orchestrator.experiment.output.diagram import nested_of
from orchestrator.experiment.output.files import write_rest
from orchestrator.experiment.prepare.chosen_step import choice_note, with_chosen_steps
from orchestrator.experiment.prepare.dependents import kept_values
from orchestrator.experiment.prepare.prepare import EVERY, prepare_all, with_processes
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.present_names import with_present_names
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.simulate import FailedRunError, InterruptedRun
from orchestrator.experiment.prepare.system_reader import ReadSystem, SystemReader
from orchestrator.experiment.run.arming import armed, expect_armed, with_arming
from orchestrator.experiment.run.case_account import with_account
from orchestrator.experiment.run.case_run import run_case
from orchestrator.experiment.run.case_verification import refinements_of, verified_case
from orchestrator.experiment.run.emulation import emulating
from orchestrator.experiment.run.pace import is_paced, realtime_of
from orchestrator.experiment.run.recorders import (
    journal_of,
    replaced_by,
    views,
    write_partial,
    write_views,
)
from orchestrator.experiment.sweep.listed import run_listed
from orchestrator.experiment.validate import expect_sound
from orchestrator.realtime import RealTime
from orchestrator.recording import Draft, Result, whole_folder
from orchestrator.simunits import expect_flawless
from orchestrator.system import Endpoint, System, nearest

if TYPE_CHECKING:
    from orchestrator.linearisation.run_account import RunAccount
    from orchestrator.linearisation.step_choice.choice import StepChoice

#: Called with the name of a job and the share of it that is done, 0 to 1.
Progress = Callable[[str, float], None]


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
    progress: Progress | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results, pictures and a report.

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
    )
    return run_with(experiment, folder, output, asked, progress)


def run_with(
    experiment: Experiment,
    folder: Path,
    output: Path,
    settings: RunSettings,
    progress: Progress | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results, pictures and a report; see :func:`run_experiment`."""
    reader = SystemReader(folder)
    experiment, cases, choices = prepared_cases(experiment, reader, settings)
    realtime = realtime_of(experiment, settings, cases)
    armings = armed(experiment, cases, reader, settings)
    expect_armed(armings)
    refinements = refinements_of(cases) if settings.verify else {}
    chosen = {name: case.case for name, case in cases.items()}
    if drawable(experiment, chosen):
        expect_viewer()
    nested: dict[str, System] = {}
    told: dict[str, list[str]] = {}
    for name, case in cases.items():
        read = reader.read(case.case)
        nested[name] = nested_of(case.case, read, case.system, settings.values)
        told[name] = list(_notes(experiment, case, read, settings, realtime))
        told[name] += armings[name].notes if name in armings else ()
        if name in choices:
            told[name] = [choice_note(choices[name]), *told[name]]
    tell = progress or (lambda _job, _share: None)
    outcome = ExperimentOutcome(experiment.title)
    where = output.absolute()  # stays the same if a unit changes the working directory
    with whole_folder(where) as draft:
        accounts: dict[str, RunAccount | None] = {}
        finished = _run_cases(
            cases, experiment, (where, draft), told, outcome, accounts, tell, realtime
        )
        results = {name: result for name, (result, _) in finished.items()}
        for name, case in cases.items():
            result, measured = _measured(case, results, outcome)
            result = with_arming(result, armings.get(name))
            title, ledger = case.case.title or name, finished[name][1]
            outcome.cases[name] = CaseOutcome(
                title,
                case.system,
                nested[name],
                result,
                measured,
                ledger,
                step_choice=choices.get(name),
                account=accounts[name],
                arming=armings.get(name),
            )
        for name, refinement in refinements.items():
            done = partial(tell, f"{name} with H/2 and H/4")
            outcome.cases[name] = verified_case(outcome.cases[name], refinement, done)
        for name, sweep in experiment.listed_sweeps.items():
            if sweep.case in cases:
                done = partial(tell, f"sweep {name}")
                outcome.sweeps[name] = run_listed(name, experiment, cases, done)
        write_rest(experiment, outcome, draft.folder, output, tell)
    return outcome


def _notes(
    experiment: Experiment,
    case: PreparedCase,
    read: ReadSystem,
    settings: RunSettings,
    realtime: RealTime | None,
) -> Iterator[str]:
    """Yield what was asked of a run and does not follow from its file."""
    yield from settings.notes
    if experiment.derived or settings.values:
        yield from kept_values(experiment.derived, read.written_flat, case.system, settings.values)
    if realtime is not None and (experiment.sweep or settings.verify):
        yield "sweeps and finer runs are not kept to real time"


def prepared_cases(
    experiment: Experiment, reader: SystemReader, settings: RunSettings
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, StepChoice]]:
    """Prepare and check cases, and expect that what is asked of the run fits some of them.

    Steps are chosen where that is asked for.

    Names of connectors are the present ones in what is returned; choices are by case.
    """
    cases = prepare_all(experiment, _cases(experiment, settings.only), reader, settings)
    systems = {name: case.system for name, case in cases.items()}
    expect_components(settings, systems)
    _expect_known([name for name in settings.isolated if name != EVERY], systems)
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


def _run_cases(
    cases: Mapping[str, PreparedCase],
    experiment: Experiment,
    folders: tuple[Path, Draft],
    notes: Mapping[str, Sequence[str]],
    outcome: ExperimentOutcome,
    accounts: dict[str, RunAccount | None],
    tell: Progress,
    realtime: RealTime | None,
) -> dict[str, tuple[Result, EnergyLedger | None]]:
    """Run cases; what they record is seen at once under names that say that more is to come.

    ``accounts`` are filled by name.
    """
    output, draft = folders
    finished = {}
    for name, plain in cases.items():
        request = ledger_request(plain, experiment)
        case = with_signals(plain, request)
        files = views(case)
        draft.replaced |= replaced_by(name, files)
        journal = journal_of(case, output)
        pace = realtime if realtime is not None and is_paced(case, realtime) else None
        try:
            with emulating(case, pace):
                result = run_case(case, partial(tell, name), journal, realtime=pace)
        except (FailedRunError, InterruptedRun) as failure:
            write_partial(failure.result, files, output)
            journal.remove()
            raise
        result = replace(result, notes=(*notes[name], *result.notes))
        try:
            result, accounts[name] = with_account(case, result)
        except KeyboardInterrupt:
            write_partial(result, files, output)  # the run itself had come to its end
            journal.remove()
            raise
        finished[name] = _with_ledger(request, result, case.system, outcome)
        outcome.files += write_views(finished[name][0], files, draft.folder, output)
        journal.remove()
    return finished


def _cases(experiment: Experiment, only: Collection[str]) -> dict[str, Case]:
    """Cases by name, all if ``only`` is empty."""
    unknown = [name for name in only if name not in experiment.case]
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        raise UnknownNameError(
            f"no case {listed}{nearest(unknown[0], experiment.case)};"
            f" the experiment has: {', '.join(experiment.case)}"
        )
    return {name: case for name, case in experiment.case.items() if not only or name in only}


def _with_ledger(
    request: LedgerRequest | None, result: Result, system: System, outcome: ExperimentOutcome
) -> tuple[Result, EnergyLedger | None]:
    """Add the ledger's totals to a result; an open balance is said, and a problem if asked for."""
    if request is None:
        return result, None
    ledger, wrong = ledger_of(request, result, system)
    if wrong:
        result = replace(result, notes=(*result.notes, wrong))
    if wrong and request.name:
        outcome.problems.append(f"case '{result.name}': {wrong}")
    return with_series(result, ledger) if ledger else result, ledger


def _measured(
    case: PreparedCase, results: Mapping[str, Result], outcome: ExperimentOutcome
) -> tuple[Result, dict[str, Measured]]:
    """Read off what can be; what cannot is a problem of the outcome and a remark of the result."""
    measured: dict[str, Measured] = {}
    failed = []
    name = case.name
    for key, measure in case.case.measure.items():
        if measure.is_difference and measure.to not in results:
            failed.append(f"measure '{key}' needs case '{measure.to}', which was not run")
            continue
        try:
            measured[key] = evaluate(measure, results[name], case.system, results)
        except DescriptionError as error:
            failed.append(f"measure '{key}': {error}")
            outcome.problems.append(f"case '{name}', measure '{key}': {error}")
    result = replace(results[name], notes=(*results[name].notes, *failed))
    return result, measured


def expect_components(settings: RunSettings, systems: Mapping[str, System]) -> None:
    """Expect that some system has each component that the command line swaps or sets.

    Raises
    ------
    UnknownNameError
        If none has.
    """
    named = (Endpoint.parse(path).component for path in settings.values if "." in path)
    _expect_known([*settings.swaps, *named], systems)


def _expect_known(names: Collection[str], systems: Mapping[str, System]) -> None:
    known = {name for system in systems.values() for name in system.components}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no case has a component '{name}'{nearest(name, known)};"
                f" components: {', '.join(sorted(known))}"
            )
