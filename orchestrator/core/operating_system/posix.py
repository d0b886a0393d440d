"""The POSIX side of the platform layer; much of it is Linux.

What rigs and adapters ask of Linux themselves stays there: see ``packaging/README.md``.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import pwd
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: From <sys/prctl.h>.
_PR_SET_PDEATHSIG = 1
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
#: The system or the file system does not know the call that exchanges names.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

#: Signals that end a program: Ctrl-C, what ends a job, a terminal that is closed.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: What ends another process at once.
KILL = signal.SIGKILL
#: How pools whose modules take long to import start their processes.
POOL_START = "forkserver"


def expect_linux(feature: str) -> None:
    """Refuse what needs Linux, elsewhere."""
    del feature


def expect_short(path: str) -> None:
    """Refuse a path that is longer than the system allows: Linux says so itself."""
    del path


def has_process_pools() -> bool:
    """Whether pools of processes of :mod:`multiprocessing` work."""
    return True


def verbatim(path: str) -> str:
    """Return the name of a file as libraries in Rust complete it: an absolute path itself."""
    return path


def kernel() -> str:
    """Return name and release of the kernel, and whether it is one for real time."""
    system = os.uname()
    file = Path("/sys/kernel/realtime")
    preempt_rt = file.is_file() and file.read_text(encoding="ascii").strip() == "1"
    kind = "PREEMPT_RT" if preempt_rt else "no PREEMPT_RT"
    return f"{system.sysname} {system.release}, {kind}"


def user() -> int:
    """Return the number of the account."""
    return os.geteuid()


def account_number(name: str) -> int:
    """Return the number of an account; KeyError: there is none of this name."""
    return pwd.getpwnam(name).pw_uid


def account(number: int) -> tuple[str, str]:
    """Return name and home folder of an account; KeyError: there is none of this number."""
    entry = pwd.getpwuid(number)
    return entry.pw_name, entry.pw_dir


def environment() -> dict[str, str]:
    """Return the environment of the process, as C functions and child processes see it."""
    entries = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found: dict[str, str] = {}
    number = 0
    while entries and (entry := entries[number]) is not None:
        name, _, value = entry.partition(b"=")
        found[os.fsdecode(name)] = os.fsdecode(value)
        number += 1
    return found


def is_killed(code: int) -> bool:
    """Whether an exit code is that of a process that ``KILL`` has ended."""
    return code == -signal.SIGKILL


def process_handle(process: int) -> int:
    """Return a file that stays a process's own when its number is another one's."""
    return os.pidfd_open(process)


def shared_memory(name: str, size: int) -> int:
    """Return the file of memory that two processes can share, of a size that stays."""
    memory = os.memfd_create(f"softdock-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
    return memory


def close(handle: int) -> None:
    """Close what :func:`process_handle` or :func:`shared_memory` returned."""
    os.close(handle)


def mapped(memory: int, size: int) -> mmap.mmap:
    """Map shared memory."""
    return mmap.mmap(memory, size)


def send_memory(channel: socket.socket, data: bytes, memory: int | None) -> None:
    """Send some bytes to another process, and hand over memory if there is any."""
    socket.send_fds(channel, [data], [] if memory is None else [memory])


def receive_memory(channel: socket.socket, size: int) -> tuple[bytes, int | None]:
    """Receive what :func:`send_memory` sent; EOFError: the other process has closed its end."""
    data, handles, _, _ = socket.recv_fds(channel, size, 1, socket.MSG_CMSG_CLOEXEC)
    if len(data) < size:
        raise EOFError
    return data, handles[0] if handles else None


def send_socket(channel: socket.socket, listener: socket.socket) -> None:
    """Hand a socket over to another process, which calls :func:`receive_socket`."""
    socket.send_fds(channel, [b"s"], [listener.fileno()])


def receive_socket(channel: socket.socket) -> socket.socket:
    """Return the socket that :func:`send_socket` hands over; EOFError: there is none."""
    _, handles, _, _ = socket.recv_fds(channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
    if not handles:
        raise EOFError
    return socket.socket(fileno=handles[0])


class Offer:
    """One end of a connection for a process that is about to start.

    argument: What the process gives to :func:`taken`.
    files: Descriptors that it inherits.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.argument = str(self._theirs.fileno())
        self.files = (self._theirs.fileno(),)

    def accept(self, process: int) -> socket.socket:
        """Return this end of the pair; called when the process, whose ID is given, has started."""
        del process
        self._theirs.close()
        return self._ours

    def close(self) -> None:
        """Take it back, if the process could not be started."""
        self._ours.close()
        self._theirs.close()


def taken(argument: str) -> socket.socket:
    """Return the end of a connection that the parent has offered."""
    channel = socket.socket(fileno=int(argument))
    channel.set_inheritable(False)
    return channel


def child_options(files: Collection[int], *, outlives: bool) -> dict[str, Any]:
    """Return the options of :class:`subprocess.Popen` for a process that Ctrl-C does not reach.

    files: Descriptors, such as of shared memory, that it has as well, by the same numbers.
    outlives: It has a session of its own.
    """
    return {
        "pass_fds": tuple(files),
        "start_new_session": outlives,
        "process_group": None if outlives else 0,
    }


def end_with_parent(number: int) -> None:
    """Let the kernel end this process by a signal when the thread that started it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(number))


def contain(process: subprocess.Popen[bytes]) -> tuple[int, ...]:
    """Return what to close for the end of what a process starts: nothing, as its mark finds it."""
    del process
    return ()


def ready(
    seconds: float,
    *,
    process: int | None = None,
    channel: socket.socket | None = None,
    pipe: int | None = None,
) -> set[str]:
    """Wait until a process has ended, or a socket or pipe can be read or is closed.

    process: A handle of :func:`process_handle`.
    Returns which of them; none: the time is over.
    """
    files = {"process": process, "channel": channel and channel.fileno(), "pipe": pipe}
    names = {file: name for name, file in files.items() if file is not None}
    watch = select.poll()
    for file in names:
        watch.register(file, select.POLLIN)
    return {names[file] for file, _ in watch.poll(min(seconds * 1000, 2**31 - 1))}


def lock(file: int, *, wait: bool = False) -> None:
    """Lock an open file or folder until it is closed.

    Raises BlockingIOError: if another process has it.
    Raises OSError: if its file system has no locks.
    """
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked_folder(folder: Path, *, wait: bool = False) -> int:
    """Lock a folder and return what :func:`os.close` opens it again with.

    Raises BlockingIOError: if another process has it.
    Raises OSError: if its file system has no locks.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        lock(file, wait=wait)
    except BaseException:
        os.close(file)
        raise
    return file


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a process that leads a group, with what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def exchange_names(first: Path, second: Path) -> bool:
    """Let two folders of one file system exchange their names in one call.

    Returns whether there is such a call. Raises OSError: if it fails.
    """
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    names = os.fsencode(first), os.fsencode(second)
    failed = call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], ctypes.c_uint(_RENAME_EXCHANGE))
    code = ctypes.get_errno() if failed else 0
    if code and code not in _UNKNOWN:
        raise OSError(code, os.strerror(code), str(second))
    return not code


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
    """Give all threads of a process a priority, except threads with a higher one."""
    for task in Path(f"/proc/{process}/task").iterdir():
        policy, has = scheduling(int(task.name))
        if policy != os.SCHED_FIFO or has.sched_priority < priority:
            take_priority(priority, int(task.name))


def yield_to_others(niceness: int, thread: int = 0) -> None:
    """Let a thread, or this one, run where others do not."""
    at_least = os.getpriority(os.PRIO_PROCESS, thread)
    os.setpriority(os.PRIO_PROCESS, thread, max(niceness, at_least))


def limit_memory(size: int) -> None:
    """Limit what this process may allocate, in bytes, and let it write no dump when it crashes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def available_memory() -> int | None:
    """Return how many bytes of memory processes can still take; ``None``: not known."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        return 1024 * int(text.partition("MemAvailable:")[2].split()[0])
    except (OSError, ValueError, IndexError):
        return None


@contextmanager
def signals_held() -> Iterator[None]:
    """Let processes that are started meanwhile hold back what would end them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def release_signals() -> None:
    """Let the signals come that :func:`signals_held` of the parent held back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


def interrupt_main(number: int = signal.SIGINT) -> None:
    """Send a signal to the main thread, which may wait."""
    signal.pthread_kill(threading.main_thread().ident or 0, number)
