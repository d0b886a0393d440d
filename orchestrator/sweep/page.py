"""What people look at: the figures of campaigns, and a page of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.campaign.campaign_table import LinesFigure, MapFigure
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.figures import draw, sweeps_of
from orchestrator.recording import FigureItem, FileItem, Report, save, write_report
from orchestrator.sweep.drawing import draw_campaign
from orchestrator.sweep.runner import CampaignOutcome
from orchestrator.sweep.summary import summaries
from orchestrator.sweep.sweeps import as_sweeps

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_page(
    experiment: Experiment, outcomes: Mapping[str, CampaignOutcome], output: Path
) -> list[Path]:
    """Draw the figures of campaigns and write ``sweep.html``; returns what was written.

    Raises
    ------
    SoftdockError
        If a file cannot be written.
    """
    files = [path for outcome in outcomes.values() for path in outcome.files]
    items = []
    pictures: list[Path] = []
    for name, (figure, caption) in _figures(experiment, outcomes).items():
        for suffix in (".png", ".svg"):
            pictures.append(output / "figures" / f"{name}{suffix}")
            save(figure, pictures[-1])
        items.append(FigureItem(figure, caption))
    report = Report(
        title=experiment.title,
        description=experiment.description,
        figures=tuple(items),
        tables=summaries(outcomes),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(FileItem(path.relative_to(output)) for path in (*files, *pictures)),
    )
    page = output / "sweep.html"
    write_report(report, page)
    return [page, *pictures]


def _figures(
    experiment: Experiment, outcomes: Mapping[str, CampaignOutcome]
) -> dict[str, tuple[Figure, str]]:
    """Draw all figures whose campaign, or whose sweeps, were run."""
    drawn: dict[str, tuple[Figure, str]] = {}
    swept = as_sweeps(experiment, outcomes)
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            if figure.campaign in outcomes:
                drawn[name] = draw_campaign(figure, outcomes[figure.campaign]), figure.caption
        elif sweeps_of(figure) and sweeps_of(figure) <= set(swept.sweeps):
            drawn[name] = draw(figure, swept), figure.caption
    return drawn
