"""Asks rumoca in a process of its own: a crash, a hang or a hunger for memory is one error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from importlib.metadata import version
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, Any

Json = Any
#: s of wall time for one question; large examples of the MSL take 20 s on a busy machine.
LIMIT = 600.0
#: Bytes of memory that the process may have.
MEMORY = 6 << 30
_CHILD = "orchestrator.export.modelica.front_end.child"
_TETHER = "orchestrator.rig.devices.conformance.tether"


class FrontEndCrash(Exception):  # noqa: N818 - it is told as the error of a class
    """The process did not answer."""


class FrontEndRefusal(Exception):  # noqa: N818 - it is told as the error of a class
    """What rumoca says of a class."""


class FrontEndProcess(threading.local):
    """A process for each thread; it starts with the first question and after a crash."""

    def __init__(self) -> None:
        self._process: _Process | None = None

    def ask(self, question: Mapping[str, Json]) -> Json:
        """Ask, see :mod:`orchestrator.export.modelica.front_end.child`."""
        if self._process is None or not self._process.is_ready:
            self._process = _Process()
        process, self._process = self._process, None  # what is not answered leaves nothing behind
        try:
            answer = process.ask(json.dumps(question).encode())
        except BaseException:
            process.end()
            raise
        self._process = process
        found = json.loads(answer)
        if "panic" in found:
            raise FrontEndRefusal(f"rumoca panicked, which is a fault of rumoca: {found['panic']}")
        if "refused" in found:
            raise FrontEndRefusal(found["refused"])
        return found


class _Process:
    def __init__(self) -> None:
        self._owner = os.getpid()
        self._channel, theirs = Pipe()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109
        with theirs:
            handle = theirs.fileno()
            own = [str(os.getpid()), _CHILD, str(handle), str(MEMORY)]
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-m", _TETHER, *own],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                pass_fds=(handle,),
                process_group=0,  # Ctrl-C is for the parent
                env=os.environ | {"PYTHONPATH": paths},
            )
        self.end = weakref.finalize(
            self, _end, self._owner, self._process, self._channel, self._said
        )

    @property
    def is_ready(self) -> bool:
        return os.getpid() == self._owner and self._process.poll() is None

    def ask(self, question: bytes) -> bytes:
        try:
            self._channel.send_bytes(question)
            if not self._channel.poll(LIMIT):
                raise FrontEndCrash(f"it gave no answer within {LIMIT:g} s")
            return self._channel.recv_bytes()
        except (OSError, EOFError):
            raise FrontEndCrash(self._why(self._process.wait())) from None

    def _why(self, code: int) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        said = f": {lines[-1].strip()}" if lines else ""
        if code >= 0:
            return f"its process ended with {code}{said}"
        if code == -signal.SIGKILL:
            said = ", as the kernel does where memory is short"
        return f"its process was ended by {signal.Signals(-code).name}{said}"


def _end(
    owner: int, process: subprocess.Popen[bytes], channel: Connection, said: IO[bytes]
) -> None:
    """End and reap it; a fork only lets go of it."""
    channel.close()
    said.close()
    if os.getpid() == owner:
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # it is not for us to wait for


RUMOCA = FrontEndProcess()


def rumoca_version() -> str:
    """Version of the front end."""
    return version("rumoca")
