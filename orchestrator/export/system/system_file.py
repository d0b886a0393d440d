"""The file of an exported system, in bytes: tables of its schedule, inner FMUs, variables.

docs/reference/system-file.md describes it; engine/src/exported/tables.cpp reads it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence, Sized
from dataclasses import astuple
from pathlib import PurePosixPath
from typing import Any

from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.input_hold import SINK, SOURCE
from orchestrator.core.master.schedule.schedule import EventTable
from orchestrator.engine import ROWS
from orchestrator.export.system.inner_fmu import InnerFmu, Port, SystemVariable, Type

#: Letters of `struct` for kinds of one value.
_LETTERS = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f64": "d"}


class ByteWriter:
    """Puts values one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def content(self) -> bytes:
        """Return all bytes so far."""
        return b"".join(self._parts)

    def tag(self, four: str) -> None:
        """Write the four letters that a table begins with."""
        self._parts.append(four.encode("ascii"))

    def u8(self, *values: int) -> None:
        """Write bytes, or flags."""
        self._parts.append(bytes(int(value) for value in values))

    def u32(self, *values: int) -> None:
        """Write whole numbers >= 0 of 32 bits."""
        self._parts.append(struct.pack(f"<{len(values)}I", *values))

    def i32(self, *values: int) -> None:
        """Write whole numbers of 32 bits."""
        self._parts.append(struct.pack(f"<{len(values)}i", *values))

    def u64(self, *values: int) -> None:
        """Write whole numbers >= 0 of 64 bits."""
        self._parts.append(struct.pack(f"<{len(values)}Q", *values))

    def i64(self, *values: int) -> None:
        """Write whole numbers of 64 bits, such as times in nanoseconds."""
        self._parts.append(struct.pack(f"<{len(values)}q", *values))

    def f64(self, *values: float) -> None:
        """Write doubles."""
        self._parts.append(struct.pack(f"<{len(values)}d", *values))

    def text(self, text: str | bytes) -> None:
        """Write the length of a text in bytes, and its UTF-8."""
        data = text.encode() if isinstance(text, str) else text
        self.u32(len(data))
        self._parts.append(data)

    def count(self, rows: Sized) -> None:
        """Write the number of rows that follow."""
        self.u32(len(rows))

    def references(self, values: Iterable[int]) -> None:
        """Write a counted row of value references or sizes."""
        listed = list(values)
        self.u32(len(listed), *listed)

    def slots(self, values: Iterable[int]) -> None:
        """Write a counted row of places in a table."""
        listed = list(values)
        self.u32(len(listed))
        self.i32(*listed)

    def numbers(self, values: Iterable[float]) -> None:
        """Write a counted row of doubles."""
        listed = list(values)
        self.u32(len(listed))
        self.f64(*listed)

    def times(self, values: Iterable[int]) -> None:
        """Write a counted row of times in nanoseconds."""
        listed = list(values)
        self.u32(len(listed))
        self.i64(*listed)

    def texts(self, values: Iterable[str | bytes]) -> None:
        """Write a counted row of texts."""
        listed = list(values)
        self.u32(len(listed))
        for value in listed:
            self.text(value)

    def row(self, table: str, values: Sequence[Any]) -> None:
        """Write a row of one of the engine's tables, by its fields."""
        for (_, kind), value in zip(ROWS[table], values, strict=True):
            if kind in _LETTERS:
                self._parts.append(struct.pack(f"<{_LETTERS[kind]}", value))
            elif kind == "text[]":
                self.texts(value)
            else:
                self._listed(kind.removesuffix("[]"), value)

    def rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write counted rows of one of the engine's tables."""
        self.count(rows)
        for values in rows:
            self.row(table, values)

    def _listed(self, kind: str, values: Sequence[Any]) -> None:
        """Write a counted row of numbers, or of tuples of them: ``i32``, or ``(i32, i32)``."""
        letters = "".join(_LETTERS[each] for each in kind.strip("()").split(", "))
        self.count(values)
        for value in values:
            self._parts.append(
                struct.pack(f"<{letters}", *(value if len(letters) > 1 else [value]))
            )


MAGIC = b"SOFTDOCK"
VERSION = 4
_TEXTS = (Type.STRING, Type.BINARY)


def write_system(
    token: str, schedule: Schedule, fmus: Sequence[InnerFmu], variables: Sequence[SystemVariable]
) -> bytes:
    """Return the content of the file."""
    to = ByteWriter()
    to.text(token)
    to.i64(schedule.step_ns)
    to.u32(schedule.signals, schedule.texts)
    to.i32(schedule.initial_passes)
    to.slots(schedule.read_early)
    to.tag("UNIT")
    to.count(fmus)
    for fmu in fmus:
        _write_fmu(to, fmu)
    _write_members(to, schedule, fmus)
    _write_tables(to, schedule)
    to.tag("VARS")
    to.count(variables)
    for variable in variables:
        _write_variable(to, variable)
    to.tag("END.")
    content = to.content()
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(content)) + content


def _write_port(to: ByteWriter, port: Port) -> None:
    to.text(port.name)
    to.u8(port.type)
    to.u32(port.reference, port.size)
    to.u8(port.is_discrete, port.is_continuous)
    to.references(port.clocks)


def _write_values(to: ByteWriter, kind: Type, values: Sequence[Any]) -> None:
    """Numbers, then texts: one of the two is empty."""
    to.numbers([] if kind in _TEXTS else [float(value) for value in values])
    to.texts(values if kind in _TEXTS else [])


def _write_fmu(to: ByteWriter, inner: InnerFmu) -> None:
    fmu, can = inner.fmu, inner.description.capabilities
    for text in (inner.component.name, inner.folder, PurePosixPath(fmu.library).stem, fmu.guid):
        to.text(text)
    to.u8(fmu.version, inner.is_exchange, can.can_roll_back, can.can_serialize)
    to.u8(can.input_order, can.has_directional_derivatives)
    to.u8(can.has_event_mode, inner.early_return)
    for names in (inner.inputs, inner.outputs):
        ports = inner.ports(names)
        to.count(ports)
        for port in ports:
            _write_port(to, port)
    timers = inner.timers()
    to.count(timers)
    for reference, timer in timers:
        to.u32(reference)
        to.u8(timer.kind, timer.fraction)
        to.f64(timer.seconds)
        to.u64(timer.counter, timer.resolution)
        to.f64(timer.shift)
        to.u64(timer.shift_counter)
    starts = inner.starts()
    to.count(starts)
    for port, is_structural, values in starts:
        _write_port(to, port)
        to.u8(is_structural)
        _write_values(to, port.type, values)
    if inner.is_exchange:
        _write_integration(to, inner)


def _write_integration(to: ByteWriter, inner: InnerFmu) -> None:
    how = inner.exchange
    to.f64(inner.tolerance)
    to.u8(inner.component.options.solver == "cvode", how.has_jacobian, how.tell_steps)
    to.u32(how.indicators)
    to.references(how.state_references)
    to.references(how.derivative_references)
    to.references(how.sizes)
    to.texts(how.states)


def _write_members(to: ByteWriter, schedule: Schedule, fmus: Sequence[InnerFmu]) -> None:
    numbers = {fmu.component.name: i for i, fmu in enumerate(fmus)}
    kinds = {SOURCE: 1, SINK: 2}
    to.count(schedule.members)
    for member in schedule.members:
        to.u8(kinds.get(member.name, 0))
        to.u32(numbers.get(member.name, 0))
        to.u32(member.input_offset, member.output_offset)
        to.u32(member.text_input_offset, member.text_output_offset)
        to.u32(member.input_size, member.output_size)
        to.u32(member.text_output_offset - member.text_input_offset)
        to.u32(member.text_output_end - member.text_output_offset)
        to.i32(member.ticks)


def _write_tables(to: ByteWriter, schedule: Schedule) -> None:
    to.tag("HIST")
    to.rows("channels", [astuple(channel) for channel in schedule.channels])
    to.rows("histories", schedule.histories)
    to.tag("LINE")
    to.rows("copies", schedule.copies)
    to.rows("reads", schedule.reads)
    to.rows("tables", schedule.tables)
    to.rows("table_entries", schedule.table_entries)
    rows = len(schedule.reads) + len(schedule.tables)
    to.texts(schedule.input_of(row) for row in range(rows))
    to.rows("mixes", schedule.mixes)
    to.rows("text_copies", schedule.text_copies)
    to.tag("OPER")
    to.rows("loops", [astuple(loop)[:8] for loop in schedule.loops])
    to.rows("operations", schedule.operations)
    to.row("rule", astuple(schedule.rule))
    to.tag("EVNT")
    _write_events(to, schedule.events)
    to.tag("FALT")
    to.rows("faults", [astuple(fault) for fault in schedule.faults])
    to.tag("COMP")
    to.rows("compensations", [astuple(row) for row in schedule.compensations])


def _write_events(to: ByteWriter, events: EventTable | None) -> None:
    to.u8(events is not None)
    if events is None:
        return
    to.slots(events.members)
    to.rows("event_lines", events.lines)
    to.rows("event_clocks", events.clocks)
    to.i32(*events.held_back)
    to.u8(events.splits, events.early_return)


def _write_variable(to: ByteWriter, variable: SystemVariable) -> None:
    to.text(variable.name)
    to.u8(variable.kind, variable.type)
    to.u32(variable.connector.size)
    to.i32(variable.slot)
    to.u8(variable.is_tunable)
    _write_values(to, variable.type, variable.start)
    to.count(variable.targets)
    for target in variable.targets:
        to.u32(target.fmu)
        _write_port(to, target.port)
        to.f64(target.factor, target.offset)
