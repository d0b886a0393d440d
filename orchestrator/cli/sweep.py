"""``softdock sweep``: run the sweeps of an experiment, and draw what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import messages, print_json, print_lines, print_table, print_warning
from orchestrator.cli.failure import BROKEN, INTERRUPTED, fail
from orchestrator.cli.progress import count_bar
from orchestrator.core.diagnostics import DescriptionError, LoadError

if TYPE_CHECKING:
    from orchestrator.study import Experiment, Section
    from orchestrator.study.sweep import FinishedSweep, SweepPlan
    from orchestrator.study.sweep.runner import Executors


def sweep(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), or a folder with one")],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[SWEEP]...", help="Sweeps to run; default: all")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: results/NAME")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Number of worker processes; default: one per CPU; 1 runs in this process", min=1
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Run on the workers of this Dask scheduler, such as tcp://host:8786"),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="End a run after this many seconds (wall-clock time); default: never", min=0.0
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard finished runs and start over")
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Rerun points whose measures could not be computed"),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the number of runs and their estimated duration, and exit"
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Run the sweeps of an experiment, or continue them.

    After an interruption, the same command continues.
    """
    from orchestrator.cli.target import experiment_of, results_name
    from orchestrator.pictures.sweep_page import write_page
    from orchestrator.study.sweep import estimate, local, plans_of, run_plans, with_kept

    if workers is not None and scheduler is not None:
        raise DescriptionError("--workers and --scheduler: a cluster has its own; give one of both")
    if timeout is not None and scheduler is not None:
        raise DescriptionError("--timeout: runs of a cluster cannot be ended from here")
    experiment, folder = experiment_of(target)
    plans = plans_of(experiment, folder, names or ())
    location = output or Path("results") / results_name(target, folder)
    if dry_run:
        _print_estimate(plans, estimate(plans, location, workers, fresh=fresh), json=json)
        return
    files: list[Path] = []
    remarks: list[str] = []
    sections: list[Section] = []

    def finish(outcomes: Mapping[str, FinishedSweep], into: Path) -> None:
        results, left_out = with_kept(experiment, folder, location, outcomes)
        remarks.extend(left_out)
        sections.extend(_judged(experiment, outcomes, location, into))
        files.extend(write_page(experiment, results, location, into, sections))

    executors = (
        _cluster(scheduler) if scheduler else local(workers, always_processes=timeout is not None)
    )
    try:
        with count_bar(messages) as bar:
            outcomes = run_plans(
                plans,
                location,
                executors,
                fresh=fresh,
                retry_failed=retry_failed,
                timeout=timeout,
                progress=bar,
                finish=finish,
            )
    except KeyboardInterrupt:
        text = f"interrupted; finished runs are kept in {location}: repeat the command to continue"
        fail("Interrupted", text, INTERRUPTED)
    for text in remarks:
        print_warning(text)
    broken = [
        str(verdict) for section in sections for verdict in section.value if not verdict.passed
    ]
    _end(outcomes, files, broken, json=json)


def _end(
    outcomes: Mapping[str, FinishedSweep], files: list[Path], broken: list[str], *, json: bool
) -> None:
    """Print what came out, and end with the exit code that it has."""
    if json:
        sweeps = {name: outcome.as_json() for name, outcome in outcomes.items()}
        print_json({"sweeps": sweeps, "files": [str(path) for path in files], "broken": broken})
    else:
        _print(outcomes)
        for path in files:
            if path.suffix in {".html", ".png"}:
                print_lines(path)
    for text in broken:
        print_warning(text)
    if broken:
        raise typer.Exit(BROKEN)


def _judged(
    experiment: Experiment, outcomes: Mapping[str, FinishedSweep], location: Path, into: Path
) -> list[Section]:
    """Judge the runs of sweeps by their expectations, and write the verdicts."""
    if not experiment.expect:
        return []
    from orchestrator.study.expectations import sweep_verdicts, write_sweep_verdicts
    from orchestrator.study.judge import sweep_section

    sections = []
    for name, finished in outcomes.items():
        runs = [
            finished.records[job.key] for job in finished.plan.jobs if job.key in finished.records
        ]
        verdicts = sweep_verdicts(name, experiment, finished.plan.context.cases, runs)
        if verdicts:
            sections.append(sweep_section(name, verdicts))
            written = write_sweep_verdicts(name, verdicts, into)
            finished.files += [location / path.name for path in written]
    return sections


def _cluster(address: str) -> Executors:
    try:
        from orchestrator.study.sweep.cluster import on_cluster
    except ModuleNotFoundError as error:
        raise LoadError(
            f"--scheduler needs Dask, which is not installed ({error.name}): pip install"
            " 'softdock[cluster]'"
        ) from None
    return on_cluster(address)


def _print(outcomes: Mapping[str, FinishedSweep]) -> None:
    from orchestrator.study.sweep.summary import lost_runs

    rows = []
    for name, outcome in outcomes.items():
        counts = outcome.counts()
        others = ", ".join(f"{n} {status}" for status, n in counts.items() if status != "done")
        runs = len(outcome.plan.distinct)
        numbers = [len(outcome.plan.jobs), runs, outcome.ran, counts.get("done", 0)]
        rows.append([name, *map(str, numbers), others or "-"])
    columns = ["sweep", "rows", "runs", "run now", "done", "others"]
    print_table("Sweeps", columns, rows)
    for name, outcome in outcomes.items():
        lost = (": ".join((name, *cells)) for cells in lost_runs(outcome))
        print_lines(*lost, *outcome.files)


def _print_estimate(
    plans: Mapping[str, SweepPlan], seconds: Mapping[str, tuple[int, float]], *, json: bool
) -> None:
    estimates = {
        name: (len(plan.jobs), len(plan.distinct), *seconds[name]) for name, plan in plans.items()
    }
    if json:
        keys = ("rows", "runs", "to_run", "seconds")
        print_json({name: dict(zip(keys, row, strict=True)) for name, row in estimates.items()})
        return
    rows = [[name, *map(str, counts), f"{time:.1f}"] for name, (*counts, time) in estimates.items()]
    print_table("Nothing is run yet", ["sweep", "rows", "runs", "to run", "about [s]"], rows)
