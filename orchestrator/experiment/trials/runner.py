"""Running of trials: the rig, the fault, and what both leave."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.devices import DeviceConnectors, device_class, read_settings
from orchestrator.devices.conformance import EmulatorProcess, bench_of
from orchestrator.diagnostics import DescriptionError, DeviceError, LoadError
from orchestrator.experiment.file.experiment import Case, Experiment
from orchestrator.experiment.prepare.emulators import EmulatorPlan, with_emulators
from orchestrator.experiment.run.emulation import filled_argument
from orchestrator.experiment.trials.evidence import (
    Motion,
    Reaction,
    motion_of,
    reaction_of,
    recorded_until,
    was_disturbed,
)
from orchestrator.experiment.trials.trial import Trial
from orchestrator.supervisor.operator import Operator
from orchestrator.supervisor.settings import SupervisorSettings

#: What a busy machine may take for the start, and for the end after a fault, s.
_START_S, _END_S = 90.0, 60.0
_PERIOD_S = 0.01
#: A machine that others use may disturb a rig.
_ATTEMPTS = 4
#: The process of the journal writes what is left of a run that was killed, s.
_JOURNAL_S = 3.0
_CHILD = "orchestrator.experiment.trials.child"
_ATTEND = ("-m", "orchestrator", "supervisor", "attend")


class _DisturbedError(Exception):
    """The rig was not as it should be before the fault came."""


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


class TrialRig:
    """A case of an experiment with a supervisor, whose emulators can be made to fail.

    Parameters
    ----------
    path, experiment
        The file and what it says.
    case
        Name of the case.
    output
        Folder; each trial has one of its own in it.
    lead_s
        How long after the rig is active a fault comes.

    Raises
    ------
    DescriptionError
        If it has no supervisor, or the case has no device with an emulator.
    """

    def __init__(
        self, path: Path, experiment: Experiment, case: str, output: Path, lead_s: float
    ) -> None:
        if experiment.supervisor is None:
            raise DescriptionError(f"{path}: expected a table [supervisor], found none")
        self.settings: SupervisorSettings = experiment.supervisor
        self._path, self._case, self._output = path, case, output
        self._experiment, self._lead_s = experiment, lead_s
        table = experiment.realtime
        self._priority = 0 if table is None else table.priority
        case_, plans = with_emulators(experiment, case, experiment.case[case])
        if not plans:
            raise DescriptionError(
                f"{path}: case '{case}': expected a device with an emulator, found none"
            )
        #: Adapters by component.
        self.devices = {name: str(case_.devices[name].device) for name in plans}
        self._ports = {name: self._connectors(name) for name in plans}
        self._units = {
            f"{name}.{port.name}": port.unit
            for name, ports in self._ports.items()
            for port in (*ports.inputs, *ports.outputs)
        }

    def run(self, trial: Trial) -> Outcome:
        """Run one trial; again, if the rig was not well before the fault came.

        Raises
        ------
        DeviceError
            If that was so each time.
        """
        for _ in range(_ATTEMPTS):
            try:
                outcome = self._attempt(trial)
            except _DisturbedError as error:
                why = str(error)
            else:
                return outcome
        raise DeviceError(f"trial '{trial.name}': {why}")

    def _attempt(self, trial: Trial) -> Outcome:
        """Run it once; whatever was started is ended."""
        folder = self._output / _file_name(trial.name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        case, plans = with_emulators(
            self._experiment, self._case, self._experiment.case[self._case]
        )
        with ExitStack() as stack:
            emulators = {
                name: stack.enter_context(process)
                for name, process in self._emulators(trial, plans, folder)
            }
            child = stack.enter_context(self._child(trial, case, folder))
            self._await_supervisor(child)
            terminal = stack.enter_context(self._terminal()) if trial.kill == "operator" else None
            struck_s = self._strike(trial, case, plans, emulators, child, terminal, stack)
            self._await_end(child)
            if trial.kill == "engine":
                time.sleep(_JOURNAL_S)
        if was_disturbed(self._changes(folder), struck_s):
            raise _DisturbedError("the supervisor found something before the fault came")
        return self._outcome(trial, folder, struck_s)

    def _changes(self, folder: Path) -> Path:
        return folder / f"{self._case}.supervisor" / "changes.csv"

    def _emulators(
        self, trial: Trial, plans: Mapping[str, EmulatorPlan], folder: Path
    ) -> Iterator[tuple[str, EmulatorProcess]]:
        places: dict[str, Mapping[str, Any]] = {}
        for name, plan in plans.items():
            given = [filled_argument(one, name, places) for one in plan.arguments]
            given += ["--log", str(folder / f"{name}.log.csv")]
            if trial.wire and trial.component == name:
                given += ["--on-signal", trial.wire]
            process = EmulatorProcess(plan.module, given)
            yield name, process  # it is entered, and so has its places, before the next
            if self._priority:  # what it stands for has a processor of its own
                process.prefer(self._priority)
            places[name] = process.places

    @contextlib.contextmanager
    def _child(self, trial: Trial, case: Case, folder: Path) -> Iterator[subprocess.Popen[str]]:
        told = {
            "experiment": str(self._path),
            "case": self._case,
            "settings": {name: table.settings for name, table in case.devices.items()},
            "supervisor": {"operator_lost": "stop"} if trial.kill == "operator" else {},
            "output": str(folder),
        }
        with (folder / "said.txt").open("w", encoding="utf-8") as said:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", _CHILD], stdin=subprocess.PIPE, stderr=said, text=True
            )
        assert process.stdin is not None  # noqa: S101 - asked for
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.close()
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def _await_supervisor(self, child: subprocess.Popen[str]) -> None:
        end = time.monotonic() + _START_S
        while True:
            with contextlib.suppress(DeviceError), Operator(self.settings.rig) as operator:
                operator.wish("status")
                return
            if child.poll() is not None or time.monotonic() > end:
                raise DeviceError(f"the run did not start; see {self._output}/*/said.txt")
            time.sleep(_PERIOD_S)

    @contextlib.contextmanager
    def _terminal(self) -> Iterator[subprocess.Popen[str]]:
        """Attend the rig as an operator does, in a process of its own."""
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, *_ATTEND, self.settings.rig, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None  # noqa: S101 - asked for
        try:
            process.stdout.readline()  # it attends
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def _strike(
        self,
        trial: Trial,
        case: Case,
        plans: Mapping[str, EmulatorPlan],
        emulators: Mapping[str, EmulatorProcess],
        child: subprocess.Popen[str],
        terminal: subprocess.Popen[str] | None,
        stack: ExitStack,
    ) -> float:
        """Wait until the rig is active, and let the fault come; return when."""
        with Operator(self.settings.rig) as operator:
            status = self._await_active(operator, child)
        time.sleep(self._lead_s)
        struck_s = time.monotonic()
        if trial.wire:
            os.kill(emulators[trial.component].pid, signal.SIGUSR1)
        elif trial.second_client:
            stack.enter_context(_second_client(trial.component, case, plans))
        elif trial.kill is not None:
            killed = {
                "emulator": emulators[trial.component].pid if trial.component else 0,
                "device": status["devices"].get(trial.component, {}).get("pid"),
                "engine": child.pid,
                "supervisor": status["pid"],
                "operator": terminal.pid if terminal is not None else 0,
            }
            os.kill(int(killed[trial.kill]), signal.SIGKILL)
        return struck_s

    def _await_active(self, operator: Operator, child: subprocess.Popen[str]) -> dict[str, Any]:
        end = time.monotonic() + _START_S
        while (status := operator.wish("status"))["state"] != "ACTIVE":
            if status["latched"] or child.poll() is not None or time.monotonic() > end:
                raise _DisturbedError(
                    f"rig '{self.settings.rig}' did not become active: it is in {status['state']};"
                    f" latched: {status['latched']}"
                )
            time.sleep(_PERIOD_S)
        return status

    def _await_end(self, child: subprocess.Popen[str]) -> None:
        """Wait until the run and its supervisor have ended."""
        end = time.monotonic() + _END_S
        while time.monotonic() < end:
            ended = child.poll() is not None
            try:
                Operator(self.settings.rig).__exit__(None, None, None)
            except DeviceError:
                if ended:
                    return
            time.sleep(_PERIOD_S * 10)
        raise DeviceError(f"rig '{self.settings.rig}' did not end within {_END_S:g} s")

    def _outcome(self, trial: Trial, folder: Path, struck_s: float) -> Outcome:
        watched = folder / f"{self._case}.supervisor"
        reaction = reaction_of(self._changes(folder), struck_s)
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
            truth = bench_of(self.devices[name]).truth
            for port in ports.outputs:
                if port.name in truth and f"{name}.{port.name}" in self.settings.signals:
                    log = folder / f"{name}.log.csv"
                    yield motion_of(log, truth[port.name], 1.0 / ports.rate), port.unit

    def _connectors(self, name: str) -> DeviceConnectors:
        bench, kind = bench_of(self.devices[name]), device_class(self.devices[name])
        given = self._experiment.case[self._case].devices[name].settings
        settings = read_settings(kind, {**bench.wiring().settings, **given}, name)
        return kind.connectors(settings)

    def _strongest(self) -> float:
        """Return the largest force that the signals of forces may have, N."""
        found = [
            max(abs(one.minimum or 0.0), abs(one.maximum or 0.0))
            for name, one in self.settings.signals.items()
            if self._units[name] == "N"
        ]
        return max((one for one in found if one), default=math.inf)

    def _fastest(self) -> float:
        return max(one.velocity for one in self.settings.commands.values())


@contextlib.contextmanager
def _second_client(component: str, case: Case, plans: Mapping[str, EmulatorPlan]) -> Iterator[None]:
    """Let a second emulator and a second adapter come to the wire of a device."""
    table = case.devices[component]
    kind = device_class(str(table.device))
    adapter = kind(read_settings(kind, table.settings, component))
    with ExitStack() as stack:
        stack.callback(adapter.close)
        with contextlib.suppress(DeviceError, OSError):  # a port that is taken refuses it
            adapter.open()
        plain = [one for one in plans[component].arguments if not _is_place(one)]
        with contextlib.suppress(DeviceError):
            stack.enter_context(EmulatorProcess(plans[component].module, plain))
        yield


def _is_place(argument: str) -> bool:
    return argument == "--link" or (argument.startswith("{") and argument.endswith("}"))


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
