"""Records of sweeps for a page: tables of measures, and one cell for each place of a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import counted
from orchestrator.study.content import MapAxis, TableItem
from orchestrator.study.figure_tables import (
    Axis,
    AxisValue,
    LinesFigure,
    MapFigure,
    MapPanelTable,
    Sweep,
)
from orchestrator.study.prepare.axes import AxisPoint, label_of, point_at, points_of, seeds_of
from orchestrator.study.sweep.jobs import SAFE, JobRecord
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
    """Return status, points and reason of the runs without measures; dead runs first."""
    rows = []
    lost = sorted(outcome.lost.items(), key=lambda item: item[0][0] != "died")
    for (status, reason), records in lost[:_NAMED]:
        points = [record.label for record in records[:_NAMED]]
        if len(records) > _NAMED:
            points.append(f"and {len(records) - _NAMED} more")
        rows.append((status, "; ".join(points), reason))
    if unlisted := sum(len(records) for _, records in lost[_NAMED:]):
        rows.append(
            ("others", counted(unlisted, "run"), "the table of the sweep lists the reasons")
        )
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
    count = "" if axis.count is None else f", {counted(axis.count, 'value')}"
    return f"{label}: {axis.first} to {axis.last}{count}"


def _measures(name: str, outcome: FinishedSweep) -> TableItem:
    rows: list[tuple[str | float | None, ...]] = []
    context = outcome.plan.context
    for case in context.sweep.cases:
        jobs = [job for job in outcome.plan.jobs if job.case == case]
        records = [outcome.records[job.key] for job in jobs if job.key in outcome.records]
        for measure in context.measures[case]:
            measured = [
                r.measured[measure] for r in records if r is not None and measure in r.measured
            ]
            values = np.array([m.value for m in measured])
            finite = values[np.isfinite(values)]
            figures: tuple[float | None, ...] = (None, None, None)
            if len(finite):
                figures = (float(finite.min()), float(np.median(finite)), float(finite.max()))
            unit = measured[0].unit if measured else ""
            rows.append((case, measure, unit, *figures, len(jobs) - len(finite)))
    columns = ("Case", "Measure", "Unit", "Least", "Median", "Largest", "Failed rows")
    return TableItem(context.sweep.title or name, columns, tuple(rows), _note(context.sweep))


def _note(sweep: Sweep) -> str:
    axes = "; ".join(_axis(key, axis) for key, axis in sweep.over.items())
    sentences = [sweep.description, f"Over {axes}"]
    if sweep.design != "grid":
        sentences.append(f"{counted(sweep.count or 0, 'point')} of a design of kind {sweep.design}")
    if sweep.seeds is not None:
        sentences.append(f"Seeds: {', '.join(map(str, seeds_of(sweep)))}")
    return ". ".join(text.rstrip(".") for text in sentences if text) + "."


Floats = NDArray[np.float64]
#: All records of one place.
Cell = list[JobRecord]
#: What the legend says of runs without a figure.
_WORDS = {
    "failed": "run ended by an error",
    "died": "process died",
    "diverged": "not finite",
}
_UNREAD = "cannot be evaluated"


def axis_of(name: str, axis: Axis) -> MapAxis:
    """Return an axis of a sweep as one of a figure; numbers in increasing order."""
    values = [point.label for point in _ordered(axis)]
    if any(isinstance(value, str | bool) for value in values):
        words = tuple(value if isinstance(value, str) else str(value).lower() for value in values)
        return MapAxis(label_of(name, axis), words)
    numbers = tuple(float(value) for value in values)
    return MapAxis(label_of(name, axis), numbers, _is_log(axis, numbers))


def _ordered(axis: Axis) -> list[AxisPoint]:
    points = points_of(axis)
    if any(isinstance(point.label, str | bool) for point in points):
        return points
    return sorted(points, key=lambda point: float(point.label))


def _is_log(axis: Axis, values: tuple[float, ...]) -> bool:
    """Whether the values are spaced rather by factors than by differences."""
    if axis.values is None or len(values) < 3 or values[0] <= 0:
        return axis.spacing == "log" and axis.values is None
    steps, factors = np.diff(values), np.diff(np.log(values))
    return bool(np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps))


def cells_of(
    panel: MapPanelTable, names: Sequence[str], outcome: FinishedSweep
) -> list[list[Cell]]:
    """Return the records of a panel."""
    over = outcome.plan.context.sweep.over
    cells: dict[tuple[AxisValue, ...], Cell] = {}
    for point, record in _records(panel, outcome):
        cells.setdefault(tuple(point[name].value for name in names), []).append(record)
    across = _ordered(over[names[-1]])
    if len(names) == 1:
        return [[cells.get((point.value,), []) for point in across]]
    return [
        [cells.get((row.value, point.value), []) for point in across]
        for row in _ordered(over[names[0]])
    ]


def _records(
    panel: MapPanelTable, outcome: FinishedSweep
) -> Iterator[tuple[Mapping[str, AxisPoint], JobRecord]]:
    over = outcome.plan.context.sweep.over
    fixed_values = {name: point_at(over[name], value).value for name, value in panel.at.items()}
    for job in outcome.plan.jobs:
        record = outcome.records.get(job.key)
        fits = all(job.point[name].value == value for name, value in fixed_values.items())
        if job.case == panel.case and record is not None and fits:
            yield job.point, record


def figures_of_cells(cells: list[list[Cell]], figure_of: Callable[[Cell], float]) -> Floats:
    """Reduce every cell to a number; shape (rows, columns)."""
    return np.array([[figure_of(cell) for cell in row] for row in cells], dtype=np.float64)


def values_in(figure: MapFigure | LinesFigure, cell: Cell) -> Floats:
    """Return the figure's measure of all seeds, NaN where a run has none."""
    measured_values = [record.measured.get(figure.measure) for record in cell]
    return np.array(
        [np.nan if m is None else figure.factor * m.value for m in measured_values], dtype=float
    )


def reduced(figure: MapFigure | LinesFigure, cell: Cell) -> float:
    """One figure of all seeds; NaN where half of them or more have none, the largest where one."""
    values = values_in(figure, cell)
    finite = values[np.isfinite(values)]
    if figure.reduce == "share above limit":
        if not len(values) or figure.limit is None:
            return np.nan
        return 1.0 - float(np.count_nonzero(finite <= figure.limit)) / len(values)
    if figure.reduce == "max":  # what diverged is no smaller than what did not
        return float(finite.max()) if 0 < len(finite) == len(values) else np.nan
    return float(np.median(finite)) if 2 * len(finite) > len(values) else np.nan


def detail(figure: MapFigure | LinesFigure, name: str, cell: Cell) -> float:
    """Return the median of a detail of the measure, such as ``predicted``."""
    details = [
        figure.factor * record.measured[figure.measure].details.get(name, np.nan)
        for record in cell
        if figure.measure in record.measured
    ]
    return float(np.median(details)) if details else np.nan


def measure_value(measure: str, cell: Cell) -> float:
    """Return the median of another measure."""
    values = [record.measured[measure].value for record in cell if measure in record.measured]
    return float(np.median(values)) if values else np.nan


def missing(
    figure: MapFigure | LinesFigure, cells: list[list[Cell]]
) -> dict[str, NDArray[np.bool_]]:
    """Where there is no figure, by the most frequent reason."""
    words = [[_reason(figure, cell) for cell in row] for row in cells]
    counts = dict.fromkeys(word for row in words for word in row if word)
    return {label: np.array([[word == label for word in row] for row in words]) for label in counts}


def safe(cells: list[list[Cell]]) -> dict[str, NDArray[np.bool_]]:
    """Where half of the runs or more went to the safe state."""
    shares = figures_of_cells(
        cells, lambda cell: sum(r.status == SAFE for r in cell) / max(len(cell), 1)
    )
    return {"went to the safe state": shares >= 0.5}


def _reason(figure: MapFigure | LinesFigure, cell: Cell) -> str:
    if np.isfinite(reduced(figure, cell)):
        return ""
    values = values_in(figure, cell)
    states = [r.status for r, v in zip(cell, values, strict=True) if not np.isfinite(v)]
    return _WORDS.get(max(set(states), key=states.count), _UNREAD) if states else "not run"


def label_of_measure(figure: MapFigure | LinesFigure, outcome: FinishedSweep) -> str:
    """Return what the file calls it, else the measure's name and unit."""
    if figure.label:
        return figure.label
    measured = (record.measured.get(figure.measure) for record in outcome.records.values())
    unit = next((m.unit for m in measured if m is not None), "")
    name = figure.measure.replace("_", " ")
    return f"{name} [{unit}]" if unit not in {"", "1"} and figure.factor == 1.0 else name
