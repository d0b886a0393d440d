"""The machine of a slave: PDUs of a master in, answers, states and data out (section 3.4)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.codec import Header, decode, encode, header_of, kind_of
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.error_codes import ErrorCode
from orchestrator.dcp.identifiers import OpMode, PduType, Scope
from orchestrator.dcp.slave.conduct import Conduct
from orchestrator.dcp.slave.config_requests import ConfigRequests
from orchestrator.dcp.slave.model import SlaveModel
from orchestrator.dcp.slave.request_checks import RequestChecks
from orchestrator.dcp.slave.wire import Origin, Wire
from orchestrator.dcp.states import ERROR, INITIALIZATION, State, is_allowed

_LOG = logging.getLogger(__name__)
_OK = ErrorCode.NONE
_SEQUENCES = 2**16


class Slave(Conduct):
    """Answers a master as the standard says; it knows no socket and no thread.

    Parameters
    ----------
    about
        What it says of itself.
    model
        What it computes with.
    wire
        What it sends by.
    clock
        In ns, that never goes back.
    unix
        UNIX time in s, of which STC_run speaks.
    """

    def __init__(
        self,
        about: SlaveDescription,
        model: SlaveModel,
        wire: Wire,
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
        if self.state is State.ALIVE:
            return header.receiver > 0
        return header.receiver == self._id and origin == self._master

    def _take_data(self, content: bytes, origin: Origin) -> None:
        if self._exchange is None or self.state in {*ERROR, State.STOPPING, State.STOPPED}:
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
        if self.state is not State.ALIVE:
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
