"""Entries of a slave's log: kept by the slave, sent in answers, read by its master."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp.data_types import DcpType, Scalar, pack_value, unpack_value
from orchestrator.dcp.description import LogTemplate, SlaveDescription
from orchestrator.dcp.identifiers import LogLevel, LogMode
from orchestrator.dcp.pdus import LogNotification

_ENTRY = struct.Struct("<qB")
#: The entry by which a slave confirms a data PDU of inputs: its data id and its number.
RECEIPT = "inputs of data id %uint16 taken: data PDU %uint16"
_RECEIPT = struct.Struct("<HH")
#: Entries that are kept; the oldest go first.
MOST_KEPT = 1000
#: Bytes of entries in one answer, so that it fits into a datagram of any receiver.
MOST_BYTES = 900
#: Bytes of a text in an entry.
MOST_TEXT = 400


class LogBook:
    """Takes entries by template, and gives them to the master as it has chosen.

    about: The slave, with its categories and templates.
    modes: By category: up to which level, and how; changed from outside.
    now: UNIX time in s.
    """

    def __init__(
        self,
        description: SlaveDescription,
        modes: Mapping[int, tuple[LogLevel, LogMode]],
        now: Callable[[], float],
    ) -> None:
        self._templates = {template.number: template for template in description.templates}
        self._modes, self._now = modes, now
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=MOST_KEPT)

    def write(self, number: int, arguments: Sequence[Scalar]) -> tuple[int, bytes] | None:
        """Add an entry; return its time and arguments if it is to be told at once."""
        template = self._templates.get(number)
        if template is None:
            return None
        level, mode = self._modes.get(template.category, (LogLevel.FATAL, LogMode.NONE))
        if mode is LogMode.NONE or template.level > level:
            return None
        time, short = int(self._now()), (_shortened(value) for value in arguments)
        pairs = zip(template.arguments, short, strict=True)
        content = b"".join(pack_value(kind, value) for kind, value in pairs)
        if mode is LogMode.ON_NOTIFICATION:
            return time, content
        self._kept.append((template.category, _ENTRY.pack(time, number) + content))
        return None

    def take(self, category: int, size_limit: int) -> bytes:
        """Return kept entries of a category, 0 for all, the oldest first, and drop them."""
        entries: list[bytes] = []
        remaining, size = deque[tuple[int, bytes]](maxlen=MOST_KEPT), 0
        for kind, entry in self._kept:
            fits = len(entries) < size_limit and size + len(entry) <= MOST_BYTES
            if fits and category in {0, kind}:
                entries.append(entry)
                size += len(entry)
            else:
                remaining.append((kind, entry))
        self._kept = remaining
        return b"".join(entries)


def _shortened(value: Scalar) -> Scalar:
    if not isinstance(value, str):
        return value
    return value.encode()[:MOST_TEXT].decode(errors="ignore")


def receipt_template(description: SlaveDescription) -> LogTemplate | None:
    """Return the template by which a slave confirms its inputs; ``None``: it does not."""
    if not description.capabilities.log_on_notification:
        return None
    kinds = (DcpType.UINT16, DcpType.UINT16)
    matches = (t for t in description.templates if t.message == RECEIPT and t.arguments == kinds)
    return next(matches, None)


def receipt_of(
    description: SlaveDescription, notification: LogNotification
) -> tuple[int, int] | None:
    """Return data id and number of the inputs that a notification confirms, if it does."""
    template = receipt_template(description)
    if template is None or notification.template != template.number:
        return None
    if len(notification.arguments) != _RECEIPT.size:
        return None
    data_id, sequence = _RECEIPT.unpack(notification.arguments)
    return data_id, sequence


def entries_of(description: SlaveDescription, content: bytes) -> list[str]:
    """Return the entries of an RSP_log_ack, without their times."""
    templates = {template.number: template for template in description.templates}
    entries, at = [], 0
    while at < len(content):
        if len(content) < at + _ENTRY.size:
            raise WireFormatError(f"DCP log: expected an entry, found {len(content) - at} bytes")
        _, number = _ENTRY.unpack_from(content, at)
        if number not in templates:
            raise WireFormatError(f"DCP log: the description has no template {number}")
        values, at = [], at + _ENTRY.size
        for kind in templates[number].arguments:
            value, at = unpack_value(kind, content, at)
            values.append(value)
        entries.append("".join(_parts(templates[number], values)))
    return entries


def _parts(template: LogTemplate, values: list[Scalar]) -> Iterator[str]:
    """Yield the message with a value in place of each ``%type``, and ``%`` for ``%%``."""
    waiting = iter(zip(template.arguments, values, strict=True))
    remaining = template.message
    while remaining:
        text, mark, remaining = remaining.partition("%")
        yield text
        if mark and remaining.startswith("%"):
            yield "%"
            remaining = remaining[1:]
        elif mark:
            kind, value = next(waiting)
            yield value.hex() if isinstance(value, bytes) else str(value)
            remaining = remaining[len(kind.name) :]
