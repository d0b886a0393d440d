"""The cycle of a line: SYNC at absolute deadlines, what drives answer, and whether they live."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hw_adapters.canopen_cia402.answers import Answers, Use
from hw_adapters.canopen_cia402.bus import Bus
from hw_adapters.canopen_cia402.codec import (
    BOOT_UP,
    OPERATIONAL,
    SYNC,
    CanFrame,
    Emergency,
    Heartbeat,
    SdoAnswer,
    decode,
    heartbeat,
    read_object,
)
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.faults import (
    ENCODER,
    HEARTBEAT_LOST,
    LEFT_OPERATION,
    REPEATED,
    Fault,
    emergency_text,
)
from hw_adapters.canopen_cia402.objects import (
    CONSUMER_HEARTBEAT,
    CYCLE_PERIOD,
    DEVICE_TYPE,
    MAPPABLE,
    PRODUCER_HEARTBEAT,
)
from hw_adapters.canopen_cia402.pdo import PdoMap
from hw_adapters.canopen_cia402.settings import CanopenSettings
from hw_adapters.canopen_cia402.state_machine import ENABLED
from orchestrator.rig.devices import WireFormatError

#: Repetitions of one cycle that are told.
_MOST_AGAIN = 8
#: What a drive is asked for in turn when TPDOs are missing: an answer names its object, so it is
#: known which request it answers. One that the drive lacks is refused by name as well.
_PROBES = (
    *((MAPPABLE[name].index, 0) for name in ("statusword", "mode_display", "controlword", "mode")),
    *((MAPPABLE[name].index, 0) for name in ("error_code", "position", "velocity", "torque")),
    (DEVICE_TYPE.index, 0),
    (CYCLE_PERIOD.index, 0),
    (CONSUMER_HEARTBEAT.index, 0),
    (CONSUMER_HEARTBEAT.index, 1),
    (PRODUCER_HEARTBEAT.index, 0),
    (0x1001, 0),  # error register
    (0x1018, 0),  # identity
    (0x1018, 1),
)
#: SYNCs whose times are remembered.
_MOST_OPEN = 10_000
#: After how long it is asked again, s, and how many requests without an answer are remembered.
_ASK_AGAIN_S, _MOST_ASKED = 0.01, 1024
_REPEATED_TEXT = (
    "its TPDOs come more often than SYNC, with other values: a node on the line repeats old"
    " frames, so the newest one is unknown"
)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request for an object, by index and sub-index, behind the SYNC of a number."""

    object_key: tuple[int, int]
    number: int


class Line:
    """Drives that are configured and operational, cycle by cycle.

    Parameters
    ----------
    settings
        Of the line.
    bus
        Opened.
    drives
        On it.

    Attributes
    ----------
    number
        Of the cycle: SYNCs since the first, with those that this machine was too late for if the
        clock sets the pace.
    fault
        The first of any drive; from then on all of them are led to rest.
    is_running
        Whether drives that leave "operation enabled" are in fault.
    is_resting
        Whether all drives are led to rest.
    """

    def __init__(self, settings: CanopenSettings, bus: Bus, drives: Sequence[Drive]) -> None:
        self._settings, self._bus, self._drives = settings, bus, drives
        self._pdos = {m.identifier: (d, m) for d in drives for m in d.measurements}
        self._nodes = {d.settings.node: d for d in drives}
        self._due = time.monotonic()
        self._beat_due = self._due
        self._heard = dict.fromkeys(self._nodes, self._due)
        self._answers = Answers(m for d in drives for m in d.measurements)
        #: Of each drive: what it was asked behind which SYNC, and when it is again.
        self._asked: dict[int, deque[_Request]] = {
            node: deque(maxlen=_MOST_ASKED) for node in self._nodes
        }
        self._probes = itertools.cycle(_PROBES)
        self._ask_due = dict.fromkeys(self._nodes, self._due)
        #: Of the last cycle that was complete: its number, when it was, the newest SYNC then.
        self._last_complete, self._completed, self._newest = -1, self._due, -1
        #: Numbers and times of the SYNCs that no sample has answered.
        self._given: deque[tuple[int, float]] = deque(maxlen=_MOST_OPEN)
        self._ready: int | None = None
        self._again = 0
        self._hurries = False
        self.number = -1
        self.fault: Fault | None = None
        self.is_running = self.is_resting = False

    def wait(self, end: float) -> int | None:
        """Wait for all measurements of a cycle; return its number, of several the newest.

        Parameters
        ----------
        end
            Until then at most, CLOCK_MONOTONIC in s.

        Returns
        -------
        int or None
            The number of the SYNC that the measurements answer: of the cycle before if one of them
            came again; ``None`` at the end, and as soon as there is a fault.
        """
        known_fault = self.fault
        if self._again and self._ready is None:
            self._again -= 1
            return self._last_complete
        while self.fault is known_fault:
            is_ready = self._ready is not None
            frame = self._bus.receive(0.0 if is_ready else min(self._next, end))
            now = time.monotonic()
            if frame is not None:
                number = self.take(frame)
                if number is not None and number == self._last_complete == self._ready:
                    self._again = min(self._again + 1, _MOST_AGAIN)
                elif number is not None:
                    self._ready = number
            if self._ready is not None and (frame is None or now >= self._next):
                number, self._ready = self._ready, None
                return number
            if frame is not None:
                continue
            if now >= self._next:
                self._begin_cycle(now)
            if now >= end:
                return None
        return None

    def take(self, frame: CanFrame) -> int | None:
        """Take a frame; return the number of the cycle that it completes, or repeats."""
        if frame.identifier in self._pdos:
            return self._measurement(*self._pdos[frame.identifier], frame.data)
        message = decode(frame)
        drive = self._nodes.get(message.node) if message is not None else None
        if drive is not None and isinstance(message, Heartbeat):
            self._beat(drive, message.state)
        elif drive is not None and isinstance(message, Emergency) and message.code:
            self._fail(_emergency(drive, message))
        elif drive is not None and isinstance(message, SdoAnswer):
            self._settle(drive, (message.index, message.sub))
        return None

    def age(self, number: int) -> float:
        """Return how long ago the SYNC of a cycle was sent, s; 0.0: it is not known."""
        while self._given and self._given[0][0] < number:
            self._given.popleft()
        is_first = bool(self._given) and self._given[0][0] == number
        return time.monotonic() - self._given[0][1] if is_first else 0.0

    def send(self) -> None:
        """Send the RPDOs of all drives; they take effect at the next SYNC."""
        if self._settings.enable:
            towards = not self.is_resting
            self._hurries = self._last_complete < self.number
            frames = [f for d in self._drives for f in d.frames(enabling=towards)]
            self._bus.send(frames)

    def lives(self, drive: Drive) -> bool:
        """Return whether a drive was heard in time."""
        silent = time.monotonic() - self._heard[drive.settings.node]
        return silent <= self._settings.heartbeat_timeout_ms * 1e-3

    @property
    def _next(self) -> float:
        """When the next cycle begins if nothing comes until then."""
        settings = self._settings
        patient = settings.pace == "answers" and self._last_complete < self.number
        patient = patient and not self._hurries
        return self._due + settings.late_ms * 1e-3 if patient else self._due

    def _begin_cycle(self, now: float) -> None:
        cycle = self._settings.cycle
        if self._settings.pace == "answers":
            self.number, self._due = self.number + 1, now + cycle
        else:
            late_cycles = int((now - self._due) / cycle)
            self.number, self._due = (
                self.number + 1 + late_cycles,
                self._due + (1 + late_cycles) * cycle,
            )
        self._look_for_silence()
        if self.is_resting:
            self.send()
        requests = list(self._in_doubt(now))
        self._answers.begin_cycle(self.number)
        self._given.append((self.number, now))
        for drive in self._drives:
            drive.begin(here=False)
        frames = [SYNC]
        if now >= self._beat_due:
            frames.append(heartbeat(self._settings.master))
            self._beat_due = now + self._settings.heartbeat_ms * 1e-3
        self._bus.send([*frames, *requests])

    def _in_doubt(self, now: float) -> Iterator[CanFrame]:
        """Yield requests to drives whose TPDOs are missing: what they sent before is here, or lost.

        They go out behind SYNC, so that an answer comes behind the TPDOs of that cycle.
        """
        for node in self._nodes:
            if not self._answers.lacks(node):
                continue
            if self._settings.pace == "answers":
                self._answers.settle(node, 0)  # they were waited for long enough
            elif now >= self._ask_due[node]:
                self._ask_due[node] = now + _ASK_AGAIN_S
                object_key = next(self._probes)
                self._asked[node].append(_Request(object_key, self.number))
                yield read_object(node, *object_key)

    def _settle(self, drive: Drive, object_key: tuple[int, int]) -> None:
        """Give up TPDOs that are lost, since the answer to a request would come behind them.

        Requests before the one that is answered were lost, or their answers were.
        """
        node = drive.settings.node
        requests = self._asked[node]
        if not any(request.object_key == object_key for request in requests):
            return
        while (request := requests.popleft()).object_key != object_key:
            pass
        self._answers.settle(node, self.number - request.number)

    def _measurement(self, drive: Drive, pdo: PdoMap, data: bytes) -> int | None:
        use = self._answers.take(pdo.identifier, data)
        if use is Use.AGAIN:
            if self._answers.is_repeated and self.is_running:
                self._fail(Fault(drive.name, REPEATED, _REPEATED_TEXT))
            return self._last_complete if self._last_complete >= 0 else None
        if use is Use.IN_DOUBT:
            return None
        drive.take(pdo, data)
        if self.is_running and drive.state is not ENABLED:
            self.is_resting, self.is_running = True, False
            self.send()
            self.fault = self.fault or self._why_it_left(drive)
        number = self._answers.complete
        if number <= self._last_complete:
            return None
        self._look_at_encoders(number)
        self._last_complete, self._hurries = number, False
        return number

    def _look_at_encoders(self, number: int) -> None:
        before, self._completed = self._completed, time.monotonic()
        newest, self._newest = self._newest, self.number
        cycle = self._settings.cycle
        counted = (number - self._last_complete) * cycle
        # TPDOs that were lost count as late until the drive has said so: these, and those before,
        # may answer any SYNC from the one that they are counted for to the newest of their time
        shortest = max(number - newest, 0) * cycle
        longest = max(self._completed - before, (self.number - self._last_complete) * cycle)
        for drive in self._drives:
            if problem := drive.look_at_encoder(counted, (min(shortest, counted), longest)):
                text = f"{problem}: check its encoder (encoder_tolerance)"
                self._fail(Fault(drive.name, ENCODER, text))

    def _why_it_left(self, drive: Drive) -> Fault:
        """Wait a cycle at most for the emergency that a drive sends beside its state."""
        deadline = time.monotonic() + self._settings.cycle
        text = f"it left 'operation enabled' and is in {drive.state}"
        while time.monotonic() < deadline:
            try:
                frame = self._bus.receive(deadline)
                message = decode(frame) if frame is not None else None
            except WireFormatError:
                continue
            if isinstance(message, Heartbeat):
                self._heard[message.node] = time.monotonic()
            elif isinstance(message, Emergency) and message.node == drive.settings.node:
                return _emergency(drive, message)
        return Fault(drive.name, LEFT_OPERATION, text)

    def _beat(self, drive: Drive, state: int) -> None:
        self._heard[drive.settings.node] = time.monotonic()
        if state == BOOT_UP:
            self._fail(Fault(drive.name, LEFT_OPERATION, "it restarted"))
        elif state != OPERATIONAL and self.is_running:
            text = f"it left the NMT state 'operational', found {state:#04x}"
            self._fail(Fault(drive.name, LEFT_OPERATION, text))

    def _look_for_silence(self) -> None:
        for drive in self._drives:
            if not self.lives(drive):
                limit = self._settings.heartbeat_timeout_ms
                text = f"no heartbeat for {limit} ms (heartbeat_timeout_ms)"
                self._fail(Fault(drive.name, HEARTBEAT_LOST, text))

    def _fail(self, fault: Fault) -> None:
        if self.fault is None and not self.is_resting:
            self.fault = fault
            self.is_resting, self.is_running = True, False
            self.send()


def _emergency(drive: Drive, message: Emergency) -> Fault:
    return Fault(drive.name, message.code, f"emergency {emergency_text(message.code)}")
