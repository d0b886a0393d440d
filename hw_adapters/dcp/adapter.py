"""The adapter for DCP slaves."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import cast

from hw_adapters.dcp.settings import DcpSettings, plan_of
from hw_adapters.dcp.stepped import SteppedSlave
from orchestrator.dcp import pdus
from orchestrator.dcp.controller import Controller
from orchestrator.dcp.description import SlaveVariable
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.pdus import number_gap
from orchestrator.dcp.plan import started
from orchestrator.dcp.session import SlaveSession
from orchestrator.rig.devices import (
    DescriptionError,
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
)

_INFINITE = float("inf")
#: So many numbers of outputs are remembered, and so many inputs that are not confirmed.
_MOST_SEEN, _MOST_OPEN = 8192, 4096
#: A slave that sends nothing for so long, and for three periods, is asked for its state, s.
_QUIET_S = 0.03
#: One that runs is asked for its state so often in the time in which it has to answer. That is so
#: many times ``command_stale_after``, as long as other devices may take no command.
_REQUESTS, _PATIENCE = 12.0, 3.0
#: Longer than for so many of these intervals its process was held up itself.
_AWAY = 4.0


class DcpDevice(Device):
    """A slave of the Distributed Co-Simulation Protocol: another simulator, or a rig."""

    Settings = DcpSettings

    def __init__(self, settings: DcpSettings) -> None:
        super().__init__(settings)
        self._plan = plan_of(settings)
        self._controller: Controller | None = None
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._heard = self._came = self._asked = self._began = 0.0
        #: Number of the newest outputs, counted on where the protocol's begins again at 0.
        self._count: int | None = None
        self._seen: dict[int, None] = {}
        #: Inputs that the slave has not confirmed: which send it was, their numbers by data id, and
        #: when they were sent.
        self._unconfirmed: deque[tuple[int, dict[int, int], float]] = deque(maxlen=_MOST_OPEN)
        self._sends, self._inputs_taken = 0, 0
        self._session: SlaveSession | None = None
        self._confirms = False

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the variables of the slave, which must be numbers."""
        plan = plan_of(cast("DcpSettings", settings))
        slave_description = plan.description
        texts = [v.name for v in (*plan.inputs, *plan.outputs) if v.type.is_text]
        if texts:
            raise DescriptionError(
                f"DCP slave '{slave_description.name}': {', '.join(texts)}: texts are exchanged in"
                " mode 'nrt'"
                " only; choose numeric inputs and outputs"
            )

        def port(variable: SlaveVariable) -> DeviceConnector:
            values = started(slave_description, variable)
            return DeviceConnector(
                variable.name,
                variable.unit or "1",
                variable.description,
                shape=slave_description.shape(variable),
                minimum=-_INFINITE if variable.minimum is None else variable.minimum,
                maximum=_INFINITE if variable.maximum is None else variable.maximum,
                start=float(values[0]),
            )

        inputs, outputs = tuple(map(port, plan.inputs)), tuple(map(port, plan.outputs))
        return DeviceConnectors(inputs, outputs, 1.0 / plan.period)

    @classmethod
    def stepped(cls, settings: DeviceSettings) -> SteppedSlave | None:
        """Return a slave that the run steps, in mode ``nrt``."""
        options = cast("DcpSettings", settings)
        return SteppedSlave(plan_of(options)) if options.mode == "nrt" else None

    @property
    def _connected(self) -> Controller:
        if self._controller is None:
            raise DeviceError("the device is not open")
        return self._controller

    def open(self) -> None:
        """Register the slave, configure it, initialise it and let it run."""
        if self._plan.mode is OpMode.NRT:
            raise DeviceError("in mode 'nrt' a slave sends nothing by itself; use 'srt' or 'hrt'")
        self._begin()
        self._controller = controller = Controller(self._plan)
        self._session, self._confirms = controller.session, controller.rollout.confirmed
        try:
            controller.connect()
            controller.initialise(wait=False)
            controller.session.data.clear()
            controller.run()
            self._asked = self._began = time.monotonic()
        except BaseException:
            controller.abandon()
            self._controller = None
            raise

    def close(self) -> None:
        """Stop the slave and release it.

        Raises
        ------
        DeviceError
            If it does not confirm that it has stopped: it may go on with its last inputs.
        """
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.close()

    def account(self) -> str:
        """Say whether the slave confirms its inputs, and how many requests were repeated."""
        if self._session is None:
            return ""
        confirms, link = "" if self._confirms else " not", self._session.link
        text = (
            f"the slave at {link.peer[0]}:{link.peer[1]} does{confirms}"
            f" say which commands it takes; {self._session.repeated} requests were repeated"
        )
        if not link.foreign:
            return text
        return f"{text}; {link.foreign} of others were refused, the last from {link.last_foreign}"

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the outputs that come most often; others keep what they had last.

        Raises
        ------
        WireFormatError
            If a PDU is damaged.
        DeviceError
            If the slave is in its error superstate, or has stopped.
        """
        controller, now = self._connected, time.monotonic()
        session, deadline = controller.session, now + timeout_s
        if now - self._heard > max(_QUIET_S, 3.0 * self._plan.period):
            # An error of the slave may have been told by a datagram that was lost: ask for it.
            self._heard = now
            session.beat(at_once=True)
        while True:
            self._ask(session)
            if session.refused:
                raise session.refused.popleft()
            self._expect_inputs_taken(controller)
            while session.data:
                if (received := self._taken(controller, session.data.popleft())) is not None:
                    self._heard = self._came = time.monotonic()
                    return received
            session.expect_running()
            remaining_s = min(deadline, self._asked + self._patience / _REQUESTS) - time.monotonic()
            if not session.listen(remaining_s) and time.monotonic() >= deadline:
                return None

    @property
    def _patience(self) -> float:
        return max(_PATIENCE * self.settings.command_stale_after, _REQUESTS * self._plan.period)

    def _ask(self, session: SlaveSession) -> None:
        """Ask the slave for its state, since its answers show that what it is sent arrives.

        Raises
        ------
        DeviceError
            If it has answered nothing for too long.
        """
        now, interval = time.monotonic(), self._patience / _REQUESTS
        waited = now - self._asked
        session.beat(at_once=waited >= interval)
        if waited < interval:
            return
        if waited > _AWAY * interval:
            self._began = now  # nobody asked
        self._asked = now
        if now - self._came > _AWAY * interval:
            return  # it is silent, which its stale samples say
        silent = now - max(session.answered, self._began)
        if self._plan.inputs and silent > self._patience and self.settings.on_stale == "stop":
            raise DeviceError(
                f"{session.who} has confirmed no request for {silent:.3g} s"
                f" ({_PATIENCE:g} command_stale_after): requests and commands do not arrive, while"
                " its outputs do"
            )

    def _taken(self, controller: Controller, pdu: pdus.Data) -> Received | None:
        group = controller.take(pdu)
        if group is None or group is not controller.rollout.outputs[0]:
            return None
        number = pdu.sequence
        if self._count is not None:
            number = self._count + number_gap(self._count % pdus.SEQUENCES, pdu.sequence)
        payload_values = group.payload.unpack(pdu.payload)
        if self._count is not None and number < self._count and number in self._seen:
            # What came before is a repetition, whenever it comes: a slave cannot begin again by
            # itself, since it sends nothing before a master has registered it.
            number, payload_values = self._count, {}
        self._seen[number] = None
        if len(self._seen) > _MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._count = number if self._count is None else max(self._count, number)
        values = [
            float(value)
            for variable in self._plan.outputs
            for value in payload_values.get(
                variable.reference, controller.values[variable.reference]
            )
        ]
        # A slave in real time sends them at multiples of its step: their number is its time.
        return Received(
            values,
            device_time=number * self._plan.period,
            sequence=number,
            taken=self._inputs_taken if controller.rollout.confirmed else None,
        )

    def _expect_inputs_taken(self, controller: Controller) -> None:
        """Raise DeviceError if a slave that confirms its inputs has not for too long."""
        with self._lock:
            while self._unconfirmed and controller.has_taken(self._unconfirmed[0][1]):
                self._inputs_taken = self._unconfirmed.popleft()[0]
            if not self._unconfirmed:
                return
            since = self._unconfirmed[0][2]
        silent, limit = time.monotonic() - since, self.settings.stale_after
        if silent > max(limit, 3.0 * self._plan.period) and self.settings.on_stale == "stop":
            raise DeviceError(
                f"{controller.session.who} has confirmed no inputs for {silent:.3g} s"
                f" (stale_after {limit:g} s): commands do not arrive, while its outputs do"
            )

    def send(self, values: Sequence[float]) -> None:
        """Send the inputs; those that are whole numbers are rounded to the nearest."""
        controller, at = self._connected, 0
        with self._lock:
            for variable in self._plan.inputs:
                size = self._plan.description.size(variable)
                part = values[at : at + size]
                is_integer = variable.type.is_integer
                raw_values = tuple(round(value) if is_integer else float(value) for value in part)
                controller.values[variable.reference] = raw_values
                at += size
            numbers = controller.send_inputs()
            self._sends += 1
            if controller.rollout.confirmed:
                self._unconfirmed.append((self._sends, numbers, time.monotonic()))
