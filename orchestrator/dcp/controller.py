"""Running one slave: the talk with it, from a plan to data in both directions."""

from __future__ import annotations

import logging
import math
import time
from collections import deque

from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import Values
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.link import TcpLink, UdpLink, open_link
from orchestrator.dcp.log import entries_of
from orchestrator.dcp.pdus import decode, encode
from orchestrator.dcp.plan import Asked, SlavePlan, VariableGroup, roll_out, started
from orchestrator.dcp.states import ERROR, ErrorCode, SlaveState, error_text

_LOG = logging.getLogger(__name__)
#: Log entries that an error tells.
_MOST_ENTRIES = 5
#: Heartbeats in the longest time that a slave bears.
_BEATS = 3.0
#: The same of a slave that asks for no heartbeat, in s: then it may go to another master.
_SILENT_S = 60.0
#: States in which a slave can be deregistered.
_LETS_GO = frozenset({SlaveState.CONFIGURATION, SlaveState.STOPPED, SlaveState.ERRORRESOLVED})
#: Data PDUs that wait to be read; the oldest go first.
_MOST_WAITING = 10_000


class RefusedError(DeviceError):
    """A slave refuses a request.

    error: Its error code.
    """

    error = 0

    @classmethod
    def of(cls, who: str, request: str, error: int) -> RefusedError:
        """Make the error of a refusal."""
        made = cls(f"{who} refuses {request}: {error_text(error)}")
        made.error = error
        return made


class SlaveSession:
    """Speaks with a slave; it waits for each answer before it asks again.

    about: The slave.
    link: To it; the session closes it.
    number: Slave id, 1 to 255.
    patience_s: How long an answer, or a state, may take.
    """

    def __init__(
        self, about: SlaveDescription, link: UdpLink | TcpLink, number: int, patience_s: float
    ) -> None:
        self.about, self.link = about, link
        self._number, self._patience = number, patience_s
        self._sequence = 0
        self.state = SlaveState.ALIVE
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
        if isinstance(state, pdus.StateAck) and state.state != SlaveState.ALIVE:
            raise DeviceError(
                f"{self.who} is {SlaveState(state.state).name}: another master has it; let that one"
                " deregister it, or start the slave anew"
            )
        self.move(pdus.Register, self.about.uuid.bytes, mode, until=SlaveState.CONFIGURATION)
        self.registered = True

    def configure(self, requests: tuple[Asked, ...]) -> None:
        """Send configuration requests one by one."""
        for kind, fields in requests:
            self._ask(kind, *fields)

    def move(self, kind: type[pdus.StateRequest], *fields: object, until: SlaveState) -> None:
        """Ask for another state, and wait until the slave is there."""
        self._ask(kind, int(self.state), *fields)
        self.await_state(until)

    def await_state(self, *wanted: SlaveState) -> None:
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
            self.state = SlaveState(found.state)
        if self.state not in wanted:
            names = " or ".join(each.name for each in wanted)
            raise DeviceError(
                f"{self.who}: expected {names} within {self._patience:g} s, found {self.state.name}"
            )

    def expect_sound(self) -> None:
        """Raise DeviceError, with the slave's own reason, if it is in the error superstate."""
        if self.state not in ERROR:
            return
        if self.state is SlaveState.ERRORHANDLING:
            self._drain()
        answer = self._ask(pdus.AskError)
        code = answer.error if isinstance(answer, pdus.ErrorAck) else 0
        entries: list[str] = []
        if self.about.capabilities.log_on_request:
            log = self._ask(pdus.AskLog, 0, _MOST_ENTRIES)
            entries = entries_of(self.about, log.entries) if isinstance(log, pdus.LogAck) else []
        said = "".join(f"; it says: {entry}" for entry in entries)
        raise DeviceError(f"{self.who} is {self.state.name}: {error_text(code)}{said}")

    def expect_running(self) -> None:
        """Raise DeviceError if the slave has come to a halt, by an error or by itself."""
        self.expect_sound()
        if self.state in {SlaveState.STOPPING, SlaveState.STOPPED, SlaveState.ALIVE}:
            raise DeviceError(f"{self.who} is {self.state.name}: it has stopped by itself")

    def _drain(self) -> None:
        deadline = time.monotonic() + self._patience
        while self.state is SlaveState.ERRORHANDLING and self.listen(deadline - time.monotonic()):
            continue

    def _ask(self, kind: type[pdus.Request], *fields: object) -> pdus.Response:
        """Send a request and return the answer to it."""
        self._sequence = sequence = (self._sequence + 1) % pdus.SEQUENCES
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
        self._sequence = (self._sequence + 1) % pdus.SEQUENCES
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
        if isinstance(found, pdus.StateChanged | pdus.StateAck) and found.sender == self._number:
            self.state = SlaveState(found.state)
        elif isinstance(found, pdus.Data):
            self.data.append(found)
        elif isinstance(found, pdus.LogNotification):
            _LOG.info("%s: log entry %d", self.who, found.template)
        return found

    def release(self) -> None:
        """Bring the slave to a halt and let it go, as far as it can be led; close the link."""
        try:
            if self.registered:
                if self.state is SlaveState.ERRORHANDLING:
                    self._drain()
                if SlaveState.PREPARING <= self.state <= SlaveState.SENDING_D:
                    self.move(pdus.Stop, until=SlaveState.STOPPED)
                if self.state in _LETS_GO:
                    self._ask(pdus.Deregister, int(self.state))
        except (DeviceError, OSError) as error:
            _LOG.warning("%s could not be released: %s", self.who, error)
        finally:
            self.registered = False
            self.link.close()


class Controller:
    """Leads one slave through its states and exchanges data with it.

    plan: What is asked of it.
    """

    def __init__(self, plan: SlavePlan) -> None:
        self.plan = plan
        link = open_link(plan.transport, (plan.host, plan.port), plan.patience_s)
        self.session = SlaveSession(plan.about, link, plan.number, plan.patience_s)
        self.rollout = roll_out(plan, link.address)
        self._sent = {group.data_id: 0 for group in self.rollout.inputs}
        self._layouts = {group.data_id: group for group in self.rollout.outputs}
        self.values: dict[int, Values] = {}
        for variable in (*plan.inputs, *plan.outputs):
            self.values[variable.reference] = started(plan.about, variable)

    def connect(self) -> None:
        """Register the slave and configure it."""
        self.session.register(self.plan.mode)
        self.session.configure(self.rollout.requests)
        self._prepare()
        self.session.move(pdus.Configure, until=SlaveState.CONFIGURED)

    def _prepare(self) -> None:
        try:
            self.session.move(pdus.Prepare, until=SlaveState.PREPARED)
        except RefusedError as error:
            # DCPLib wants CFG_steps in NRT as well, where Table 63 does not have it.
            if error.error != ErrorCode.INCOMPLETE_CONFIG_STEPS or self.plan.mode is not OpMode.NRT:
                raise
            steps = ((pdus.Steps, (g.steps, g.data_id)) for g in self.rollout.outputs)
            self.session.configure(tuple(steps))
            self.session.move(pdus.Prepare, until=SlaveState.PREPARED)

    def initialise(self, *, wait: bool = True) -> None:
        """Let the slave find outputs that are consistent with its inputs; may be repeated."""
        self.send_inputs()
        self.session.move(pdus.Initialize, until=SlaveState.INITIALIZED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=SlaveState.CONFIGURED)
        if wait:
            self._await_outputs()

    def run(self, start: int = 0) -> None:
        """Start the slave, at a UNIX time in s; 0: now."""
        self.session.move(pdus.Run, start, until=SlaveState.SYNCHRONIZED)
        self.session.move(pdus.Run, 0, until=SlaveState.RUNNING)

    def step(self, steps: int) -> None:
        """Send the inputs, let the slave compute so many steps (NRT), and take its outputs."""
        self.session.beat()
        self.send_inputs()
        self.session.move(pdus.DoStep, steps, until=SlaveState.COMPUTED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=SlaveState.RUNNING)
        self._await_outputs()

    def send_inputs(self) -> None:
        """Send the values of all inputs."""
        for group in self.rollout.inputs:
            number = self._sent[group.data_id]
            pdu = pdus.Data(number, group.data_id, group.payload.pack(self.values))
            self._sent[group.data_id] = (number + 1) % pdus.SEQUENCES
            self.session.link.send_data(self.rollout.port, encode(pdu))

    def take(self, pdu: pdus.Data) -> VariableGroup | None:
        """Take values of outputs; ``None`` if they are of no group here."""
        group = self._layouts.get(pdu.data_id)
        if group is not None:
            self.values.update(group.payload.unpack(pdu.payload))
        return group

    def _await_outputs(self) -> None:
        missing = set(self._layouts)
        deadline = time.monotonic() + self.plan.patience_s
        while missing:
            while self.session.data:
                pdu = self.session.data.popleft()
                self.take(pdu)
                missing.discard(pdu.data_id)
            left = deadline - time.monotonic()
            if missing and not self.session.listen(left):
                ids = ", ".join(map(str, sorted(missing)))
                raise DeviceError(
                    f"{self.session.who}: no outputs came within {self.plan.patience_s:g} s"
                    f" (data id {ids}); a firewall between them?"
                )

    def close(self) -> None:
        """Halt and release the slave; more than once is no harm."""
        self.session.release()
