"""Asks rumoca in a process of its own, so that a crash or a hang is one error; and OpenModelica."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.own_process import OwnProcess

Json = Any
#: s of wall time for one question; large examples of the MSL take 20 s on a busy machine.
LIMIT = 600.0
#: Bytes of memory that the process may have.
MEMORY = 6 << 30
#: s, for a process that has hung up.
_END = 10.0
_CHILD = "orchestrator.export.modelica.front_end_child"


class FrontEndCrash(Exception):  # noqa: N818 - reported as the error of a class
    """The process did not answer."""


class FrontEndRefusal(Exception):  # noqa: N818 - reported as the error of a class
    """What rumoca says of a class."""


class FrontEndProcess(threading.local):
    """A process for each thread; it starts with the first question and after a crash."""

    def __init__(self) -> None:
        self._process: _Process | None = None

    def ask(self, question: Mapping[str, Json]) -> Json:
        """Ask, see :mod:`orchestrator.export.modelica.front_end_child`."""
        if self._process is None or not self._process.is_ready:
            self._process = _Process()
        process, self._process = self._process, None  # what is not answered leaves nothing behind
        try:
            answer = process.ask(json.dumps(question).encode())
        except BaseException:
            process.end()
            raise
        self._process = process
        try:
            reply = json.loads(answer)
        except RecursionError:
            raise FrontEndRefusal("an expression is nested too deeply; split it") from None
        if "panic" in reply:
            raise FrontEndRefusal(f"rumoca panicked, which is a fault of rumoca: {reply['panic']}")
        if "refused" in reply:
            raise FrontEndRefusal(reply["refused"])
        return reply


class _Process:
    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = OwnProcess(
            _CHILD,
            str(MEMORY),
            connected=True,
            tied=True,
            stdout=subprocess.DEVNULL,
            keeps_stderr=True,
        )
        self._channel = Connection(self._process.channel.dup().detach())
        self.end = self._process.end

    @property
    def is_ready(self) -> bool:
        return os.getpid() == self._owner and self._process.is_running

    def ask(self, question: bytes) -> bytes:
        try:
            self._channel.send_bytes(question)
            self._process.await_message(self._process.channel, LIMIT)
            return self._channel.recv_bytes()
        except TimeoutError:
            raise FrontEndCrash(f"it gave no answer within {LIMIT:g} s") from None
        except (OSError, EOFError):
            raise FrontEndCrash(self._cause()) from None

    def _cause(self) -> str:
        lines = self._process.finish(_END).splitlines()
        detail, code = f": {lines[-1].strip()}" if lines else "", self._process.returncode
        if code is None:
            return "its process hung up, and cannot be ended"
        if code >= 0:
            return f"its process ended with {code}{detail}"
        if code is not None and operating_system.is_killed(code):
            detail = ", as the kernel does where memory is short"
        return f"its process was ended by {signal.Signals(-code).name}{detail}"


RUMOCA = FrontEndProcess()


def rumoca_version() -> str:
    """Version of the front end."""
    return version("rumoca")


_SECONDS = 600.0


def instantiated(model: str, file: Path, roots: Sequence[Path]) -> str:
    """Let ``omc`` make a class flat.

    Raises ModelicaError: if it is not installed, takes too long or rejects the class.
    """
    compiler = shutil.which("omc")
    if compiler is None:
        raise ModelicaError(
            "--front-end omc needs OpenModelica's compiler, but there is no 'omc' on the PATH;"
            " install it (https://openmodelica.org), or leave --front-end out"
        )
    libraries = [library for root in roots for library in _libraries(root)]
    inside = any(file.is_relative_to(root) for root in roots)
    files = libraries if inside else [*libraries, file]
    with TemporaryDirectory(prefix="softdock-") as folder:
        script, flat = Path(folder) / "flatten.mos", Path(folder) / "flat.mo"
        lines = [f"loadFile({json.dumps(str(file.resolve()))});" for file in files]
        lines += [f'writeFile("{flat}", instantiateModel({model}));', "getErrorString();"]
        script.write_text("\n".join(lines), encoding="utf-8", newline="\n")
        try:
            ended = subprocess.run(  # noqa: S603 - found above
                [compiler, str(script)],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ModelicaError(f"omc has not made {model} flat within {_SECONDS:.0f} s") from error
        text = flat.read_text(encoding="utf-8") if flat.is_file() else ""
        if not text.strip():
            output = (ended.stdout + ended.stderr)[-2000:]
            raise ModelicaError(f"omc rejects {model}: {output}")
        return text


def _libraries(root: Path) -> list[Path]:
    """Packages in a folder, or the folder itself if it is one."""
    if (root / "package.mo").is_file():
        return [root / "package.mo"]
    return [*sorted(root.glob("*/package.mo")), *sorted(root.glob("*.mo"))]
