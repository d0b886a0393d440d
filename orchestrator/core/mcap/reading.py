"""Reading of MCAP files, also of what is left of one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import error as StructError  # noqa: N812
from typing import Any, BinaryIO

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Attachment, Channel, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from zstandard import ZstdError

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.mcap.channels import Floats, Times, name_of
from orchestrator.core.mcap.writing import EVENTS

#: What is raised where a file is cut or damaged.
_WRONG = (ValueError, RuntimeError, KeyError, OverflowError, MemoryError)
_BROKEN = (McapError, ZstdError, StructError, *_WRONG)


@dataclass(slots=True)
class _Rows:
    """Messages of one channel."""

    times: list[int] = field(default_factory=list)
    clocks: list[int] = field(default_factory=list)
    values: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _Found:
    """The records of a file, as far as they can be read."""

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    rows: dict[int, _Rows] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    events: list[Mapping[str, Any]] = field(default_factory=list)

    def read(self, file: BinaryIO, size: int) -> str:
        """Take all records; return why the last ones cannot be read, if that is so."""
        reader = StreamReader(file, record_size_limit=size, validate_crcs=True)
        try:
            for record in reader.records:
                self._take(record)
        except _BROKEN as error:
            return f"{type(error).__name__}: {error}".rstrip(": ")
        return ""

    def _take(self, record: McapRecord) -> None:
        if isinstance(record, Schema):
            self.schemas[record.id] = record
        elif isinstance(record, Channel):
            self.channels[record.id] = record
        elif isinstance(record, Metadata):
            self.metadata[record.name] = record.metadata
        elif isinstance(record, Attachment):
            self.attachments[record.name] = record.data
        elif isinstance(record, Message):
            channel = self.channels[record.channel_id]
            if channel.message_encoding != "json":
                return
            content = json.loads(record.data)
            if isinstance(content, dict) and channel.topic == EVENTS:
                self.events.append(content)
            elif isinstance(content, dict):
                rows = self.rows.setdefault(record.channel_id, _Rows())
                rows.times.append(record.log_time)
                rows.clocks.append(record.publish_time)
                rows.values.append(content)


@dataclass(frozen=True, slots=True, eq=False)
class McapContent:
    """What a file holds.

    Parameters
    ----------
    times_ns, clocks_ns
        Increasing, int64 array of shape (n,), and when these were published, of the same shape.
    names, values
        Signals, and their rows, float64 array of shape (n, len(names)); NaN where one has none.
    units
        By name.
    metadata
        By name.
    cut
        In a sentence, what is missing; empty if nothing is.
    events
        What happened beside the rows.
    """

    times_ns: Times
    clocks_ns: Times
    names: tuple[str, ...]
    values: Floats
    units: dict[str, str]
    metadata: dict[str, dict[str, str]]
    attachments: dict[str, bytes]
    cut: str
    events: Sequence[Mapping[str, Any]] = ()


def read_mcap_file(path: Path) -> McapContent:
    """Read the numbers of all channels whose messages are objects in JSON.

    Of a file that is cut or damaged, what stands before that.
    """
    found = _Found()
    try:
        with path.open("rb") as file:
            why = found.read(file, path.stat().st_size)
    except OSError as error:
        raise LoadError.in_file(path, f"cannot be read: {error.strerror or error}") from None
    rows = found.rows
    if not rows:
        said = f": {why}" if why else ""
        raise LoadError.in_file(path, f"expected MCAP with rows of signals as JSON{said}")
    times_ns, clocks_ns, names, values = _joined(found.channels, rows)
    cut = ""
    if why:
        cut = (
            f"{path.name} is cut or damaged: these are the {len(times_ns)} rows up to"
            f" {times_ns[-1] / 1e9:.9g} s that can be read ({why})"
        )
    units = _units(found.channels, found.schemas)
    known = {name: unit for name, unit in units.items() if name in names}
    rest = found.metadata, found.attachments, cut, found.events
    return McapContent(times_ns, clocks_ns, names, values, known, *rest)


def _joined(
    channels: Mapping[int, Channel], rows: Mapping[int, _Rows]
) -> tuple[Times, Times, tuple[str, ...], Floats]:
    """Return all rows, by all times that any channel has."""
    names: list[str] = []
    columns: list[Floats] = []
    times_ns = np.unique(np.concatenate([np.array(one.times, np.int64) for one in rows.values()]))
    clocks_ns = np.zeros_like(times_ns)
    for number, one in rows.items():
        first = one.values[0]
        keys = [key for key, value in first.items() if value is None or _is_number(value)]
        block = np.full((len(times_ns), len(keys)), np.nan)
        at = np.searchsorted(times_ns, np.array(one.times, np.int64))
        clocks_ns[at] = one.clocks
        block[at] = [[_number(row.get(key)) for key in keys] for row in one.values]
        columns.append(block)
        names += [name_of(channels[number].topic, key) for key in keys]
    return times_ns, clocks_ns, tuple(names), np.hstack(columns)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _number(value: Any) -> float:
    return float(value) if _is_number(value) else np.nan


def _units(channels: Mapping[int, Channel], schemas: Mapping[int, Schema]) -> dict[str, str]:
    found: dict[str, str] = {}
    for channel in channels.values():
        schema = schemas.get(channel.schema_id)
        if schema is None or schema.encoding != "jsonschema":
            continue
        try:
            properties = json.loads(schema.data).get("properties", {})
            for key, about in properties.items():
                if isinstance(about.get("unit"), str):
                    found[name_of(channel.topic, key)] = about["unit"]
        except (ValueError, AttributeError):  # of another tool, which says no units
            continue
    return found


def in_order(content: McapContent, names: Sequence[str]) -> Floats:
    """Return the columns as some names have them."""
    return content.values[:, [content.names.index(name) for name in names]]
