"""The table of results: a row for each point, seed and case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.campaign.axes import label_of
from orchestrator.recording import whole_file
from orchestrator.sweep.job import Record
from orchestrator.sweep.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


def table_of(plan: Plan, records: Mapping[str, Record]) -> pd.DataFrame:
    """Make the table of a campaign, in the order of its points.

    Columns are the axes, ``seed``, ``case``, the measures with their units, their details
    (``growth: frequency_hz``), ``status``, ``reason`` and ``wall time [s]``. Jobs without a record
    are left out.
    """
    import pandas as pd

    axes = {name: label_of(name, axis) for name, axis in plan.roster.campaign.over.items()}
    seeded = plan.roster.campaign.seeds is not None
    rows: list[dict[str, Any]] = []
    figures: dict[str, None] = {}
    for job in plan.jobs:
        record = records.get(job.key)
        if record is None:
            continue
        row: dict[str, Any] = {axes[name]: value.shown for name, value in job.point.items()}
        if seeded:
            row["seed"] = job.seed
        row["case"] = job.case
        found = _figures(record)
        figures |= dict.fromkeys(found)
        rows.append({**row, **found, **_ending(record)})
    first = [*axes.values(), *(["seed"] if seeded else []), "case"]
    columns = [*first, *figures, "status", "reason", "wall time [s]"]
    return pd.DataFrame(rows, columns=columns)


def _figures(record: Record) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, measured in record.measured.items():
        unit = f" [{measured.unit}]" if measured.unit not in {"", "1"} else ""
        found[f"{name}{unit}"] = measured.value
        found |= {f"{name}: {key}": value for key, value in measured.details.items()}
    return found


def _ending(record: Record) -> dict[str, Any]:
    return {
        "status": record.status,
        "reason": record.reason,
        "wall time [s]": record.wall_seconds,
    }


def write_table(table: pd.DataFrame, stem: Path) -> list[Path]:
    """Write a table as Parquet and CSV.

    Raises
    ------
    SoftdockError
        If a file cannot be written; an earlier one is untouched.
    """
    paths = [stem.with_name(f"{stem.name}{suffix}") for suffix in (".parquet", ".csv")]
    with whole_file(paths[0]) as draft:
        table.to_parquet(draft, index=False)
    with whole_file(paths[1]) as draft:
        table.to_csv(draft, index=False)
    return paths
