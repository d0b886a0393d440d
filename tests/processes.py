"""Processes of units, seen from outside; scripts that run them."""

import subprocess
import sys
import time
from pathlib import Path

SCRIPT = """
import os, signal, sys, time
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

system = System("s").add("a", fmu({path!r}), u=1.0, {values})
run = Execution(system.with_options("a", isolation="process"), step="1 ms")
print(run.units[0].pid, flush=True)
{rest}
"""


def script(path, rest, values=""):
    text = SCRIPT.format(path=str(path), rest=rest, values=values)
    return subprocess.Popen(  # noqa: S603 - this interpreter, our script
        [sys.executable, "-W", "error", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pid, seconds=20.0):
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not alive(pid)
