"""The machine of a slave: PDUs of a master in, answers, states and data out (section 3.4)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode, PduType, Scope
from orchestrator.dcp.pdus import Header, decode, encode, header_of, kind_of
from orchestrator.dcp.slave.conduct import Conduct
from orchestrator.dcp.slave.config_requests import ConfigRequests, Configuration, Origin, SlaveWire
from orchestrator.dcp.slave.exchange import SlaveModel
from orchestrator.dcp.states import ERROR, INITIALIZATION, ErrorCode, SlaveState, is_allowed


@dataclass(frozen=True, slots=True)
class RequestChecks:
    """What is checked of requests behind their sequence number.

    about: The slave.
    unix: UNIX time in s.
    """

    about: SlaveDescription
    unix: Callable[[], float]

    def supports(self, kind: PduType, mode: OpMode | None) -> bool:
        """Whether a slave has a request at all, by its capabilities and its operating mode."""
        can = self.about.capabilities
        if kind is PduType.CFG_LOGGING:
            return can.log_on_request or can.log_on_notification
        if kind is PduType.INF_LOG:
            return can.log_on_request
        if kind.is_configuration and not can.accept_config_pdus:
            return False
        if kind is PduType.STC_DO_STEP:
            return mode in {None, OpMode.NRT}
        return kind is not PduType.STC_RESET or can.handle_reset

    def of_transition(
        self,
        request: pdus.StateRequest,
        state: SlaveState,
        mode: OpMode | None,
        configuration: Configuration,
        stepped: int,
    ) -> ErrorCode:
        """Return what is wrong with a request for another state, in the order of its table."""
        if request.state != state:
            return ErrorCode.INVALID_STATE_ID
        if isinstance(request, pdus.Register):
            return self._of_register(request)
        if isinstance(request, pdus.Prepare) and mode is not None:
            return configuration.flaw(self.about, mode)
        if isinstance(request, pdus.Run):
            # It has whole seconds only: the one that runs is not in the past.
            past = request.time < 0 or 0 < request.time < int(self.unix())
            return ErrorCode.INVALID_START_TIME if past and mode is not OpMode.NRT else _OK
        return self._of_steps(request, stepped) if isinstance(request, pdus.DoStep) else _OK

    def _of_register(self, request: pdus.Register) -> ErrorCode:
        if request.uuid != self.about.uuid.bytes:
            return ErrorCode.INVALID_UUID
        if request.op_mode not in self.about.op_modes:
            return ErrorCode.INVALID_OP_MODE
        if request.major != self.about.major:
            return ErrorCode.INVALID_MAJOR_VERSION
        return _OK if request.minor == self.about.minor else ErrorCode.INVALID_MINOR_VERSION

    def _of_steps(self, request: pdus.DoStep, stepped: int) -> ErrorCode:
        if not self.about.nrt_steps.takes(request.steps):
            return ErrorCode.INVALID_STEPS
        if stepped not in {0, request.steps} and not self.about.capabilities.handle_variable_steps:
            return ErrorCode.NOT_SUPPORTED_VARIABLE_STEPS
        return _OK


_LOG = logging.getLogger(__name__)
_OK = ErrorCode.NONE
_SEQUENCES = 2**16


class Slave(Conduct):
    """Answers a master as the standard says; it knows no socket and no thread.

    about: What it says of itself.
    model: What it computes with.
    wire: What it sends by.
    clock: In ns, that never goes back.
    unix: UNIX time in s, of which STC_run speaks.
    """

    def __init__(
        self,
        about: SlaveDescription,
        model: SlaveModel,
        wire: SlaveWire,
        clock: Callable[[], int] = time.monotonic_ns,
        unix: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(about, model, wire, clock, unix)
        self._checks = RequestChecks(about, unix)

    def receive(self, content: bytes, origin: Origin) -> None:
        """Take a PDU of any kind, from wherever it came."""
        try:
            kind = kind_of(content)
            if kind in {PduType.DAT_INPUT_OUTPUT, PduType.DAT_PARAMETER}:
                self._take_data(content, origin)
                return
            header = header_of(content)
        except WireFormatError as error:
            _LOG.debug("dropped: %s", error)
            return
        if self._is_for_us(header, origin):
            self._answer(header, content, origin)

    def _is_for_us(self, header: Header, origin: Origin) -> bool:
        asks_for_it = header.kind in {PduType.STC_REGISTER, PduType.INF_STATE}
        if asks_for_it and header.receiver > 0 and origin != self._master and self._is_abandoned:
            self.lose(self._master)
        if self.state is SlaveState.ALIVE:
            return header.receiver > 0
        return header.receiver == self._id and origin == self._master

    def _take_data(self, content: bytes, origin: Origin) -> None:
        if self._exchange is None or self.state in {
            *ERROR,
            SlaveState.STOPPING,
            SlaveState.STOPPED,
        }:
            return
        if self._master is None or not self._wire.is_same(origin, self._master):
            self._exchange.refuse(origin)
            return
        self._data_ns = self._clock()
        found = decode(content)
        scope = Scope.INITIALIZATION if self.state in INITIALIZATION else Scope.RUN
        if isinstance(found, (pdus.Data, pdus.ParameterData)):
            exchange = self._exchange
            self._guarded(lambda: exchange.receive(found, scope))

    def _answer(self, header: Header, content: bytes, origin: Origin) -> None:
        """Check a request in the order of Table 107, and do what it asks for."""
        if self.state is not SlaveState.ALIVE:
            if header.sequence != (self._last + 1) % _SEQUENCES:
                self._refuse(header, origin, ErrorCode.INVALID_SEQUENCE_ID)
                return
            self._hear()
        self._last = header.sequence
        error = self._carried_out(header, content, origin)
        if error is not _OK:
            self._refuse(header, origin, error)

    def _carried_out(self, header: Header, content: bytes, origin: Origin) -> ErrorCode:
        if not self._checks.supports(header.kind, self._mode):
            return ErrorCode.NOT_SUPPORTED_PDU
        try:
            request = decode(content)
        except WireFormatError:
            return ErrorCode.INVALID_LENGTH
        if not is_allowed(header.kind, self.state, self._mode):
            return ErrorCode.PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE
        if isinstance(request, pdus.StateRequest):
            return self._change_state(request, origin)
        if header.kind.is_configuration:
            error = ConfigRequests(self.about, self._config).apply(request)
            if error is _OK:
                self._respond(pdus.Ack(header.sequence, self._id))
            return error
        return self._inform(request, header, origin)

    def _change_state(self, request: pdus.StateRequest, origin: Origin) -> ErrorCode:
        error = self._checks.of_transition(
            request, self.state, self._mode, self._config, self._stepped
        )
        if error is not _OK:
            return error
        if isinstance(request, pdus.Register):
            self._take_over(request.receiver, origin, OpMode(request.op_mode))
        self._respond(pdus.Ack(request.sequence, self._id))
        self._guarded(lambda: self._carry_out(request))
        return _OK

    def _inform(self, request: pdus.Pdu, header: Header, origin: Origin) -> ErrorCode:
        sender, sequence = self._id or header.receiver, header.sequence
        if isinstance(request, pdus.AskLog):
            if request.category and request.category not in self.about.categories:
                return ErrorCode.INVALID_LOG_CATEGORY
            entries = self._log.take(request.category, request.most)
            self._wire.answer(origin, encode(pdus.LogAck(sequence, sender, entries)))
        elif isinstance(request, pdus.AskError):
            self._wire.answer(origin, encode(pdus.ErrorAck(sequence, sender, self.error)))
        else:
            self._wire.answer(origin, encode(pdus.StateAck(sequence, sender, self.state)))
        return _OK

    def _refuse(self, header: Header, origin: Origin, error: ErrorCode) -> None:
        _LOG.info("%s refused: %s", header.kind.title, error.name)
        expected = (self._last + 1) % _SEQUENCES
        sender = self._id or header.receiver
        self._wire.answer(origin, encode(pdus.Nack(header.sequence, sender, expected, error)))
