"""Verdicts on the runs of sweeps, and their tables."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Protocol

from orchestrator.core.recording import whole_file
from orchestrator.study.expect.goal import goal_of, recorded_names
from orchestrator.study.expect.judge import judge_measure
from orchestrator.study.expect.verdict import Verdict
from orchestrator.study.expect.verdict_files import FILES
from orchestrator.study.file.expect_table import statement_of
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.prepared_case import PreparedCase


class SweptRun(Protocol):
    """What came of one run of a sweep."""

    @property
    def case(self) -> str: ...  # noqa: D102
    @property
    def where(self) -> str: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def measured(self) -> Mapping[str, Measured]: ...  # noqa: D102


def sweep_verdicts(
    name: str,
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    runs: Collection[SweptRun],
) -> dict[str, list[Verdict]]:
    """Return verdicts on the runs of a sweep, by run."""
    found: dict[str, list[Verdict]] = {}
    for key, table in experiment.expect.items():
        if name not in table.sweeps:
            continue
        for that, run in product(table.statements, runs):
            case = cases[run.case]
            if statement_of(that).name not in case.case.measure:
                continue  # another case of the sweep has it
            goal = goal_of(key, table, that, case, recorded_names(case, experiment))
            said = judge_measure(goal, run.measured.get(goal.bound.name), run.where, run.reason)
            found.setdefault(run.where, []).append(said)
    return found


def write_sweep_verdicts(
    name: str, verdicts: Mapping[str, list[Verdict]], folder: Path
) -> list[Path]:
    """Write the table of verdicts on a sweep as CSV, and all of them as JUnit XML and JSON."""
    table = folder / f"{name}.verdicts.csv"
    columns = list(dict.fromkeys(one.that for row in verdicts.values() for one in row))
    with whole_file(table) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", *columns])
        for run, row in verdicts.items():
            words = {one.that: one.word for one in row}
            writer.writerow([run, *(words.get(column, "") for column in columns)])
    paths = {folder / f"{name}.{file}": write for file, write in FILES.items()}
    for path, write in paths.items():
        write(f"sweep {name}", verdicts, path)
    return [table, *paths]
