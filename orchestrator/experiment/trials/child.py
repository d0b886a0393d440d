"""The run of a trial, which may be killed: ``python -m orchestrator.experiment.trials.child``.

It reads one line of JSON from standard input: ``experiment``, ``case``, ``settings`` of the devices
by component, ``supervisor`` with the keys that differ, ``output``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orchestrator.diagnostics import SoftdockError
from orchestrator.experiment.file.device_table import DeviceTable
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.measure.outcome import ExperimentOutcome
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader
from orchestrator.experiment.reader import read_experiment
from orchestrator.experiment.run.case_runs import CaseRuns
from orchestrator.experiment.run.pace import realtime_of
from orchestrator.experiment.runner import prepared_cases
from orchestrator.recording import whole_folder


def rewired(experiment: Experiment, given: dict[str, Any]) -> Experiment:
    """Return the experiment with one case, whose devices reach emulators that are there already."""
    name = given["case"]
    case = experiment.case[name]
    devices = {
        component: DeviceTable(device=table.device, **given["settings"].get(component, {}))
        for component, table in case.devices.items()
    }
    case = case.model_copy(update={"devices": devices, "emulators": {}, "measure": {}})
    supervisor = experiment.supervisor
    assert supervisor is not None  # noqa: S101 - who starts this has looked
    return experiment.model_copy(
        update={
            "case": {name: case},
            "emulators": {},
            "figure": {},
            "supervisor": supervisor.model_copy(update=given["supervisor"]),
        }
    )


def _run(experiment: Experiment, folder: Path, output: Path) -> None:
    """Run the case as any; there is no report, which takes longer than a trial."""
    experiment, cases, _ = prepared_cases(experiment, SystemReader(folder), RunSettings())
    realtime = realtime_of(experiment, RunSettings(), cases)
    outcome = ExperimentOutcome(experiment.title)
    with whole_folder(output) as draft:
        runs = CaseRuns(experiment, output, draft, outcome, realtime, lambda _job, _share: None)
        runs.run(cases, dict.fromkeys(cases, ()))


def main() -> int:
    """Run the case; return the exit code."""
    given = json.loads(sys.stdin.readline())
    path = Path(given["experiment"])
    try:
        experiment = rewired(read_experiment(path), given)
        _run(experiment, path.parent, Path(given["output"]))
    except SoftdockError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
