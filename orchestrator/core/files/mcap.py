"""MCAP files: rows of signals by component as JSON; written whole after each part, and read."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Message,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray
from zstandard import ZstdError

from orchestrator.core.diagnostics import LoadError, counted
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.plain_data import expect_memory
from orchestrator.core.structs import MutableStruct, Struct, field

Floats = NDArray[np.float64]
Times = NDArray[np.int64]


class ChannelPlan(Struct):
    """One channel.

    topic: Name of the component behind a slash; signals without a component have only the slash.
    columns: Numbers of its signals.
    schema: As JSON Schema, with units, frames and descriptions.
    """

    topic: str
    columns: tuple[int, ...]
    schema: bytes
    _line: str

    def messages(self, values: Floats) -> list[bytes]:
        """Return rows, of all signals, as objects in JSON; what is no number is null."""
        rows = values[:, list(self.columns)]
        text: Callable[[float], str] = repr if np.isfinite(rows).all() else _number
        return [(self._line % tuple(map(text, row))).encode() for row in rows.tolist()]


def channel_plans(
    names: Sequence[str], descriptions: Mapping[str, Mapping[str, str]]
) -> list[ChannelPlan]:
    """Return the channels for some signals.

    names: ``component.connector``.
    about: By name, what the schema says of it: ``unit``, ``frame``, ``description``.
    """
    columns_of: dict[str, dict[str, int]] = {}
    for number, name in enumerate(names):
        component, dot, signal = name.partition(".")
        topic, key = (component, signal) if dot else ("", name)
        columns_of.setdefault(topic, {})[key] = number
    plans = []
    for topic, columns in columns_of.items():
        properties = {
            key: {"type": ["number", "null"], **descriptions.get(names[number], {})}
            for key, number in columns.items()
        }
        schema = {"type": "object", "title": topic, "properties": properties}
        line = ",".join(json.dumps(key).replace("%", "%%") + ":%s" for key in columns)
        text = json.dumps(schema).encode()
        plans.append(ChannelPlan(f"/{topic}", tuple(columns.values()), text, f"{{{line}}}"))
    return plans


def name_of(topic: str, key: str) -> str:
    """Return the name of a signal."""
    component = topic.removeprefix("/")
    return f"{component}.{key}" if component else key


def _number(value: float) -> str:
    if value != value:
        return "null"
    return {np.inf: "1e999", -np.inf: "-1e999"}.get(value, repr(value))


_MAGIC = b"\x89MCAP0\r\n"
_MESSAGE = struct.Struct("<BQHIQQ")
_INDEX = struct.Struct("<BQHI")
#: Of a message without its data: channel, number and two times.
_FIXED = 22
#: Times of messages, when they were published, and their data.
_Messages = tuple[list[int], list[int], list[bytes]]
#: Metadata of a run for people and programs.
EVENTS = "/events"
_EVENT = {
    "type": "object",
    "title": "event",
    "properties": {key: {"type": "string"} for key in ("kind", "component", "text", "data")},
}


class McapFile:
    """A file that grows by chunks, with all indexes and its end behind the last one.

    The end is written again at each request, over the one before: what a kill leaves can
    be read up to the last chunk at any moment.

    file: Empty, open to be written, without a buffer.
    plans: Of the signals.
    metadata, attachments: By name; attachments in bytes.
    """

    def __init__(
        self,
        file: FileIO,
        plans: Sequence[ChannelPlan],
        metadata: Mapping[str, Mapping[str, str]],
        attachments: Mapping[str, bytes],
    ) -> None:
        self._file = file
        self._plans = plans
        self._indexes: list[AttachmentIndex | MetadataIndex] = []
        self._chunks: list[ChunkIndex] = []
        self._counts = dict.fromkeys(range(1, len(plans) + 2), 0)
        texts = [(plan.topic, plan.schema) for plan in plans]
        texts.append((EVENTS, json.dumps(_EVENT).encode()))
        self._heads: list[McapRecord] = []
        for number, (topic, schema) in enumerate(texts, start=1):
            name = f"softdock.{topic.removeprefix('/')}"
            self._heads.append(Schema(number, schema, "jsonschema", name))
            self._heads.append(Channel(number, topic, "json", {}, number))
        self._put(_MAGIC)
        self._write(Header("", "softdock"), *self._heads)
        for key, content in metadata.items():
            at = file.tell()
            length = self._write(Metadata(key, dict(content)))
            self._indexes.append(MetadataIndex(at, length, key))
        for key, data in attachments.items():
            at, kind = file.tell(), "application/octet-stream"
            length = self._write(Attachment(0, 0, key, kind, data))
            self._indexes.append(AttachmentIndex(at, length, 0, 0, len(data), key, kind))
        self._end = file.tell()

    def add(
        self,
        times_ns: Times,
        values: Floats,
        events: Sequence[tuple[int, Mapping[str, str]]] = (),
        clocks_ns: Times | None = None,
    ) -> None:
        """Write further rows, and events with their times, as one chunk, over the end.

        ``clocks_ns`` are the times at which rows are published; ``None``: their own.
        """
        times, moments = times_ns.tolist(), [time for time, _ in events]
        published = times if clocks_ns is None else clocks_ns.tolist()
        channels = [(times, published, plan.messages(values)) for plan in self._plans]
        if events:
            told_at = moments
            if clocks_ns is not None and len(clocks_ns):
                rows = np.searchsorted(times_ns, moments).clip(max=len(clocks_ns) - 1)
                told_at = clocks_ns[rows].tolist()
            payloads = [json.dumps(dict(event)).encode() for _, event in events]
            channels.append((moments, told_at, payloads))
        if times or moments:
            with self._behind_all():
                self._chunk(channels, min([*times, *moments]), max([*times, *moments]))
                self._end = self._file.tell()

    def finish(self) -> None:
        """Write the end; further rows may still come."""
        with self._behind_all():
            self._write(DataEnd(data_section_crc=0))
            start = self._file.tell()
            self._write(*self._heads, self._statistics(), *self._chunks, *self._indexes)
            self._write(Footer(summary_start=start, summary_offset_start=0, summary_crc=0))
            self._put(_MAGIC)
            self._file.truncate()

    @contextmanager
    def _behind_all(self) -> Iterator[None]:
        """Go behind the last chunk, and take back what cannot be written there."""
        chunk_count = len(self._chunks)
        self._file.seek(self._end)
        try:
            yield
        except OSError:
            del self._chunks[chunk_count:]
            self._file.seek(self._end)
            self._file.truncate()
            raise

    def _chunk(self, channels: Sequence[_Messages], first: int, last: int) -> None:
        """Write the messages of all channels, and their indexes."""
        data, indexes = bytearray(), []
        for number, rows in enumerate(channels, start=1):
            index_entries = []
            for sequence, (time, clock, text) in enumerate(
                zip(*rows, strict=True), start=self._counts[number]
            ):
                index_entries.append((time, len(data)))
                length = _FIXED + len(text)
                data += _MESSAGE.pack(Opcode.MESSAGE, length, number, sequence, time, clock)
                data += text
            self._counts[number] += len(index_entries)
            entries = np.array(index_entries, "<u8").tobytes()
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(entries), number, len(entries))
            indexes.append(head + entries)
        packed = zstandard.compress(bytes(data), 1)
        at = self._file.tell()
        length = self._write(Chunk("zstd", packed, last, first, zlib.crc32(data), len(data)))
        offsets: dict[int, int] = {}
        for number, written in enumerate(indexes, start=1):
            offsets[number] = self._file.tell()
            self._put(written)
        index = ChunkIndex(
            chunk_length=length,
            chunk_start_offset=at,
            compression="zstd",
            compressed_size=len(packed),
            message_end_time=last,
            message_index_length=self._file.tell() - at - length,
            message_index_offsets=offsets,
            message_start_time=first,
            uncompressed_size=len(data),
        )
        self._chunks.append(index)

    def _statistics(self) -> Statistics:
        chunks = self._chunks
        attached = sum(isinstance(index, AttachmentIndex) for index in self._indexes)
        return Statistics(
            attachment_count=attached,
            channel_count=len(self._counts),
            channel_message_counts={n: count for n, count in self._counts.items() if count},
            chunk_count=len(chunks),
            message_count=sum(self._counts.values()),
            message_end_time=max((index.message_end_time for index in chunks), default=0),
            message_start_time=min((index.message_start_time for index in chunks), default=0),
            metadata_count=len(self._indexes) - attached,
            schema_count=len(self._counts),
        )

    def _write(self, *records: McapRecord) -> int:
        builder = RecordBuilder()
        for record in records:
            record.write(builder)
        data: bytes = builder.end()  # type: ignore[no-untyped-call]
        self._put(data)
        return len(data)

    def _put(self, data: bytes) -> None:
        """Write all of some bytes: a disk that is nearly full takes a part of them first."""
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[self._file.write(remaining) :]


#: What is raised where a file is cut or damaged.
_WRONG = (ValueError, RuntimeError, KeyError, OverflowError, MemoryError)
_BROKEN = (McapError, ZstdError, struct.error, *_WRONG)


#: Messages of a channel that are kept as Python objects, which take ten times the room.
_PENDING = 4096


class _ChannelRows:
    """Messages of one channel, whose keys are those of its first one.

    keys: Of its signals.
    """

    def __init__(self, first: Mapping[str, Any]) -> None:
        self.keys = [key for key, value in first.items() if isinstance(value, int | float | None)]
        self._moments: list[tuple[int, int]] = []
        self._rows: list[list[float]] = []
        self._blocks: list[tuple[Times, Floats]] = []

    def add(self, time: int, clock: int, content: Mapping[str, Any]) -> None:
        """Take a message."""
        self._moments.append((time, clock))
        self._rows.append(
            [
                float(x) if isinstance(x, int | float) else np.nan
                for x in map(content.get, self.keys)
            ]
        )
        if len(self._rows) >= _PENDING:
            self._pack()

    def _pack(self) -> None:
        if self._rows:
            shape = len(self._rows), len(self.keys)
            values = np.array(self._rows, np.float64).reshape(shape)
            self._blocks.append((np.array(self._moments, np.int64), values))
            self._moments, self._rows = [], []

    def arrays(self) -> tuple[Times, Times, Floats]:
        """Return times, when they were published, and the values."""
        self._pack()
        moments = np.concatenate([block for block, _ in self._blocks])
        return moments[:, 0], moments[:, 1], np.concatenate([rows for _, rows in self._blocks])


class _Found(MutableStruct):
    """The records of a file, as far as they can be read."""

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    rows: dict[int, _ChannelRows] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
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
        elif isinstance(record, Message):
            channel = self.channels[record.channel_id]
            if channel.message_encoding != "json":
                return
            content = json.loads(record.data)
            if isinstance(content, dict) and channel.topic == EVENTS:
                self.events.append(content)
            elif isinstance(content, dict):
                if record.channel_id not in self.rows:
                    self.rows[record.channel_id] = _ChannelRows(content)
                rows = self.rows[record.channel_id]
                rows.add(record.log_time, record.publish_time, content)


class McapContent(Struct, eq=False):
    """What a file holds.

    times_ns, clocks_ns: Increasing, int64 array of shape (n,), and when these were published, of
        the same shape.
    names, values: Signals, and their rows, float64 array of shape (n, len(names)); NaN where one
        has none.
    units: By name.
    metadata: By name.
    cut: In a sentence, what is missing; empty if nothing is.
    events: Events of the run, with their times.
    """

    times_ns: Times
    clocks_ns: Times
    names: tuple[str, ...]
    values: Floats
    units: dict[str, str]
    metadata: dict[str, dict[str, str]]
    cut: str
    events: Sequence[Mapping[str, Any]] = ()


@reads("expected MCAP with rows of signals")
def read_mcap_file(path: Path) -> McapContent:
    """Read the numbers of all channels whose messages are objects in JSON.

    Of a file that is cut or damaged, what stands before that.
    """
    content = _Found()
    try:
        with path.open("rb") as file:
            _expect_memory(path, file)
            file.seek(0)
            reason = content.read(file, path.stat().st_size)
    except OSError as error:
        raise LoadError.in_file(path, f"cannot be read: {error.strerror or error}") from None
    rows = content.rows
    if not rows:
        suffix = f": {reason}" if reason else ""
        raise LoadError.in_file(path, f"expected MCAP with rows of signals as JSON{suffix}")
    times_ns, clocks_ns, names, values = _joined(content.channels, rows)
    cut = ""
    if reason:
        cut = (
            f"{path.name} is cut or damaged: these are the {counted(len(times_ns), 'row')} up to"
            f" {times_ns[-1] / 1e9:.9g} s that can be read ({reason})"
        )
    units = _units(content.channels, content.schemas)
    known_units = {name: unit for name, unit in units.items() if name in names}
    remaining = content.metadata, cut, content.events
    return McapContent(times_ns, clocks_ns, names, values, known_units, *remaining)


#: How many times the values of a channel are held while channels are joined.
_COPIES = 3.0


def _expect_memory(path: Path, file: BinaryIO) -> None:
    """Expect that a file fits into memory, if it has a summary of what is in it."""
    try:
        summary = make_reader(file).get_summary()
        statistics = None if summary is None else summary.statistics
        if summary is None or statistics is None:
            return
        counts = statistics.channel_message_counts
        columns = 1
        for number, channel in summary.channels.items():
            schema = summary.schemas.get(channel.schema_id)
            message_schema = (
                json.loads(schema.data) if schema and schema.encoding == "jsonschema" else {}
            )
            columns += len(message_schema.get("properties", ())) if counts.get(number) else 0
    except (*_BROKEN, OSError, AttributeError, TypeError):
        return  # the reader reports what is wrong with it
    expect_memory(path, max(counts.values(), default=0), columns, _COPIES)


def _joined(
    channels: Mapping[int, Channel], rows: Mapping[int, _ChannelRows]
) -> tuple[Times, Times, tuple[str, ...], Floats]:
    """Return all rows, by all times that any channel has."""
    names: list[str] = []
    columns: list[Floats] = []
    arrays = {number: channel.arrays() for number, channel in rows.items()}
    times_ns = np.unique(np.concatenate([times for times, _, _ in arrays.values()]))
    clocks_ns = np.zeros_like(times_ns)
    for number, channel in rows.items():
        times, clocks, values = arrays.pop(number)
        block = np.full((len(times_ns), len(channel.keys)), np.nan)
        at = np.searchsorted(times_ns, times)
        clocks_ns[at] = clocks
        block[at] = values
        columns.append(block)
        names += [name_of(channels[number].topic, key) for key in channel.keys]
    return times_ns, clocks_ns, tuple(names), np.hstack(columns)


def _units(channels: Mapping[int, Channel], schemas: Mapping[int, Schema]) -> dict[str, str]:
    units: dict[str, str] = {}
    for channel in channels.values():
        schema = schemas.get(channel.schema_id)
        if schema is None or schema.encoding != "jsonschema":
            continue
        try:
            properties = json.loads(schema.data).get("properties", {})
            for key, details in properties.items():
                if isinstance(details.get("unit"), str):
                    units[name_of(channel.topic, key)] = details["unit"]
        except (ValueError, AttributeError):  # of another tool, which says no units
            continue
    return units
