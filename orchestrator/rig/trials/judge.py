"""What came of a trial, judged by what it left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.core.diagnostics import LoadError
from orchestrator.rig.devices import DeviceConnector, DeviceSettings, device_class, read_settings
from orchestrator.rig.devices.conformance import bench_of
from orchestrator.rig.trials.evidence import (
    Motion,
    Reaction,
    motion_of,
    reaction_of,
    recorded_until,
    sentence_of,
)
from orchestrator.rig.trials.trial import Trial
from orchestrator.study import Experiment

#: Units of what moves.
_LENGTHS = ("m", "rad")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one trial.

    Parameters
    ----------
    trial
        The fault.
    reaction
        Of the supervisor.
    struck_s
        When the fault came, CLOCK_MONOTONIC.
    rest_s
        How long after that commanded devices still moved, by their own logs; NaN: not at all.
    force, velocity
        Largest ones from then on, by the logs of the emulators, N and m/s.
    within
        Whether both are within the limits of the rig.
    recorded_s
        Simulated time up to which the run can be read; NaN: nothing can.
    counts
        What the run counted of the device's samples: lost, late, repeated, malformed, restarts.
    path, step
        How far commanded devices went from the fault on, and the largest step of a command as it
        came over the wire, by unit.
    exit_code
        Of the run: those of ``softdock run``; that of its signal, negative, if it was killed.
    sentence
        What the run told last; empty: nothing.
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

    @property
    def detect_s(self) -> float:
        """Time from the fault to its detection; NaN: it was not one."""
        return self.reaction.found_s - self.struck_s


class Judge:
    """Reads what a trial left, and compares it with the limits of the rig.

    These are the supervisor's; where there is none, the speeds that adapters allow on the wire.

    Parameters
    ----------
    experiment, case
        Of the rig.
    devices
        Adapters by component, of those that have an emulator.
    """

    def __init__(
        self,
        experiment: Experiment,
        case: str,
        devices: Mapping[str, str],
    ) -> None:
        self._settings, self._case, self._devices = experiment.supervisor, case, devices
        given = experiment.case[case].devices
        read = {name: _settings(kind, given[name].settings) for name, kind in devices.items()}
        self._ports = {
            name: device_class(kind).connectors(read[name]) for name, kind in devices.items()
        }
        benches = {name: bench_of(kind) for name, kind in devices.items()}
        self._truth = {name: each.truth(read[name]) for name, each in benches.items()}
        self._asked = {name: each.asked(read[name]) for name, each in benches.items()}
        self._units = {
            f"{name}.{port.name}": port.unit
            for name, ports in self._ports.items()
            for port in (*ports.inputs, *ports.outputs)
        }

    def outcome(self, trial: Trial, folder: Path, struck_s: float, exit_code: int) -> Outcome:
        """Judge a trial by its folder, from the moment of the fault on."""
        reaction = reaction_of(folder / f"{self._case}.supervisor" / "changes.csv", struck_s)
        found = [p.name.split(".")[1] for p in folder.glob("*.supervisor/supervisor_lost.*.csv")]
        if (
            not reaction.reason and found
        ):  # each device finds that by itself, and nobody else is there
            reaction = Reaction("supervisor_lost", ", ".join(sorted(found)), "FALLBACK")
        try:
            recorded_s, last = recorded_until(folder, self._case)
        except LoadError:
            recorded_s, last = math.nan, {}
        truths, asked = list(self._motions(folder)), list(self._motions(folder, asked=True))
        moving = [(one, unit) for one, unit in truths if unit in _LENGTHS]
        forces = [one.largest(struck_s) for one, unit in truths if unit == "N"]
        velocities = [one.velocity(struck_s) for one, unit in truths if unit == "m"]
        force, velocity = _most(forces), _most(velocities)
        rests = [one.rest(struck_s) for one, _ in moving]
        kinds = ("lost", "late", "repeated", "malformed", "restarts")
        counts = {one: int(last.get(f"{trial.component}.{one}", 0)) for one in kinds}
        return Outcome(
            trial,
            reaction,
            struck_s,
            _most(rests) - struck_s,
            force,
            velocity,
            not (force > self._strongest() or velocity > self._fastest()),
            recorded_s,
            {one: count for one, count in counts.items() if count},
            _by_unit((one.path(struck_s), unit) for one, unit in moving),
            _by_unit((one.step(struck_s), unit) for one, unit in asked),
            exit_code,
            sentence_of(folder / "said.txt"),
        )

    def _motions(self, folder: Path, *, asked: bool = False) -> Iterator[tuple[Motion, str]]:
        """Yield what the logs of the emulators say: of each signal with limits, or each command."""
        for name, ports in self._ports.items():
            known = (self._asked if asked else self._truth)[name]
            for port in ports.inputs if asked else ports.outputs:
                limited = asked or self._is_limited(f"{name}.{port.name}")
                for scalar in _scalars(port) if limited else ():
                    if scalar in known:
                        log = folder / f"{name}.log.csv"
                        yield motion_of(log, known[scalar], 1.0 / ports.rate), port.unit

    def _is_limited(self, signal: str) -> bool:
        """Whether the rig has limits for a signal; what moves counts in any case."""
        limits = self._settings
        return limits is None or self._units[signal] in _LENGTHS or signal in limits.signals

    def _strongest(self) -> float:
        """Return the largest force that the signals of forces may have, N."""
        signals = {} if self._settings is None else self._settings.signals
        found = [
            max(abs(one.minimum or 0.0), abs(one.maximum or 0.0))
            for name, one in signals.items()
            if self._units[name] == "N"
        ]
        return max((one for one in found if one), default=math.inf)

    def _fastest(self) -> float:
        """Return the largest velocity that a command may have, m/s."""
        if self._settings is not None:
            return float(max(one.velocity for one in self._settings.commands.values()))
        inputs = [port for ports in self._ports.values() for port in ports.inputs]
        return max((port.speed for port in inputs if port.unit == "m"), default=math.inf)


def _most(values: Iterable[float]) -> float:
    return max((one for one in values if not math.isnan(one)), default=math.nan)


def _by_unit(values: Iterable[tuple[float, str]]) -> dict[str, float]:
    """Return the largest of each unit; what nothing is known of is left out."""
    found: dict[str, float] = {}
    for value, unit in values:
        if not math.isnan(value):
            found[unit] = max(value, found.get(unit, 0.0))
    return found


def _settings(kind: str, given: Mapping[str, object]) -> DeviceSettings:
    wiring = bench_of(kind).wiring().settings
    return read_settings(device_class(kind), {**wiring, **given}, kind)


def _scalars(port: DeviceConnector) -> list[str]:
    return [f"{port.name}[{i}]" for i in range(port.size)] if port.shape else [port.name]
