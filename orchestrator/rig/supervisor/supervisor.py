"""The supervisor of a rig, without processes and clocks: what it decides at a moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from orchestrator.core.diagnostics import DescriptionError, Reason
from orchestrator.rig.supervisor.checks import HealthCheck, RigChecks
from orchestrator.rig.supervisor.gate import axis_limits
from orchestrator.rig.supervisor.limits import WINDOW_NS, WatchedLimit, cause_of, figures_of
from orchestrator.rig.supervisor.machine import FoundCause, Machine, RefusedWish
from orchestrator.rig.supervisor.rig_tracking import MarginTable, RigTracking
from orchestrator.rig.supervisor.settings import CommandLimits, DeviceLimits, SupervisorSettings
from orchestrator.rig.supervisor.states import (
    OF_DEVICES,
    OF_MOTIONS,
    OF_SIGNALS,
    Check,
    Event,
    State,
    holds,
)
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, WatchMemory, Word


class DeviceWatch:
    """Reads what the process of a device saw since it was last asked.

    facts, memory: Of the device.
    limits: Of its health.
    commands: Limits of its commands, in their order.
    times: In ns: age of its sign of life, and of the newest command, at which they count as lost.
    now_ns: When it joined.
    """

    def __init__(
        self,
        facts: JoiningDevice,
        memory: WatchMemory,
        limits: DeviceLimits,
        commands: Sequence[CommandLimits],
        times: tuple[int, int],
        now_ns: int,
    ) -> None:
        self.facts, self.memory = facts, memory
        name = facts.device
        self.health = HealthCheck(limits, now_ns, name)
        signals = zip(facts.commands, commands, strict=True)
        self._gauged = [
            limit
            for signal, command_limits in signals
            for limit in axis_limits(command_limits.axis, f"{name}.{signal.name}", signal.unit)
        ]
        self._beat = _time_limit(name, "age of its sign of life", Reason.DEVICE_LOST, times[0])
        self._fresh = _time_limit(name, "age of the newest command", Reason.COMMAND_STALE, times[1])
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
        new_rows = rows.tolist()
        self.newest = new_rows[-1] if new_rows else self.newest
        for time_ns, row in zip(times.tolist(), new_rows, strict=True):
            self.health.take(time_ns, row)
            checks.take(self.facts.device, time_ns, row)
            tracking.take(self.facts.device, time_ns, row)

    @property
    def limits(self) -> tuple[WatchedLimit, ...]:
        """All limits of the device, of its process and of its commands."""
        for limit, value in zip(self._gauged, self.memory.gauges, strict=True):
            limit.forget()
            limit.show(value)
        commanded = (self._fresh, *self._gauged) if self.facts.commands else ()
        return (*commanded, *self.health.limits, self._beat)

    def reasons(self, now_ns: int) -> Iterator[Reason]:
        """Yield what is wrong with the device and its process now."""
        silent = self._beat.take(now_ns - self.memory[Word.IO_BEAT])
        if silent or self.gone:
            yield Reason.DEVICE_LOST
        yield from self.health.reasons(now_ns)

    def struck(self) -> tuple[Reason, int] | None:
        """Return what the gate of its command found by itself, once; with the time."""
        found_ns = self.memory[Word.IO_FOUND]
        if found_ns == self._told:
            return None
        self._told = found_ns
        return (Reason(self.memory[Word.IO_REASON]), found_ns) if found_ns else None

    def command_is_stale(self, now_ns: int, *, counts: bool) -> bool:
        """Whether the simulation gave no new command for too long, where it should."""
        count = self.memory[Word.COMMANDS]
        if count != self._commands or not self.facts.commands or not counts:
            self._commands, self._commanded_ns = count, now_ns
        is_stale = bool(self._fresh.take(now_ns - self._commanded_ns))
        if not counts:
            self._fresh.forget()
        return is_stale


def _time_limit(location: str, quantity: str, reason: Reason, most_ns: int) -> WatchedLimit:
    return WatchedLimit(location, quantity, "ms", reason, maximum=most_ns, scale=1e-6)


#: Name of each in the report of a fault.
_RUN, _OPERATOR = "simulation", "operator"
_ASKED = {
    "arm": Event.ARM,
    "engage": Event.ENGAGE,
    "disengage": Event.DISENGAGE,
    "reset": Event.RESET,
}
_STRUCK = {"stop": Reason.OPERATOR_STOP, "quickstop": Reason.OPERATOR_QUICK_STOP}
#: What an operator can wish for that changes something.
WISHES = (*_ASKED, *_STRUCK)
#: And what a run is tuned with, which needs margins.
TUNE = str(Event.TUNE)


class Supervisor:
    """Watches the devices of a rig, and says in which state they are.

    settings: Of the rig.
    devices: Names of all its devices: it begins when all of them have joined and are heard.
    margins: Of the loops through commands, by command, that tracking holds devices against.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        devices: Collection[str],
        margins: Mapping[str, MarginTable] | None = None,
    ) -> None:
        self.settings = settings
        self._margins = margins or {}
        self.expected = tuple(devices)
        self.machine = Machine(
            settings.events, settings.ns("confirm_within"), settings.ns("rest_within")
        )
        self.watches: dict[str, DeviceWatch] = {}
        self.checks: RigChecks | None = None
        self.tracking: RigTracking | None = None
        self._blend_ns, self._turned_ns = settings.ns("blend"), 0
        self._was_automatic = False
        self._run_ended = False
        self._told: State | None = None
        #: What keeps a rig in OFF, in words.
        self.missing: tuple[str, ...] = ()
        #: The wish that was granted last, who had it, and when.
        self.wished: tuple[str, str, int] | None = None

    def join(self, facts: JoiningDevice, memory: WatchMemory, now_ns: int) -> list[CommandLimits]:
        """Take a device in; return the limits of its commands."""
        name, command_limits = facts.device, self.limits_of(facts)
        if name not in self.expected:
            raise DescriptionError(
                f"rig '{self.settings.rig}' has no device '{name}'; devices:"
                f" {', '.join(self.expected)}"
            )
        if name in self.watches and not self.watches[name].gone:
            raise DescriptionError(
                f"rig '{self.settings.rig}' has a device '{name}' already, controlled by process"
                f" {self.watches[name].facts.pid}; expected one"
            )
        limits = self.settings.devices.get(name, DeviceLimits())
        times = self.settings.ns("heartbeat"), self.settings.ns("command_stale")
        joined = {device: watch.facts for device, watch in self.watches.items()} | {name: facts}
        if set(joined) == set(self.expected):
            self.checks = RigChecks(self.settings, joined.values())
            table = self.settings.tracking
            self.tracking = RigTracking(table, self._margins, joined.values())
        memory[Word.BEAT] = memory[Word.IO_BEAT] = now_ns  # neither is lost before it begins
        self.watches[name] = DeviceWatch(facts, memory, limits, command_limits, times, now_ns)
        return command_limits

    def limits_of(self, facts: JoiningDevice) -> list[CommandLimits]:
        """Return the limits of each command of a device, its range taken in."""
        limits_found, problems = [], []
        for signal in facts.commands:
            name = f"{facts.device}.{signal.name}"
            limits = self.settings.commands.get(name)
            if limits is None:
                problems.append(
                    f"supervisor.commands: missing table '{name}': each command of a supervised"
                    " device has limits"
                )
                continue
            low = signal.minimum if limits.minimum is None else limits.minimum
            high = signal.maximum if limits.maximum is None else limits.maximum
            fast = min(limits.velocity, signal.speed or limits.velocity)
            within = {"minimum": low, "maximum": high, "velocity": fast}
            limits_found.append(limits.model_copy(update=within))
        if problems:
            raise DescriptionError(*problems)
        return limits_found

    def leave(self, device: str) -> None:
        """Take note that the process of a device has ended."""
        if device in self.watches:
            self.watches[device].gone = True

    def run_ended(self, now_ns: int) -> None:
        """Take note that the run is over, as it should."""
        if not self._run_ended:
            self._run_ended = True
            self.machine.apply(Event.ENDED, now_ns)

    def run_lost(self, now_ns: int) -> None:
        """Take note that the process of the run is gone."""
        if not self._run_ended:
            self._run_ended = True
            self.machine.find(FoundCause(Reason.ENGINE_LOST, _RUN, now_ns))

    def operator_lost(self, now_ns: int) -> None:
        """Take note that the last terminal that attended is gone."""
        if self.settings.operator_lost == "stop":
            self.machine.strike(FoundCause(Reason.OPERATOR_LOST, _OPERATOR, now_ns))

    def wish(self, wish: str, now_ns: int, by: str) -> None:
        """Do what an operator wishes, one of :data:`WISHES`."""
        if wish in _STRUCK:
            origin = f"{_OPERATOR} {by}".rstrip()
            self.machine.strike(FoundCause(_STRUCK[wish], origin, now_ns))
        else:
            self.machine.ask(_ASKED[wish], now_ns, by)
        self.wished = (wish, by, now_ns)

    def refusals(self, now_ns: int, by: str) -> dict[str, str]:
        """Return why each wish of an operator would be refused now; empty: it would be granted."""
        refused = {wish: self.machine.refusal(event, now_ns, by) for wish, event in _ASKED.items()}
        return refused | dict.fromkeys(_STRUCK, "")  # a stop is never refused

    def tune(self, change: str, margins: Mapping[str, MarginTable], now_ns: int, by: str) -> None:
        """Consent to another value: its margins hold with what is tracked, and from here on."""
        followed = self.tracking.following(margins) if self.tracking is not None else []
        for response, table in followed:
            if response.lacks(table):
                raise RefusedWish(
                    f"'tune' is refused: with {change} and the tracked '{response.name}'"
                    f" ({response.figures}), less than the reserve would be left"
                )
        self.machine.ask(Event.TUNE, now_ns, f"{by}: {change}")
        for response, table in followed:
            response.margins = table
        self.wished = (f"tune {change}", by, now_ns)

    @property
    def run_may_begin(self) -> bool:
        """Whether a run that waits until the rig is engaged goes on: it is, or will not be."""
        return self.machine.follows or self.run_is_released or self._run_ended

    @property
    def is_over(self) -> bool:
        """Whether the run is over and all processes of devices have ended."""
        return self._run_ended and all(watch.gone for watch in self.watches.values())

    @property
    def limits(self) -> list[WatchedLimit]:
        """All limits of the rig; limits that the settings omit are infinite."""
        limits: list[WatchedLimit] = []
        if self.checks is not None:
            limits += self.checks.limits
        for watch in self.watches.values():
            limits += watch.limits
        if self.tracking is not None:
            limits += (
                limit for response in self.tracking.responses.values() for limit in response.limits
            )
        return [*limits, self.machine.rest]

    def look(self, now_ns: int) -> None:
        """Read what is new, decide, and tell the processes of the devices."""
        if self.checks is not None and self.tracking is not None:
            self.checks.enter(self.machine.state)
            for watch in self.watches.values():
                watch.read(self.checks, self.tracking)
            self._find(self.checks, now_ns)
            self._track(self.tracking, now_ns)
            self._begin(now_ns)
        machine = self.machine
        if now_ns - self._turned_ns > WINDOW_NS:
            self._turned_ns = now_ns
            for limit in self.limits:
                limit.turn()
        # not before they have read of the state
        was_told = now_ns - machine.since_ns > 0 and self._told is machine.state
        at_rest = was_told and all(watch.at_rest for watch in self.watches.values())
        machine.tick(now_ns, blend_ns=self._blend_ns, at_rest=at_rest)
        if self._run_ended and machine.state in (State.SHADOW, State.SAFE):
            machine.apply(Event.ENDED, now_ns)
        self._tell(now_ns)

    def _find(self, checks: RigChecks, now_ns: int) -> None:
        machine = self.machine
        if self._run_ended:
            return  # devices leave one by one
        if machine.state is State.OFF:
            self._expect_sound(checks, now_ns)
            return
        for name, watch in self.watches.items():
            self._find_of(name, watch, now_ns)
        if not holds(Check.SIGNAL, machine.state):
            return
        for name, reason in checks.reasons():
            self._compare(name, {reason}, OF_SIGNALS, now_ns, checks)
        for name, reason in checks.motion_reasons():
            self._compare(name, {reason}, OF_MOTIONS, now_ns, checks)

    def _find_of(self, name: str, watch: DeviceWatch, now_ns: int) -> None:
        machine = self.machine
        struck = watch.struck() if holds(Check.GATE, machine.state) else None
        if struck is not None:  # before its process is missed, which ends for this reason
            figures = cause_of(watch.limits, struck[0], name)
            machine.strike(FoundCause(struck[0], name, struck[1], figures))
        if holds(Check.DEVICE, machine.state):
            self._compare(name, set(watch.reasons(now_ns)), OF_DEVICES, now_ns, watch)
        if watch.run_gone == 2:
            self.run_lost(now_ns)
        elif watch.run_gone:
            self.run_ended(now_ns)
        stale = watch.command_is_stale(now_ns, counts=holds(Check.COMMAND, machine.state))
        self._compare(
            name, {Reason.COMMAND_STALE} if stale else set(), (Reason.COMMAND_STALE,), now_ns, watch
        )

    def _track(self, tracking: RigTracking, now_ns: int) -> None:
        """Say what tracking found: a device that changed, a margin below its reserve."""
        machine = self.machine
        for response, found_ns in tracking.changes():
            if holds(Check.TRACKING, machine.state):
                figures = response.figures
                machine.strike(FoundCause(Reason.DEVICE_CHANGED, response.name, found_ns, figures))
        for name, response in tracking.responses.items():
            lacks = response.lacks(response.margins)
            if lacks and holds(Check.TRACKING, machine.state):
                machine.find(FoundCause(Reason.MARGIN, name, now_ns, response.figures))
            elif lacks is False:
                machine.gone(Reason.MARGIN, name)

    def _expect_sound(self, checks: RigChecks, now_ns: int) -> None:
        """Leave OFF when all devices are heard and nothing is wrong; they open one by one."""
        watches = self.watches.items()
        problems = [(name, reason) for name, watch in watches for reason in watch.reasons(now_ns)]
        problems += [(name, reason) for name, reason in checks.reasons() if reason]
        silent = [name for name, watch in watches if not watch.health.heard]
        missing = [f"{name}: {reason.text}" for name, reason in problems]
        self.missing = (*missing, *(f"{name}: no sample arrived yet" for name in silent))
        for name, watch in watches:
            if watch.gone:
                self.machine.find(FoundCause(Reason.DEVICE_LOST, name, now_ns))
        if not self.missing:
            self.machine.apply(Event.HEARD, now_ns)

    def _compare(
        self,
        location: str,
        present: set[Reason],
        possible: Collection[Reason],
        now_ns: int,
        checks: RigChecks | DeviceWatch,
    ) -> None:
        """Latch what is found, with the figures of the limit; what is not found is gone."""
        for reason in possible:
            if reason in present:
                own_limits = (limit for limit in checks.limits if limit.location == location)
                figures = figures_of(own_limits, reason)
                self.machine.find(FoundCause(reason, location, now_ns, figures))
            elif (reason, location) in self.machine.present:
                self.machine.gone(reason, location)

    def _begin(self, now_ns: int) -> None:
        """Arm and engage where nobody has to, once."""
        machine = self.machine
        automatic = self.settings.arm == "automatic" and not self._was_automatic
        commanded = all(watch.commanded for watch in self.watches.values())
        if automatic and machine.state is State.SHADOW and commanded:
            self._was_automatic = machine.apply(Event.ARM, now_ns) and machine.apply(
                Event.ENGAGE, now_ns
            )

    def _tell(self, now_ns: int) -> None:
        machine = self.machine
        reason = machine.latched[0].reason if machine.latched else Reason.OPERATION
        for watch in self.watches.values():
            memory = watch.memory
            memory[Word.SINCE] = machine.since_ns
            memory[Word.STATE] = machine.state
            memory[Word.REASON] = reason
            memory[Word.RELEASED] = int(self.run_is_released)
            memory[Word.BEAT] = now_ns
        self._told = machine.state

    @property
    def run_is_released(self) -> bool:
        """Whether the run is to end, since the rig was brought to rest."""
        stops = self.settings.after_fault == "stop"
        return stops and self.machine.state in (State.SAFE, State.ESTOP)
