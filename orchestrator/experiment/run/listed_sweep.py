"""A listed sweep that is run with the cases: in this process, value by value."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.experiment.file.sweep_table import ListedSweep
from orchestrator.experiment.measure.measures import evaluate
from orchestrator.experiment.measure.outcome import Measured, SweepOutcome
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.sweep_point import sweep_point
from orchestrator.experiment.run.case_run import run_case


def run_listed(
    sweep: ListedSweep, case: PreparedCase, tell: Callable[[float], None]
) -> SweepOutcome:
    """Run one case for every value; the first run or measure that fails ends the sweep.

    Parameters
    ----------
    sweep, case
        What is swept, and its case as it is without it.
    tell
        Called with the share that is done, 0 to 1.
    """
    rows: dict[str, list[Measured]] = {key: [] for key in sweep.measures}
    values: list[float] = []
    for count, value in enumerate(sweep.values, start=1):
        point = sweep_point(sweep, value, case)
        there = point.case
        result = run_case(there)
        values.append(point.number)
        for key in sweep.measures:
            rows[key].append(evaluate(case.case.measure[key], result, there.system, {}))
        tell(count / len(sweep.values))
    return SweepOutcome(sweep.case, ", ".join(sweep.paths), values, rows)
