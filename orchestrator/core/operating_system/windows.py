"""The Windows side of the platform layer: see :mod:`.posix` for what each function does.

Shared memory and its events have names made of a number, so the number alone lets another process
open them. A process that is started belongs to a job, which ends it, and what it has started, when
the job is closed, and so with this process.
"""

from __future__ import annotations

import _thread
import ctypes
import mmap
import msvcrt
import os
import platform
import re
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import winreg
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from ctypes import wintypes
from pathlib import Path
from typing import Any, NoReturn

from orchestrator.core.diagnostics import CapabilityError

assert sys.platform == "win32"  # noqa: S101 - mypy checks this side by `--platform win32`

_KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
for _name in ("CreateFileMappingW", "OpenProcess", "CreateJobObjectW", "GetCurrentProcess"):
    getattr(_KERNEL, _name).restype = wintypes.HANDLE
_SYNCHRONIZE_AND_QUERY = 0x00100000 | 0x0400 | 0x0001  # and PROCESS_TERMINATE
_PAGE_READWRITE, _ALREADY_EXISTS = 0x04, 183
_KILL_ON_JOB_CLOSE, _EXTENDED_LIMITS = 0x2000, 9
_WAIT_TIMEOUT = 0x102
#: s, between two looks at a pipe or a process while a socket is waited for.
_SLICE = 0.01
_PLACE = struct.Struct("<q")

#: What ends a program: Ctrl-C, Ctrl-Break; and what a supervisor of jobs raises in it.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
#: What ends another process at once.
KILL = signal.SIGTERM
#: Windows has no fork.
POOL_START = "spawn"
#: Version of Windows 8, as Windows counts them.
_WINDOWS_8 = (6, 2)


def expect_linux(feature: str) -> None:
    """Refuse what needs Linux; raises CapabilityError."""
    raise CapabilityError(
        f"{feature} needs Linux: Windows promises no times and its devices were not tried; run it"
        " on"
        " a Linux computer"
    )


def expect_short(path: str) -> None:
    """Refuse a path that is longer than the system allows; raises CapabilityError."""
    length = len(os.path.abspath(path))  # noqa: PTH100 - it may be no path at all
    if length >= _LONGEST and _PATH.fullmatch(path) and not _long_paths():
        raise CapabilityError(
            f"'...{path[-40:]}': the path has {length} characters, and Windows is set to at most"
            f" {_LONGEST - 1}: use a shorter one, or set LongPathsEnabled in the registry"
        )


#: Of a file with its ending zero; folders have 12 less.
_LONGEST = 260
#: Not a list of values, nor a path with the prefix that allows more characters.
_PATH = re.compile(r"(?:[A-Za-z]:)?[^<>:\"|?*,;\[\]{}\n]*")


def _long_paths() -> bool:
    """Whether the registry allows paths of any length."""
    try:
        with winreg.OpenKey(
            winreg.HKEY_LOCAL_MACHINE, r"SYSTEM\CurrentControlSet\Control\FileSystem"
        ) as key:
            return bool(winreg.QueryValueEx(key, "LongPathsEnabled")[0])
    except OSError:
        return False


def has_process_pools() -> bool:
    """Whether pools of processes work: not if Wine reports Windows 7 to CPython.

    Before Windows 8 a pipe kept an empty message after a read of no bytes, and CPython reads such
    a message again. Wine removes it whatever version it reports, so the second read never ends.
    """
    return sys.getwindowsversion()[:2] >= _WINDOWS_8


def verbatim(path: str) -> str:
    """Return the name of a file as libraries in Rust complete it, which compare files by names."""
    full = os.path.abspath(path)  # noqa: PTH100 - Windows resolves `..` by names, too
    if full.startswith("\\\\?\\"):
        return full
    return "\\\\?\\UNC" + full[1:] if full.startswith("\\\\") else "\\\\?\\" + full


def kernel() -> str:
    """Return name and release of the kernel."""
    return f"{platform.system()} {platform.version()}, no PREEMPT_RT"


def user() -> int:
    """Return the number of the account; Windows has none."""
    return 0


def account_number(name: str) -> int:
    """Return the number of an account; KeyError: there is none of this name."""
    raise KeyError(name)


def account(number: int) -> tuple[str, str]:
    """Return name and home folder of an account; KeyError: there is none of this number."""
    raise KeyError(number)


def environment() -> dict[str, str]:
    """Return the environment of the process, as C functions and child processes see it."""
    _KERNEL.GetEnvironmentStringsW.restype = ctypes.c_void_p
    block = _KERNEL.GetEnvironmentStringsW()
    variables: dict[str, str] = {}
    address = block or 0
    while address and (entry := ctypes.wstring_at(address)):
        address += (len(entry) + 1) * ctypes.sizeof(ctypes.c_wchar)
        name, _, value = entry.partition("=")
        if name:  # else it is the folder of a drive
            variables[name.upper()] = value
    if block:
        _KERNEL.FreeEnvironmentStringsW(ctypes.c_void_p(block))
    return variables


def is_killed(code: int) -> bool:
    """Whether an exit code is that of a process that :meth:`send_signal` has ended."""
    return code == 1


def process_handle(process: int) -> int:
    """Return a handle of a process, which :func:`close` closes."""
    handle = _KERNEL.OpenProcess(_SYNCHRONIZE_AND_QUERY, 0, process)
    if not handle:
        raise ctypes.WinError(ctypes.get_last_error())
    return int(handle)


#: Handles of the memory that this process has made, by number.
_MEMORY: dict[int, int] = {}


def close(handle: int) -> None:
    """Close what :func:`process_handle` or :func:`shared_memory` returned; others' memory stays."""
    memory = _MEMORY.pop(handle, None)
    if memory is not None or handle < _LEAST:
        _KERNEL.CloseHandle(wintypes.HANDLE(handle if memory is None else memory))


#: Numbers of memory are larger than those of handles.
_LEAST = 1 << 30


def _name_of(memory: int) -> str:
    return f"Local\\softdock-{memory}"


def shared_memory(name: str, size: int) -> int:
    """Return the number of memory that two processes can share, of a size that stays."""
    del name
    while True:
        number = _LEAST + secrets.randbelow(_LEAST)
        handle = _KERNEL.CreateFileMappingW(
            wintypes.HANDLE(-1),
            None,
            _PAGE_READWRITE,
            size >> 32,
            size & 0xFFFFFFFF,
            _name_of(number),
        )
        if not handle:
            raise ctypes.WinError(ctypes.get_last_error())
        if ctypes.get_last_error() != _ALREADY_EXISTS:
            _MEMORY[number] = int(handle)
            return number
        _KERNEL.CloseHandle(wintypes.HANDLE(handle))


def mapped(memory: int, size: int) -> mmap.mmap:
    """Map shared memory."""
    return mmap.mmap(-1, size, tagname=_name_of(memory))


def send_memory(channel: socket.socket, data: bytes, memory: int | None) -> None:
    """Send some bytes to another process, and hand over memory if there is any."""
    channel.sendall(data + _PLACE.pack(-1 if memory is None else memory))


def receive_memory(channel: socket.socket, size: int) -> tuple[bytes, int | None]:
    """Receive what :func:`send_memory` sent; EOFError: the other process has closed its end."""
    received = _exactly(channel, size + _PLACE.size)
    if not received:
        raise EOFError
    (memory,) = _PLACE.unpack(received[size:])
    return received[:size], None if memory < 0 else memory


def send_socket(channel: socket.socket, listener: socket.socket) -> None:
    """Hand a socket over to another process, which calls :func:`receive_socket`.

    Windows copies a socket for a process whose number is known, and that of a virtual environment
    is not the one that was started.
    """
    if not (number := _exactly(channel, _PLACE.size)):
        raise ConnectionError("the process asked for no socket")
    shared = listener.share(*_PLACE.unpack(number))
    channel.sendall(_PLACE.pack(len(shared)) + shared)


def receive_socket(channel: socket.socket) -> socket.socket:
    """Return the socket that :func:`send_socket` hands over; EOFError: there is none."""
    channel.sendall(_PLACE.pack(os.getpid()))
    size = _exactly(channel, _PLACE.size)
    shared = _exactly(channel, *_PLACE.unpack(size)) if size else b""
    if not shared:
        raise EOFError
    return socket.fromshare(shared)


class Offer:
    """A connection for a process that is about to start: a port of this computer, and a secret.

    Windows hands a socket over to another process only when that process runs already.
    """

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(_SECRET)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.argument = f"{self._listener.getsockname()[1]}-{self._secret.hex()}"
        self.files: tuple[int, ...] = ()

    def accept(self, process: int) -> socket.socket:
        """Wait for the process, and return our end; ConnectionError: it has ended, or hangs."""
        with self._listener:
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end and not _has_ended(process, 0.0):
                self._listener.settimeout(5 * _SLICE)
                try:
                    channel, _ = self._listener.accept()
                except TimeoutError:
                    continue
                channel.settimeout(1.0)
                if secrets.compare_digest(_exactly(channel, _SECRET), self._secret):
                    channel.settimeout(None)
                    channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return channel
                channel.close()
        raise ConnectionError("the process did not connect")

    def close(self) -> None:
        """Take it back, if the process could not be started."""
        self._listener.close()


#: Bytes of the secret, and s in which a process connects.
_SECRET, _START_SECONDS = 32, 60.0


def _exactly(channel: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        try:
            part = channel.recv(count - len(received))
        except OSError:
            return b""
        if not part:
            return b""
        received += part
    return received


def taken(argument: str) -> socket.socket:
    """Return the end of a connection that the parent has offered."""
    port, _, secret = argument.partition("-")
    channel = socket.create_connection(("127.0.0.1", int(port)))
    channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    channel.sendall(bytes.fromhex(secret))
    return channel


def child_options(files: Collection[int], *, outlives: bool) -> dict[str, Any]:
    """Return the options of :class:`subprocess.Popen` for a process that Ctrl-C does not reach."""
    del files, outlives  # memory has names
    return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_int64 * 2),
        ("flags", wintypes.DWORD),
        ("sizes", ctypes.c_size_t * 2),
        ("most", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("classes", wintypes.DWORD * 2),
        ("counters", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


def contain(process: subprocess.Popen[bytes]) -> tuple[int, ...]:
    """Let a process, and what it starts, end with this one; returns the handles to close."""
    job = _KERNEL.CreateJobObjectW(None, None)
    limits = _Limits(flags=_KILL_ON_JOB_CLOSE)
    handle = wintypes.HANDLE(job)
    done = job and _KERNEL.SetInformationJobObject(
        handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
    )
    child_handle = wintypes.HANDLE(int(process._handle))  # type: ignore[attr-defined]  # noqa: SLF001
    if not (done and _KERNEL.AssignProcessToJobObject(handle, child_handle)):
        raise ctypes.WinError(ctypes.get_last_error())
    return (int(job),)


def end_with_parent(number: int) -> None:
    """Do nothing: the job of :func:`contain` ends this process."""
    del number


def _has_ended(process: int, seconds: float) -> bool:
    wait = min(max(int(seconds * 1000), 0), 2**31 - 1)
    return bool(_KERNEL.WaitForSingleObject(wintypes.HANDLE(process), wait) != _WAIT_TIMEOUT)


def _has_bytes(pipe: int) -> bool:
    count = wintypes.DWORD()
    handle = wintypes.HANDLE(msvcrt.get_osfhandle(pipe))
    is_open = _KERNEL.PeekNamedPipe(handle, None, 0, None, ctypes.byref(count), None)
    return not is_open or count.value > 0


def ready(
    seconds: float,
    *,
    process: int | None = None,
    channel: socket.socket | None = None,
    pipe: int | None = None,
) -> set[str]:
    """Wait until a process has ended, or a socket or pipe can be read or is closed."""
    if process is not None and channel is None and pipe is None:
        return {"process"} if _has_ended(process, seconds) else set()
    end = time.monotonic() + seconds
    while True:
        remaining = min(max(end - time.monotonic(), 0.0), _SLICE)
        readable = set()
        if channel is not None and select.select([channel], [], [], remaining)[0]:
            readable.add("channel")
        if pipe is not None and _has_bytes(pipe):
            readable.add("pipe")
        if process is not None and _has_ended(process, 0.0):
            readable.add("process")
        if readable or time.monotonic() >= end:
            return readable
        if channel is None:
            time.sleep(remaining)


def lock(file: int, *, wait: bool = False) -> None:
    """Lock the first byte of an open file until it is closed.

    Raises BlockingIOError: if another process has it.
    """
    at = os.lseek(file, 0, os.SEEK_CUR)
    try:
        while True:
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    raise BlockingIOError from None
                time.sleep(_SLICE)
            else:
                return
    finally:
        os.lseek(file, at, os.SEEK_SET)


#: Far behind all content: a byte that is locked cannot be read by others.
_LOCKED_BYTE = 1 << 30


def locked_folder(folder: Path, *, wait: bool = False) -> int:
    """Lock a folder, by a file next to it, and return what to close.

    Raises BlockingIOError: if another process has it.
    """
    file = os.open(
        folder.parent / f".{folder.name}.softdock-lock", os.O_RDWR | os.O_CREAT | os.O_TEMPORARY
    )
    try:
        lock(file, wait=wait)
    except BaseException:
        os.close(file)
        raise
    return file


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a process; what it has started ends by itself, as its pipes are closed."""
    process.kill()


def exchange_names(first: Path, second: Path) -> bool:
    """Return False: Windows has no such call."""
    del first, second
    return False


def processors() -> set[int]:
    """Return the processors that this process may use."""
    allowed, installed = ctypes.c_size_t(), ctypes.c_size_t()
    process = wintypes.HANDLE(_KERNEL.GetCurrentProcess())
    if not _KERNEL.GetProcessAffinityMask(process, ctypes.byref(allowed), ctypes.byref(installed)):
        return set(range(os.cpu_count() or 1))
    return {number for number in range(64) if allowed.value >> number & 1} or {0}


def keep_to(processors: Iterable[int], thread: int = 0) -> None:
    """Stay on all processors: Windows chooses them."""
    del processors, thread


def _no_priority() -> NoReturn:
    raise OSError(38, "Windows has no SCHED_FIFO")


def take_priority(priority: int, process: int = 0) -> None:
    """Refuse a priority of SCHED_FIFO."""
    del priority, process
    _no_priority()


def scheduling(thread: int = 0) -> tuple[int, None]:
    """Return policy and priority, which Windows does not have."""
    del thread
    return 0, None


def put_back_scheduling(policy: int, priority: None) -> None:
    """Do nothing: nothing was changed."""
    del policy, priority


def raise_priority(process: int, priority: int) -> None:
    """Refuse a priority of SCHED_FIFO."""
    del process, priority
    _no_priority()


def yield_to_others(niceness: int, thread: int = 0) -> None:
    """Keep the priority: Windows lowers that of processes in the background itself."""
    del niceness, thread


def limit_memory(size: int) -> None:
    """Set no limit: a job would be needed."""
    del size


def available_memory() -> int | None:
    """Return ``None``: it is not asked for here."""
    return None


@contextmanager
def signals_held() -> Iterator[None]:
    """Do nothing: processes that are started have groups of their own."""
    yield


def release_signals() -> None:
    """Do nothing: none was held back."""


def interrupt_main(number: int = signal.SIGINT) -> None:
    """Raise a signal in the main thread, which may wait."""
    del number
    _thread.interrupt_main()
