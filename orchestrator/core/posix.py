"""What is asked of the operating system beyond Python's own library: all of it is POSIX or Linux.

A port to another system writes this file and ``engine/src/posix`` anew. What rigs and adapters
take beside it stays Linux: see ``packaging/README.md``.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterable
from pathlib import Path

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
