"""The data of a slave: what comes in for its inputs, and what its outputs send."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import DcpType, Payload, Values
from orchestrator.dcp.description import SlaveDescription, SlaveVariable
from orchestrator.dcp.identifiers import Scope
from orchestrator.dcp.pdus import encode
from orchestrator.dcp.slave.config_requests import Configuration, Origin, SlaveWire, is_too_long


class SlaveModel(ABC):
    """A model behind a slave; variables go by their value reference, values row by row.

    Its errors (``SoftdockError``) lead the slave into the error superstate.
    """

    @abstractmethod
    def configure(self, parameters: Mapping[int, Values]) -> None:
        """Make the model anew, with the parameters that were set."""

    @abstractmethod
    def set(self, reference: int, values: Values) -> None:
        """Set an input, or a tunable parameter."""

    @abstractmethod
    def get(self, reference: int) -> Values:
        """Return an output."""

    @abstractmethod
    def initialise(self) -> None:
        """Make the outputs consistent with the inputs at the start time; it may be asked again."""

    @abstractmethod
    def begin(self) -> None:
        """End the initialisation: time may pass from here on."""

    @abstractmethod
    def step(self, begin_ns: int, end_ns: int) -> None:
        """Compute from one time to another, in ns from the start, with the inputs held."""

    @abstractmethod
    def close(self) -> None:
        """End the model; allowed at any time and more than once."""


_LOG = logging.getLogger(__name__)
_PERIOD = 2**16


class PropertyError(Exception):
    """Data break a promise of the description: limits, or how many PDUs may be missed."""


class Exchange:
    """Keeps the newest values of inputs and parameters until the model takes them.

    about, configuration: The slave, prepared.
    model: Whose inputs and outputs they are.
    wire: That sends.
    """

    def __init__(
        self,
        about: SlaveDescription,
        configuration: Configuration,
        model: SlaveModel,
        wire: SlaveWire,
    ) -> None:
        self._known = about.by_reference
        self._config, self._model, self._wire = configuration, model, wire
        self._inputs = self._payloads(configuration.inputs, about)
        self._tunables = self._payloads(configuration.tunables, about)
        self._outputs = self._payloads(configuration.outputs, about)
        self._heard: dict[tuple[bool, int], int] = {}
        self._sent = dict.fromkeys(self._outputs, 0)
        self._waiting: dict[int, Values] = {}
        self.dropped, self._refused = 0, False

    def _payloads(
        self, groups: dict[int, dict[int, tuple[int, DcpType]]], about: SlaveDescription
    ) -> dict[int, Payload]:
        return {number: self._config.payload(rows, about) for number, rows in groups.items()}

    def refuse(self, origin: Origin) -> None:
        """Drop data of somebody who is not the master; the first are told."""
        self.dropped += 1
        if not self._refused:
            _LOG.warning("data of %s were dropped: only those of the master are taken", origin)
        self._refused = True

    def receive(self, pdu: pdus.Data | pdus.ParameterData, scope: Scope) -> None:
        """Keep the values of a PDU; one that was not configured, or is damaged, is dropped."""
        is_data = isinstance(pdu, pdus.Data)
        number = pdu.data_id if isinstance(pdu, pdus.Data) else pdu.param_id
        layout = (self._inputs if is_data else self._tunables).get(number)
        if layout is None or (is_data and self._config.scopes[number] not in {Scope.ALWAYS, scope}):
            self.dropped += 1
            return
        missed = self._missed((is_data, number), pdu.sequence)
        if missed is None:
            self.dropped += 1
            return
        try:
            values = layout.unpack(pdu.payload)
        except WireFormatError:
            self.dropped += 1
            return
        self._heard[is_data, number] = pdu.sequence
        for reference, value in values.items():
            self._keep(self._known[reference], value, missed)

    def _missed(self, key: tuple[bool, int], sequence: int) -> int | None:
        """Return how many PDUs are missing before this one; ``None`` if it is an old one."""
        last = self._heard.get(key)
        if last is None:
            return 0
        step = (sequence - last) % _PERIOD
        return None if step == 0 or step > _PERIOD // 2 else step - 1

    def _keep(self, variable: SlaveVariable, values: Values, missed: int) -> None:
        if variable.max_missed is not None and missed > variable.max_missed:
            raise PropertyError(
                f"{variable.name}: {missed} data PDUs were missed; at most {variable.max_missed}"
            )
        if (beyond := variable.beyond_limits(values)) is not None:
            raise PropertyError(f"{variable.name}: {beyond!r} is beyond its limits")
        if is_too_long(variable, values):
            raise PropertyError(f"{variable.name}: longer than {variable.max_size} bytes")
        self._waiting[variable.reference] = values

    def apply(self) -> None:
        """Give the model what has come."""
        waiting, self._waiting = self._waiting, {}
        for reference, values in waiting.items():
            self._model.set(reference, values)

    def send(self, scope: Scope, at_step: int | None = None) -> None:
        """Send the outputs."""
        for number, layout in self._outputs.items():
            due = at_step is None or at_step % self._config.steps[number] == 0
            if due and self._config.scopes[number] in {Scope.ALWAYS, scope}:
                values = {p.reference: self._model.get(p.reference) for p in layout.places}
                pdu = pdus.Data(self._sent[number], number, layout.pack(values))
                self._sent[number] = (self._sent[number] + 1) % _PERIOD
                for transport, address in self._config.targets[number]:
                    self._wire.send(transport, address, encode(pdu))
