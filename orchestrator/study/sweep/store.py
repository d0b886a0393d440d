"""What of sweeps is done: a line of JSON for each finished job, and the table of results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from io import FileIO
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.files.plain_data import json_data, misfit
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.recording import versions, whole_file
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.axes import label_of
from orchestrator.study.sweep.jobs import JobRecord, Status, SweepPlan

if TYPE_CHECKING:
    import pandas as pd


_Number = float | int | None


class _Figure(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, _Number]
    value: float | None
    unit: str


class _Row(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)
    key: str
    case: str
    at: dict[str, bool | int | float | str]
    seed: int | None
    status: Status
    reason: str
    wall_s: float = Field(ge=0.0)
    measures: dict[str, _Figure]


#: How each record begins.
_BEGIN = b'{"key": "'


class Store:
    """Appends records to a file, and reads its records.

    A line that a killed process has left half written is no record; the next one begins on a line
    of its own. While one process writes, no other one does.

    path: The file; made with its folder when the first record is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: FileIO | None = None

    def read(self) -> dict[str, JobRecord]:
        """Return what is in the file, by key; of several records of a key the last."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise LoadError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        return {record.key: record for record in self._records(lines)}

    def _records(self, lines: list[bytes]) -> Iterator[JobRecord]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                data = json_data(line)
            except ValueError as error:
                if line.startswith(_BEGIN) or _BEGIN.startswith(line):
                    continue  # it was not finished
                raise self._no_record(number, str(error)) from None
            try:
                yield _record(_Row.model_validate(data))
            except ValidationError as error:
                raise self._no_record(number, misfit(error)) from None

    def _no_record(self, number: int, reason: str) -> LoadError:
        return LoadError(
            f"{self.path}:{number}: expected a record of a run: {reason}; move the file away, or"
            " start"
            " with --fresh"
        )

    def append(self, record: JobRecord) -> None:
        """Write a record; it is in the file when this returns."""
        text = json.dumps(_data(record), allow_nan=False)
        try:
            if self._file is None:
                self._file = self._open()
            remaining = text.encode() + b"\n"
            while remaining:  # a full disk takes a part, and then none
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            reason = error.strerror or error
            raise SoftdockError(f"{self.path}: cannot be written: {reason}") from error

    def _open(self) -> FileIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        opened = self._locked()
        if opened.seek(0, SEEK_END):
            opened.seek(-1, SEEK_END)
            if opened.read(1) != b"\n":
                opened.write(b"\n")
        return opened

    def _locked(self) -> FileIO:
        opened = self.path.open("a+b", buffering=0)
        try:
            operating_system.lock(opened.fileno())
        except BlockingIOError:
            opened.close()
            raise SoftdockError(
                f"{self.path}: another sweep is writing this file; wait for its end, or choose"
                " another folder with --output"
            ) from None
        return opened

    def clear(self) -> None:
        """Throw everything away."""
        if not self.path.exists():
            return
        try:
            with self._locked() as file:
                file.truncate(0)
        except OSError as error:
            reason = error.strerror or error
            raise SoftdockError(f"{self.path}: cannot be written: {reason}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _data(record: JobRecord) -> dict[str, Any]:
    """Plain data; what is not finite is ``null``."""
    return {
        "key": record.key,
        "case": record.case,
        "at": dict(record.point),
        "seed": record.seed,
        "status": record.status,
        "reason": record.reason,
        "wall_s": round(record.wall_seconds, 6),
        "measures": {
            name: {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in measured.as_json().items()
            }
            for name, measured in record.measured.items()
        },
    }


def _record(row: _Row) -> JobRecord:
    measured = {}
    for name, stored_measure in row.measures.items():
        figures = {key: _number(value) for key, value in (stored_measure.model_extra or {}).items()}
        measured[name] = Measured(_number(stored_measure.value), stored_measure.unit, figures)
    identity = row.key, row.case, row.at, row.seed
    return JobRecord(*identity, row.status, row.reason, measured, row.wall_s)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


_ENDING = ("status", "reason", "wall time [s]")


def table_of(plan: SweepPlan, records: Mapping[str, JobRecord]) -> pd.DataFrame:
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
        row: dict[str, Any] = {axes[name]: value.label for name, value in job.point.items()}
        if seeded:
            row["seed"] = job.seed
        row["case"] = job.case
        record_figures = _figures(record)
        figures |= dict.fromkeys(record_figures)
        ending = (record.status, record.reason, record.wall_seconds)
        rows.append({**row, **record_figures, **dict(zip(_ENDING, ending, strict=True))})
    first = [*axes.values(), *(["seed"] if seeded else []), "case"]
    columns = [*first, *figures, *_ENDING]
    return pd.DataFrame(rows, columns=columns)


def _figures(record: JobRecord) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, measured in record.measured.items():
        unit = f" [{measured.unit}]" if measured.unit not in {"", "1"} else ""
        figures[f"{name}{unit}"] = measured.value
        figures |= {f"{name}: {key}": value for key, value in measured.details.items()}
    return figures


def write_table(plan: SweepPlan, records: Mapping[str, JobRecord], stem: Path) -> list[Path]:
    """Write the table of a sweep as CSV, and as Parquet where Arrow is installed.

    The Parquet file has the sweep, as it is in the experiment file, and the versions of what
    was used as JSON under ``softdock`` in its metadata.
    """
    table = table_of(plan, records)
    comma = stem.with_name(f"{stem.name}.csv")
    with whole_file(comma) as draft:
        table.to_csv(draft, index=False)
    if missing_module("pyarrow"):
        return [comma]
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = plan.context.sweep.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    origin = {"sweep": plan.context.name, **settings, "versions": versions()}
    content = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(content.schema.metadata or {}), b"softdock": json.dumps(origin).encode()}
    columns = stem.with_name(f"{stem.name}.parquet")
    with whole_file(columns) as draft:
        pq.write_table(content.replace_schema_metadata(metadata), draft)
    return [columns, comma]
