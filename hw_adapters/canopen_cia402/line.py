"""The cycle of a line: SYNC at absolute deadlines, what drives answer, and whether they live."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hw_adapters.canopen_cia402.bus import Bus
from hw_adapters.canopen_cia402.codec import (
    BOOT_UP,
    OPERATIONAL,
    SYNC,
    CanFrame,
    Emergency,
    Heartbeat,
    decode,
    heartbeat,
)
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.faults import (
    ENCODER,
    HEARTBEAT_LOST,
    LEFT_OPERATION,
    Fault,
    emergency_text,
)
from hw_adapters.canopen_cia402.pdo import PdoMap
from hw_adapters.canopen_cia402.settings import CanopenSettings
from hw_adapters.canopen_cia402.state_machine import ENABLED
from orchestrator.rig.devices import WireFormatError


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
        self._last_complete, self._completed = -1, self._due
        self._hurries = False
        self.number = -1
        self.fault: Fault | None = None
        self.is_running = self.is_resting = False

    def wait(self, end: float) -> int | None:
        """Wait for all measurements of a cycle; return its number.

        Parameters
        ----------
        end
            Until then at most, CLOCK_MONOTONIC in s.

        Returns
        -------
        int or None
            The number of the cycle before if one of its measurements came again; ``None`` at the
            end, and as soon as there is a fault.
        """
        known = self.fault
        while self.fault is known:
            frame = self._bus.receive(min(self._next, end))
            if frame is not None:
                number = self.take(frame)
                if number is not None:
                    return number
                continue
            now = time.monotonic()
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
        return None

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
        given = self._settings
        patient = given.pace == "answers" and self._last_complete < self.number
        patient = patient and not self._hurries
        return self._due + given.late_ms * 1e-3 if patient else self._due

    def _begin_cycle(self, now: float) -> None:
        cycle = self._settings.cycle
        if self._settings.pace == "answers":
            self.number, self._due = self.number + 1, now + cycle
        else:
            late = int((now - self._due) / cycle)
            self.number, self._due = self.number + 1 + late, self._due + (1 + late) * cycle
        self._look_for_silence()
        if self.is_resting:
            self.send()
        for drive in self._drives:
            drive.begin(here=False)
        frames = [SYNC]
        if now >= self._beat_due:
            frames.append(heartbeat(self._settings.master))
            self._beat_due = now + self._settings.heartbeat_ms * 1e-3
        self._bus.send(frames)

    def _measurement(self, drive: Drive, pdo: PdoMap, data: bytes) -> int | None:
        again = drive.take(pdo, data)
        if self.is_running and drive.state is not ENABLED:
            self.is_resting, self.is_running = True, False
            self.send()
            self.fault = self.fault or self._why_it_left(drive)
        if again:
            return self._last_complete if self._last_complete >= 0 else None
        if not all(each.is_complete for each in self._drives):
            return None
        self._look_at_encoders()
        self._last_complete, self._hurries = self.number, False
        return self.number

    def _look_at_encoders(self) -> None:
        before, self._completed = self._completed, time.monotonic()
        counted = (self.number - self._last_complete) * self._settings.cycle
        for drive in self._drives:
            if found := drive.look_at_encoder(counted, self._completed - before):
                text = f"{found}: is its encoder sound? (encoder_tolerance)"
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
            self._fail(Fault(drive.name, LEFT_OPERATION, "it was started anew"))
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
