"""Tables of a page: what was run, and the least, median and largest of each measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orchestrator.campaign.axes import label_of
from orchestrator.campaign.campaign_table import Axis, Campaign
from orchestrator.campaign.design import seeds_of
from orchestrator.recording import TableItem
from orchestrator.sweep.runner import CampaignOutcome

_COLUMNS = (
    "Campaign",
    "Cases",
    "Seeds",
    "Rows",
    "Runs",
    "Without figures",
    "Time of the runs [s]",
)


def summaries(outcomes: Mapping[str, CampaignOutcome]) -> tuple[TableItem, ...]:
    """Return the table of all campaigns, and one of the measures of each."""
    rows = tuple(_campaign(name, outcome) for name, outcome in outcomes.items())
    return (
        TableItem("Campaigns", _COLUMNS, rows),
        *(_measures(name, outcome) for name, outcome in outcomes.items()),
    )


def _campaign(name: str, outcome: CampaignOutcome) -> tuple[str | float, ...]:
    campaign = outcome.plan.roster.campaign
    jobs = outcome.plan.distinct
    counts = outcome.counts()
    others = ", ".join(f"{n} {status}" for status, n in counts.items() if status != "done")
    seconds = sum(outcome.records[j.key].wall_seconds for j in jobs if j.key in outcome.records)
    return (
        campaign.title or name,
        ", ".join(campaign.cases),
        0 if campaign.seeds is None else len(seeds_of(campaign)),
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


def _measures(name: str, outcome: CampaignOutcome) -> TableItem:
    rows: list[tuple[str | float | None, ...]] = []
    roster = outcome.plan.roster
    for case in roster.campaign.cases:
        jobs = [job for job in outcome.plan.jobs if job.case == case]
        records = [outcome.records[job.key] for job in jobs if job.key in outcome.records]
        for measure in roster.measures[case]:
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
    return TableItem(roster.campaign.title or name, columns, tuple(rows), _note(roster.campaign))


def _note(campaign: Campaign) -> str:
    axes = "; ".join(_axis(key, axis) for key, axis in campaign.over.items())
    said = [campaign.description, f"Over {axes}"]
    if campaign.design != "grid":
        said.append(f"{campaign.count} points of a design of kind {campaign.design}")
    if campaign.seeds is not None:
        said.append(f"Seeds: {', '.join(map(str, seeds_of(campaign)))}")
    return ". ".join(text.rstrip(".") for text in said if text) + "."
