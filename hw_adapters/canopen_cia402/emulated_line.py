"""The emulated line: drives on their shafts, and how their time goes on."""

from __future__ import annotations

from collections.abc import Sequence

from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive, Frame

#: Of the loops of a drive, s.
_LOOP = 125e-6
#: After so many cycles without SYNC the time goes on by the clock.
_PATIENCE = 3


class EmulatedLine:
    """Drives on one line; times are CLOCK_MONOTONIC in s.

    Parameters
    ----------
    drives
        On it; those that turn one shaft share it.
    by_clock
        Whether the time of the shafts is that of the clock, in whole cycles; if not, each SYNC is
        a cycle, and nothing goes on without.
    """

    def __init__(self, drives: Sequence[EmulatedDrive], *, by_clock: bool) -> None:
        self.drives = list(drives)
        self._by_clock = by_clock
        self._came_to: float | None = None

    def take(self, identifier: int, data: bytes, now: float) -> list[Frame]:
        """Take a frame, and return the TPDOs that answer it; all else waits in :meth:`told`."""
        frames = self._sync(now) if identifier == 0x80 and not data else []
        for drive in self.drives:
            drive.take(identifier, data, now)
        return frames

    def tick(self, now: float) -> bool:
        """Look at the clock; return whether the shafts went on without SYNC."""
        cycle, behind = self._cycle(), 0
        if self._came_to is not None and self._by_clock:
            behind = int((now - self._came_to) / cycle)
        goes_on = behind > _PATIENCE
        self._advance(behind if goes_on else 0, cycle)
        for drive in self.drives:
            drive.tick(now)
        return goes_on

    def answers(self) -> list[Frame]:
        """Return what the drives have said since, but for TPDOs."""
        frames = [frame for drive in self.drives for frame in drive.out]
        for drive in self.drives:
            drive.out = []
        return frames

    def _sync(self, now: float) -> list[Frame]:
        cycle = self._cycle()
        if self._came_to is None:
            self._came_to = now - cycle
        behind = round((now - self._came_to) / cycle) if self._by_clock else 1
        self._advance(max(1, behind), cycle)
        return [frame for drive in self.drives for frame in drive.sync(now)]

    def _advance(self, cycles: int, cycle: float) -> None:
        steps = max(1, round(cycle / _LOOP))
        h = cycle / steps
        shafts = list({id(d.shaft): d.shaft for d in self.drives}.values())
        tachometers = [d.tachometer for d in self.drives if d.tachometer]
        for _ in range(cycles):
            for tachometer in tachometers:
                tachometer.begin_cycle()
            for i in range(1, steps + 1):
                for shaft in shafts:
                    torque = sum(d.torque(h, i / steps) for d in self.drives if d.shaft is shaft)
                    shaft.step(torque, h)
                for drive in self.drives:
                    if drive.tachometer:
                        drive.tachometer.step(drive.shaft.velocity, h)
            for drive in self.drives:
                drive.watch(cycle)
        if self._came_to is not None:
            self._came_to += cycles * cycle

    def _cycle(self) -> float:
        cycle_s = self.drives[0].objects[0x1006, 0] * 1e-6 if self.drives else 0.0
        return cycle_s or 1e-3
