"""Running of an experiment: cases, sweeps, figures, files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.analysis import EnergyLedger
from orchestrator.animation import expect_viewer
from orchestrator.campaign.animations import drawable
from orchestrator.campaign.case_run import run_case
from orchestrator.campaign.diagram import nested_of
from orchestrator.campaign.experiment import Case, Experiment, Setting, Sweep
from orchestrator.campaign.files import write_rest
from orchestrator.campaign.ledgers import (
    Wanted,
    ledger_of,
    wanted_ledger,
    with_series,
    with_signals,
)
from orchestrator.campaign.measures import evaluate
from orchestrator.campaign.outcome import (
    CaseOutcome,
    ExperimentOutcome,
    Measured,
    SweepOutcome,
)
from orchestrator.campaign.prepare import EVERY, merged, prepare_all, with_processes
from orchestrator.campaign.recorders import journal_of, views, write_views
from orchestrator.campaign.simulate import FailedRunError, InterruptedRun
from orchestrator.campaign.sweeping import paths_of, varied
from orchestrator.campaign.validate import expect_sound
from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.recording import Result
from orchestrator.system import Endpoint, System

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
    isolated: Collection[str] = (),
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> ExperimentOutcome:
    """Run an experiment and write results, pictures and a report.

    All systems are prepared and checked before the first is run, and nothing is written before
    that. Each case's results are written when it is finished, so a later failure loses nothing.
    While it runs, what it has recorded is kept in the folder ``NAME.partial``, see
    :class:`~orchestrator.recording.Journal`.

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
    isolated
        Components that run in processes of their own, in every case that has them; ``"all"`` means
        every component.
    notes
        Sentences to put into every result: what was changed for this run.
    progress
        See :data:`Progress`.

    Raises
    ------
    SoftdockError
        If a description is wrong, a file cannot be opened, or a unit fails.
    """
    settings, swaps = settings or {}, swaps or {}
    unknown = [name for name in only if name not in experiment.case]
    if unknown:
        raise UnknownNameError(
            f"no case {', '.join(unknown)}; the experiment has: {', '.join(experiment.case)}"
        )
    chosen = {name: case for name, case in experiment.case.items() if not only or name in only}
    systems = prepare_all(chosen, folder, swaps, settings)
    expect_components(swaps, settings, systems)
    _expect_known([name for name in isolated if name != EVERY], systems)
    systems = {name: with_processes(system, isolated) for name, system in systems.items()}
    expect_sound(experiment, systems)
    if drawable(experiment, chosen):
        expect_viewer()
    nested = {
        name: nested_of(case, folder, systems[name], settings) for name, case in chosen.items()
    }
    tell = progress or (lambda _job, _share: None)
    outcome = ExperimentOutcome(experiment.title)
    output.mkdir(parents=True, exist_ok=True)
    results: dict[str, Result] = {}
    ledgers: dict[str, EnergyLedger | None] = {}
    for name, case in chosen.items():
        options = merged(case, experiment.defaults)
        wanted = wanted_ledger(name, experiment, options, systems[name])
        options = with_signals(options, wanted, systems[name])
        files = views(name, case, options, systems[name])
        journal = journal_of(name, options, output)
        try:
            result = run_case(name, case, systems[name], options, partial(tell, name), journal)
        except (FailedRunError, InterruptedRun) as failure:
            outcome.files += write_views(failure.result, files, output, whole=False)
            journal.remove()
            raise
        result = replace(result, notes=(*notes, *result.notes))
        results[name], ledgers[name] = _with_ledger(wanted, result, systems[name], outcome)
        outcome.files += write_views(results[name], files, output, whole=True)
        journal.remove()
    for name, case in chosen.items():
        result, measured = _measured(name, case, systems[name], results, outcome)
        title = case.title or name
        outcome.cases[name] = CaseOutcome(
            title, systems[name], nested[name], result, measured, ledgers[name]
        )
    for name, sweep in experiment.sweep.items():
        if sweep.case in chosen:
            outcome.sweeps[name] = _sweep(name, sweep, experiment, systems[sweep.case], tell)
    write_rest(experiment, outcome, output, tell)
    return outcome


def _with_ledger(
    wanted: Wanted | None, result: Result, system: System, outcome: ExperimentOutcome
) -> tuple[Result, EnergyLedger | None]:
    """Add the ledger's totals to a result; an open balance is said, and a problem if asked for."""
    if wanted is None:
        return result, None
    ledger, wrong = ledger_of(wanted, result, system)
    if wrong:
        result = replace(result, notes=(*result.notes, wrong))
    if wrong and wanted.name:
        outcome.problems.append(f"case '{result.name}': {wrong}")
    return with_series(result, ledger) if ledger else result, ledger


def _measured(
    name: str,
    case: Case,
    system: System,
    results: Mapping[str, Result],
    outcome: ExperimentOutcome,
) -> tuple[Result, dict[str, Measured]]:
    """Read off what can be; what cannot is a problem of the outcome and a remark of the result."""
    measured: dict[str, Measured] = {}
    failed = []
    for key, measure in case.measure.items():
        if measure.is_difference and measure.to not in results:
            failed.append(f"measure '{key}' needs case '{measure.to}', which was not run")
            continue
        try:
            measured[key] = evaluate(measure, results[name], system, results)
        except DescriptionError as error:
            failed.append(f"measure '{key}': {error}")
            outcome.problems.append(f"case '{name}', measure '{key}': {error}")
    result = replace(results[name], notes=(*results[name].notes, *failed))
    return result, measured


def expect_components(
    swaps: Mapping[str, str], settings: Mapping[str, Setting], systems: Mapping[str, System]
) -> None:
    """Expect that some system has each component that the command line swaps or sets.

    Raises
    ------
    UnknownNameError
        If none has.
    """
    named = (Endpoint.parse(path).component for path in settings if "." in path)
    _expect_known([*swaps, *named], systems)


def _expect_known(names: Collection[str], systems: Mapping[str, System]) -> None:
    known = {name for system in systems.values() for name in system.components}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no case has a component '{name}'; components: {', '.join(sorted(known))}"
            )


def _sweep(
    name: str, sweep: Sweep, experiment: Experiment, system: System, tell: Progress
) -> SweepOutcome:
    """Run one case for every value; a difference cannot be swept."""
    case = experiment.case[sweep.case]
    options = merged(case, experiment.defaults)
    rows: dict[str, list[Any]] = {key: [] for key in sweep.measures}
    values: list[float] = []
    for number, value in enumerate(sweep.values):
        there = varied(sweep, value, case, options, system)
        result = run_case(sweep.case, there.case, there.system, there.options)
        values.append(there.number)
        for key in sweep.measures:
            rows[key].append(evaluate(case.measure[key], result, there.system, {}))
        tell(f"sweep {name}", (number + 1) / len(sweep.values))
    return SweepOutcome(sweep.case, ", ".join(paths_of(sweep)), values, rows)
