"""What every process that a run starts needs: memory to share, and a sure end."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess

from orchestrator.core.simunits.isolation.wire import MARK
from orchestrator.engine import end_marked

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def shared_memory(name: str, size: int) -> int:
    """Return the file of memory that two processes can share, of a size that stays."""
    memory = os.memfd_create(f"softdock-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEALS)
    return memory


def end_process(
    owner: int, process: subprocess.Popen[bytes], channel: socket.socket, handle: int, folder: str
) -> None:
    """End and reap a process, what it has started, and its files; a fork only lets go of it."""
    channel.close()
    if os.getpid() == owner:
        process.kill()
        end_marked(f"{MARK}={folder}")
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    else:
        process.returncode = 0  # it is not for us to wait for
    os.close(handle)
