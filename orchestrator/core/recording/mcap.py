"""Results as MCAP: for Foxglove, PlotJuggler and all that reads logs of robots."""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, LoadError, SoftdockError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.recording.origin import origin, told_of_run
from orchestrator.core.recording.result import Result
from orchestrator.core.recording.whole_folder import whole_file
from orchestrator.core.system import signal_of

try:
    from orchestrator.core.files.mcap import McapFile, channel_plans
except ModuleNotFoundError as missing:
    raise LoadError(
        f"MCAP needs the package '{missing.name}', which is not installed: pip install"
        " 'softdock[mcap]'"
    ) from None
if TYPE_CHECKING:
    from io import FileIO

_CHUNK = 4096
_MONOTONIC = "when the row was written by CLOCK_MONOTONIC, ns; 0: not known"
#: What a file of another tool does not say of a run.
_NOTHING = {"case": "", "step_ns": 0, "algorithm": "", "delay_mode": "", "faults": []}
#: What is done to a run while it goes on: kinds of events, and what a result calls them.
_DONE = ("tuned", "marks")
Event = tuple[int, Mapping[str, str]]


def write_mcap(result: Result, path: str | Path) -> None:
    """Write a result as MCAP.

    Each component is a channel ``/NAME``, whose messages are objects in JSON with all its signals
    at one time: the simulated one, in nanoseconds. Of a run in real time they are published when
    the row was written, by CLOCK_MONOTONIC. Its schema has units and frames. What the run
    noticed stands in ``/events``; delays, parameters and versions are metadata, the system is the
    attachment ``system.ssd``.

    Raises
    ------
    SoftdockError
        If the file cannot be written, an earlier one is untouched; or a time lies before 0.
    """
    with whole_file(path) as draft, draft.open("wb", buffering=0) as file:
        content = begun(result, file, Path(path))
        event_list = events(result)
        for first in range(0, len(result.time_ns), _CHUNK):
            part = slice(first, first + _CHUNK)
            clocks = None if result.clock_ns is None else result.clock_ns[part]
            content.add(
                result.time_ns[part], result.values[part], () if first else event_list, clocks
            )
        content.finish()


def begun(result: Result, file: FileIO, path: Path) -> McapFile:
    """Begin a file with the metadata of a result."""
    if len(result.time_ns) and result.time_ns[0] < 0:
        raise SoftdockError(
            f"{path}: MCAP has no time before 0, found {result.time[0]:.9g} s: choose parquet, or"
            " a start at 0"
        )
    ssd, problem = _ssd(result, path)
    metadata = origin(result)
    texts = {
        "signals": {"names": json.dumps(result.names)},
        "versions": metadata.pop("versions"),
        "parameters": {
            f"{row.component}.{row.name}": f"{_value_text(row.value)} {row.unit}".strip()
            for row in result.parameters
        },
        "clock": {
            "log_time": "simulated time, ns",
            "publish_time": "the same" if result.clock_ns is None else _MONOTONIC,
        },
        **({"system": {"missing": problem}} if problem else {}),
    }
    texts["run"] = {key: json.dumps(value) for key, value in metadata.items()}
    plans = channel_plans(result.names, _properties(result))
    return McapFile(file, plans, texts, {"system.ssd": ssd} if ssd else {})


def _properties(result: Result) -> dict[str, dict[str, str]]:
    """Return unit, frame and description of each signal that has some."""
    metadata: dict[str, dict[str, str]] = {}
    for name in result.names:
        entries = {
            "unit": result.units.get(name),
            "frame": _frame(result, name),
            "description": result.descriptions.get(name),
        }
        metadata[name] = {key: text for key, text in entries.items() if text}
    return metadata


def _frame(result: Result, name: str) -> str | None:
    if result.system is None:
        return None
    try:
        return signal_of(result.system, name).connector.frame
    except DescriptionError:  # a series of the ledger
        return None


class GrowingMcap:
    """A file that gets the rows of a run while it goes on.

    Raises SoftdockError: if it cannot be made.
    """

    def __init__(self, path: Path, result: Result) -> None:
        self._path = path
        self._told: list[Event] = []
        #: Its name until it has rows: a head alone is no file that can be read.
        self._draft: Path | None = path.with_name(f".{path.name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._draft.open("wb", buffering=0)
            self.close = weakref.finalize(self, self._file.close)
            self._content = begun(result, self._file, path)
        except OSError as error:
            raise self._unwritten(error) from error

    def add(self, result: Result) -> None:
        """Write further rows, what happened since, and when that was by the computer's clocks."""
        new = [event for event in events(result) if event not in self._told]
        self._told += new
        clocks = f"monotonic {time.monotonic_ns()} ns, Unix {time.time_ns()} ns"
        if len(result.time_ns):
            at = int(result.time_ns[-1])
            new.append((at, {"kind": "written", "component": "", "text": clocks}))
        try:
            self._content.add(result.time_ns, result.values, new, result.clock_ns)
            self._content.finish()
            if self._draft is not None:
                self._draft.replace(self._path)
                self._draft = None
        except OSError as error:
            with suppress(OSError):
                self._content.finish()  # there was room for it before
            raise self._unwritten(error) from error

    def _unwritten(self, error: OSError) -> SoftdockError:
        return SoftdockError(f"{self._path}: cannot be written: {error.strerror or error}")


def events(result: Result) -> list[Event]:
    """Return what happened in a run, with its time."""
    event_list: list[Event] = []
    for notice in result.notices:
        kind = "safe state" if notice.safe else "warning"
        text = f"{notice.what}; {notice.advice}".removesuffix("; ")
        event = {"kind": kind, "component": notice.component, "text": text}
        event_list.append((max(notice.time_ns, 0), event))
    for fault in result.faults:
        event = {"kind": "fault begins", "component": "", "text": str(fault)}
        event_list.append((max(fault.begin_ns, 0), event))
        if fault.until_ns is not None:
            event_list.append((fault.until_ns, {**event, "kind": "fault ends"}))
    for kind in _DONE:
        for entry in getattr(result, kind):
            event = {"kind": kind, "component": "", "text": str(entry)}
            event_list.append((max(entry.time_ns, 0), {**event, "data": json.dumps(asdict(entry))}))
    return sorted(event_list, key=lambda entry: entry[0])


def _done(event_list: Sequence[Mapping[str, Any]], kind: str) -> list[Any]:
    """Return what was done in a run as its events tell it: a growing file has it only there."""
    return [
        json.loads(entry["data"])
        for entry in event_list
        if entry.get("kind") == kind and "data" in entry
    ]


def _ssd(result: Result, path: Path) -> tuple[bytes, str]:
    """Return the system as .ssd, or why there is none."""
    if result.system is None:
        return b"", "whoever wrote this file was not told of it"
    from orchestrator.core.ssp import write_ssd

    file = path.with_name(f"{path.name}.ssd")
    try:
        write_ssd(result.system, file)
        return file.read_bytes(), ""
    except SoftdockError as error:
        return b"", str(error)
    finally:
        file.unlink(missing_ok=True)


def _value_text(value: Any) -> str:
    return "" if value is None else str(value)


@reads("its metadata cannot be read")
def read_mcap(path: str | Path) -> Result:
    """Read signals back, with their units; of a file that is cut what can be read, with a note."""
    from pydantic import ValidationError

    from orchestrator.core.files.mcap import read_mcap_file

    content = read_mcap_file(Path(path))
    names = content.names
    try:
        listed = json.loads(content.metadata.get("signals", {}).get("names", "[]"))
        if sorted(listed) == sorted(names):
            names = tuple(listed)
        metadata = {key: json.loads(text) for key, text in content.metadata.get("run", {}).items()}
        metadata |= {key: done for key in _DONE if (done := _done(content.events, key))}
        record = told_of_run(_NOTHING | metadata)
    except (ValueError, TypeError, ValidationError) as error:
        raise LoadError.in_file(Path(path), f"its metadata cannot be read: {error}") from None
    is_clocked = content.metadata.get("clock", {}).get("publish_time") == _MONOTONIC
    record["name"] = record["name"] or Path(path).stem
    return Result(
        time_ns=content.times_ns,
        clock_ns=content.clocks_ns if is_clocked else None,
        names=names,
        values=np.ascontiguousarray(content.values[:, list(map(content.names.index, names))]),
        units=content.units,
        notes=(content.cut,) if content.cut else (),
        **record,
    )
