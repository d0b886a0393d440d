"""Processes of units, seen from outside; scripts that run them; trials that may hang."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
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


def on_trial(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], seconds: float
) -> tuple[int | None, str]:
    """Run a command, and end it with all that it started, in groups of their own as well.

    Returns the exit code, None where it took longer, and what was written. Its processes are known
    by the environment, in which ``TRIAL`` is another word for each call.
    """
    trial = f"{os.getpid()}-{time.monotonic_ns()}"
    environment = {**os.environ, **variables, "TRIAL": trial}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as written:
        process = subprocess.Popen(  # noqa: S603 - a test of this project
            command, cwd=folder, env=environment, stdout=written, stderr=subprocess.STDOUT
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            while found := list(_with_variable(f"TRIAL={trial}")):
                for pid in found:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.01)
            process.wait()
        written.seek(0)
        return code, written.read()


def _with_variable(variable: str) -> Iterator[int]:
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable.encode() in file.read_bytes().split(b"\0"):
                yield int(file.parent.name)
