"""Access to the objects of a drive, one at a time, in one frame or in segments."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from hw_adapters.canopen_cia402.bus import Bus
from hw_adapters.canopen_cia402.codec import (
    CanFrame,
    SdoAnnouncement,
    SdoAnswer,
    SdoMessage,
    SdoSegment,
    SdoTaken,
    abort_access,
    announce_object,
    ask_segment,
    decode,
    read_object,
    write_object,
    write_segment,
)
from hw_adapters.canopen_cia402.faults import abort_text
from hw_adapters.canopen_cia402.objects import DriveObject
from orchestrator.rig.devices import DeviceError, WireFormatError

_IN_ONE_FRAME, _SEGMENT_BYTES = 4, 7
#: Names and the like are shorter; firmware is not written here.
_MOST_BYTES = 4096
#: Of CiA 301 table 22.
_WRONG_TOGGLE, _TOO_LONG = 0x0503_0000, 0x0607_0012
_SDO_MESSAGES = (SdoAnswer, SdoAnnouncement, SdoSegment, SdoTaken)
#: What a drive answers to a request to read.
_STARTS: tuple[type[SdoAnswer | SdoAnnouncement], ...] = (SdoAnswer, SdoAnnouncement)
Kind = TypeVar("Kind", bound=SdoMessage)


class SdoClient:
    """Reads and writes the objects of one drive.

    Parameters
    ----------
    bus
        The line.
    node, name
        Of the drive; the name is for messages.
    timeout
        For each answer, s.
    pass_on
        Gets every other frame that comes meanwhile.
    """

    def __init__(
        self,
        bus: Bus,
        node: int,
        name: str,
        timeout: float,
        pass_on: Callable[[CanFrame], object] = lambda _: None,
    ) -> None:
        self._bus, self._node, self._name, self._timeout = bus, node, name, timeout
        self._pass_on = pass_on

    def wait_for(self, drive_object: DriveObject, deadline: float) -> bool:
        """Ask for an object again and again, since a drive that boots does not answer yet.

        Parameters
        ----------
        wanted
            Any that it has.
        deadline
            Until then, CLOCK_MONOTONIC in s, but once in any case.

        Returns
        -------
        bool
            Whether it answered.

        Raises
        ------
        DeviceError
            If it refuses.
        """
        request = read_object(self._node, drive_object.index, drive_object.sub)
        while True:
            self._bus.send([request])
            now = time.monotonic()
            if self._answer_about(drive_object, _STARTS, now + self._timeout) is not None:
                return True
            if time.monotonic() >= deadline:
                return False

    def read(self, drive_object: DriveObject) -> int:
        """Return the value of an object.

        Raises
        ------
        DeviceError
            If the drive does not answer, refuses, or has it in another length.
        """
        data = self.read_bytes(drive_object)
        if len(data) != drive_object.size:
            raise DeviceError(
                f"{self._name}: {drive_object}: expected {drive_object.size} bytes, found"
                f" {len(data)}"
            )
        return drive_object.unpack(data)

    def read_bytes(self, drive_object: DriveObject) -> bytes:
        """Return the bytes of an object, as the drive sends them: in one frame or in segments.

        Raises
        ------
        DeviceError
            As :meth:`read`, and if segments do not come in turn, or are not what was announced.
        """
        request = read_object(self._node, drive_object.index, drive_object.sub)
        answer = self._ask(request, drive_object, _STARTS)
        if isinstance(answer, SdoAnswer):
            return answer.data if answer.has_size else drive_object.first_of(answer.data)
        content, toggle, is_last = b"", 0, False
        while not is_last:
            segment = self._ask(ask_segment(self._node, toggle), drive_object, (SdoSegment,))
            self._expect_turn(segment.toggle, toggle, drive_object)
            content, toggle, is_last = content + segment.data, 1 - toggle, segment.is_last
            if len(content) > _MOST_BYTES:
                self._give_up(drive_object, _TOO_LONG, f"expected {_MOST_BYTES} bytes at most")
        if answer.size not in {None, len(content)}:
            raise DeviceError(
                f"{self._name}: {drive_object}: expected the {answer.size} bytes that were"
                " announced,"
                f" found {len(content)}"
            )
        return content

    def write(self, drive_object: DriveObject, value: int) -> None:
        """Set an object; raises as :meth:`read`."""
        self.write_bytes(drive_object, drive_object.pack(value))

    def write_bytes(self, drive_object: DriveObject, data: bytes) -> None:
        """Set the bytes of an object, in segments from 5 bytes on; raises as :meth:`read_bytes`."""
        object_address = self._node, drive_object.index, drive_object.sub
        if 0 < len(data) <= _IN_ONE_FRAME:
            self._ask(write_object(*object_address, data), drive_object, (SdoAnswer,))
            return
        self._ask(announce_object(*object_address, len(data)), drive_object, (SdoAnswer,))
        toggle = 0
        for at in range(0, max(len(data), 1), _SEGMENT_BYTES):
            part, is_last = data[at : at + _SEGMENT_BYTES], at + _SEGMENT_BYTES >= len(data)
            frame = write_segment(self._node, toggle, part, is_last=is_last)
            taken = self._ask(frame, drive_object, (SdoTaken,))
            self._expect_turn(taken.toggle, toggle, drive_object)
            toggle = 1 - toggle

    def put(self, drive_object: DriveObject, value: int) -> None:
        """Set an object and read it back.

        Raises
        ------
        DeviceError
            As :meth:`read`, and if the drive has another value then.
        """
        self.write(drive_object, value)
        value_read = self.read(drive_object)
        if value_read != value:
            raise DeviceError(
                f"{self._name}: {drive_object}: expected {value} after it was written, found"
                f" {value_read}"
            )

    def _ask(
        self, request: CanFrame, drive_object: DriveObject, kinds: tuple[type[Kind], ...]
    ) -> Kind:
        """Send a request, and return the answer to it, which is of one of some kinds."""
        self._bus.send([request])
        answer = self._answer_about(drive_object, kinds, time.monotonic() + self._timeout)
        if answer is None:
            raise DeviceError(
                f"{self._name}: no answer about {drive_object} within {self._timeout:g} s"
                " (answer_timeout)"
            )
        return answer

    def _answer_about(
        self, drive_object: DriveObject, kinds: tuple[type[Kind], ...], deadline: float
    ) -> Kind | None:
        """Return the next answer about an object; ``None`` if none came until then."""
        while (frame := self._frame(deadline)) is not None:
            answer = _answer(frame)
            if answer is None or answer.node != self._node:
                self._pass_on(frame)
            elif _is_about(answer, drive_object):
                if isinstance(answer, SdoAnswer) and answer.abort:
                    raise DeviceError(f"{self._name}: {drive_object}: {abort_text(answer.abort)}")
                if isinstance(answer, kinds):
                    return answer
        return None

    def _expect_turn(self, received: int, expected: int, drive_object: DriveObject) -> None:
        if received != expected:
            self._give_up(
                drive_object, _WRONG_TOGGLE, f"expected toggle bit {expected}, found {received}"
            )

    def _give_up(self, drive_object: DriveObject, code: int, problem: str) -> None:
        self._bus.send([abort_access(self._node, drive_object.index, drive_object.sub, code)])
        raise DeviceError(f"{self._name}: {drive_object}, in segments: {problem}")

    def _frame(self, deadline: float) -> CanFrame | None:
        while True:
            try:
                return self._bus.receive(deadline)
            except WireFormatError:
                continue  # what is asked for is asked again, or missed


def _is_about(answer: SdoMessage, drive_object: DriveObject) -> bool:
    """Whether an answer names an object, or is a segment, which names none."""
    if isinstance(answer, SdoSegment | SdoTaken):
        return True
    return (answer.index, answer.sub) == (drive_object.index, drive_object.sub)


def _answer(frame: CanFrame) -> SdoMessage | None:
    try:
        message = decode(frame)
    except WireFormatError:
        return None
    return message if isinstance(message, _SDO_MESSAGES) else None
