"""Tables of a page: what was run, and the least, median and largest of each measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orchestrator.study.content import TableItem
from orchestrator.study.file.sweep_table import Axis, Sweep
from orchestrator.study.prepare.axes import label_of
from orchestrator.study.prepare.design import seeds_of
from orchestrator.study.sweep.runner import FinishedSweep

#: Reasons, and runs of one reason, that are named; the table of the sweep has all.
_NAMED = 20
_COLUMNS = (
    "Sweep",
    "Cases",
    "Seeds",
    "Rows",
    "Runs",
    "Without figures",
    "Time of the runs [s]",
)


def summaries(outcomes: Mapping[str, FinishedSweep]) -> tuple[TableItem, ...]:
    """Return the table of all sweeps, and one of the measures of each."""
    rows = tuple(_runs(name, outcome) for name, outcome in outcomes.items())
    lost = [
        (name, status, points, reason)
        for name, outcome in outcomes.items()
        for status, points, reason in lost_runs(outcome)
    ]
    columns = ("Sweep", "Status", "Runs", "Reason")
    return (
        TableItem("Sweeps", _COLUMNS, rows),
        *([TableItem("Without figures", columns, tuple(lost))] if lost else []),
        *(_measures(name, outcome) for name, outcome in outcomes.items()),
    )


def lost_runs(outcome: FinishedSweep) -> list[tuple[str, str, str]]:
    """Return status, points and reason of the runs without measures; those that died first."""
    rows = []
    lost = sorted(outcome.lost.items(), key=lambda item: item[0][0] != "died")
    for (status, reason), records in lost[:_NAMED]:
        points = [record.where for record in records[:_NAMED]]
        if len(records) > _NAMED:
            points.append(f"and {len(records) - _NAMED} more")
        rows.append((status, "; ".join(points), reason))
    if left := sum(len(records) for _, records in lost[_NAMED:]):
        rows.append(("others", f"{left} runs", "the table of the sweep says why"))
    return rows


def _runs(name: str, outcome: FinishedSweep) -> tuple[str | float, ...]:
    sweep = outcome.plan.context.sweep
    jobs = outcome.plan.distinct
    counts = outcome.counts()
    others = ", ".join(f"{n} {status}" for status, n in counts.items() if status != "done")
    seconds = sum(outcome.records[j.key].wall_seconds for j in jobs if j.key in outcome.records)
    return (
        sweep.title or name,
        ", ".join(sweep.cases),
        0 if sweep.seeds is None else len(seeds_of(sweep)),
        len(outcome.plan.jobs),
        len(jobs),
        others or "none",
        round(seconds, 1),
    )


def _axis(name: str, axis: Axis) -> str:
    label = label_of(name, axis)
    if axis.values is not None:
        return f"{label}: {', '.join(map(str, axis.values))}"
    count = "" if axis.count is None else f", {axis.count} values"
    return f"{label}: {axis.first} to {axis.last}{count}"


def _measures(name: str, outcome: FinishedSweep) -> TableItem:
    rows: list[tuple[str | float | None, ...]] = []
    context = outcome.plan.context
    for case in context.sweep.cases:
        jobs = [job for job in outcome.plan.jobs if job.case == case]
        records = [outcome.records[job.key] for job in jobs if job.key in outcome.records]
        for measure in context.measures[case]:
            found = [
                r.measured[measure] for r in records if r is not None and measure in r.measured
            ]
            values = np.array([m.value for m in found])
            finite = values[np.isfinite(values)]
            figures: tuple[float | None, ...] = (None, None, None)
            if len(finite):
                figures = (float(finite.min()), float(np.median(finite)), float(finite.max()))
            unit = found[0].unit if found else ""
            rows.append((case, measure, unit, *figures, len(jobs) - len(finite)))
    columns = ("Case", "Measure", "Unit", "Least", "Median", "Largest", "Rows without it")
    return TableItem(context.sweep.title or name, columns, tuple(rows), _note(context.sweep))


def _note(sweep: Sweep) -> str:
    axes = "; ".join(_axis(key, axis) for key, axis in sweep.over.items())
    said = [sweep.description, f"Over {axes}"]
    if sweep.design != "grid":
        said.append(f"{sweep.count} points of a design of kind {sweep.design}")
    if sweep.seeds is not None:
        said.append(f"Seeds: {', '.join(map(str, seeds_of(sweep)))}")
    return ". ".join(text.rstrip(".") for text in said if text) + "."
