"""The file of what is done: one line of JSON for each finished job, appended at once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from io import FileIO
from os import SEEK_END
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.core import posix
from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.plain_data import json_data, misfit
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.sweep.job import Record, Status

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
    """Appends records to a file, and reads those that are in it.

    A line that a killed process has left half written is no record; the next one begins on a line
    of its own. While one process writes, no other one does.

    Parameters
    ----------
    path
        The file; made with its folder when the first record is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: FileIO | None = None

    def read(self) -> dict[str, Record]:
        """Return what is in the file, by key; of several records of a key the last."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise LoadError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        return {record.key: record for record in self._records(lines)}

    def _records(self, lines: list[bytes]) -> Iterator[Record]:
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

    def _no_record(self, number: int, why: str) -> LoadError:
        return LoadError(
            f"{self.path}:{number}: expected a record of a run: {why}; move the file away, or start"
            " with --fresh"
        )

    def append(self, record: Record) -> None:
        """Write a record; it is in the file when this returns."""
        text = json.dumps(_data(record), allow_nan=False)
        try:
            if self._file is None:
                self._file = self._open()
            rest = text.encode() + b"\n"
            while rest:  # a full disk takes a part, and then none
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            why = error.strerror or error
            raise SoftdockError(f"{self.path}: cannot be written: {why}") from error

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
            posix.lock(opened.fileno())
        except BlockingIOError:
            opened.close()
            raise SoftdockError(
                f"{self.path}: another sweep is writing this file; wait for it, or give another"
                " folder with --output"
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
            why = error.strerror or error
            raise SoftdockError(f"{self.path}: cannot be written: {why}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _data(record: Record) -> dict[str, Any]:
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
            name: {key: _finite(value) for key, value in measured.as_json().items()}
            for name, measured in record.measured.items()
        },
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _record(row: _Row) -> Record:
    measured = {}
    for name, one in row.measures.items():
        figures = {key: _number(value) for key, value in (one.model_extra or {}).items()}
        measured[name] = Measured(_number(one.value), one.unit, figures)
    return Record(
        key=row.key,
        case=row.case,
        point=row.at,
        seed=row.seed,
        status=row.status,
        reason=row.reason,
        measured=measured,
        wall_seconds=row.wall_s,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
