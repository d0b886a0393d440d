"""Running of trials: the rig, the fault, and what both leave."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.devices.conformance import EmulatorProcess
from orchestrator.diagnostics import DescriptionError, DeviceError
from orchestrator.experiment.file.experiment import Case, Experiment
from orchestrator.experiment.prepare.emulators import EmulatorPlan, with_emulators
from orchestrator.experiment.trials.evidence import was_disturbed
from orchestrator.experiment.trials.judge import Judge, Outcome
from orchestrator.experiment.trials.programs import (
    await_heirs,
    emulators_of,
    run_of,
    second_client,
    terminal_at,
)
from orchestrator.experiment.trials.trial import Trial
from orchestrator.supervisor.operator import Operator
from orchestrator.supervisor.settings import SupervisorSettings

#: What a busy machine may take for the start, and for the end after a fault, s.
_START_S, _END_S = 90.0, 120.0
_PERIOD_S = 0.01
#: A machine that others use may disturb a rig.
_ATTEMPTS = 4
#: The process of the journal writes what is left of a run that was killed, s.
_JOURNAL_S = 60.0


class _DisturbedError(Exception):
    """The rig was not as it should be before the fault came."""


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
        self._judge = Judge(self.settings, experiment, case, self.devices)

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
            enter = stack.enter_context
            emulators = enter(emulators_of(trial, plans, folder, self._priority))
            child = enter(run_of(self._told(trial, case, folder), folder))
            self._await_supervisor(child, folder)
            attends = trial.kill == "operator"
            terminal = enter(terminal_at(self.settings.rig)) if attends else None
            struck_s = self._strike(trial, case, plans, emulators, child, terminal, stack)
            self._await_end(child)
            if trial.kill == "engine":
                await_heirs(child, _JOURNAL_S)
        changes = folder / f"{self._case}.supervisor" / "changes.csv"
        if was_disturbed(changes, struck_s):
            raise _DisturbedError("the supervisor found something before the fault came")
        return self._judge.outcome(trial, folder, struck_s)

    def _told(self, trial: Trial, case: Case, folder: Path) -> dict[str, Any]:
        return {
            "experiment": str(self._path),
            "case": self._case,
            "settings": {name: table.settings for name, table in case.devices.items()},
            "supervisor": {"operator_lost": "stop"} if trial.kill == "operator" else {},
            "output": str(folder),
        }

    def _await_supervisor(self, child: subprocess.Popen[str], folder: Path) -> None:
        end = time.monotonic() + _START_S
        while True:
            with contextlib.suppress(DeviceError), Operator(self.settings.rig) as operator:
                operator.wish("status")
                return
            if child.poll() is not None or time.monotonic() > end:
                said = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
                last = (said.strip().splitlines() or ["it said nothing"])[-1]
                raise DeviceError(f"the run did not start; it said: {last}")
            time.sleep(_PERIOD_S)

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
            second = second_client(trial.component, case, plans, self._priority)
            struck_s = stack.enter_context(second)
            if child.poll() is not None:
                raise _DisturbedError("the run had ended before the second client came")
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
            ended, state = child.poll() is not None, ""
            with contextlib.suppress(DeviceError), Operator(self.settings.rig) as operator:
                state = str(operator.wish("status")["state"])
            if ended and not state:
                return
            time.sleep(_PERIOD_S * 10)
        going = [] if ended else ["the run goes on"]
        going += [f"its supervisor goes on, in {state}"] if state else []
        raise DeviceError(
            f"rig '{self.settings.rig}' did not end within {_END_S:g} s: {', '.join(going)}"
        )


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
