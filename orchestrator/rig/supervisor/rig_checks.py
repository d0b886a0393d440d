"""The checks of all signals of a rig, some of which look at two devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from orchestrator.core.diagnostics import DescriptionError, Reason, nearest
from orchestrator.rig.supervisor.check_states import Check, holds
from orchestrator.rig.supervisor.checks import SignalCheck
from orchestrator.rig.supervisor.columns import DeviceFacts, Head, Signal
from orchestrator.rig.supervisor.energy import PassivityObserver
from orchestrator.rig.supervisor.limits import EnergyLimits, SignalLimits
from orchestrator.rig.supervisor.motion_check import MotionCheck
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.states import State

_Take = Callable[[int, float], None]


class RigChecks:
    """Hands each sample of each signal to the checks that want it.

    Parameters
    ----------
    settings
        Of the rig.
    devices
        All of them.

    Raises
    ------
    DescriptionError
        If a table names a signal that no device has; all are told together.
    """

    def __init__(self, settings: SupervisorSettings, devices: Iterable[DeviceFacts]) -> None:
        self._places: dict[str, tuple[str, int, Signal]] = {}
        self._periods: dict[str, int] = {}
        for facts in devices:
            self._periods[facts.device] = facts.period_ns
            for name, column, signal in facts.places():
                self._places[name] = (facts.device, column, signal)
        self._takers: dict[str, list[tuple[int, _Take]]] = {}
        self._moved: dict[str, list[tuple[int, MotionCheck]]] = {}
        self._expect(settings)
        self._held_against: list[SignalCheck] = []
        self._signals = {n: self._signal(n, settings) for n in settings.signals}
        self._motions = {
            n: self._motion(n, one) for n, one in settings.signals.items() if _moves(one)
        }
        self.energies = {n: self._energy(one) for n, one in settings.energy.items()}
        self._limits = {n: one.limit for n, one in settings.energy.items()}

    def take(self, device: str, time_ns: int, row: list[float]) -> None:
        """Take a row of a device's ring."""
        for column, take in self._takers.get(device, ()):
            take(time_ns, row[column])
        for column, check in self._moved.get(device, ()):
            check.take(int(row[Head.NUMBER] + row[Head.LOST]), row[column])

    def reasons(self) -> Iterator[tuple[str, Reason]]:
        """Yield each check's name with what is wrong, ``OPERATION`` where nothing is."""
        for name, check in self._signals.items():
            yield name, check.reason()
        for name, observer in self.energies.items():
            wrong = observer.given > self._limits[name]
            yield name, Reason.ENERGY if wrong else Reason.OPERATION

    def motion_reasons(self) -> Iterator[tuple[str, Reason]]:
        """Yield the same of accelerations and jerks of signals."""
        for name, motion in self._motions.items():
            yield name, motion.reason()

    def enter(self, state: State) -> None:
        """Let checks count, or forget what they counted, as their table has it for a state."""
        for check in self._held_against:
            check.counts_frozen = holds(Check.FROZEN, state)
        if not holds(Check.ENERGY, state):
            for observer in self.energies.values():
                observer.given = 0.0

    def _expect(self, settings: SupervisorSettings) -> None:
        problems = [
            f"supervisor.{where}: no device has a signal '{name}'{nearest(name, self._places)};"
            f" signals: {', '.join(self._places) or 'none'}"
            for where, name in _named(settings)
            if name not in self._places
        ]
        if problems:
            raise DescriptionError(*problems)

    def _listen(self, name: str, take: _Take) -> None:
        device, column, _ = self._places[name]
        self._takers.setdefault(device, []).append((column, take))

    def _signal(self, name: str, settings: SupervisorSettings) -> SignalCheck:
        limits = settings.signals[name]
        check = SignalCheck(limits, self._places[name][2].unit)
        if limits.against is not None:
            self._held_against.append(check)
            self._listen(limits.against, lambda _, value: check.move(value))
        self._listen(name, check.take)
        return check

    def _motion(self, name: str, limits: SignalLimits) -> MotionCheck:
        device, column, _ = self._places[name]
        check = MotionCheck(name, limits, self._periods[device])
        self._moved.setdefault(device, []).append((column, check))
        return check

    def _energy(self, limits: EnergyLimits) -> PassivityObserver:
        observer = PassivityObserver(limits.sense)
        self._listen(limits.force, lambda _, value: observer.push(value))
        self._listen(limits.motion, lambda _, value: observer.move(value))
        return observer


def _moves(limits: SignalLimits) -> bool:
    return limits.acceleration is not None or limits.jerk is not None


def _named(settings: SupervisorSettings) -> Iterator[tuple[str, str]]:
    """Yield the signals that tables name, with where."""
    tables: Mapping[str, Mapping[str, object]] = {
        "signals": settings.signals,
        "commands": settings.commands,
    }
    for table, named in tables.items():
        yield from ((table, name) for name in named)
    for name, limits in settings.signals.items():
        if limits.against is not None:
            yield f"signals.{name}.against", limits.against
    for name, energy in settings.energy.items():
        yield f"energy.{name}.force", energy.force
        yield f"energy.{name}.motion", energy.motion
