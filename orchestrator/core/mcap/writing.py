"""Writing of MCAP files that are whole after each part."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from struct import Struct

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
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
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)

from orchestrator.core.mcap.channels import ChannelPlan, Floats, Times

_MAGIC = b"\x89MCAP0\r\n"
_MESSAGE = Struct("<BQHIQQ")
_INDEX = Struct("<BQHI")
#: Of a message without its data: channel, number and two times.
_FIXED = 22
#: What people and programs are told of a run beside its signals.
EVENTS = "/events"
_EVENT = {
    "type": "object",
    "title": "event",
    "properties": {key: {"type": "string"} for key in ("kind", "component", "text", "data")},
}


class McapFile:
    """A file that grows by chunks, with all indexes and its end behind the last one.

    The end is written anew whenever that is asked for, over the one before: what a kill leaves can
    be read up to the last chunk at any moment.

    Parameters
    ----------
    file
        Empty, open to be written, without a buffer.
    plans
        Of the signals.
    metadata, attachments
        By name; attachments in bytes.
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
        parts: list[bytes] = []
        indexes: dict[int, bytes] = {}
        size, times = 0, times_ns.tolist()
        for number, plan in enumerate(self._plans, start=1):
            data = plan.messages(values)
            published = times if clocks_ns is None else clocks_ns.tolist()
            size = self._messages(parts, indexes, number, times, data, size, published)
        if events:
            told = [json.dumps(dict(event)).encode() for _, event in events]
            number, moments = len(self._plans) + 1, [time for time, _ in events]
            told_at = moments
            if clocks_ns is not None and len(clocks_ns):
                rows = np.searchsorted(times_ns, moments).clip(max=len(clocks_ns) - 1)
                told_at = clocks_ns[rows].tolist()
            self._messages(parts, indexes, number, moments, told, size, told_at)
            times = [*times, *moments]
        if times:
            with self._behind_all():
                self._chunk(b"".join(parts), indexes, min(times), max(times))
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
        known = len(self._chunks)
        self._file.seek(self._end)
        try:
            yield
        except OSError:
            del self._chunks[known:]
            self._file.seek(self._end)
            self._file.truncate()
            raise

    def _messages(
        self,
        parts: list[bytes],
        indexes: dict[int, bytes],
        number: int,
        times: Sequence[int],
        data: Sequence[bytes],
        size: int,
        published: Sequence[int],
    ) -> int:
        """Add the messages of a channel to a chunk of so many bytes; return how many it has."""
        first, offsets = self._counts[number], []
        rows = zip(times, published, data, strict=True)
        for sequence, (time, clock, text) in enumerate(rows, start=first):
            length = _FIXED + len(text)
            head = _MESSAGE.pack(Opcode.MESSAGE, length, number, sequence, time, clock)
            parts += (head, text)
            offsets.append(size)
            size += 9 + length
        self._counts[number] += len(data)
        pairs = np.column_stack([np.array(times, np.uint64), np.array(offsets, np.uint64)])
        entries = pairs.astype("<u8").tobytes()
        head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(entries), number, len(entries))
        indexes[number] = head + entries
        return size

    def _chunk(self, data: bytes, indexes: Mapping[int, bytes], first: int, last: int) -> None:
        packed = zstandard.compress(data, 1)
        at = self._file.tell()
        length = self._write(Chunk("zstd", packed, last, first, zlib.crc32(data), len(data)))
        offsets: dict[int, int] = {}
        for number, entries in indexes.items():
            offsets[number] = self._file.tell()
            self._put(entries)
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
        attached = sum(isinstance(one, AttachmentIndex) for one in self._indexes)
        return Statistics(
            attachment_count=attached,
            channel_count=len(self._counts),
            channel_message_counts={n: count for n, count in self._counts.items() if count},
            chunk_count=len(chunks),
            message_count=sum(self._counts.values()),
            message_end_time=max((one.message_end_time for one in chunks), default=0),
            message_start_time=min((one.message_start_time for one in chunks), default=0),
            metadata_count=len(self._indexes) - attached,
            schema_count=len(self._counts),
        )

    def _write(
        self,
        *records: McapRecord,
    ) -> int:
        builder = RecordBuilder()
        for record in records:
            record.write(builder)
        data: bytes = builder.end()  # type: ignore[no-untyped-call]
        self._put(data)
        return len(data)

    def _put(self, data: bytes) -> None:
        """Write all of some bytes: a disk that is nearly full takes a part of them first."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]
