"""A clock for tests of real time on which nothing takes time but what a test says."""

from __future__ import annotations

from collections.abc import Iterable


class ScriptedClock:
    """Stands where told: waits end late by what is scripted, and spending moves it on."""

    def __init__(self, wakes_late: Iterable[int] = (), *, silent_at: int | None = None) -> None:
        self.now = 1_000_000
        self.begin = 0
        self.wakes_late = iter(wakes_late)
        self.silent_at = silent_at
        self.waits = 0

    def now_ns(self) -> int:
        return self.now

    def start(self) -> None:
        self.begin = self.now

    def wait_until(self, offset_ns: int) -> bool:
        if self.waits == self.silent_at:
            return False
        self.waits += 1
        if self.now < self.begin + offset_ns:
            self.now = self.begin + offset_ns + next(self.wakes_late, 0)
        return True

    def due_ns(self, offset_ns: int) -> int:
        return self.begin + offset_ns

    def slip(self, ns: int) -> int:
        self.begin += ns
        return ns

    def spend(self, ns: int) -> None:
        self.now += ns
