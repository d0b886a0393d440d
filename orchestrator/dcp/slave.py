"""A slave as a machine: PDUs of a master in, answers, states, work and data out (chapter 3)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import gcd

from orchestrator.core.diagnostics import DeadlineError, SoftdockError, WireFormatError
from orchestrator.core.structs import MutableStruct
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import Scalar
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode, PduType, Scope
from orchestrator.dcp.log import LogBook
from orchestrator.dcp.pdus import Header, decode, encode, header_of, kind_of
from orchestrator.dcp.slave_data import (
    ConfigRequests,
    Configuration,
    Exchange,
    Origin,
    PropertyError,
    SlaveModel,
    SlaveWire,
)
from orchestrator.dcp.states import (
    ERROR,
    INITIALIZATION,
    NORMAL,
    RUN,
    ErrorCode,
    SlaveState,
    StateSignal,
    Trigger,
    is_allowed,
    transition,
)

_NS = 10**9


class StepPacing(MutableStruct):
    """Counts steps against a clock.

    resolution: In s, numerator and denominator.
    steps: Of all data ids; the model is stepped by their greatest common divisor.
    start_ns: Of simulation time 0, by the clock of the slave.
    """

    resolution: tuple[int, int]
    steps: tuple[int, ...]
    start_ns: int
    done: int = -1

    @property
    def stride(self) -> int:
        """Units of the resolution in one step of the model."""
        return gcd(*self.steps) or 1

    def simulated_ns(self, steps: int) -> int:
        """Return the simulation time of a number of units of the resolution."""
        return time_ns(self.resolution, steps)

    @property
    def due_ns(self) -> int:
        """When the outputs of the next step leave, by the clock."""
        return self.start_ns + self.simulated_ns((self.done + 1) * self.stride)


def time_ns(resolution: tuple[int, int], steps: int) -> int:
    """Return the time of a number of units of a resolution, in ns, without accumulated error."""
    numerator, denominator = resolution
    return (2 * steps * numerator * _NS + denominator) // (2 * denominator)


_LOG = logging.getLogger(__name__)
#: Further missed heartbeat intervals after which a master counts as gone for good.
GONE = 10
#: A master without a heartbeat that is silent for so long, in s, loses the slave to the next.
SILENT_S = 60
#: The same of one that has not configured the slave: a registration that came twice has no master.
UNCONFIGURED_S = 5
#: Template of the entry that says why a slave is in the error superstate.
ERROR_ENTRY = 1
#: Template of the entry that confirms a data PDU of inputs.
RECEIPT_ENTRY = 2
_OK = ErrorCode.NONE


class Slave:
    """Answers a master as the standard says; it knows no socket and no thread.

    about: What it says of itself.
    model: What it computes with.
    wire: What it sends by.
    clock: In ns, that never goes back.
    unix: UNIX time in s, of which STC_run speaks.
    """

    def __init__(
        self,
        description: SlaveDescription,
        model: SlaveModel,
        wire: SlaveWire,
        clock: Callable[[], int] = time.monotonic_ns,
        unix: Callable[[], float] = time.time,
    ) -> None:
        self.about, self._model, self._wire = description, model, wire
        self._clock, self._unix = clock, unix
        #: Runs that have ended, and steps in real time that were late in all of them.
        self.runs, self.late = 0, 0
        self._work: dict[SlaveState, Callable[[pdus.StateRequest], None]] = {
            SlaveState.PREPARING: self._prepare,
            SlaveState.CONFIGURING: self._configure,
            SlaveState.INITIALIZING: self._initialise,
            SlaveState.SENDING_I: self._send,
            SlaveState.SYNCHRONIZING: self._begin_run,
            SlaveState.COMPUTING: self._compute,
            SlaveState.SENDING_D: self._send,
            SlaveState.STOPPING: self._stop,
            SlaveState.ALIVE: lambda _: self._leave(),
            SlaveState.CONFIGURATION: self._configure_anew,
        }
        self._enter()

    def _enter(self) -> None:
        """Begin as a slave that was loaded just now."""
        self.state, self.error, self.reason = SlaveState.ALIVE, ErrorCode.NONE, ""
        self._mode: OpMode | None = None
        self._id, self._last = 0, 0
        #: Where its master is; ``None`` if it has none.
        self.master: Origin | None = None
        self._history = SlaveState.SYNCHRONIZING
        self._config = Configuration()
        self._log = LogBook(self.about, self._config.logging, self._unix)
        self._exchange: Exchange | None = None
        self._pacing: StepPacing | None = None
        self._steps, self._stepped = 0, 0
        self._heard_ns, self._data_ns = 0, 0

    @property
    def _resolution(self) -> tuple[int, int]:
        resolution = self._config.resolution or self.about.fixed_resolution
        if resolution is None:
            raise SoftdockError("DCP slave: it has no time resolution")
        return resolution

    @property
    def _exchanged(self) -> Exchange:
        if self._exchange is None:
            raise SoftdockError("DCP slave: it is not configured")
        return self._exchange

    def _respond(self, pdu: pdus.Pdu) -> None:
        if self.master is not None:
            self._wire.answer(self.master, encode(pdu))

    def _hear(self) -> None:
        self._heard_ns = self._clock()

    @property
    def _is_abandoned(self) -> bool:
        """Whether another master may have the slave, as its own sends neither words nor data."""
        if self.about.heartbeat is not None or self.state is SlaveState.ALIVE:
            return False
        longest = SILENT_S if self.state is not SlaveState.CONFIGURATION else UNCONFIGURED_S
        return self._clock() - max(self._heard_ns, self._data_ns) > longest * 10**9

    def _move(self, trigger: Trigger) -> None:
        """Change the state as the table has it, and tell the master."""
        row = transition(trigger, self.state)
        if row is None:
            raise SoftdockError(f"DCP slave: no {trigger} in state {self.state.name}")
        if row.target is SlaveState.COMPUTING:
            self._history = self.state
        self.state = self._history if row.target is None else row.target
        self._respond(pdus.StateChanged(self._id, self.state))

    def _carry_out(self, request: pdus.StateRequest) -> None:
        self._move(request.kind)
        if self.state in self._work and request.kind is not PduType.STC_REGISTER:
            self._work[self.state](request)

    def _guarded(self, action: Callable[[], None]) -> None:
        """Do something; what fails leads to the error superstate."""
        try:
            action()
        except SoftdockError as error:
            self._fail(ErrorCode.PROTOCOL_ERROR_GENERIC, str(error))
        except OSError as error:
            self._fail(ErrorCode.PROTOCOL_ERROR_GENERIC, f"network: {error.strerror or error}")
        except PropertyError as error:
            self._fail(ErrorCode.PROTOCOL_ERROR_PROPERTY_VIOLATED, str(error))

    # The work in each state

    def _prepare(self, _: pdus.StateRequest) -> None:
        for transport, port in self._config.listening:
            self._wire.listen(transport, port)
        self._move(StateSignal.PREPARED)

    def _configure(self, _: pdus.StateRequest) -> None:
        for targets in self._config.targets.values():
            for transport, address in targets:
                self._wire.connect(transport, address)
        self._model.configure(self._config.parameters)
        self._exchange = Exchange(self.about, self._config, self._model, self._wire)
        self._move(StateSignal.CONFIGURED)

    def _initialise(self, _: pdus.StateRequest) -> None:
        self._wire.take_waiting()
        self._exchanged.apply()
        self._model.initialise()
        self._move(StateSignal.INITIALIZED)

    def _send(self, _: pdus.StateRequest) -> None:
        scope = Scope.RUN if self.state is SlaveState.SENDING_D else Scope.INITIALIZATION
        self._exchanged.send(scope)
        self._move(StateSignal.SEND_COMPLETE)

    def _begin_run(self, request: pdus.StateRequest) -> None:
        self._model.begin()
        if self._mode is OpMode.NRT or not isinstance(request, pdus.Run):
            self._move(StateSignal.SYNCHRONIZED)
            return
        wait_s = max(request.time - self._unix(), 0.0) if request.time else 0.0
        steps = tuple(self._config.steps[number] for number in self._config.outputs)
        self._pacing = StepPacing(self._resolution, steps, self._clock() + round(wait_s * 1e9))
        self.tick()

    def _compute(self, request: pdus.StateRequest) -> None:
        if not isinstance(request, pdus.DoStep):
            return
        self._wire.take_waiting()
        self._exchanged.apply()
        self._exchanged.count_step()
        self._stepped = request.steps
        begin, self._steps = self._steps, self._steps + request.steps
        ends = (time_ns(self._resolution, steps) for steps in (begin, self._steps))
        self._model.step(*ends)
        self._move(StateSignal.STEP_DONE)

    def _stop(self, _: pdus.StateRequest) -> None:
        self._pacing = None
        self._model.close()
        self._move(StateSignal.STOPPED)
        self.runs += 1

    def _configure_anew(self, _: pdus.StateRequest) -> None:
        saved = (self._id, self._last, self.master, self._mode)
        self._leave()
        self._id, self._last, self.master, self._mode = saved
        self.state = SlaveState.CONFIGURATION
        self._hear()

    def _leave(self) -> None:
        self._model.close()
        self._wire.release()
        self._enter()

    # Time

    @property
    def due_ns(self) -> int | None:
        """When :meth:`tick` must be called next, by the clock; ``None``: not before a PDU came."""
        dues = [] if self._pacing is None else [self._pacing.due_ns]
        if self.about.heartbeat is not None and self.state is not SlaveState.ALIVE:
            many = GONE if self.state in ERROR else 1
            dues.append(self._heard_ns + many * time_ns(self.about.heartbeat, 1))
        return min(dues, default=None)

    def tick(self) -> None:
        """Do what is due: a step in real time, or the end of a master that is silent."""
        if self._pacing is not None and self._clock() >= self._pacing.due_ns:
            pacing = self._pacing
            self._guarded(lambda: self._step_in_time(pacing))
        self._expect_master()

    def _step_in_time(self, pacing: StepPacing) -> None:
        """Send the outputs that are due, then compute those of the next step."""
        first = pacing.done < 0
        pacing.done += 1
        if self._clock() >= pacing.due_ns:
            self._miss(f"the outputs of step {pacing.done} left a whole step too late")
        at = pacing.done * pacing.stride
        self._exchanged.send(Scope.RUN, at)
        if first:
            self._move(StateSignal.SYNCHRONIZED)
        self._exchanged.apply()
        self._model.step(pacing.simulated_ns(at), pacing.simulated_ns(at + pacing.stride))
        late_ns = self._clock() - pacing.due_ns
        if late_ns > 0:
            self._miss(f"step {pacing.done + 1} was computed {late_ns / 1e6:.3g} ms too late")

    def _miss(self, reason: str) -> None:
        self.late += 1
        if self._mode is OpMode.HRT:
            raise DeadlineError(reason)

    def _expect_master(self) -> None:
        if self.about.heartbeat is None or self.state is SlaveState.ALIVE:
            return
        silent_ns, longest_ns = self._clock() - self._heard_ns, time_ns(self.about.heartbeat, 1)
        if silent_ns > longest_ns and self.state in NORMAL:
            reason = f"no PDU of the master for {silent_ns / 1e9:.3g} s"
            self._fail(ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED, reason)
        elif silent_ns > GONE * longest_ns and self.state in ERROR:
            self.lose(self.master)

    # Ends

    def lose(self, origin: Origin | None) -> None:
        """Notice that a peer is gone for good: without its master a slave is ALIVE again."""
        if origin is None or origin != self.master:
            return
        if self.state in NORMAL:
            self._fail(ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED, "the master is gone")
        if self.state in ERROR:
            self._move(StateSignal.EXIT)
        self._leave()

    def exit(self) -> None:
        """End in good order; a master learns of it by the state STOPPED."""
        if self.state in RUN:
            self._move(StateSignal.STOP)
            self._move(StateSignal.STOPPED)
        self._leave()

    def _fail(self, error: ErrorCode, reason: str) -> None:
        """Go to the error superstate: end the model, notify the master."""
        if self.state not in NORMAL:
            return
        _LOG.error("%s: %s", error.name, reason)
        self.error, self.reason = error, reason
        self._pacing, self._exchange = None, None
        self._move(StateSignal.ERROR)
        self._note(ERROR_ENTRY, reason)
        self._model.close()
        self._move(StateSignal.RESOLVED)

    def _note(self, template: int, *arguments: Scalar) -> None:
        """Write a log entry, and send it if the master has chosen so."""
        written = self._log.write(template, arguments)
        if written is not None:
            self._respond(pdus.LogNotification(self._id, written[0], template, written[1]))

    # Requests

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
        if asks_for_it and header.receiver > 0 and origin != self.master and self._is_abandoned:
            self.lose(self.master)
        if self.state is SlaveState.ALIVE:
            return header.receiver > 0
        return header.receiver == self._id and origin == self.master

    def _take_data(self, content: bytes, origin: Origin) -> None:
        exchange, halted = self._exchange, (*ERROR, SlaveState.STOPPING, SlaveState.STOPPED)
        if exchange is None or self.state in halted:
            return
        if self.master is None or not self._wire.is_same(origin, self.master):
            exchange.refuse(origin)
            return
        self._data_ns = self._clock()
        pdu = decode(content)
        scope = Scope.INITIALIZATION if self.state in INITIALIZATION else Scope.RUN
        if isinstance(pdu, (pdus.Data, pdus.ParameterData)):
            self._guarded(lambda: self._exchange_data(exchange, pdu, scope))

    def _exchange_data(
        self, exchange: Exchange, pdu: pdus.Data | pdus.ParameterData, scope: Scope
    ) -> None:
        is_newest = exchange.receive(pdu, scope, exact=self._mode is OpMode.NRT)
        if is_newest and isinstance(pdu, pdus.Data):
            self._note(RECEIPT_ENTRY, pdu.data_id, pdu.sequence)

    def _answer(self, header: Header, content: bytes, origin: Origin) -> None:
        """Check a request in the order of Table 107, and do what it asks for."""
        if self.state is not SlaveState.ALIVE:
            if header.sequence != (self._last + 1) % pdus.SEQUENCES:
                self._refuse(header, origin, ErrorCode.INVALID_SEQUENCE_ID)
                return
            self._hear()
        self._last = header.sequence
        error = self._carried_out(header, content, origin)
        if error is not _OK:
            self._refuse(header, origin, error)

    def _carried_out(self, header: Header, content: bytes, origin: Origin) -> ErrorCode:
        if not self._supports(header.kind):
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

    def _supports(self, kind: PduType) -> bool:
        """Whether it has a request at all, by its capabilities and its operating mode."""
        can = self.about.capabilities
        if kind is PduType.CFG_LOGGING:
            return can.log_on_request or can.log_on_notification
        if kind is PduType.INF_LOG:
            return can.log_on_request
        if kind.is_configuration and not can.accept_config_pdus:
            return False
        if kind is PduType.STC_DO_STEP:
            return self._mode in {None, OpMode.NRT}
        return kind is not PduType.STC_RESET or can.handle_reset

    def _state_error(self, request: pdus.StateRequest) -> ErrorCode:
        """Return what is wrong with a request for another state, in the order of its table."""
        if request.state != self.state:
            return ErrorCode.INVALID_STATE_ID
        if isinstance(request, pdus.Register):
            return self._register_error(request)
        if isinstance(request, pdus.Prepare) and self._mode is not None:
            return self._config.flaw(self.about, self._mode)
        if isinstance(request, pdus.Run):
            # It has whole seconds only: the one that runs is not in the past.
            past = request.time < 0 or 0 < request.time < int(self._unix())
            return ErrorCode.INVALID_START_TIME if past and self._mode is not OpMode.NRT else _OK
        return self._steps_error(request) if isinstance(request, pdus.DoStep) else _OK

    def _register_error(self, request: pdus.Register) -> ErrorCode:
        if request.uuid != self.about.uuid.bytes:
            return ErrorCode.INVALID_UUID
        if request.op_mode not in self.about.op_modes:
            return ErrorCode.INVALID_OP_MODE
        if request.major != self.about.major:
            return ErrorCode.INVALID_MAJOR_VERSION
        return _OK if request.minor == self.about.minor else ErrorCode.INVALID_MINOR_VERSION

    def _steps_error(self, request: pdus.DoStep) -> ErrorCode:
        if not self.about.nrt_steps.takes(request.steps):
            return ErrorCode.INVALID_STEPS
        varies = self.about.capabilities.handle_variable_steps
        if self._stepped not in {0, request.steps} and not varies:
            return ErrorCode.NOT_SUPPORTED_VARIABLE_STEPS
        return _OK

    def _change_state(self, request: pdus.StateRequest, origin: Origin) -> ErrorCode:
        error = self._state_error(request)
        if error is not _OK:
            return error
        if isinstance(request, pdus.Register):
            self._id, self.master, self._mode = request.receiver, origin, OpMode(request.op_mode)
            self._hear()
        self._respond(pdus.Ack(request.sequence, self._id))
        self._guarded(lambda: self._carry_out(request))
        return _OK

    def _inform(self, request: pdus.Pdu, header: Header, origin: Origin) -> ErrorCode:
        ends = header.sequence, self._id or header.receiver
        answer: pdus.Response = pdus.StateAck(*ends, self.state)
        if isinstance(request, pdus.AskLog):
            if request.category and request.category not in self.about.categories:
                return ErrorCode.INVALID_LOG_CATEGORY
            answer = pdus.LogAck(*ends, self._log.take(request.category, request.limit))
        elif isinstance(request, pdus.AskError):
            answer = pdus.ErrorAck(*ends, self.error)
        self._wire.answer(origin, encode(answer))
        return _OK

    def _refuse(self, header: Header, origin: Origin, error: ErrorCode) -> None:
        _LOG.info("%s refused: %s", header.kind.title, error.name)
        expected = (self._last + 1) % pdus.SEQUENCES
        sender = self._id or header.receiver
        self._wire.answer(origin, encode(pdus.Nack(header.sequence, sender, expected, error)))
