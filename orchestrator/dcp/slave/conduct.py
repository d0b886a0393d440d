"""What a slave does in each of its states, and when time is due (section 3.2)."""

from __future__ import annotations

import logging
import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from orchestrator.core.diagnostics import DeadlineError, SoftdockError
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import Scalar, pack_value
from orchestrator.dcp.description import LogTemplate, SlaveDescription
from orchestrator.dcp.identifiers import LogLevel, LogMode, OpMode, PduType, Scope
from orchestrator.dcp.pdus import encode
from orchestrator.dcp.slave.config_requests import Configuration, Origin, SlaveWire
from orchestrator.dcp.slave.exchange import Exchange, PropertyError, SlaveModel
from orchestrator.dcp.states import (
    ERROR,
    NORMAL,
    RUN,
    ErrorCode,
    SlaveState,
    StateSignal,
    Trigger,
    transition,
)

_ENTRY = struct.Struct("<qB")
#: Entries that are kept; the oldest go first.
MOST_KEPT = 1000
#: Bytes of entries in one answer, so that it fits into a datagram of any receiver.
MOST_BYTES = 900
#: Bytes of a text in an entry.
MOST_TEXT = 400


class LogBook:
    """Takes entries by template, and gives them to the master as it has chosen.

    about: The slave, with its categories and templates.
    modes: By category: up to which level, and how; changed from outside.
    now: UNIX time in s.
    """

    def __init__(
        self,
        about: SlaveDescription,
        modes: Mapping[int, tuple[LogLevel, LogMode]],
        now: Callable[[], float],
    ) -> None:
        self._templates = {template.number: template for template in about.templates}
        self._modes, self._now = modes, now
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=MOST_KEPT)

    def write(self, number: int, arguments: Sequence[Scalar]) -> tuple[int, bytes] | None:
        """Add an entry; return its time and arguments if it is to be told at once."""
        template = self._templates.get(number)
        if template is None:
            return None
        level, mode = self._modes.get(template.category, (LogLevel.FATAL, LogMode.NONE))
        if mode is LogMode.NONE or template.level > level:
            return None
        time, content = int(self._now()), _packed(template, arguments)
        if mode is LogMode.ON_NOTIFICATION:
            return time, content
        self._kept.append((template.category, _ENTRY.pack(time, number) + content))
        return None

    def take(self, category: int, most: int) -> bytes:
        """Return kept entries of a category, 0 for all, the oldest first, and drop them."""
        found: list[bytes] = []
        rest, size = deque[tuple[int, bytes]](maxlen=MOST_KEPT), 0
        for kind, entry in self._kept:
            fits = len(found) < most and size + len(entry) <= MOST_BYTES
            if fits and category in {0, kind}:
                found.append(entry)
                size += len(entry)
            else:
                rest.append((kind, entry))
        self._kept = rest
        return b"".join(found)


def _packed(template: LogTemplate, arguments: Sequence[Scalar]) -> bytes:
    shortened = (_shortened(value) for value in arguments)
    pairs = zip(template.arguments, shortened, strict=True)
    return b"".join(pack_value(kind, value) for kind, value in pairs)


def _shortened(value: Scalar) -> Scalar:
    if not isinstance(value, str):
        return value
    return value.encode()[:MOST_TEXT].decode(errors="ignore")


_NS = 10**9


@dataclass(slots=True)
class StepPacing:
    """Counts steps against a clock.

    resolution: In s, numerator and denominator.
    steps: Of all data ids; the model is stepped by their greatest common divisor.
    start_ns: Of simulation time 0, by the clock of the slave.
    """

    resolution: tuple[int, int]
    steps: tuple[int, ...]
    start_ns: int
    done: int = -1
    late: int = 0

    @property
    def stride(self) -> int:
        """Units of the resolution in one step of the model."""
        return gcd(*self.steps) or 1

    def simulated_ns(self, steps: int) -> int:
        """Return the simulation time of so many units of the resolution."""
        return time_ns(self.resolution, steps)

    @property
    def due_ns(self) -> int:
        """When the outputs of the next step leave, by the clock."""
        return self.start_ns + self.simulated_ns((self.done + 1) * self.stride)


def time_ns(resolution: tuple[int, int], steps: int) -> int:
    """Return the time of so many units of a resolution, in ns, without an error that adds up."""
    numerator, denominator = resolution
    return (2 * steps * numerator * _NS + denominator) // (2 * denominator)


_LOG = logging.getLogger(__name__)
#: A master whose heartbeat is missed for so many intervals more is taken to be gone for good.
GONE = 10
#: A master without a heartbeat that is silent for so long, in s, loses the slave to the next.
SILENT_S = 60
#: Template of the entry that says why a slave is in the error superstate.
ERROR_ENTRY = 1


class Conduct:
    """The states of a slave, and the work in them; parameters as of ``Slave``."""

    def __init__(
        self,
        about: SlaveDescription,
        model: SlaveModel,
        wire: SlaveWire,
        clock: Callable[[], int],
        unix: Callable[[], float],
    ) -> None:
        self.about, self._model, self._wire = about, model, wire
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
        self._master: Origin | None = None
        self._history = SlaveState.SYNCHRONIZING
        self._config = Configuration()
        self._log = LogBook(self.about, self._config.logging, self._unix)
        self._exchange: Exchange | None = None
        self._pacing: StepPacing | None = None
        self._steps, self._stepped = 0, 0
        self._heard_ns, self._data_ns = 0, 0

    @property
    def master(self) -> Origin | None:
        """Where its master is; ``None`` if it has none."""
        return self._master

    @property
    def _resolution(self) -> tuple[int, int]:
        found = self._config.resolution or self.about.fixed_resolution
        if found is None:
            raise SoftdockError("DCP slave: it has no time resolution")
        return found

    @property
    def _exchanged(self) -> Exchange:
        if self._exchange is None:
            raise SoftdockError("DCP slave: it is not configured")
        return self._exchange

    def _respond(self, pdu: pdus.Pdu) -> None:
        if self._master is not None:
            self._wire.answer(self._master, encode(pdu))

    def _hear(self) -> None:
        self._heard_ns = self._clock()

    @property
    def _is_abandoned(self) -> bool:
        """Whether another master may have the slave, as its own sends neither words nor data."""
        if self.about.heartbeat is not None or self.state is SlaveState.ALIVE:
            return False
        return self._clock() - max(self._heard_ns, self._data_ns) > SILENT_S * 10**9

    def _take_over(self, number: int, master: Origin, mode: OpMode) -> None:
        self._id, self._master, self._mode = number, master, mode
        self._hear()

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
        kept = (self._id, self._last, self._master, self._mode)
        self._leave()
        self._id, self._last, self._master, self._mode = kept
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

    def _miss(self, what: str) -> None:
        self.late += 1
        if self._mode is OpMode.HRT:
            raise DeadlineError(what)

    def _expect_master(self) -> None:
        if self.about.heartbeat is None or self.state is SlaveState.ALIVE:
            return
        silent_ns, longest_ns = self._clock() - self._heard_ns, time_ns(self.about.heartbeat, 1)
        if silent_ns > longest_ns and self.state in NORMAL:
            what = f"no PDU of the master for {silent_ns / 1e9:.3g} s"
            self._fail(ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED, what)
        elif silent_ns > GONE * longest_ns and self.state in ERROR:
            self.lose(self._master)

    # Ends

    def lose(self, origin: Origin | None) -> None:
        """Notice that a peer is gone for good: without its master a slave is ALIVE again."""
        if origin is None or origin != self._master:
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
        """Go to the error superstate: the model is ended, the master is told."""
        if self.state not in NORMAL:
            return
        _LOG.error("%s: %s", error.name, reason)
        self.error, self.reason = error, reason
        self._pacing, self._exchange = None, None
        self._move(StateSignal.ERROR)
        told = self._log.write(ERROR_ENTRY, [reason])
        if told is not None:
            moment, content = told
            self._respond(pdus.LogNotification(self._id, moment, ERROR_ENTRY, content))
        self._model.close()
        self._move(StateSignal.RESOLVED)
