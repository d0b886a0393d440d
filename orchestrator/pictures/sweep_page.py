"""What people look at: the figures of sweeps, and a page of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.pictures import draw_plot, plot_maps, save, write_report
from orchestrator.pictures.figures import plot_of, sweeps_of
from orchestrator.study import Experiment, Section
from orchestrator.study.content import (
    PALETTE,
    Curve,
    FigureItem,
    FileItem,
    MapLook,
    MapPanel,
    Panel,
    Plot,
    Reference,
    Report,
    TableItem,
)
from orchestrator.study.figure_tables import LinesFigure, MapFigure
from orchestrator.study.sweep import FinishedSweep
from orchestrator.study.sweep.runner import as_run
from orchestrator.study.sweep.summary import (
    axis_of,
    cells_of,
    detail,
    figures_of_cells,
    label_of_measure,
    measure_value,
    missing,
    reduced,
    safe,
    summaries,
    values_in,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Floats = NDArray[np.float64]


def draw_sweep(figure: MapFigure | LinesFigure, outcome: FinishedSweep) -> FigureItem:
    """Draw a figure of a sweep.

    Matplotlib draws maps, whose panels stand below each other on a narrow screen.
    """
    if isinstance(figure, LinesFigure):
        return FigureItem(_lines(figure, outcome), figure.caption)
    draw = _map(figure, outcome)
    wide = draw()
    narrow = wide if len(figure.panels) == 1 else draw(columns=1)
    return FigureItem(wide, figure.caption, narrow=narrow)


def _map(figure: MapFigure, outcome: FinishedSweep) -> Callable[..., Figure]:
    """Return what draws a map, with a limited number of panels in a row."""
    over = outcome.plan.context.sweep.over
    panels = []
    for panel in figure.panels:
        cells = cells_of(panel, (figure.y, figure.x), outcome)
        panels.append(
            MapPanel(
                panel.title or panel.case,
                figures_of_cells(cells, partial(reduced, figure)),
                missing(figure, cells),
                safe(cells),
                figures_of_cells(cells, partial(detail, figure, "predicted")),
                figures_of_cells(cells, partial(measure_value, figure.contour))
                if figure.contour
                else None,
            )
        )
    label = label_of_measure(figure, outcome)
    contour = (figure.contour or "").replace("_", " ")
    look = MapLook(label, figure.colours, figure.limit, figure.range, contour, figure.levels)
    if figure.reduce == "share above limit":
        look = MapLook(f"Share of runs with {label} above {figure.limit:g}", limits=(0.0, 1.0))
    x, y = (axis_of(name, over[name]) for name in (figure.x, figure.y))
    return partial(plot_maps, panels, x, y, look, figure.title)


def _lines(figure: LinesFigure, outcome: FinishedSweep) -> Plot:
    axis = axis_of(figure.x, outcome.plan.context.sweep.over[figure.x])
    x = axis.centres
    curves: list[Curve] = []
    for number, curve in enumerate(figure.curves):
        cells = cells_of(curve, (figure.x,), outcome)
        label = curve.title or curve.case
        expected = figures_of_cells(cells, partial(detail, figure, "predicted"))[0]
        is_predicted = bool(np.isfinite(expected).any())
        if is_predicted:
            colour = PALETTE[number % len(PALETTE)]
            text = f"{label}, predicted"
            curves.append(Curve(text, x, expected, colour=colour, is_expected=True))
        values = figures_of_cells(cells, partial(reduced, figure))[0]
        low, high = _band([values_in(figure, cell) for cell in cells[0]])
        band = (low, high) if (high > low).any() else None
        dash = "none" if is_predicted else None  # marks only, so that both are seen
        curves.append(Curve(label, x, values, dash, band=band))
    limit = () if figure.limit is None else (Reference(figure.limit, f"{figure.limit:g}"),)
    panel = Panel(label_of_measure(figure, outcome), curves, limit, figure.range)
    ticks = (x.tolist(), [str(value) for value in axis.values]) if axis.is_named else None
    return Plot("points", [panel], figure.title, axis.label, log=figure.log, ticks=ticks)


def _band(cells: list[Floats]) -> tuple[Floats, Floats]:
    """Least and largest value of the seeds at each place, NaN where there is none."""
    finite = [values[np.isfinite(values)] for values in cells]
    low = [values.min() if len(values) else np.nan for values in finite]
    high = [values.max() if len(values) else np.nan for values in finite]
    return np.array(low), np.array(high)


def write_page(
    experiment: Experiment,
    outcomes: Mapping[str, FinishedSweep],
    output: Path,
    into: Path | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """Draw the figures of sweeps and write ``sweep.html``; returns what was written."""
    files = [path for outcome in outcomes.values() for path in outcome.files]
    items = []
    pictures: list[Path] = []
    for name, item in _figures(experiment, outcomes).items():
        drawable: Any = item.figure
        figure = draw_plot(drawable) if isinstance(drawable, Plot) else drawable
        for suffix in (".png", ".svg"):
            pictures.append(Path("figures") / f"{name}{suffix}")
            save(figure, (into or output) / pictures[-1])
        items.append(item)
    judged = (TableItem(section.heading, section.columns, section.rows) for section in sections)
    report = Report(
        title=experiment.title,
        description=experiment.description,
        figures=tuple(items),
        tables=(*judged, *summaries(outcomes)),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(
            FileItem(path) for path in (*(f.relative_to(output) for f in files), *pictures)
        ),
    )
    pages = [Path(page.name) for page in write_report(report, (into or output) / "sweep.html")]
    return [output / path for path in (*pages, *pictures)]


def _figures(
    experiment: Experiment, outcomes: Mapping[str, FinishedSweep]
) -> dict[str, FigureItem]:
    """Make all figures whose sweeps were run."""
    items: dict[str, FigureItem] = {}
    swept = as_run(experiment, outcomes)
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            if figure.sweep in outcomes:
                items[name] = draw_sweep(figure, outcomes[figure.sweep])
        elif sweeps_of(figure) and sweeps_of(figure) <= set(swept.sweeps):
            items[name] = FigureItem(plot_of(figure, swept), figure.caption)
    return items
