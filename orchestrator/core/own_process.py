"""Modules of this package that run in processes of their own: their start and their sure end.

``python -m orchestrator.core.own_process PARENT MODULE ARGUMENTS`` runs one that the kernel ends
with its parent (``PR_SET_PDEATHSIG``): a parent that is killed cannot.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Collection
from contextlib import ExitStack, suppress
from threading import Thread
from typing import IO

from orchestrator.core import operating_system

#: Variable of the environment by which a process with a folder, and what it starts, is known.
MARK = "SOFTDOCK_WORKER"
#: s, for a process that is killed: a disk that does not answer may hold it.
_END = 10.0


class OwnProcess:
    """A module in a process of its own, which finds the modules that this one finds.

    Ctrl-C does not reach it. When nothing refers to it any more, and when this program ends, it is
    killed and reaped; a fork of this program only lets go of it.

    module, arguments: What it runs.
    files: Descriptors that it has as well.
    connected: It has the other end of :attr:`channel`, a socket; its descriptor is the first
        argument.
    folder: What the name of its temporary folder begins with. That folder goes with it, and so does
        all that it has started. Empty: it has none.
    tied: The kernel ends it with the thread that started it.
    outlives: It has a session of its own, and is never killed but by :meth:`finish`.
    stdin, stdout, stderr: As of :class:`subprocess.Popen`, in bytes.
    keeps_stderr: What it writes to standard error is kept for :meth:`finish`.
    Raises OSError: if it cannot be started.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        files: Collection[int] = (),
        connected: bool = False,
        folder: str = "",
        tied: bool = False,
        outlives: bool = False,
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        keeps_stderr: bool = False,
    ) -> None:
        paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
        paths += filter(None, [os.environ.get("PYTHONPATH")])  # it may be set since
        environment, folder_path = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, ""
        with ExitStack() as resources:
            if folder:
                folder_path = tempfile.mkdtemp(prefix=folder)
                resources.callback(_remove, os.getpid(), folder_path)
                environment |= {"TMPDIR": folder_path, "TEMP": folder_path, MARK: folder_path}
            offer = None
            if connected:
                offer = operating_system.Offer()
                resources.callback(offer.close)
                arguments, files = (offer.argument, *arguments), (*offer.files, *files)
            self._said = resources.enter_context(tempfile.TemporaryFile()) if keeps_stderr else None
            starter = [__name__, str(os.getpid())] if tied else []
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-m", *starter, module, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=self._said if keeps_stderr else stderr,
                env=environment,
                **operating_system.child_options(files, outlives=outlives),
            )
            self.pid = self._process.pid
            #: By which it is known, whatever becomes of its number.
            self.handle = operating_system.process_handle(self.pid)
            resources.callback(operating_system.close, self.handle)
            for job in () if outlives else operating_system.contain(self._process):
                resources.callback(operating_system.close, job)
            if offer is not None:
                #: The end that this program has of a connection to it.
                self.channel = resources.enter_context(self._connected(offer))
            #: End it at once, allowed more than once; ``alive`` until then.
            self.end = weakref.finalize(
                self,
                _let_go if outlives else _end,
                os.getpid(),
                self._process,
                f"{MARK}={folder_path}" if folder_path else "",
                resources.pop_all(),
            )
            self.end.atexit = not outlives

    def _connected(self, offer: operating_system.Offer) -> socket.socket:
        try:
            return offer.accept(self.handle)
        except BaseException:
            self._process.kill()
            raise

    @property
    def stdin(self) -> IO[bytes]:
        """Where it reads, of ``stdin=PIPE``."""
        assert self._process.stdin is not None  # noqa: S101 - asked for
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """What it writes, of ``stdout=PIPE``."""
        assert self._process.stdout is not None  # noqa: S101 - asked for
        return self._process.stdout

    @property
    def returncode(self) -> int | None:
        """Exit code, below 0: the signal that ended it; ``None`` while it runs."""
        return self._process.poll()  # which reaps it

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return not self.wait(0.0)

    def send_signal(self, number: int = operating_system.KILL) -> None:
        """Send it a signal, if it has not ended."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait so long for its end; return whether it has ended."""
        return not self.end.alive or bool(operating_system.ready(seconds, process=self.handle))

    def first_line(self, seconds: float) -> bytes:
        """Wait so long for a line on standard output; empty: none came, or it has ended."""
        is_there = operating_system.ready(seconds, pipe=self.stdout.fileno())
        return self.stdout.readline() if is_there else b""

    def await_message(self, channel: socket.socket, seconds: float) -> None:
        """Wait until a channel has something to read; its end counts as the end of the channel.

        Raises TimeoutError: if nothing comes within the timeout.
        Raises EOFError: if the process has ended, and there is nothing left to read.
        """
        ready = operating_system.ready(seconds, process=self.handle, channel=channel)
        if not ready:
            raise TimeoutError
        if "channel" not in ready:
            raise EOFError

    def finish(self, seconds: float = 0.0) -> str:
        """Give it so long to end, then kill it; return what it wrote to standard error."""
        if not self.wait(seconds):
            self.send_signal()
            self.wait(_END)
        output = ""
        if self._said is not None and self.end.alive:
            self._said.seek(0)
            output = self._said.read().decode(errors="replace").strip()
        self.end()
        return output


def _end(
    owner: int, process: subprocess.Popen[bytes], mark: str, held_resources: ExitStack
) -> None:
    """End and reap it, what it has started, and its files; a fork only lets go of it."""
    if os.getpid() == owner:
        process.kill()
        if mark:
            from orchestrator.engine import end_marked

            end_marked(mark)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
    else:
        process.returncode = 0  # it is not for us to wait for
    _close(process, held_resources)


def _let_go(
    owner: int, process: subprocess.Popen[bytes], mark: str, held_resources: ExitStack
) -> None:
    """Reap it whenever it ends, so that it leaves no zombie."""
    del owner, mark
    _close(process, held_resources)
    if process.poll() is None:
        Thread(target=process.wait, daemon=True).start()


def _close(process: subprocess.Popen[bytes], held_resources: ExitStack) -> None:
    with held_resources:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # of what it was not there to read
                    stream.close()


def _remove(owner: int, folder: str) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _run_tied(parent: int, module: str) -> None:
    """Run a module, with what follows in ``sys.argv``, and end with the parent."""
    import runpy

    operating_system.end_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("who started this program is gone")
    sys.argv[:] = sys.argv[2:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run_tied(int(sys.argv[1]), sys.argv[2])
