"""A connection to a controller: recipes agreed, packages in and out."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

from hw_adapters.stream_socket import StreamSocket
from hw_adapters.ur_rtde import codec
from hw_adapters.ur_rtde.codec import Accepted, Data, Message, Recipe, TextMessage
from orchestrator.rig.devices import DeviceError, WireFormatError

#: What an answer of the setup may take, s.
_ANSWER_S = 2.0
_EXCEPTION, _ERROR = 0, 1


class RtdeClient:
    """Speaks RTDE with one controller.

    Parameters
    ----------
    host, port
        Of the controller.

    Raises
    ------
    DeviceError, OSError
        If it is not there, or does not speak version 2.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = StreamSocket(host, port, _ANSWER_S)
        self._splitter = codec.PackageSplitter()
        self._packages: deque[bytes] = deque()
        self._told: list[str] = []
        try:
            if not self._accepted(codec.request_version(), "V"):
                raise DeviceError(
                    "the controller does not support version 2 of RTDE; controllers 3.3 and"
                    " later do"
                )
        except BaseException:
            self.close()
            raise

    def outputs(self, names: Sequence[str], frequency: float) -> Recipe:
        """Agree on what the robot sends.

        Raises
        ------
        DeviceError
            If the controller refuses the recipe: with the variables that it does not have.
        """
        return self._recipe(codec.set_up_outputs(names, frequency), "O", names)

    def has_output(self, name: str, frequency: float) -> bool:
        """Whether the controller sends a variable; a recipe that is set up later replaces this."""
        answer = self._answer(codec.set_up_outputs([name], frequency), "O")
        return isinstance(answer, Recipe) and not {*answer.types} & {*codec.REFUSALS}

    def inputs(self, names: Sequence[str]) -> Recipe:
        """Agree on what the robot is sent; raises as :meth:`outputs`."""
        return self._recipe(codec.set_up_inputs(names), "I", names)

    def start(self) -> None:
        """Let the data flow.

        Raises
        ------
        DeviceError
            If the controller refuses.
        """
        if not self._accepted(codec.start(), "S"):
            raise DeviceError(f"the controller refuses to send data{self._reasons()}")

    def send(self, recipe: Recipe, values: Sequence[codec.Number]) -> None:
        """Send the values of a recipe."""
        self._socket.send(codec.encode_data(recipe, values))

    def receive(self, deadline: float) -> Data | None:
        """Return the next data; ``None`` if none came until then (CLOCK_MONOTONIC, s).

        Raises
        ------
        WireFormatError
            If a package is none; receiving goes on.
        DeviceError
            If the connection is lost, or the received data is not RTDE.
        """
        while (message := self._message(deadline)) is not None:
            if isinstance(message, Data):
                return message
        return None

    def close(self) -> None:
        """Leave the controller; more than once is no harm."""
        self._socket.close()

    def _accepted(self, request: bytes, kind: str) -> bool:
        answer = self._answer(request, kind)
        return isinstance(answer, Accepted) and answer.accepted

    def _recipe(self, request: bytes, kind: str, names: Sequence[str]) -> Recipe:
        answer = self._answer(request, kind)
        if not isinstance(answer, Recipe) or len(answer.types) != len(names):
            raise DeviceError(
                f"the controller refuses the recipe {', '.join(names)}{self._reasons()}"
            )
        refused = [
            f"'{name}': {codec.REFUSALS[type_]}"
            for name, type_ in zip(names, answer.types, strict=True)
            if type_ in codec.REFUSALS
        ]
        if refused or answer.number == 0:
            direction = "outputs" if kind == "O" else "inputs"
            reasons = "; ".join(refused) or ", ".join(names)
            raise DeviceError(
                f"the controller refuses the recipe of {direction}: {reasons}{self._reasons()}"
            )
        return answer

    def _answer(self, request: bytes, kind: str) -> Message:
        self._socket.send(request)
        deadline = time.monotonic() + _ANSWER_S
        while (message := self._message(deadline)) is not None:
            if isinstance(message, Accepted | Recipe) and message.kind == kind:
                return message
        raise DeviceError(
            f"no answer to '{kind}' within {_ANSWER_S:g} s; check that it is a controller of UR"
        )

    def _message(self, deadline: float) -> Message | None:
        while not self._packages:
            data = self._socket.receive(deadline)
            if not data:
                return None
            try:
                self._packages.extend(self._splitter.split(data))
            except WireFormatError as error:
                raise DeviceError(f"the received data is not RTDE: {error}") from None
        message = codec.decode(self._packages.popleft())
        if isinstance(message, TextMessage) and message.level in {_EXCEPTION, _ERROR}:
            self._told.append(f"{message.source}: {message.text}")
        return message

    def _reasons(self) -> str:
        return f"; its message: {'; '.join(self._told)}" if self._told else ""
