"""Log entries of a slave as text: its templates, filled with the values that came."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp.data_types import Scalar, unpack_value
from orchestrator.dcp.description import LogTemplate, SlaveDescription

_HEAD = struct.Struct("<qB")


def entries_of(about: SlaveDescription, content: bytes) -> list[str]:
    """Return the entries of an RSP_log_ack, without their times."""
    templates = {template.number: template for template in about.templates}
    found, at = [], 0
    while at < len(content):
        if len(content) < at + _HEAD.size:
            raise WireFormatError(f"DCP log: expected an entry, found {len(content) - at} bytes")
        _, number = _HEAD.unpack_from(content, at)
        if number not in templates:
            raise WireFormatError(f"DCP log: the description has no template {number}")
        text, at = _filled(templates[number], content, at + _HEAD.size)
        found.append(text)
    return found


def _filled(template: LogTemplate, content: bytes, at: int) -> tuple[str, int]:
    values: list[Scalar] = []
    for kind in template.arguments:
        value, at = unpack_value(kind, content, at)
        values.append(value)
    return "".join(_parts(template, values)), at


def _parts(template: LogTemplate, values: list[Scalar]) -> Iterator[str]:
    """Yield the message with a value in place of each ``%type``, and ``%`` for ``%%``."""
    waiting = iter(zip(template.arguments, values, strict=True))
    rest = template.message
    while rest:
        text, mark, rest = rest.partition("%")
        yield text
        if mark and rest.startswith("%"):
            yield "%"
            rest = rest[1:]
        elif mark:
            kind, value = next(waiting)
            yield value.hex() if isinstance(value, bytes) else str(value)
            rest = rest[len(kind.name) :]
