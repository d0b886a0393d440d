"""An emulator as a process of its own, from its ready line to SIGTERM."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from orchestrator.core.diagnostics import DeviceError

#: A busy machine may take so long to import what an emulator needs.
_START_S = 30.0
_END_S = 10.0
_TETHER = "orchestrator.rig.devices.conformance.tether"


class EmulatorProcess:
    """Starts an emulator; used in a ``with`` statement, which begins when it can be reached.

    Parameters
    ----------
    module
        Of the emulator.
    arguments
        More than ``--json``.

    Attributes
    ----------
    places
        What its ready line says: where it can be reached, by name.

    Raises
    ------
    DeviceError
        If it ends, or says nothing within 30 s; with what it wrote to standard error.
    """

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        self._module = module
        self._process = subprocess.Popen(  # noqa: S603 # the module that an adapter registered
            [sys.executable, "-m", _TETHER, str(os.getpid()), module, "--json", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,  # Ctrl-C is for who started it
        )
        #: What it wrote to standard error, once it has been stopped.
        self.said = ""
        self.places: Mapping[str, Any] = {}

    def __enter__(self) -> Self:
        output = self._process.stdout
        ready: list[Any] = []
        if output is not None:
            ready, _, _ = select.select([output], [], [], _START_S)
        line = output.readline() if output is not None and ready else ""
        if not line:
            self._process.kill()
            _, said = self._process.communicate()
            why = said.strip() or f"it printed no ready line within {_START_S:g} s"
            raise DeviceError(f"emulator {self._module} did not start: {why}")
        self.places = json.loads(line)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    def prefer(self, priority: int) -> None:
        """Give it a priority of SCHED_FIFO, if that is allowed here."""
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.sched_setscheduler(self._process.pid, os.SCHED_FIFO, os.sched_param(priority))

    def stop(self) -> int:
        """End it by SIGTERM, or SIGKILL after 10 s; return its exit code."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._process.stderr is not None and not self._process.stderr.closed:
            self.said = self._process.communicate()[1].strip()
        return self._process.returncode


def free_udp_port() -> int:
    """Return a port of the loop-back interface that nothing uses at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def free_tcp_port() -> int:
    """Return a port of the loop-back interface that nothing listens at."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
