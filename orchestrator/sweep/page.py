"""What people look at: the figures of campaigns, and a page of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.campaign.experiment import Experiment
from orchestrator.recording import FileItem, Report, write_report
from orchestrator.sweep.runner import CampaignOutcome


def write_page(
    experiment: Experiment, outcomes: Mapping[str, CampaignOutcome], output: Path
) -> list[Path]:
    """Write ``sweep.html``; returns the files that were written.

    Raises
    ------
    SoftdockError
        If a file cannot be written.
    """
    page = output / "sweep.html"
    files = [path for outcome in outcomes.values() for path in outcome.files]
    report = Report(
        title=experiment.title,
        description=experiment.description,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(FileItem(path.relative_to(output)) for path in files),
    )
    write_report(report, page)
    return [page]
