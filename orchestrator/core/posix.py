"""What is asked of the operating system, all of it POSIX or Linux; signals that end a program.

A port to another system writes this file and ``engine/src/posix`` anew. What rigs and adapters
take beside it stays Linux: see ``packaging/README.md``. Ctrl-C, SIGTERM and SIGHUP are each one
interrupt, after which every part of a run tidies up.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

#: Signals that end a program: Ctrl-C, what ends a job, a terminal that is closed.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def process_handle(process: int) -> int:
    """Return a file that stays a process's own when its number is another one's."""
    return os.pidfd_open(process)


def shared_memory(name: str, size: int) -> int:
    """Return the file of memory that two processes can share, of a size that stays."""
    memory = os.memfd_create(f"softdock-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
    return memory


def lock(file: int, *, wait: bool = False) -> None:
    """Lock an open file or folder until it is closed.

    Raises BlockingIOError: if another process has it.
    Raises OSError: if its file system has no locks.
    """
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def processors() -> set[int]:
    """Return the processors that this process may use."""
    return os.sched_getaffinity(0)


def keep_to(processors: Iterable[int], thread: int = 0) -> None:
    """Let a thread, or this one, run on no other processors."""
    os.sched_setaffinity(thread, processors)


def take_priority(priority: int, process: int = 0) -> None:
    """Give a thread, or this one, a priority of SCHED_FIFO."""
    os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(priority))


def scheduling(thread: int = 0) -> tuple[int, os.sched_param]:
    """Return policy and priority of a thread, or of this one."""
    return os.sched_getscheduler(thread), os.sched_getparam(thread)


def put_back_scheduling(policy: int, priority: os.sched_param) -> None:
    """Give this thread a policy and priority that it had."""
    os.sched_setscheduler(0, policy, priority)


def raise_priority(process: int, priority: int) -> None:
    """Give all threads of a process a priority, but those that have a higher one already."""
    for task in Path(f"/proc/{process}/task").iterdir():
        policy, has = scheduling(int(task.name))
        if policy != os.SCHED_FIFO or has.sched_priority < priority:
            take_priority(priority, int(task.name))


def yield_to_others(niceness: int, thread: int = 0) -> None:
    """Let a thread, or this one, run where others do not."""
    at_least = os.getpriority(os.PRIO_PROCESS, thread)
    os.setpriority(os.PRIO_PROCESS, thread, max(niceness, at_least))


#: How a command ends that an interrupt has ended: click says "Aborted!" and 1.
_ABORTED = {1, 130}
_IMPORT = "<frozen importlib._bootstrap>"
#: How long an interrupt waits for an import at a time, s, and how often.
_WAIT, _WAITS = 0.02, 100


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, do what Ctrl-C does.

    Afterwards the exit code is 128 and the number of the signal: 130, 143 or 129.

    A signal that whoever started the command has ignored stays so. One that comes during an import
    waits for its end: modules in C and class statements of libraries swallow it, or make another
    error of it. An import that takes longer than two seconds is interrupted. One that comes where
    nothing can be raised, such as in a callback of compiled code, comes again.
    """
    signals = _Signals()
    before = {}
    handlers = {
        signal.SIGINT: signals.interrupt,
        signal.SIGTERM: signals.terminate,
        signal.SIGHUP: signals.terminate,
    }
    for number, mine in handlers.items():
        if signal.getsignal(number) not in {signal.SIG_IGN, None}:
            before[number] = signal.signal(number, mine)
    told = sys.unraisablehook
    sys.unraisablehook = lambda lost: signals.again(lost) or told(lost)
    try:
        yield
    except SystemExit as ended:
        if signals.seen and ended.code in _ABORTED:
            sys.exit(128 + signals.seen[0])
        raise
    except KeyboardInterrupt:
        sys.exit(128 + (signals.seen[0] if signals.seen else signal.SIGINT))
    finally:
        sys.unraisablehook = told
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def exits_raised() -> Iterator[None]:
    """Let ``os._exit`` of foreign code raise SystemExit: else it ends the program unseen.

    Forks of this process still end by it.
    """
    own, leave = os.getpid(), os._exit

    def ended(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        raise SystemExit(status)

    os._exit = ended
    try:
        yield
    finally:
        os._exit = leave


class _Signals:
    """Those that came, in their order."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._waited = 0

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        self.seen.append(number)
        self._raise(number, frame)

    def terminate(self, number: int, frame: FrameType | None) -> None:
        self.seen.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a script
            self._raise(number, frame)
        else:
            signal.raise_signal(signal.SIGINT)  # so it waits where an interrupt would

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self._waited >= _WAITS or not _is_importing(frame):
            raise KeyboardInterrupt
        self._waited += 1
        self._later(number)

    def again(self, lost: UnraisableHookArgs) -> bool:
        """Let an interrupt that was swallowed come once more; return whether it was one."""
        if lost.exc_type is not KeyboardInterrupt or not self.seen:
            return False
        self._later(signal.SIGINT)
        return True

    def _later(self, number: int) -> None:
        main = threading.main_thread().ident  # it may wait by then, and is to be woken
        threading.Timer(_WAIT, signal.pthread_kill, (main, number)).start()


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a frame, or one that has called it, is of Python's import."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
