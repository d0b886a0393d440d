"""The talk of a master with one slave: requests and their answers, states, data that come in."""

from __future__ import annotations

import logging
import math
import time
from collections import deque

from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.codec import decode, encode
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.error_codes import error_text
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.master.link import Link
from orchestrator.dcp.master.log_entries import entries_of
from orchestrator.dcp.master.rollout import Asked
from orchestrator.dcp.states import ERROR, State

_LOG = logging.getLogger(__name__)
_SEQUENCES = 2**16
#: Log entries that an error tells.
_MOST_ENTRIES = 5
#: Heartbeats in the longest time that a slave bears.
_BEATS = 3.0
#: The same of a slave that asks for no heartbeat, in s: then it may go to another master.
_SILENT_S = 60.0
#: Data PDUs that wait to be read; the oldest go first.
_MOST_WAITING = 10_000


class RefusedError(DeviceError):
    """A slave refuses a request.

    Attributes
    ----------
    error
        Its error code.
    """

    error = 0

    @classmethod
    def of(cls, who: str, request: str, error: int) -> RefusedError:
        """Make the error of a refusal."""
        made = cls(f"{who} refuses {request}: {error_text(error)}")
        made.error = error
        return made


class Session:
    """Speaks with a slave; it waits for each answer before it asks again.

    Parameters
    ----------
    about
        The slave.
    link
        To it; the session closes it.
    number
        Slave id, 1 to 255.
    patience_s
        How long an answer, or a state, may take.
    """

    def __init__(self, about: SlaveDescription, link: Link, number: int, patience_s: float) -> None:
        self.about, self.link = about, link
        self._number, self._patience = number, patience_s
        self._sequence = 0
        self.state = State.ALIVE
        self.registered = False
        self._beaten = 0.0
        self.data: deque[pdus.Data] = deque(maxlen=_MOST_WAITING)
        self.refused: deque[WireFormatError] = deque(maxlen=_MOST_WAITING)

    @property
    def who(self) -> str:
        """The slave, for messages."""
        host, port = self.link.peer
        return f"DCP slave '{self.about.name}' at {host}:{port}"

    def register(self, mode: OpMode) -> None:
        """Take the slave over."""
        state = self._ask(pdus.AskState)
        if isinstance(state, pdus.StateAck) and state.state != State.ALIVE:
            raise DeviceError(
                f"{self.who} is {State(state.state).name}: another master has it; let that one"
                " deregister it, or start the slave anew"
            )
        self.move(pdus.Register, self.about.uuid.bytes, mode, until=State.CONFIGURATION)
        self.registered = True

    def configure(self, requests: tuple[Asked, ...]) -> None:
        """Send configuration requests one by one."""
        for kind, fields in requests:
            self._ask(kind, *fields)

    def move(self, kind: type[pdus.StateRequest], *fields: object, until: State) -> None:
        """Ask for another state, and wait until the slave is there."""
        self._ask(kind, int(self.state), *fields)
        self.await_state(until)

    def await_state(self, *wanted: State) -> None:
        """Wait until the slave is in one of some states."""
        deadline = time.monotonic() + self._patience
        while self.state not in wanted:
            self.expect_sound()
            if not self.listen(deadline - time.monotonic()):
                break
        else:
            return
        # NTF_state_changed may be lost: the slave is asked.
        found = self._ask(pdus.AskState)
        if isinstance(found, pdus.StateAck):
            self.state = State(found.state)
        if self.state not in wanted:
            names = " or ".join(each.name for each in wanted)
            raise DeviceError(
                f"{self.who}: expected {names} within {self._patience:g} s, found {self.state.name}"
            )

    def expect_sound(self) -> None:
        """Raise DeviceError, with the slave's own reason, if it is in the error superstate."""
        if self.state not in ERROR:
            return
        if self.state is State.ERRORHANDLING:
            self._drain()
        code = 0
        answer = self._ask(pdus.AskError)
        if isinstance(answer, pdus.ErrorAck):
            code = answer.error
        said = "".join(f"; it says: {entry}" for entry in self._log_entries())
        raise DeviceError(f"{self.who} is {self.state.name}: {error_text(code)}{said}")

    def _log_entries(self) -> list[str]:
        """Return what the slave has written to its log, if it was asked to keep one."""
        if not self.about.capabilities.log_on_request:
            return []
        answer = self._ask(pdus.AskLog, 0, _MOST_ENTRIES)
        return entries_of(self.about, answer.entries) if isinstance(answer, pdus.LogAck) else []

    def expect_running(self) -> None:
        """Raise DeviceError if the slave has come to a halt, by an error or by itself."""
        self.expect_sound()
        if self.state in {State.STOPPING, State.STOPPED, State.ALIVE}:
            raise DeviceError(f"{self.who} is {self.state.name}: it has stopped by itself")

    def _drain(self) -> None:
        deadline = time.monotonic() + self._patience
        while self.state is State.ERRORHANDLING and self.listen(deadline - time.monotonic()):
            continue

    def _ask(self, kind: type[pdus.Request], *fields: object) -> pdus.Response:
        """Send a request and return the answer to it."""
        self._sequence = sequence = (self._sequence + 1) % _SEQUENCES
        self.link.send(encode(kind(sequence, self._number, *fields)))
        deadline = time.monotonic() + self._patience
        while (left := deadline - time.monotonic()) > 0.0:
            found = self._next(left)
            if isinstance(found, pdus.Response) and found.sequence == sequence:
                if isinstance(found, pdus.Nack):
                    raise RefusedError.of(self.who, kind.kind.title, found.error)
                return found
        raise DeviceError(
            f"{self.who} does not answer {kind.kind.title} within {self._patience:g} s; is it"
            " started, are address and port right, or has another master taken it over?"
        )

    @property
    def beat_due(self) -> float:
        """When the next sign of life is due, by CLOCK_MONOTONIC in s; infinite without a slave."""
        if not self.registered:
            return math.inf
        beat = self.about.heartbeat
        return self._beaten + (_SILENT_S if beat is None else beat[0] / beat[1]) / _BEATS

    def beat(self) -> None:
        """Send INF_state if it is due, without waiting for the answer."""
        if time.monotonic() < self.beat_due:
            return
        self._beaten = time.monotonic()
        self._sequence = (self._sequence + 1) % _SEQUENCES
        self.link.send(encode(pdus.AskState(self._sequence, self._number)))

    def listen(self, timeout_s: float) -> bool:
        """Take one PDU if one comes in time; return whether one came."""
        return timeout_s > 0.0 and self._next(timeout_s) is not None

    def _next(self, timeout_s: float) -> pdus.Pdu | None:
        content = self.link.receive(max(timeout_s, 0.0))
        if content is None:
            return None
        try:
            found = decode(content)
        except WireFormatError as error:
            self.refused.append(error)
            return pdus.Ack(-1, self._number)  # something came; it answers nothing
        self._notice(found)
        return found

    def _notice(self, found: pdus.Pdu) -> None:
        if isinstance(found, pdus.StateChanged) and found.sender == self._number:
            self.state = State(found.state)
        elif isinstance(found, pdus.Data):
            self.data.append(found)
        elif isinstance(found, pdus.LogNotification):
            _LOG.info("%s: log entry %d", self.who, found.template)
        elif isinstance(found, pdus.StateAck) and found.sender == self._number:
            self.state = State(found.state)

    def release(self) -> None:
        """Bring the slave to a halt and let it go, as far as it can be led; close the link."""
        try:
            if self.registered:
                self._lead_out()
        except (DeviceError, OSError) as error:
            _LOG.warning("%s could not be released: %s", self.who, error)
        finally:
            self.registered = False
            self.link.close()

    def _lead_out(self) -> None:
        if self.state is State.ERRORHANDLING:
            self._drain()
        if State.PREPARING <= self.state <= State.SENDING_D:
            self.move(pdus.Stop, until=State.STOPPED)
        if self.state in {State.CONFIGURATION, State.STOPPED, State.ERRORRESOLVED}:
            self._ask(pdus.Deregister, int(self.state))
