"""The table of results: a row for each point, seed and case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics.extras import lacking
from orchestrator.core.recording import versions, whole_file
from orchestrator.study.prepare.axes import label_of
from orchestrator.study.sweep.job import Record
from orchestrator.study.sweep.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


def table_of(plan: Plan, records: Mapping[str, Record]) -> pd.DataFrame:
    """Make the table of a sweep, in the order of its points.

    Columns are the axes, ``seed``, ``case``, the measures with their units, their details
    (``growth: frequency_hz``), ``status``, ``reason`` and ``wall time [s]``. Jobs without a record
    are left out.
    """
    import pandas as pd

    axes = {name: label_of(name, axis) for name, axis in plan.context.sweep.over.items()}
    seeded = plan.context.sweep.seeds is not None
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


def write_table(plan: Plan, records: Mapping[str, Record], stem: Path) -> list[Path]:
    """Write the table of a sweep as CSV, and as Parquet where Arrow is installed.

    The Parquet file has the sweep, as it is in the experiment file, and the versions of what
    was used as JSON under ``softdock`` in its metadata.
    """
    table = table_of(plan, records)
    comma = stem.with_name(f"{stem.name}.csv")
    with whole_file(comma) as draft:
        table.to_csv(draft, index=False)
    if lacking("pyarrow"):
        return [comma]
    import pyarrow as pa
    import pyarrow.parquet as pq

    said = plan.context.sweep.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    origin = {"sweep": plan.context.name, **said, "versions": versions()}
    content = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(content.schema.metadata or {}), b"softdock": json.dumps(origin).encode()}
    columns = stem.with_name(f"{stem.name}.parquet")
    with whole_file(columns) as draft:
        pq.write_table(content.replace_schema_metadata(metadata), draft)
    return [columns, comma]
