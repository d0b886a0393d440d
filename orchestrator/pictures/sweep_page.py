"""What people look at: the figures of sweeps, and a page of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.pictures import draw_plot, save, write_report
from orchestrator.pictures.figures import plot_of, sweeps_of
from orchestrator.pictures.sweep_drawing import draw_sweep
from orchestrator.study import Experiment, Section
from orchestrator.study.content import FigureItem, FileItem, Plot, Report, TableItem
from orchestrator.study.file.figure_tables import LinesFigure, MapFigure
from orchestrator.study.sweep import FinishedSweep
from orchestrator.study.sweep.listed import as_run
from orchestrator.study.sweep.summary import summaries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_page(
    experiment: Experiment,
    outcomes: Mapping[str, FinishedSweep],
    output: Path,
    into: Path | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """Draw the figures of sweeps and write ``sweep.html``; returns what was written.

    Parameters
    ----------
    experiment, outcomes
        What was run, and what came of it.
    output
        Where the files of the sweeps are, or will be.
    into
        Where the page is written until all becomes visible, see
        :data:`~orchestrator.study.sweep.runner.Finish`; in ``output`` itself if ``None``.
    sections
        What else was found, whose tables come first.

    Raises
    ------
    SoftdockError
        If a file cannot be written.
    """
    files = [path for outcome in outcomes.values() for path in outcome.files]
    items = []
    pictures: list[Path] = []
    for name, (shown, caption) in _figures(experiment, outcomes).items():
        figure = draw_plot(shown) if isinstance(shown, Plot) else shown
        for suffix in (".png", ".svg"):
            pictures.append(Path("figures") / f"{name}{suffix}")
            save(figure, (into or output) / pictures[-1])
        items.append(FigureItem(shown, caption))
    judged = (TableItem(one.heading, one.columns, one.rows) for one in sections)
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
) -> dict[str, tuple[Plot | Figure, str]]:
    """Make all figures whose sweeps were run."""
    made: dict[str, tuple[Plot | Figure, str]] = {}
    swept = as_run(experiment, outcomes)
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            if figure.sweep in outcomes:
                made[name] = draw_sweep(figure, outcomes[figure.sweep]), figure.caption
        elif sweeps_of(figure) and sweeps_of(figure) <= set(swept.sweeps):
            made[name] = plot_of(figure, swept), figure.caption
    return made
