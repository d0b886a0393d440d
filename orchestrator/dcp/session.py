"""The talk of a master with one slave: requests that are repeated until the slave has answered."""

from __future__ import annotations

import logging
import math
import random
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress

from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.link import HungUpError, TcpLink, UdpLink
from orchestrator.dcp.log import entries_of, receipt_of
from orchestrator.dcp.pdus import decode, encode, number_gap
from orchestrator.dcp.plan import Asked
from orchestrator.dcp.states import ERROR, STOPPABLE, ErrorCode, SlaveState, error_text, sources_of

_LOG = logging.getLogger(__name__)
#: Log entries that an error has at most.
_MOST_ENTRIES = 5
#: Heartbeats in the longest time that a slave bears.
_BEATS = 3.0
#: The same of a slave that asks for no heartbeat, in s: then it may go to another master.
_SILENT_S = 60.0
#: States in which a slave can be deregistered.
_LETS_GO = frozenset({SlaveState.CONFIGURATION, SlaveState.STOPPED, SlaveState.ERRORRESOLVED})
#: Heartbeats that are remembered until the slave answers one of them.
_MOST_BEATS = 1024
#: Data PDUs that wait to be read; the oldest go first.
_MOST_WAITING = 10_000
#: A request without an answer is repeated first after this share of the patience, at most after so
#: many seconds, then after twice the time before.
_FIRST_SHARE, _FIRST_S = 0.05, 0.1
#: Refusals that follow from another state of the slave than the master believed.
_OF_STATE = frozenset(
    {
        ErrorCode.INVALID_STATE_ID,
        ErrorCode.PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE,
        ErrorCode.PROTOCOL_ERROR_STATE_TRANSITION_IN_PROGRESS,
    }
)
#: What answers a request, if it is not an Ack.
_ANSWERS: Mapping[type[pdus.Request], type[pdus.Response]] = {
    pdus.AskState: pdus.StateAck,
    pdus.AskError: pdus.ErrorAck,
    pdus.AskLog: pdus.LogAck,
}
#: How often a change of state is requested again after such a refusal, or an answer that was lost.
_TRIES = 5


class RefusedError(DeviceError):
    """A slave refuses a request.

    error: Its error code.
    """

    error = 0

    @classmethod
    def of(cls, who: str, request: str, error: int) -> RefusedError:
        """Make the error of a refusal."""
        error_made = cls(f"{who} refuses {request}: {error_text(error)}")
        error_made.error = error
        return error_made


def repetitions(patience_s: float, round_s: float = 0.0) -> Iterator[float]:
    """Yield the times at which a message without an answer is repeated, s after it was sent.

    round_s: What an answer took before; it is waited for twice as long.
    """
    wait = max(min(_FIRST_SHARE * patience_s, _FIRST_S), min(2.0 * round_s, 0.125 * patience_s))
    due = wait
    while due < patience_s:
        yield due
        wait *= 2.0
        due += wait
    yield math.inf


class SlaveSession:
    """Speaks with a slave; it waits for each answer before it sends the next request.

    A request without an answer is repeated with the same number. A slave that took the first one
    refuses the second by its number, which is how a lost answer shows; then the state of the slave
    says what became of the request. The numbers begin at random, so that an answer to an earlier
    session is none to this one.

    about: The slave.
    link: To it; the session closes it.
    number: Slave id, 1 to 255.
    patience_s: How long an answer, or a state, may take.
    """

    def __init__(
        self, description: SlaveDescription, link: UdpLink | TcpLink, number: int, patience_s: float
    ) -> None:
        self.about, self.link = description, link
        self._number, self._patience = number, patience_s
        self._sequence = random.randrange(pdus.SEQUENCES)  # noqa: S311 - no secret
        self.state = SlaveState.ALIVE
        self.registered = False
        self._beaten = 0.0
        #: Number of the heartbeat that was the last request; its answer is not waited for.
        self._beat: int | None = None
        #: Heartbeats that were not answered: their numbers, and when they were sent.
        self._beats: deque[tuple[int, float]] = deque(maxlen=_MOST_BEATS)
        #: When the newest request was sent that the slave has answered, CLOCK_MONOTONIC in s.
        self.answered = 0.0
        self.data: deque[pdus.Data] = deque(maxlen=_MOST_WAITING)
        self.refused: deque[WireFormatError] = deque(maxlen=_MOST_WAITING)
        #: By data id, the number of the newest inputs that the slave has confirmed.
        self.confirmed: dict[int, int] = {}
        self._heard = 0
        #: Requests and inputs that were sent again since no answer came.
        self.repeated = 0
        #: How long the last answer took, or was waited for in vain, s.
        self.round_s = 0.0

    @property
    def who(self) -> str:
        """The slave, for messages."""
        host, port = self.link.peer
        return f"DCP slave '{self.about.name}' at {host}:{port}"

    def register(self, mode: OpMode) -> None:
        """Take the slave over."""
        state = self.asked_state()
        if state is not SlaveState.ALIVE:
            raise DeviceError(
                f"{self.who} is {state.name}: another master uses it; let that master deregister"
                " it, or restart the slave"
            )
        self.registered = True  # the slave may be in the state as soon as it was requested
        self.move(pdus.Register, self.about.uuid.bytes, mode, until=SlaveState.CONFIGURATION)

    def configure(self, requests: tuple[Asked, ...]) -> None:
        """Send configuration requests one by one."""
        for kind, fields in requests:
            self._answer(kind, *fields)

    def move(self, kind: type[pdus.StateRequest], *fields: object, until: SlaveState) -> None:
        """Request another state, and wait until the slave is in it."""
        sources = sources_of(kind.kind)
        for _ in range(_TRIES):
            before, refusal = self.state, None
            try:
                if self._ask(kind, int(before), *fields) is not None:
                    break
            except RefusedError as error:
                if error.error not in _OF_STATE:
                    raise
                refusal = error
            # The slave took it, and the answer was lost; or a late notification misled us.
            if self.asked_state() not in {until, *sources}:
                self.await_state(until, *sources)
            if self.state is until:
                return
            if refusal is not None and self.state is before:
                raise refusal
        self.await_state(until)

    def asked_state(self) -> SlaveState:
        """Ask the slave for its state, and return it."""
        self._answer(pdus.AskState)
        return self.state

    def await_state(self, *expected: SlaveState) -> None:
        """Wait until the slave is in one of some states; notifications may be lost, so ask it."""
        begin = time.monotonic()
        for due in repetitions(self._patience, self.round_s):
            end = begin + min(due, self._patience)
            while self.state not in expected and (remaining_s := end - time.monotonic()) > 0.0:
                self.expect_sound()
                self.listen(remaining_s)
            if self.state not in expected:
                self.asked_state()
            if self.state in expected:
                return
        self.expect_sound()
        names = " or ".join(state.name for state in expected)
        raise DeviceError(
            f"{self.who}: expected {names} within {self._patience:g} s, found {self.state.name}"
        )

    def expect_sound(self) -> None:
        """Raise DeviceError, with the slave's own reason, if it is in the error superstate."""
        if self.state not in ERROR:
            return
        if self.state is SlaveState.ERRORHANDLING:
            self._drain()
        answer = self._answer(pdus.AskError)
        code = answer.error if isinstance(answer, pdus.ErrorAck) else 0
        entries: list[str] = []
        if self.about.capabilities.log_on_request:
            log = self._answer(pdus.AskLog, 0, _MOST_ENTRIES)
            entries = entries_of(self.about, log.entries) if isinstance(log, pdus.LogAck) else []
        reasons = "".join(f"; its message: {entry}" for entry in entries)
        raise DeviceError(f"{self.who} is {self.state.name}: {error_text(code)}{reasons}")

    def expect_running(self) -> None:
        """Raise DeviceError if the slave has come to a halt, by an error or by itself."""
        self.expect_sound()
        if self.state in {SlaveState.STOPPING, SlaveState.STOPPED, SlaveState.ALIVE}:
            is_new = self.state is SlaveState.ALIVE  # where no request of this master led it
            event = "restarted, and has no master now" if is_new else "has stopped by itself"
            raise DeviceError(f"{self.who} is {self.state.name}: it {event}")

    def _drain(self) -> None:
        deadline = time.monotonic() + self._patience
        while self.state is SlaveState.ERRORHANDLING and self.listen(deadline - time.monotonic()):
            continue

    def _answer(self, kind: type[pdus.Request], *fields: object) -> pdus.Response:
        """Send a request that may be carried out twice, until an answer to it comes."""
        for _ in range(_TRIES):
            if (answer := self._ask(kind, *fields)) is not None:
                return answer
        raise DeviceError(f"{self.who} takes {kind.kind.title}, and its answers do not arrive")

    def _ask(self, kind: type[pdus.Request], *fields: object) -> pdus.Response | None:
        """Send a request and return the answer; ``None``: it was taken, and its answer is lost."""
        self._sequence, self._beat = (self._sequence + 1) % pdus.SEQUENCES, None
        answers = _ANSWERS.get(kind, pdus.Ack)
        begin = time.monotonic()
        taken = False
        for due in repetitions(self._patience, self.round_s):
            if not taken:
                self.link.send(encode(kind(self._sequence, self._number, *fields)))
            while (remaining_s := begin + min(due, self._patience) - time.monotonic()) > 0.0:
                pdu = self._next(remaining_s)
                if not isinstance(pdu, pdus.Response) or not self._is_answer(pdu):
                    continue
                if isinstance(pdu, answers):
                    self.link.answered()
                    self.answered = begin
                    self.round_s = time.monotonic() - begin
                    return pdu
                if not isinstance(pdu, pdus.Nack):
                    continue  # to a heartbeat that had the same number
                if pdu.error != ErrorCode.INVALID_SEQUENCE_ID:
                    raise RefusedError.of(self.who, kind.kind.title, pdu.error)
                taken = pdu.expected == (self._sequence + 1) % pdus.SEQUENCES
                if not taken:
                    self._sequence = pdu.expected  # a heartbeat before it was lost
                    break
            else:
                if taken:
                    self.round_s = time.monotonic() - begin
                    return None
            self.repeated += 1
        raise DeviceError(
            f"{self.who} does not answer {kind.kind.title} within {self._patience:g} s; is it"
            " started, are address and port right, or has another master taken it over?"
        )

    def _is_answer(self, response: pdus.Response) -> bool:
        return response.sequence == self._sequence and response.sender == self._number

    @property
    def beat_due(self) -> float:
        """When the next sign of life is due, by CLOCK_MONOTONIC in s; infinite without a slave."""
        if not self.registered:
            return math.inf
        beat = self.about.heartbeat
        return self._beaten + (_SILENT_S if beat is None else beat[0] / beat[1]) / _BEATS

    def beat(self, *, at_once: bool = False) -> None:
        """Send INF_state if it is due, or ``at_once``, without waiting for the answer."""
        if not self.registered or (time.monotonic() < self.beat_due and not at_once):
            return
        self._beaten = time.monotonic()
        self._sequence = self._beat = (self._sequence + 1) % pdus.SEQUENCES
        self._beats.append((self._sequence, self._beaten))
        self.link.send(encode(pdus.AskState(self._sequence, self._number)))

    def listen(self, timeout_s: float) -> bool:
        """Take one PDU if one comes in time; return whether one came."""
        return timeout_s > 0.0 and self._next(timeout_s) is not None

    def _next(self, timeout_s: float) -> pdus.Pdu | None:
        content = self.link.receive(max(timeout_s, 0.0))
        if content is None:
            return None
        self._heard += 1
        try:
            pdu = decode(content)
        except WireFormatError as error:
            self.refused.append(error)
            return pdus.Ack(-1, self._number)  # something came; it answers nothing
        self._note(pdu)
        return pdu

    def _note(self, pdu: pdus.Pdu) -> None:
        """Keep what a PDU says; an answer to an earlier request says nothing of now."""
        self._note_answer(pdu)
        if isinstance(pdu, pdus.StateAck):
            if self._is_answer(pdu):
                self.state = SlaveState(pdu.state)
        elif isinstance(pdu, pdus.StateChanged):
            if pdu.sender == self._number:
                self.state = SlaveState(pdu.state)
        elif isinstance(pdu, pdus.Data):
            self.data.append(pdu)
        elif isinstance(pdu, pdus.LogNotification):
            if (receipt := receipt_of(self.about, pdu)) is not None:
                data_id, number = receipt
                if number_gap(self.confirmed.get(data_id, number), number) >= 0:
                    self.confirmed[data_id] = number
            else:
                _LOG.info("%s: log entry %d", self.who, pdu.template)
        elif isinstance(pdu, pdus.Nack) and pdu.sequence == self._beat:
            self._repeat_beat(pdu)

    def _note_answer(self, pdu: pdus.Pdu) -> None:
        """Note which heartbeat was answered, also by a refusal: it has arrived."""
        if not isinstance(pdu, pdus.StateAck | pdus.Nack) or pdu.sender != self._number:
            return
        while any(sequence == pdu.sequence for sequence, _ in self._beats):
            sequence, sent = self._beats.popleft()
            if sequence == pdu.sequence:
                self.answered = max(self.answered, sent)

    def _repeat_beat(self, refusal: pdus.Nack) -> None:
        """Let the next heartbeat leave at once: one before it was lost, so this did not count."""
        expected = (self._sequence + 1) % pdus.SEQUENCES
        if refusal.error == ErrorCode.INVALID_SEQUENCE_ID and refusal.expected != expected:
            self._sequence, self._beat = (refusal.expected - 1) % pdus.SEQUENCES, None
            self._beaten = -math.inf

    def release(self) -> None:
        """Bring the slave to a halt and let it go; close the link.

        Raises
        ------
        DeviceError
            If the slave lives, and does not confirm that it has stopped: it may go on with its last
            inputs.
        """
        heard = 0
        try:
            if self.registered:
                while self._next(0.0) is not None:  # what came before says nothing of now
                    continue
                heard = self._heard
                self._let_go()
        except (OSError, DeviceError) as error:
            is_gone = isinstance(error, (OSError, HungUpError)) or self._heard == heard
            _LOG.warning("%s could not be released: %s", self.who, error)
            if not is_gone:
                raise
        finally:
            self.registered = False
            self.link.close()

    def _let_go(self) -> None:
        for _ in range(_TRIES):
            if self.asked_state() is SlaveState.ERRORHANDLING:
                self._drain()
            if self.state in STOPPABLE:
                self._stop()
            if self.state in _LETS_GO:
                self._deregister()
            if self.state is SlaveState.ALIVE:
                return
        raise DeviceError(f"{self.who} could not be released: it is {self.state.name}")

    def _deregister(self) -> None:
        with suppress(RefusedError):  # then its state says what it is
            if self._ask(pdus.Deregister, int(self.state)) is not None:
                end = time.monotonic() + _FIRST_S
                while self.state is not SlaveState.ALIVE and self.listen(end - time.monotonic()):
                    continue
                self.state = SlaveState.ALIVE  # it has agreed

    def _stop(self) -> None:
        try:
            self.move(pdus.Stop, until=SlaveState.STOPPED)
        except DeviceError:
            if self.state not in ERROR:
                raise
