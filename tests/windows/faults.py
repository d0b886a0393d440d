"""Runs an FMU that fails in a process of its own; prints what came of it as JSON.

``python faults.py FMU PHASE HOW MODE``; MODE: ``run``, ``kill`` the unit's process from outside,
``hold`` its outputs, ``restart`` it, or ``orphan``: end this program without a word.
"""

import json
import os
import signal
import sys
import time

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

OPTIONS = {"hold": {"on_failure": "hold"}, "restart": {"on_failure": "restart"}}


def main(path, phase, how, mode):
    """Step it to 1 s by 0.125 s."""
    values = {} if mode in {"kill", "orphan"} else {"phase": int(phase), "how": int(how)}
    options = {"isolation": "process", "step_timeout": "2 s"} | OPTIONS.get(mode, {})
    system = System("s").add("bad", fmu(path), u=1.0, at=0.5, **values)
    outcome = {"error": "", "rows": 0}
    try:
        with Execution(system.with_options("bad", **options), step="0.125 s") as run:
            for number in range(8):
                if mode in {"kill", "orphan"} and number == 4:
                    if mode == "orphan":
                        sys.stdout.write(str(run.units[0].pid))
                        sys.stdout.flush()
                        os._exit(9)
                    os.kill(run.units[0].pid, getattr(signal, "SIGKILL", signal.SIGTERM))
                    time.sleep(0.2)
                try:
                    run.step()
                finally:
                    outcome["rows"] = len(run.recording().time_ns)
            kept = run.recording()
            outcome["last"] = float(kept.values[-1, kept.names.index("bad.y")])
    except SoftdockError as error:
        outcome |= {"error": type(error).__name__, "said": str(error)}
    sys.stdout.write(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
