"""Access to the objects of a drive, one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable

from hw_adapters.canopen_cia402.bus import Bus
from hw_adapters.canopen_cia402.codec import (
    CanFrame,
    SdoAnswer,
    decode,
    read_object,
    write_object,
)
from hw_adapters.canopen_cia402.faults import abort_text
from hw_adapters.canopen_cia402.objects import DriveObject
from orchestrator.devices import DeviceError, WireFormatError


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

    def read(self, wanted: DriveObject) -> int:
        """Return the value of an object.

        Raises
        ------
        DeviceError
            If the drive does not answer, refuses, or has it in another length.
        """
        answer = self._ask(read_object(self._node, wanted.index, wanted.sub), wanted)
        if len(answer.data) != wanted.size:
            raise DeviceError(
                f"{self._name}: {wanted}: expected {wanted.size} bytes, found {len(answer.data)}"
            )
        return wanted.unpack(answer.data)

    def write(self, wanted: DriveObject, value: int) -> None:
        """Set an object; raises as :meth:`read`."""
        data = wanted.pack(value)
        self._ask(write_object(self._node, wanted.index, wanted.sub, data), wanted)

    def put(self, wanted: DriveObject, value: int) -> None:
        """Set an object and read it back.

        Raises
        ------
        DeviceError
            As :meth:`read`, and if the drive has another value then.
        """
        self.write(wanted, value)
        found = self.read(wanted)
        if found != value:
            raise DeviceError(
                f"{self._name}: {wanted}: expected {value} after it was written, found {found}"
            )

    def _ask(self, request: CanFrame, wanted: DriveObject) -> SdoAnswer:
        self._bus.send([request])
        deadline = time.monotonic() + self._timeout
        while (frame := self._frame(deadline)) is not None:
            answer = _answer(frame)
            if answer is None or answer.node != self._node:
                self._pass_on(frame)
            elif (answer.index, answer.sub) == (wanted.index, wanted.sub):
                if answer.abort:
                    raise DeviceError(f"{self._name}: {wanted}: {abort_text(answer.abort)}")
                return answer
        raise DeviceError(
            f"{self._name}: no answer about {wanted} within {self._timeout:g} s (answer_timeout)"
        )

    def _frame(self, deadline: float) -> CanFrame | None:
        while True:
            try:
                return self._bus.receive(deadline)
            except WireFormatError:
                continue  # what is asked for is asked again, or missed


def _answer(frame: CanFrame) -> SdoAnswer | None:
    try:
        message = decode(frame)
    except WireFormatError:
        return None
    return message if isinstance(message, SdoAnswer) else None
