"""One device as its supervisor sees it: the memory of its process, and the checks of its rows."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.diagnostics import Reason
from orchestrator.rig.supervisor.checks import HealthCheck
from orchestrator.rig.supervisor.columns import DeviceFacts
from orchestrator.rig.supervisor.limits import DeviceLimits
from orchestrator.rig.supervisor.rig_checks import RigChecks
from orchestrator.rig.supervisor.tracking.rig_tracking import RigTracking
from orchestrator.rig.supervisor.watch_memory import WatchMemory, Word


class DeviceWatch:
    """Reads what the process of a device saw since it was last asked.

    Parameters
    ----------
    facts, memory
        Of the device.
    limits
        Of its health.
    heartbeat_ns
        From which age of its sign of life on its process is lost.
    now_ns
        When it joined.
    """

    def __init__(
        self,
        facts: DeviceFacts,
        memory: WatchMemory,
        limits: DeviceLimits,
        heartbeat_ns: int,
        now_ns: int,
    ) -> None:
        self.facts, self.memory = facts, memory
        self.health = HealthCheck(limits, now_ns)
        self._heartbeat_ns = heartbeat_ns
        self._count = 0
        self._told = 0
        self._commands, self._commanded_ns = 0, now_ns
        #: Its newest row; ``None``: there is none yet.
        self.newest: list[float] | None = None
        #: Whether its process has ended.
        self.gone = False

    @property
    def commanded(self) -> bool:
        """Whether the simulation steps: it gives the first command when it is initialised."""
        return not self.facts.commands or self.memory[Word.COMMANDS] > 1

    @property
    def at_rest(self) -> bool:
        """Whether its command stands; of a process that is gone nothing more is sent."""
        return self.gone or bool(self.memory[Word.AT_REST])

    @property
    def run_gone(self) -> int:
        """0 while the simulation is there, 1 if it ended, 2 if it is gone."""
        return self.memory[Word.RUN_GONE]

    def read(self, checks: RigChecks, tracking: RigTracking) -> None:
        """Take all new rows."""
        self._count, times, rows = self.memory.since(self._count)
        found = rows.tolist()
        self.newest = found[-1] if found else self.newest
        for time_ns, row in zip(times.tolist(), found, strict=True):
            self.health.take(time_ns, row)
            checks.take(self.facts.device, time_ns, row)
            tracking.take(self.facts.device, time_ns, row)

    def reasons(self, now_ns: int) -> Iterator[Reason]:
        """Yield what is wrong with the device and its process now."""
        if self.gone or now_ns - self.memory[Word.IO_BEAT] > self._heartbeat_ns:
            yield Reason.DEVICE_LOST
        yield from self.health.reasons(now_ns)

    def struck(self) -> tuple[Reason, int] | None:
        """Return what the gate of its command found by itself, once; with the time."""
        found = self.memory[Word.IO_FOUND]
        if found == self._told:
            return None
        self._told = found
        return (Reason(self.memory[Word.IO_REASON]), found) if found else None

    def command_age(self, now_ns: int, *, counts: bool) -> int:
        """Return for how long the simulation gave no new command, ns; 0 where that is right."""
        count = self.memory[Word.COMMANDS]
        if count != self._commands or not self.facts.commands or not counts:
            self._commands, self._commanded_ns = count, now_ns
        return now_ns - self._commanded_ns
