"""What a slave was configured to, by CFG requests (Tables 121 to 131), and its data in and out."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.core.structs import MutableStruct, field
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import (
    HEADER_BYTES,
    DcpType,
    Payload,
    PayloadPlace,
    Values,
    converts,
    has_gap,
)
from orchestrator.dcp.description import SlaveDescription, SlaveVariable, VariableKind
from orchestrator.dcp.identifiers import LogLevel, LogMode, OpMode, Scope, Transport
from orchestrator.dcp.pdus import encode
from orchestrator.dcp.states import ErrorCode

Address = tuple[str, int]
#: Where a control PDU came from, and where its answer goes to.
Origin = Hashable


class SlaveWire(ABC):
    """Sends for a slave, and opens what it will receive by. Its errors are ``OSError``."""

    @abstractmethod
    def answer(self, origin: Origin, content: bytes) -> None:
        """Send a control PDU to where one came from; a peer that is gone is no error."""

    def is_same(self, origin: Origin, master: Origin) -> bool:
        """Whether data came from a master, which may have connections of their own for them."""
        return origin == master

    @abstractmethod
    def listen(self, transport: Transport, port: int) -> None:
        """Receive data on a port, which may be that of control PDUs or one that is open already."""

    @abstractmethod
    def connect(self, transport: Transport, address: Address) -> None:
        """Make ready to send data to an address."""

    @abstractmethod
    def send(self, transport: Transport, address: Address, content: bytes) -> None:
        """Send a data PDU."""

    @abstractmethod
    def take_waiting(self) -> None:
        """Hand over all data that have arrived, before a step that must know them."""

    @abstractmethod
    def release(self) -> None:
        """Close all that was opened by :meth:`listen` and :meth:`connect`."""


Positions = dict[int, tuple[int, DcpType]]
Listening = tuple[Transport, int]
Target = tuple[Transport, Address]


class Configuration(MutableStruct):
    """The settings of CFG PDUs, by data id or parameter id.

    resolution: In s, numerator and denominator; ``None``: not set.
    inputs, outputs, tunables: By position: value reference, and type in the payload.
    steps, scopes: Of data ids.
    sources, targets, tunable_sources: Where they come in, and go to.
    parameters: Values that were set, by value reference.
    logging: By category: up to which level, and how.
    """

    resolution: tuple[int, int] | None = None
    inputs: dict[int, Positions] = field(default_factory=dict)
    outputs: dict[int, Positions] = field(default_factory=dict)
    tunables: dict[int, Positions] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    sources: dict[int, Listening] = field(default_factory=dict)
    targets: dict[int, list[Target]] = field(default_factory=dict)
    tunable_sources: dict[int, Listening] = field(default_factory=dict)
    parameters: dict[int, Values] = field(default_factory=dict)
    logging: dict[int, tuple[LogLevel, LogMode]] = field(default_factory=dict)

    @property
    def listening(self) -> set[Listening]:
        """All that is received by."""
        return {*self.sources.values(), *self.tunable_sources.values()}

    def extents(self, description: SlaveDescription) -> dict[int, int]:
        """Return the structural parameters that were set, by reference."""
        variables = description.by_reference
        return {
            reference: int(values[0])
            for reference, values in self.parameters.items()
            if variables[reference].kind is VariableKind.STRUCTURAL
        }

    def payload(self, positions: Positions, description: SlaveDescription) -> Payload:
        """Return the layout of a data id."""
        variables, extents = description.by_reference, self.extents(description)
        rows = (positions[at] for at in sorted(positions))
        return Payload(
            PayloadPlace(reference, kind, description.size(variables[reference], extents))
            for reference, kind in rows
        )

    def flaw(self, description: SlaveDescription, mode: OpMode) -> ErrorCode:
        """Return the first thing that is missing, in the order of Table 112; else ``NONE``."""
        code = ErrorCode
        data = {**self.inputs, **self.outputs}
        in_time = mode is not OpMode.NRT
        checks = (
            (code.INCOMPLETE_CONFIG_GAP_INPUT_POS, _any_gap(self.inputs)),
            (code.INCOMPLETE_CONFIG_GAP_OUTPUT_POS, _any_gap(self.outputs)),
            (code.INCOMPLETE_CONFIG_GAP_TUNABLE_POS, _any_gap(self.tunables)),
            (code.INCOMPLETE_CONFIG_NW_INFO_INPUT, _lacks(self.inputs, self.sources)),
            (code.INCOMPLETE_CONFIG_NW_INFO_OUTPUT, _lacks(self.outputs, self.targets)),
            (code.INCOMPLETE_CONFIG_NW_INFO_TUNABLE, _lacks(self.tunables, self.tunable_sources)),
            (code.INCOMPLETE_CONFIG_STEPS, in_time and _lacks(self.outputs, self.steps)),
            (
                code.INCOMPLETE_CONFIG_TIME_RESOLUTION,
                self.resolution is None and description.fixed_resolution is None,
            ),
            (code.INCOMPLETE_CONFIG_SCOPE, _lacks(data, self.scopes)),
            (code.NOT_SUPPORTED_PDU_SIZE, self._is_too_long(description)),
        )
        return next((error for error, is_so in checks if is_so), code.NONE)

    def _is_too_long(self, description: SlaveDescription) -> bool:
        limit = min(
            (address.max_pdu_size for address in description.transports.values()), default=0
        )
        groups = (*self.inputs.values(), *self.outputs.values(), *self.tunables.values())
        return any(
            HEADER_BYTES + self.payload(group, description).least_size > limit for group in groups
        )


def _any_gap(groups: Mapping[int, Positions]) -> bool:
    return any(map(has_gap, groups.values()))


def _lacks(ids: Mapping[int, object], variables: Mapping[int, object]) -> bool:
    return not set(ids) <= set(variables)


_OK = ErrorCode.NONE


class ConfigRequests:
    """Applies CFG requests to a configuration.

    about: The slave.
    configuration: That is changed.
    """

    def __init__(self, description: SlaveDescription, configuration: Configuration) -> None:
        self._about = description
        self._config = configuration
        self._known = description.by_reference
        self._handlers: Mapping[type[pdus.Pdu], Callable[[Any], ErrorCode]] = {
            pdus.TimeRes: self._time_res,
            pdus.Steps: self._steps,
            pdus.ConfigureInput: self._input,
            pdus.ConfigureOutput: self._output,
            pdus.Clear: self._clear,
            pdus.TargetNetworkInformation: self._target,
            pdus.SourceNetworkInformation: self._source,
            pdus.SetParameter: self._parameter,
            pdus.TunableParameter: self._tunable,
            pdus.ParameterNetworkInformation: self._source,
            pdus.Logging: self._logging,
            pdus.ConfigureScope: self._scope,
        }

    def apply(self, request: pdus.Pdu) -> ErrorCode:
        """Do what a request asks for, or return why not; then nothing is changed."""
        return self._handlers[type(request)](request)

    def _time_res(self, pdu: pdus.TimeRes) -> ErrorCode:
        if not self._about.takes_resolution(pdu.numerator, pdu.denominator):
            return ErrorCode.INVALID_TIME_RESOLUTION
        self._config.resolution = (pdu.numerator, pdu.denominator)
        return _OK

    def _steps(self, pdu: pdus.Steps) -> ErrorCode:
        outputs = self._config.outputs.get(pdu.data_id, {})
        if pdu.steps < 1 or not all(
            self._known[reference].steps.takes(pdu.steps) for reference, _ in outputs.values()
        ):
            return ErrorCode.INVALID_STEPS
        self._config.steps[pdu.data_id] = pdu.steps
        return _OK

    def _input(self, pdu: pdus.ConfigureInput) -> ErrorCode:
        variable = self._known.get(pdu.reference)
        if variable is None or variable.kind is not VariableKind.INPUT:
            return ErrorCode.INVALID_VALUE_REFERENCE
        return _payload_place(
            self._config.inputs, pdu.data_id, pdu.position, variable, pdu.source_type
        )

    def _output(self, pdu: pdus.ConfigureOutput) -> ErrorCode:
        variable = self._known.get(pdu.reference)
        if variable is None or variable.kind is not VariableKind.OUTPUT:
            return ErrorCode.INVALID_VALUE_REFERENCE
        steps = self._config.steps.get(pdu.data_id)
        if steps is not None and not variable.steps.takes(steps):
            return ErrorCode.INVALID_STEPS
        return _payload_place(
            self._config.outputs, pdu.data_id, pdu.position, variable, variable.type
        )

    def _tunable(self, pdu: pdus.TunableParameter) -> ErrorCode:
        variable = self._known.get(pdu.reference)
        if variable is None or not variable.is_tunable:
            return ErrorCode.INVALID_VALUE_REFERENCE
        return _payload_place(
            self._config.tunables, pdu.param_id, pdu.position, variable, pdu.source_type
        )

    def _clear(self, _: pdus.Clear) -> ErrorCode:
        empty = Configuration()
        for name in Configuration.__struct_fields__:
            setattr(self._config, name, getattr(empty, name))
        return _OK

    def _target(self, pdu: pdus.TargetNetworkInformation) -> ErrorCode:
        if (error := self._network_error(pdu)) is not _OK:
            return error
        target = (Transport(pdu.transport), pdu.address)
        targets = self._config.targets.setdefault(pdu.data_id, [])
        if target not in targets:
            targets.append(target)
        return _OK

    def _source(self, pdu: pdus.NetworkInformation) -> ErrorCode:
        """Take where data, or tunable parameters, come in."""
        if (error := self._network_error(pdu)) is not _OK:
            return error
        is_data = isinstance(pdu, pdus.SourceNetworkInformation)
        sources = self._config.sources if is_data else self._config.tunable_sources
        sources[pdu.data_id] = (Transport(pdu.transport), pdu.address[1])
        return _OK

    def _network_error(self, pdu: pdus.NetworkInformation) -> ErrorCode:
        if not pdus.is_spoken(pdu.transport) or pdu.transport not in self._about.transports:
            return ErrorCode.INVALID_TRANSPORT_PROTOCOL
        return ErrorCode.INVALID_NETWORK_INFORMATION if pdu.address[1] == 0 else _OK

    def _parameter(self, pdu: pdus.SetParameter) -> ErrorCode:
        variable = self._known.get(pdu.reference)
        if variable is None or not variable.is_settable:
            return ErrorCode.INVALID_VALUE_REFERENCE
        if not converts(pdu.source_type, variable.type):
            return ErrorCode.INVALID_SOURCE_DATA_TYPE
        size = self._about.size(variable, self._config.extents(self._about))
        field = PayloadPlace(pdu.reference, DcpType(pdu.source_type), size)
        try:
            values = Payload([field]).unpack(pdu.payload)[pdu.reference]
        except WireFormatError:
            return ErrorCode.INVALID_PAYLOAD
        if variable.beyond_limits(values) is not None or is_too_long(variable, values):
            return ErrorCode.INVALID_PAYLOAD
        if variable.kind is VariableKind.STRUCTURAL and values != variable.start:
            return ErrorCode.INVALID_PAYLOAD  # models here have the extents of their description
        self._config.parameters[pdu.reference] = values
        return _OK

    def _logging(self, pdu: pdus.Logging) -> ErrorCode:
        can = self._about.capabilities
        if pdu.mode == LogMode.ON_REQUEST and not can.log_on_request:
            return ErrorCode.NOT_SUPPORTED_LOG_ON_REQUEST
        if pdu.mode == LogMode.ON_NOTIFICATION and not can.log_on_notification:
            return ErrorCode.NOT_SUPPORTED_LOG_ON_NOTIFICATION
        if pdu.category and pdu.category not in self._about.categories:
            return ErrorCode.INVALID_LOG_CATEGORY
        if pdu.level > LogLevel.DEBUG:
            return ErrorCode.INVALID_LOG_LEVEL
        if pdu.mode > LogMode.ON_NOTIFICATION:
            return ErrorCode.INVALID_LOG_MODE
        categories = (pdu.category,) if pdu.category else tuple(self._about.categories)
        for category in categories:
            self._config.logging[category] = (LogLevel(pdu.level), LogMode(pdu.mode))
        return _OK

    def _scope(self, pdu: pdus.ConfigureScope) -> ErrorCode:
        if pdu.scope > Scope.RUN:
            return ErrorCode.INVALID_SCOPE
        self._config.scopes[pdu.data_id] = Scope(pdu.scope)
        return _OK


def is_too_long(variable: SlaveVariable, values: tuple[object, ...]) -> bool:
    """Whether a string or binary has more bytes than the description allows."""
    if variable.max_size is None:
        return False
    texts = (value.encode() if isinstance(value, str) else value for value in values)
    return any(isinstance(text, bytes) and len(text) > variable.max_size for text in texts)


def _payload_place(
    groups: dict[int, Positions], number: int, position: int, variable: SlaveVariable, kind: int
) -> ErrorCode:
    if not converts(kind, variable.type):
        return ErrorCode.INVALID_SOURCE_DATA_TYPE
    groups.setdefault(number, {})[position] = (variable.reference, DcpType(kind))
    return _OK


class SlaveModel(ABC):
    """A model behind a slave; variables go by their value reference, values row by row.

    Its errors (``SoftdockError``) lead the slave into the error superstate.
    """

    @abstractmethod
    def configure(self, parameters: Mapping[int, Values]) -> None:
        """Create the model again, with the parameters that were set."""

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


class PropertyError(Exception):
    """Data break a promise of the description: limits, or how many PDUs may be missed."""


class InputRhythm:
    """Notices inputs that come after the step that they were sent for (NRT).

    A master that sent inputs once before each step, then none before one and two before the next,
    sent those of the step before in time: the network delivered them too late.
    """

    def __init__(self) -> None:
        self._is_regular: bool | None = None
        self._missed_last, self._count = False, 0

    def comes_late(self) -> bool:
        """Count a data PDU; return whether it shows that one before it came too late."""
        self._count += 1
        return self._missed_last and self._count == 2

    def end_step(self) -> None:
        """Note that a step takes what has come."""
        self._missed_last = self._is_regular is True and self._count == 0
        self._is_regular = self._is_regular is not False and self._count == 1
        self._count = 0


class Exchange:
    """Keeps the newest values of inputs and parameters until the model takes them.

    about, configuration: The slave, prepared.
    model: Whose inputs and outputs they are.
    wire: That sends.
    """

    def __init__(
        self,
        description: SlaveDescription,
        configuration: Configuration,
        model: SlaveModel,
        wire: SlaveWire,
    ) -> None:
        self._known = description.by_reference
        self._config, self._model, self._wire = configuration, model, wire
        self._inputs = self._payloads(configuration.inputs, description)
        self._tunables = self._payloads(configuration.tunables, description)
        self._outputs = self._payloads(configuration.outputs, description)
        self._heard: dict[tuple[bool, int], int] = {}
        self._sent = dict.fromkeys(self._outputs, 0)
        self._waiting: dict[int, Values] = {}
        self._rhythm = {number: InputRhythm() for number in self._inputs}
        self.dropped, self._refused = 0, False

    def _payloads(
        self, groups: dict[int, dict[int, tuple[int, DcpType]]], description: SlaveDescription
    ) -> dict[int, Payload]:
        return {number: self._config.payload(rows, description) for number, rows in groups.items()}

    def refuse(self, origin: Origin) -> None:
        """Drop data of senders other than the master; log the first ones."""
        self.dropped += 1
        if not self._refused:
            _LOG.warning("data of %s were dropped: only those of the master are taken", origin)
        self._refused = True

    def receive(
        self, pdu: pdus.Data | pdus.ParameterData, scope: Scope, *, exact: bool = False
    ) -> bool:
        """Keep the values of a PDU; one that was not configured, or is damaged, is dropped.

        exact: Whether steps must not miss any (NRT).
        Returns: Whether its values are the newest ones now; they may have come before.
        Raises PropertyError: if values break a promise of the description, or, where ``exact``, if
        PDUs before it are missing, or it came after the step that needed it.
        """
        is_data = isinstance(pdu, pdus.Data)
        number = pdu.data_id if isinstance(pdu, pdus.Data) else pdu.param_id
        layout = (self._inputs if is_data else self._tunables).get(number)
        if layout is None or (is_data and self._config.scopes[number] not in {Scope.ALWAYS, scope}):
            self.dropped += 1
            return False
        missed = self._missed((is_data, number), pdu.sequence)
        if missed is None:
            self.dropped += 1
            return self._heard.get((is_data, number)) == pdu.sequence
        try:
            values = layout.unpack(pdu.payload)
        except WireFormatError:
            self.dropped += 1
            return False
        self._heard[is_data, number] = pdu.sequence
        if exact and is_data and scope is Scope.RUN and self._rhythm[number].comes_late():
            raise PropertyError(
                f"data id {number}: the inputs of the last step came after it was computed"
            )
        for reference, value in values.items():
            variable = self._known[reference]
            can_miss = 0 if exact and variable.max_missed is None else variable.max_missed
            self._keep(variable, value, missed, can_miss)
        return True

    def count_step(self) -> None:
        """Note that a step of NRT uses the inputs that have come until now."""
        for rhythm in self._rhythm.values():
            rhythm.end_step()

    def _missed(self, key: tuple[bool, int], sequence: int) -> int | None:
        """Return how many PDUs are missing before this one; ``None`` if it is an old one."""
        last = self._heard.get(key)
        if last is None:
            return 0
        step = (sequence - last) % pdus.SEQUENCES
        return None if step == 0 or step > pdus.SEQUENCES // 2 else step - 1

    def _keep(
        self, variable: SlaveVariable, values: Values, missed: int, can_miss: int | None
    ) -> None:
        if can_miss is not None and missed > can_miss:
            raise PropertyError(
                f"{variable.name}: {missed} data PDUs were missed; at most {can_miss}"
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
                self._sent[number] = (self._sent[number] + 1) % pdus.SEQUENCES
                for transport, address in self._config.targets[number]:
                    self._wire.send(transport, address, encode(pdu))
