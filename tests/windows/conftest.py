"""Softdock on Windows beside Softdock here: one command, run on both sides."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.core.structs import Struct

PYTHON = os.environ.get("SOFTDOCK_WINDOWS_PYTHON", "")
SECONDS = 300.0  # that no command takes, on a busy machine either


class Side(Struct):
    """A Python with Softdock: ``windows`` under Wine, or ``linux``."""

    name: str
    python: str

    def run(self, *words, cwd=None, timeout=SECONDS, **environment):
        """Run Python with some words; return its exit code, output and errors."""
        done = subprocess.run(  # noqa: S603 - a Python of ours
            [self.python, *map(str, words)],
            cwd=cwd,
            env={**os.environ, "PYTHONUTF8": "", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        return done.returncode, output.replace("\r\n", "\n"), errors.replace("\r\n", "\n")

    def softdock(self, *words, cwd=None, expected=0, **environment):
        """Run a command of Softdock; return what it printed, of errors where it is to fail."""
        code, output, errors = self.run("-m", "orchestrator", *words, cwd=cwd, **environment)
        assert code == expected, output + errors
        return errors if expected else output

    def path(self, path):
        """Return a path as this side writes it."""
        return str(path) if self.name == "linux" else "Z:" + str(path).replace("/", "\\")


@pytest.fixture(scope="session")
def windows():
    if not Path(PYTHON).is_file():
        pytest.skip("there is no Python for Windows: `make test-windows` makes it and runs these")
    # Wine starts its services with the first program and ends them after the last one.
    with subprocess.Popen([PYTHON, "-c", "input()"], stdin=subprocess.PIPE) as keeper:  # noqa: S603
        yield Side("windows", PYTHON)
        keeper.communicate(b"\n")


@pytest.fixture(scope="session")
def linux():
    return Side("linux", sys.executable)


@pytest.fixture(scope="session")
def sides(windows, linux):
    return linux, windows
