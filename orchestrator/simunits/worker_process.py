"""The parent's side of the process of one unit: its start, its messages, its end."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

from orchestrator.engine import RemoteUnit, SharedBlock
from orchestrator.errors import CapabilityError, LoadError, StepError, error_named
from orchestrator.simunits.interruption import Interruption
from orchestrator.simunits.wire import receive, send

#: What the start of an interpreter, and then that of a unit, may take, also on a busy machine.
_START_SECONDS = 60.0
_MODULE = "orchestrator.simunits.worker"
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class RemoteTraceback(Exception):  # noqa: N818 - not raised: the cause of what is
    """The traceback of an exception in another process, as text."""

    def __str__(self) -> str:
        return "\n" + "".join(self.args)


class WorkerProcess:
    """Starts a process and speaks with it; another may take its place.

    The shared memory has no name, so nothing is left of it when both processes are gone.

    Parameters
    ----------
    name
        The component's name.
    signals
        Scalar signals that may at most be bound, as inputs and as outputs.
    limit_ns
        How long a call may take, in nanoseconds of wall time.

    Raises
    ------
    LoadError
        If the process does not start.
    CapabilityError
        If this process is itself a worker.
    """

    def __init__(self, name: str, signals: int, limit_ns: int) -> None:
        if _inside_a_worker():
            raise CapabilityError(
                f"component '{name}': a worker cannot start workers; a script that defines blocks"
                " and runs them in processes of their own runs only under"
                " `if __name__ == '__main__':`"
            )
        self.name = name
        self._signals = signals
        self._limit = limit_ns / 1e9
        self._memory = os.memfd_create(f"softdock-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        weakref.finalize(self, os.close, self._memory)
        os.ftruncate(self._memory, SharedBlock.size(signals, signals))
        fcntl.fcntl(self._memory, fcntl.F_ADD_SEALS, _SEALS)
        self.native = RemoteUnit(name, self._memory, signals, signals)
        self.native.limit(limit_ns)
        self._made = False
        self._start()

    def _start(self) -> None:
        mine, theirs = socket.socketpair()
        folder = tempfile.mkdtemp(prefix="softdock-worker-")
        # The worker finds the same modules; what it writes is removed by us, however it ends.
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109
        handles = theirs.fileno(), self._memory
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-m", _MODULE, *map(str, handles)],
                stdin=subprocess.DEVNULL,
                pass_fds=handles,
                process_group=0,  # Ctrl-C is for the parent
                env=os.environ | {"PYTHONPATH": paths, "TMPDIR": folder},
            )
        except OSError as error:
            mine.close()
            shutil.rmtree(folder)
            raise self._no_start(str(error)) from None
        finally:
            theirs.close()
        handle = os.pidfd_open(process.pid)
        self._end = weakref.finalize(self, _end, os.getpid(), process, mine, handle, folder)
        self._channel, self._handle, self.pid = mine, handle, process.pid
        self._made = False
        self.native.attach(handle)
        try:
            send(mine, {"signals": self._signals, "level": logging.getLogger().level})
            self._receive(_START_SECONDS)
        except (OSError, EOFError, ValueError):
            ended = self._wait(0.1)
            why = self.native.end() if ended else f"no answer within {_START_SECONDS:g} s"
            self.close()
            raise self._no_start(why) from None

    def _no_start(self, why: str) -> LoadError:
        return LoadError(
            f"component '{self.name}': the process of its own cannot be started with"
            f" {sys.executable}: {why}; see what it wrote on stderr, or choose isolation 'none'"
        )

    def restart(self) -> None:
        """End the process and start another one in its place."""
        self.close()
        self._start()

    def call(
        self, doing: str, what: str, arguments: Mapping[str, Any], data: bytes
    ) -> tuple[Any, bytes]:
        """Let the worker do something, and wait for its answer.

        Parameters
        ----------
        doing
            For the message, as in "failed while ..".
        what, arguments, data
            A method of the worker and what it is given.

        Raises
        ------
        SoftdockError
            What the worker raised; or StepError if it crashed or did not answer in time.
        """
        if self._made:
            self.native.flush()
        if self.native.lost:
            raise self._failed(doing)
        # Making a unit reads and imports: that belongs to the start.
        limit = self._limit if self._made else max(self._limit, _START_SECONDS)
        try:
            with Interruption():
                send(self._channel, {"call": what, "arguments": dict(arguments)}, data)
                if self._made:
                    self.native.ring()
                answer, out = self._receive(limit)
                self._made = True
        except TimeoutError:
            late = f"no answer within {limit:g} s, so its process was ended"
            self.native.lose(self.native.late() if self._made else late)
            raise self._failed(doing) from None
        except (OSError, EOFError):
            self.native.lose(self.native.end() if self._wait(1.0) else "its process hung up")
            raise self._failed(doing) from None
        except ValueError as error:
            self.native.lose(f"its process sent no message: {error}")
            raise self._failed(doing) from None
        for logger, level, text in answer["log"]:
            logging.getLogger(logger).log(level, "%s", text)
        if "error" in answer:
            raise self._raised(answer, doing) from RemoteTraceback(answer["trace"])
        return answer.get("result"), out

    def _failed(self, doing: str) -> StepError:
        return StepError(f"component '{self.name}' failed while {doing}: {self.native.failure}")

    def _raised(self, answer: dict[str, str], doing: str) -> Exception:
        kind = error_named(answer["error"])
        if kind is not None:
            return kind(answer["text"])
        return StepError(f"component '{self.name}' failed while {doing}: {answer['text']}")

    def _receive(self, seconds: float) -> tuple[Any, bytes]:
        """Read a message; a process that has ended counts as a closed channel."""
        watch = select.poll()
        watch.register(self._channel, select.POLLIN)
        watch.register(self._handle, select.POLLIN)
        ready = dict(watch.poll(min(seconds * 1000, 2**31 - 1)))
        if not ready:
            raise TimeoutError
        if self._channel.fileno() not in ready:
            raise EOFError
        self._channel.settimeout(seconds)
        return receive(self._channel)

    def _wait(self, seconds: float) -> bool:
        watch = select.poll()
        watch.register(self._handle, select.POLLIN)
        return bool(watch.poll(min(seconds * 1000, 2**31 - 1)))

    def quit(self) -> None:
        """Let the worker free its unit and end; end it if it does not."""
        if self._end.alive and not self.native.lost:
            try:
                send(self._channel, {"call": "quit"})
                if self._made:
                    self.native.ring()
                self._wait(self._limit)
            except OSError as error:
                if error.errno not in {errno.EPIPE, errno.ECONNRESET}:
                    raise
        self.close()

    def close(self) -> None:
        """End the process at once; allowed more than once."""
        if not self.native.lost:
            self.native.lose("its process was ended")
        self._end()


def _inside_a_worker() -> bool:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec is not None and spec.name == _MODULE


def _end(
    owner: int, process: subprocess.Popen[bytes], channel: socket.socket, handle: int, folder: str
) -> None:
    """End and reap a process and remove its files; a fork of the owner only lets go of it."""
    channel.close()
    if os.getpid() == owner:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    else:
        process.returncode = 0  # it is not for us to wait for
    os.close(handle)
