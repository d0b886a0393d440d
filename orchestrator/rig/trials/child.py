"""The run of a trial, which may be killed: ``python -m orchestrator.rig.trials.child``.

It reads one line of JSON from standard input: ``experiment``, ``case``, ``settings`` of the devices
by component, ``supervisor`` with the keys that differ, ``stop``, ``output``. It prints a line when
the devices are open and the first step begins. Its exit codes are those of ``softdock run``.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.operating_system.interrupts import interruptible
from orchestrator.core.recording import whole_folder
from orchestrator.study import Experiment, ExperimentOutcome, Run, read_experiment
from orchestrator.study.extension import loaded
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases
from orchestrator.study.run.case_runs import run_cases
from orchestrator.study.tables import DeviceTable

#: As ``softdock run`` says that a component went to its safe state.
_SAFE_STATE = 3


def rewired(experiment: Experiment, request: dict[str, Any]) -> Experiment:
    """Return the experiment with one case, whose devices reach emulators that are there already."""
    name = request["case"]
    case = experiment.case[name]
    devices = {
        component: DeviceTable(device=table.device, **request["settings"].get(component, {}))
        for component, table in case.devices.items()
    }
    plain = {"emulators": {}, "measure": {}, "recorder": {}, "linearise": False, "flush": "0.5 s"}
    case = case.model_copy(update={"devices": devices, "stop": request["stop"], **plain})
    supervisor = experiment.supervisor
    if supervisor is not None:
        supervisor = supervisor.model_copy(update=request["supervisor"])
    return experiment.model_copy(
        update={
            "case": {name: case},
            "emulators": {},
            "expect": {},
            "figure": {},
            "supervisor": supervisor,
        }
    )


def _tell(_job: str, share: float) -> None:
    if share == 0.0:
        sys.stdout.write("begun\n")
        sys.stdout.flush()


def _run(experiment: Experiment, folder: Path, output: Path) -> int:
    """Run the case as any; there is no report, which takes longer than a trial."""
    reader, settings = SystemReader(folder), RunSettings()
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    outcome = ExperimentOutcome(experiment.title)
    run = Run(experiment, settings, reader, cases, output, _tell, lambda _text: None, outcome)
    extensions, _ = loaded(experiment, settings, cases, without=("identification", "arming"))
    with whole_folder(output, alone=True) as run.draft:
        for extension in extensions:
            extension.begin(run)
        (result,) = run_cases(run, extensions).values()
    for notice in result.safe_states:
        sys.stderr.write(f"error: {notice.component}: {notice.what}; {notice.advice}\n")
    return _SAFE_STATE if result.safe_states else 0


def main() -> int:
    """Run the case; return the exit code."""
    request = json.loads(sys.stdin.readline())
    path = Path(request["experiment"])
    try:
        experiment = rewired(read_experiment(path), request)
        return _run(experiment, path.parent, Path(request["output"]))
    except SoftdockError as error:
        sys.stderr.write(f"error: {'; '.join(map(str, error.diagnostics))}\n")
        return 2


if __name__ == "__main__":
    for heard in (signal.SIGINT, signal.SIGHUP):  # a terminal ignores neither; a script does
        signal.signal(heard, signal.default_int_handler)
    with interruptible():
        sys.exit(main())
