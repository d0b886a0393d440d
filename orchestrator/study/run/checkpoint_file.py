"""Checkpoints as files: a zip archive of arrays, of states of units, and of a description."""

from __future__ import annotations

import json
import warnings
import zipfile
from dataclasses import asdict
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import CapabilityError, LoadError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.archive import DAMAGE, MOST_BYTES, open_archive, read_entry
from orchestrator.core.files.plain_data import json_data, misfit
from orchestrator.core.master import Checkpoint, StoredCheckpoint
from orchestrator.core.master.run.tuning import events_of, log_of
from orchestrator.core.recording import whole_file

_FORMAT = "softdock checkpoint 2"
_DESCRIPTION = "checkpoint.json"
#: Type and number of axes of each.
_ARRAYS: dict[str, tuple[type, int]] = {
    "signals": (np.float64, 1),
    "samples": (np.float64, 1),
    "marks": (np.int64, 1),
    "memory": (np.float64, 1),
    "rows": (np.float64, 2),
    "times_ns": (np.int64, 1),
}


class _Description(BaseModel):
    """What the archive says of itself."""

    model_config = ConfigDict(strict=True)
    time_ns: int = Field(ge=-(2**63), lt=2**63)
    steps: int = Field(ge=0, lt=2**63)
    facts: dict[str, str]
    units: list[str]
    tuned: tuple[Tuned, ...] = ()
    marks: tuple[Mark, ...] = ()


def write_checkpoint(checkpoint: Checkpoint | StoredCheckpoint, path: str | Path) -> None:
    """Write a checkpoint to a file from which another process can continue.

    The file holds what was recorded until then, too. It appears whole or not at all.

    Raises
    ------
    CapabilityError
        If units cannot turn their states into bytes (all are named), or the recording is too
        large for one file.
    SoftdockError
        If the file cannot be written.
    """
    stored = checkpoint.stored() if isinstance(checkpoint, Checkpoint) else checkpoint
    arrays = {name: getattr(stored, name) for name in _ARRAYS}
    size = sum(a.nbytes for a in arrays.values()) + sum(map(len, stored.states.values()))
    if size > 0.99 * MOST_BYTES:
        raise CapabilityError.in_file(
            path,
            f"the checkpoint has {size / 1e9:.1f} GB, {stored.rows.nbytes / 1e9:.1f} GB of"
            f" them recorded rows; expected at most {MOST_BYTES / 1e9:.1f} GB: record fewer outputs"
            " or every n-th step",
        )
    description = {
        "format": _FORMAT,
        "time_ns": stored.time_ns,
        "steps": stored.steps,
        "facts": dict(stored.facts),
        "units": list(stored.states),
    }
    done = events_of(stored.log)
    for key, kind in (("tuned", Tuned), ("marks", Mark)):
        if listed := [asdict(change) for change in done if isinstance(change, kind)]:
            description[key] = listed
    with whole_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        archive.writestr(_DESCRIPTION, json.dumps(description, indent=1))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
        for number, state in enumerate(stored.states.values()):
            archive.writestr(f"state-{number}", state)


@reads("expected a checkpoint")
def read_checkpoint(path: str | Path) -> StoredCheckpoint:
    """Read a checkpoint for :meth:`Execution.restore`; nothing in it is executed.

    Raises
    ------
    LoadError
        If the file is missing, damaged or no checkpoint.
    """
    path = Path(path)
    with open_archive(path, LoadError) as archive:
        description = _description(path, read_entry(path, archive, _DESCRIPTION, LoadError))
        try:
            parsed = _Description.model_validate_json(json.dumps(description))
            states = {name: archive.read(f"state-{i}") for i, name in enumerate(parsed.units)}
            return StoredCheckpoint(
                parsed.facts,
                parsed.time_ns,
                parsed.steps,
                **{name: _array(archive, name, *form) for name, form in _ARRAYS.items()},
                states=states,
                log=log_of(sorted((*parsed.tuned, *parsed.marks), key=lambda entry: entry.step)),
            )
        except ValidationError as error:
            raise LoadError.in_file(path, f"the checkpoint is damaged: {misfit(error)}") from None
        except (KeyError, TypeError, SyntaxError, TokenError, MemoryError, *DAMAGE) as error:
            raise LoadError.in_file(path, f"the checkpoint is damaged: {error}") from None


def _description(path: Path, content: bytes) -> dict[str, Any]:
    try:
        description = json_data(content)
    except ValueError as error:
        raise LoadError.in_file(path, f"'{_DESCRIPTION}' is damaged: {error}") from None
    format_read = description.get("format") if isinstance(description, dict) else None
    if format_read != _FORMAT:
        raise LoadError.in_file(path, f"expected a '{_FORMAT}', found '{format_read}'")
    assert isinstance(description, dict)  # noqa: S101 - for mypy: it has a format
    return description


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read how large an array says that it is, before memory is taken for it."""
    version = np.lib.format.read_magic(stream)
    readers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a header that this module never writes
        try:
            shape, _, dtype = readers[version != (1, 0)](stream)
        except UserWarning as error:
            raise ValueError(str(error)) from None
    return shape, dtype


def _array(archive: zipfile.ZipFile, name: str, kind: type, axes: int) -> NDArray[Any]:
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        shape, dtype = _header(stream)
        if prod(shape) * dtype.itemsize > info.file_size:
            raise ValueError(
                f"'{name}': {info.file_size} bytes do not make an array of shape {shape}"
            )
    with archive.open(info) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    if array.dtype != kind or array.ndim != axes:
        raise ValueError(f"'{name}': expected {axes}-d {np.dtype(kind)}, found {array.dtype}")
    return array
