"""Checkpoints as files: a zip archive of arrays, of states of units, and of a description."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.archive import DAMAGE, MOST_BYTES, open_archive, read_entry
from orchestrator.errors import CapabilityError, LoadError
from orchestrator.master import Checkpoint, StoredCheckpoint
from orchestrator.recording import whole_file

_FORMAT = "softdock checkpoint 2"
_DESCRIPTION = "checkpoint.json"


def write_checkpoint(checkpoint: Checkpoint | StoredCheckpoint, path: str | Path) -> None:
    """Write a checkpoint to a file, from which another process can go on.

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
    arrays = {
        "signals": stored.signals,
        "samples": stored.samples,
        "marks": stored.marks,
        "memory": stored.memory,
        "rows": stored.rows,
        "times_ns": stored.times_ns,
    }
    size = sum(a.nbytes for a in arrays.values()) + sum(map(len, stored.states.values()))
    if size > 0.99 * MOST_BYTES:
        raise CapabilityError(
            f"{path}: the checkpoint has {size / 1e9:.1f} GB, {stored.rows.nbytes / 1e9:.1f} GB of"
            f" them recorded rows; expected at most {MOST_BYTES / 1e9:.1f} GB: record fewer outputs"
            " or every n-th step"
        )
    description = {
        "format": _FORMAT,
        "time_ns": stored.time_ns,
        "steps": stored.steps,
        "facts": dict(stored.facts),
        "units": list(stored.states),
    }
    with whole_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        archive.writestr(_DESCRIPTION, json.dumps(description, indent=1))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
        for number, state in enumerate(stored.states.values()):
            archive.writestr(f"state-{number}", state)


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
            names = description["units"]
            states = {name: archive.read(f"state-{i}") for i, name in enumerate(names)}
            return StoredCheckpoint(
                dict(description["facts"]),
                int(description["time_ns"]),
                int(description["steps"]),
                _array(archive, "signals", np.float64, 1),
                _array(archive, "samples", np.float64, 1),
                _array(archive, "marks", np.int64, 1),
                _array(archive, "memory", np.float64, 1),
                _array(archive, "rows", np.float64, 2),
                _array(archive, "times_ns", np.int64, 1),
                states,
            )
        except (KeyError, TypeError, *DAMAGE) as error:
            raise LoadError(f"{path}: the checkpoint is damaged: {error}") from None


def _description(path: Path, content: bytes) -> dict[str, Any]:
    try:
        description = json.loads(content)
    except ValueError as error:
        raise LoadError(f"{path}: '{_DESCRIPTION}' is damaged: {error}") from None
    found = description.get("format") if isinstance(description, dict) else None
    if found != _FORMAT:
        raise LoadError(f"{path}: expected a '{_FORMAT}', found '{found}'")
    assert isinstance(description, dict)  # noqa: S101 - for mypy: it has a format
    return description


def _array(archive: zipfile.ZipFile, name: str, kind: type, axes: int) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    if array.dtype != kind or array.ndim != axes:
        raise ValueError(f"'{name}': expected {axes}-d {np.dtype(kind)}, found {array.dtype}")
    return array
