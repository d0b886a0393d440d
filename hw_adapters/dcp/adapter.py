"""The adapter for DCP slaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import cast

from hw_adapters.dcp.settings import DcpSettings, plan_of
from hw_adapters.dcp.stepped import SteppedSlave
from orchestrator.dcp import pdus
from orchestrator.dcp.controller import Controller
from orchestrator.dcp.description import SlaveVariable
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.plan import started
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


class DcpDevice(Device):
    """A slave of the Distributed Co-Simulation Protocol: another simulator, or a rig."""

    Settings = DcpSettings
    sequence_period = 2**16

    def __init__(self, settings: DcpSettings) -> None:
        super().__init__(settings)
        self._plan = plan_of(settings)
        self._controller: Controller | None = None
        self._lock = threading.Lock()

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the variables of the slave, which must be numbers."""
        plan = plan_of(cast("DcpSettings", settings))
        about = plan.about
        texts = [v.name for v in (*plan.inputs, *plan.outputs) if v.type.is_text]
        if texts:
            raise DescriptionError(
                f"DCP slave '{about.name}': {', '.join(texts)}: texts are exchanged in mode 'nrt'"
                " only; choose inputs and outputs that are numbers"
            )

        def port(variable: SlaveVariable) -> DeviceConnector:
            values = started(about, variable)
            return DeviceConnector(
                variable.name,
                variable.unit or "1",
                variable.description,
                shape=about.shape(variable),
                minimum=-_INFINITE if variable.minimum is None else variable.minimum,
                maximum=_INFINITE if variable.maximum is None else variable.maximum,
                start=float(values[0]),
            )

        inputs, outputs = tuple(map(port, plan.inputs)), tuple(map(port, plan.outputs))
        return DeviceConnectors(inputs, outputs, 1.0 / plan.period)

    @classmethod
    def stepped(cls, settings: DeviceSettings) -> SteppedSlave | None:
        """Return a slave that the run steps, in mode ``nrt``."""
        given = cast("DcpSettings", settings)
        return SteppedSlave(plan_of(given)) if given.mode == "nrt" else None

    @property
    def _connected(self) -> Controller:
        if self._controller is None:
            raise DeviceError("the device is not open")
        return self._controller

    def open(self) -> None:
        """Register the slave, configure it, initialise it and let it run."""
        if self._plan.mode is OpMode.NRT:
            raise DeviceError("in mode 'nrt' a slave sends nothing by itself; use 'srt' or 'hrt'")
        self._controller = controller = Controller(self._plan)
        try:
            controller.connect()
            controller.initialise(wait=False)
            controller.session.data.clear()
            controller.run()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the slave and release it."""
        if self._controller is not None:
            self._controller.close()
            self._controller = None

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the outputs that come most often; others keep what they had last.

        Raises
        ------
        WireFormatError
            If a PDU is damaged.
        DeviceError
            If the slave is in its error superstate, or has stopped.
        """
        controller, deadline = self._connected, time.monotonic() + timeout_s
        session = controller.session
        while True:
            session.beat()
            if session.refused:
                raise session.refused.popleft()
            while session.data:
                if (received := self._taken(controller, session.data.popleft())) is not None:
                    return received
            session.expect_running()
            left = min(deadline, session.beat_due) - time.monotonic()
            if not session.listen(left) and time.monotonic() >= deadline:
                return None

    def _taken(self, controller: Controller, pdu: pdus.Data) -> Received | None:
        group = controller.take(pdu)
        if group is None or group is not controller.rollout.outputs[0]:
            return None
        values = [
            float(value)
            for variable in self._plan.outputs
            for value in controller.values[variable.reference]
        ]
        return Received(values, sequence=pdu.sequence)

    def send(self, values: Sequence[float]) -> None:
        """Send the inputs; those that are whole numbers are rounded to the nearest."""
        controller, at = self._connected, 0
        with self._lock:
            for variable in self._plan.inputs:
                size = self._plan.about.size(variable)
                part = values[at : at + size]
                whole = variable.type.is_integer
                found = tuple(round(value) if whole else float(value) for value in part)
                controller.values[variable.reference] = found
                at += size
            controller.send_inputs()
