"""The faults that a rig is tried with, and what came of each, judged by what it left in files."""

from __future__ import annotations

import csv
import math
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.recording import kept_result, read_result
from orchestrator.core.structs import Struct
from orchestrator.rig.devices import DeviceSettings, device_class, read_settings
from orchestrator.rig.devices.conformance import Logged, bench_of
from orchestrator.rig.supervisor.states import StateChange, read_changes
from orchestrator.rig.trials.disturbances import disturbance, possible_disturbances
from orchestrator.study import Experiment

#: Faults of the wire as emulators know them, for every device.
_ON_THE_WIRE = (
    "drop:0.3",
    "drop:1",
    "duplicate:0.5",
    "reorder:0.5",
    "late:30",
    "burst:20",
    "freeze",
    "nan",
    "malformed:0.3",
    "wrong-status",
    "saturated",
    "clock-jump:5",
)

#: Of a device that follows commands: two cycles of the robot later.
_SLOWER = "slower:8"

#: At once: its counters, its clock and its state begin anew.
_RESTART = "restart-after:0.001"

#: So long after it began: a rig has begun by then.
_WRAP_S = 15.0

FULL_DISK = "disk is full"

#: How long processes are stopped (SIGSTOP, then SIGCONT), s.
_STOPS = (0.2, 1.0, 5.0)

Target = Literal["emulator", "device", "engine", "supervisor", "operator"]


class Trial(Struct):
    """One fault.

    name: As it is called in the table.
    component: The device that it befalls; empty: none in particular.
    wire: A fault of the emulator that begins while the rig is active; empty: none.
    disturbance: What a relay before the device does then, by its name; empty: there is no relay.
    target: Which process is killed or stopped: the emulator, that of the device, of the simulation,
        of the supervisor, or the operator's terminal.
    stop_s: For how long it is stopped; 0: it is sent `signal`.
    signal: What the process is sent, and its whole group if it is not SIGKILL, as a terminal does.
    full_disk: Whether nothing can be written any more to where the run keeps what it records.
    second_client: Whether a second device, or a second adapter, comes to the same wire.
    after_s: How long after the emulator began a fault comes that it has from its begin on; 0: it is
        told to have it.
    """

    name: str
    component: str = ""
    wire: str = ""
    disturbance: str = ""
    target: Target | None = None
    stop_s: float = 0.0
    signal: signal.Signals = signal.SIGKILL
    full_disk: bool = False
    second_client: bool = False
    after_s: float = 0.0


def trials_of(devices: Mapping[str, str], *, supervised: bool = True) -> Iterator[Trial]:
    """Yield all trials of a rig."""
    yield Trial("none")
    for component, kind in devices.items():
        bench = bench_of(kind)
        for wire in (*_ON_THE_WIRE, *((_SLOWER,) if bench.follows else ())):
            if wire.partition(":")[0] not in bench.without:
                yield Trial(f"{component}: {wire}", component, wire=wire)
        for entry in possible_disturbances(kind):
            name = f"{component}: relay: {entry.name}"
            yield Trial(name, component, wire=entry.restart, disturbance=entry.name)
        if "restart-after" not in bench.without:
            yield Trial(f"{component}: restart", component, wire=_RESTART)
        if bench.wraps:
            wire = f"wrap-after:{_WRAP_S:g}"
            yield Trial(f"{component}: count or clock runs over", component, wire, after_s=_WRAP_S)
        yield Trial(f"{component}: second client", component, second_client=True)
        yield from _ended("the emulator", "emulator", component)
        yield from _ended("its process", "device", component)
    yield from _ended("the simulation", "engine")
    yield Trial("Ctrl-C", target="engine", signal=signal.SIGINT)
    yield Trial("terminal is closed (SIGHUP)", target="engine", signal=signal.SIGHUP)
    yield Trial(FULL_DISK, target="engine", full_disk=True)
    if supervised:
        yield from _ended("the supervisor", "supervisor")
        yield Trial("kill -9 of the operator's terminal", target="operator")


def _ended(process: str, target: Target, component: str = "") -> Iterator[Trial]:
    """Yield what can become of a process: it is killed, or stopped for a while."""
    whose = f"{component}: " if component else ""
    yield Trial(f"{whose}kill -9 of {process}", component, target=target)
    for stop_s in _STOPS:
        yield Trial(
            f"{whose}stop of {process}, {stop_s:g} s", component, target=target, stop_s=stop_s
        )


def selected_trials(trials: Iterable[Trial], only: Iterable[str]) -> list[Trial]:
    """Return the trials whose names have one of some texts in them; all if there is none."""
    names = list(only)
    return [trial for trial in trials if not names or any(text in trial.name for text in names)]


#: What is slower stands, as a share of the largest speed before the fault; of what stood then, what
#: moves by less in a period, as a share of its place: rounding.
_STILL, _ROUNDING = 1e-3, 1e-6


class Reaction(Struct):
    """What the supervisor wrote of the first fault after a moment.

    reason, location: Of the fault; empty: none was found.
    state: What it led to.
    found_s: When it was found, CLOCK_MONOTONIC; NaN: never.
    states: All states that the rig went through from then on.
    """

    reason: str = ""
    location: str = ""
    state: str = ""
    found_s: float = math.nan
    states: tuple[str, ...] = ()


def was_disturbed(changes: Path, before_s: float) -> bool:
    """Whether something was found before a moment, such as a busy machine."""
    return any(change.reason and change.time_s < before_s for change in _changes(changes))


def _changes(path: Path) -> tuple[StateChange, ...]:
    """Return what the supervisor wrote; nothing where there is none."""
    return read_changes(path) if path.exists() else ()


def reaction_of(changes: Path, since_s: float) -> Reaction:
    """Read the first fault after a moment."""
    rows = [change for change in _changes(changes) if change.time_s >= since_s]
    for i, row in enumerate(rows):
        if row.reason:
            states = tuple(dict.fromkeys(row.after for row in rows[i:]))
            return Reaction(row.reason, row.where, row.after, row.time_s, states)
    return Reaction()


class LoggedMotion(Struct):
    """One quantity of a device, as its emulator's own log has it.

    times_s: Shape (n,), CLOCK_MONOTONIC.
    values: Shape (n,), SI.
    period_s: Of the device: between two rows, by its own clock.
    """

    times_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    values: np.ndarray[tuple[int], np.dtype[np.float64]]
    period_s: float

    def largest(self, since_s: float) -> float:
        """Return the largest size from a moment on; NaN: the log has nothing of it."""
        values = np.abs(self.values[self.times_s >= since_s])
        return float(values.max()) if len(values) else math.nan

    def velocity(self, since_s: float) -> float:
        """Return the largest velocity from a moment on, by the device's clock; NaN: as before."""
        return self.step(since_s) / self.period_s

    def step(self, since_s: float) -> float:
        """Return the largest step from one row to the next, from a moment on; NaN: as before."""
        values = self.values[self.times_s >= since_s]
        return float(np.abs(np.diff(values)).max()) if len(values) > 1 else math.nan

    def path(self, since_s: float) -> float:
        """Return the length of the way from a moment on, there and back; NaN: as before."""
        values = self.values[self.times_s >= since_s]
        return float(np.abs(np.diff(values)).sum()) if len(values) else math.nan

    def last_motion_s(self, since_s: float) -> float:
        """Return when it last moved, from a moment on; NaN: it did not."""
        steps, times = np.abs(np.diff(self.values)), self.times_s[1:]
        steps /= np.maximum(np.diff(self.times_s) / self.period_s, 1.0)  # rows that are missing
        before = steps[times < since_s].max(initial=0.0)
        still = max(_STILL * before, _ROUNDING * np.abs(self.values).max(initial=1e-12))
        times = times[(steps > still) & (times >= since_s)]
        return float(times[-1]) if len(times) else math.nan


def motion_of(log: Path, signal: Logged, period_s: float) -> LoggedMotion:
    """Read a column of an emulator's log, of the rows of one event that are whole."""
    times, values = [], []
    with log.open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            if signal.is_in(cells):
                times.append(float(cells["time_s"]))
                values.append(float(cells[signal.column]) * signal.scale)
    return LoggedMotion(np.array(times), np.array(values), period_s)


def sentence_of(path: Path) -> str:
    """Return the last error that a run told; empty: none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return errors[-1] if errors else ""


def recorded_until(output: Path, case: str) -> tuple[float, Mapping[str, float]]:
    """Return the last simulated time that can be read, and the last value of every signal."""
    journal = output / f"{case}.partial"
    path = kept_result(output, case) or kept_result(output, journal.name) or journal
    if path.exists():
        result = read_result(path)
        last = dict(zip(result.names, result.values[-1].tolist(), strict=True))
        return float(result.time[-1]), last
    raise LoadError.in_file(output, f"nothing was recorded of case '{case}'")


#: Units of what moves.
_LENGTHS = ("m", "rad")


class Outcome(Struct):
    """What came of one trial.

    trial: The fault.
    reaction: Of the supervisor.
    struck_s: When the fault came, CLOCK_MONOTONIC.
    rest_s: How long after that commanded devices still moved, by their own logs; NaN: not at all.
    force, velocity: Largest ones from then on, by the logs of the emulators, N and m/s.
    within: Whether both are within the limits of the rig.
    recorded_s: Simulated time up to which the run can be read; NaN: nothing can.
    counts: What the run counted of the device's samples: lost, late, repeated, malformed, restarts.
    path, step: How far commanded devices went from the fault on, and the largest step of a command
        as it came over the wire, by unit.
    exit_code: Of the run: those of ``softdock run``; that of its signal, negative, if it was
        killed.
    sentence: What the run told last; empty: nothing.
    wrong: What is wrong with the reaction to a disturbed wire; empty: nothing.
    """

    trial: Trial
    reaction: Reaction
    struck_s: float
    rest_s: float
    force: float
    velocity: float
    within: bool
    recorded_s: float
    counts: Mapping[str, int]
    path: Mapping[str, float]
    step: Mapping[str, float]
    exit_code: int
    sentence: str
    wrong: str = ""

    @property
    def detect_s(self) -> float:
        """Time from the fault to its detection; NaN: it was not one."""
        return self.reaction.found_s - self.struck_s


class Judge:
    """Reads what a trial left, and compares it with the limits of the rig.

    These are the supervisor's; where there is none, the speeds that adapters allow on the wire.

    experiment, case: Of the rig.
    devices: Adapters by component, of those that have an emulator.
    """

    def __init__(self, experiment: Experiment, case: str, devices: Mapping[str, str]) -> None:
        self._settings, self._case, self._devices = experiment.supervisor, case, devices
        device_tables = experiment.case[case].devices
        read = {
            name: _settings(kind, device_tables[name].settings) for name, kind in devices.items()
        }
        self._ports = {
            name: device_class(kind).connectors(read[name]) for name, kind in devices.items()
        }
        self._truth = {name: bench_of(kind).truth(read[name]) for name, kind in devices.items()}
        self._asked = {
            name: bench_of(kind).logged_commands(read[name]) for name, kind in devices.items()
        }
        self._units = {
            f"{name}.{port.name}": port.unit
            for name, ports in self._ports.items()
            for port in (*ports.inputs, *ports.outputs)
        }

    def outcome(self, trial: Trial, folder: Path, struck_s: float, exit_code: int) -> Outcome:
        """Judge a trial by its folder, from the moment of the fault on."""
        reaction = reaction_of(folder / f"{self._case}.supervisor" / "changes.csv", struck_s)
        lost_devices = [
            p.name.split(".")[1] for p in folder.glob("*.supervisor/supervisor_lost.*.csv")
        ]
        if (
            lost_devices and not reaction.reason
        ):  # each device finds that by itself, and nobody else does
            reaction = Reaction("supervisor_lost", ", ".join(sorted(lost_devices)), "FALLBACK")
        try:
            recorded_s, last = recorded_until(folder, self._case)
        except LoadError:
            recorded_s, last = math.nan, {}
        truths, commanded = (
            list(self._motions(folder)),
            list(self._motions(folder, is_commanded=True)),
        )
        moving = [(motion, unit) for motion, unit in truths if unit in _LENGTHS]
        forces = [motion.largest(struck_s) for motion, unit in truths if unit == "N"]
        velocities = [motion.velocity(struck_s) for motion, unit in truths if unit == "m"]
        force, velocity = _largest(forces), _largest(velocities)
        rests = [motion.last_motion_s(struck_s) for motion, _ in moving]
        kinds = ("lost", "late", "repeated", "malformed", "restarts")
        counts = {motion: int(last.get(f"{trial.component}.{motion}", 0)) for motion in kinds}
        sentence = sentence_of(folder / "said.txt")
        return Outcome(
            trial,
            reaction,
            struck_s,
            _largest(rests) - struck_s,
            force,
            velocity,
            not (force > self._strongest() or velocity > self._fastest()),
            recorded_s,
            {motion: count for motion, count in counts.items() if count},
            _by_unit((motion.path(struck_s), unit) for motion, unit in moving),
            _by_unit((motion.step(struck_s), unit) for motion, unit in commanded),
            exit_code,
            sentence,
            self._wrong(trial, reaction, exit_code, sentence),
        )

    def _wrong(self, trial: Trial, reaction: Reaction, exit_code: int, sentence: str) -> str:
        """Say what is wrong with the reaction to a disturbed wire; empty: nothing.

        Right are the faults and the ends that the disturbance permits, of its own device.
        """
        if not trial.disturbance:
            return ""
        known, kind = disturbance(trial.disturbance), device_class(self._devices[trial.component])
        in_cycle = kind.answers and not kind.takes_unasked
        ends, causes = known.expected(in_cycle=in_cycle, says_taken=True)
        if reaction.reason:
            is_own = reaction.location.partition(".")[0] == trial.component
            if reaction.reason in known.reasons and is_own:
                return ""
            return f"another cause: {reaction.reason} ({reaction.location})"
        if exit_code:
            is_right = ends != "never" and any(cause in sentence for cause in causes)
            return "" if is_right else f"another cause: {sentence}"
        counts_restarts = not self._ports[trial.component].inputs  # there is no command to hold
        may_go_on = ends != "must" or (bool(known.restart) and counts_restarts)
        return "" if may_go_on else "it went on"

    def _motions(
        self, folder: Path, *, is_commanded: bool = False
    ) -> Iterator[tuple[LoggedMotion, str]]:
        """Yield what the logs of the emulators say: of each signal with limits, or each command."""
        for name, ports in self._ports.items():
            signals = (self._asked if is_commanded else self._truth)[name]
            for port in ports.inputs if is_commanded else ports.outputs:
                limited = is_commanded or self._is_limited(f"{name}.{port.name}")
                for scalar in port.scalars if limited else ():
                    if scalar in signals:
                        log = folder / f"{name}.log.csv"
                        yield motion_of(log, signals[scalar], 1.0 / ports.rate), port.unit

    def _is_limited(self, signal: str) -> bool:
        """Whether the rig has limits for a signal; what moves counts in any case."""
        limits = self._settings
        return limits is None or self._units[signal] in _LENGTHS or signal in limits.signals

    def _strongest(self) -> float:
        """Return the largest force that the signals of forces may have, N."""
        signals = {} if self._settings is None else self._settings.signals
        bounds = [
            max(abs(bound.minimum or 0.0), abs(bound.maximum or 0.0))
            for name, bound in signals.items()
            if self._units[name] == "N"
        ]
        return max((bound for bound in bounds if bound), default=math.inf)

    def _fastest(self) -> float:
        """Return the largest velocity that a command may have, m/s."""
        if self._settings is not None:
            return float(max(command.velocity for command in self._settings.commands.values()))
        inputs = [port for ports in self._ports.values() for port in ports.inputs]
        return max((port.speed for port in inputs if port.unit == "m"), default=math.inf)


def _largest(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _by_unit(values: Iterable[tuple[float, str]]) -> dict[str, float]:
    """Return the largest of each unit; what nothing is known of is left out."""
    largest: dict[str, float] = {}
    for value, unit in values:
        if not math.isnan(value):
            largest[unit] = max(value, largest.get(unit, 0.0))
    return largest


def _settings(kind: str, values: Mapping[str, object]) -> DeviceSettings:
    wiring = bench_of(kind).wiring().settings
    return read_settings(device_class(kind), {**wiring, **values}, kind)
