"""What came of a trial, judged by what it left."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.devices import DeviceConnectors, device_class, read_settings
from orchestrator.devices.conformance import bench_of
from orchestrator.diagnostics import LoadError
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.trials.evidence import (
    Motion,
    Reaction,
    motion_of,
    reaction_of,
    recorded_until,
)
from orchestrator.experiment.trials.trial import Trial
from orchestrator.supervisor.settings import SupervisorSettings


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
        Whether both are within the limits of the supervisor.
    recorded_s
        Simulated time up to which the run can be read; NaN: nothing can.
    rings
        Files of rings that can be read.
    counts
        What the run counted of the device's samples: lost, late, repeated, malformed, restarts.
    """

    trial: Trial
    reaction: Reaction
    struck_s: float
    rest_s: float
    force: float
    velocity: float
    within: bool
    recorded_s: float
    rings: int
    counts: Mapping[str, int]

    @property
    def detect_s(self) -> float:
        """Time from the fault to its detection; NaN: it was not one."""
        return self.reaction.found_s - self.struck_s


class Judge:
    """Reads what a trial left, and compares it with the limits of the supervisor.

    Parameters
    ----------
    settings, experiment, case
        Of the rig.
    devices
        Adapters by component, of those that have an emulator.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        experiment: Experiment,
        case: str,
        devices: Mapping[str, str],
    ) -> None:
        self._settings, self._case, self._devices = settings, case, devices
        given = experiment.case[case].devices
        self._ports = {
            name: _connectors(kind, given[name].settings) for name, kind in devices.items()
        }
        self._units = {
            f"{name}.{port.name}": port.unit
            for name, ports in self._ports.items()
            for port in (*ports.inputs, *ports.outputs)
        }

    def outcome(self, trial: Trial, folder: Path, struck_s: float) -> Outcome:
        """Judge a trial by its folder, from the moment of the fault on."""
        watched = folder / f"{self._case}.supervisor"
        reaction = reaction_of(watched / "changes.csv", struck_s)
        if trial.kill == "supervisor":
            reaction = Reaction("supervisor_lost", "each device", "FALLBACK")
        try:
            recorded_s, last = recorded_until(folder, self._case)
        except LoadError:
            recorded_s, last = math.nan, {}
        force = self._largest(folder, struck_s, "N", velocity=False)
        velocity = self._largest(folder, struck_s, "m", velocity=True)
        rests = [one.rest(struck_s) for one, unit in self._truths(folder) if unit == "m"]
        kinds = ("lost", "late", "repeated", "malformed", "restarts")
        counts = {one: int(last.get(f"{trial.component}.{one}", 0)) for one in kinds}
        return Outcome(
            trial,
            reaction,
            struck_s,
            max(rests, default=math.nan) - struck_s,
            force,
            velocity,
            not (force > self._strongest() or velocity > self._fastest()),
            recorded_s,
            sum(1 for _ in watched.glob("*.*.csv")),
            {one: count for one, count in counts.items() if count},
        )

    def _largest(self, folder: Path, since_s: float, unit: str, *, velocity: bool) -> float:
        found = [one for one, its in self._truths(folder) if its == unit]
        sizes = [one.velocity(since_s) if velocity else one.largest(since_s) for one in found]
        return max((size for size in sizes if not math.isnan(size)), default=math.nan)

    def _truths(self, folder: Path) -> Iterator[tuple[Motion, str]]:
        """Yield what the logs of the emulators say of each signal that has limits."""
        for name, ports in self._ports.items():
            truth = bench_of(self._devices[name]).truth
            for port in ports.outputs:
                if port.name in truth and f"{name}.{port.name}" in self._settings.signals:
                    log = folder / f"{name}.log.csv"
                    yield motion_of(log, truth[port.name], 1.0 / ports.rate), port.unit

    def _strongest(self) -> float:
        """Return the largest force that the signals of forces may have, N."""
        found = [
            max(abs(one.minimum or 0.0), abs(one.maximum or 0.0))
            for name, one in self._settings.signals.items()
            if self._units[name] == "N"
        ]
        return max((one for one in found if one), default=math.inf)

    def _fastest(self) -> float:
        return max(one.velocity for one in self._settings.commands.values())


def _connectors(kind: str, given: Mapping[str, object]) -> DeviceConnectors:
    adapter = device_class(kind)
    settings = read_settings(adapter, {**bench_of(kind).wiring().settings, **given}, kind)
    return adapter.connectors(settings)
