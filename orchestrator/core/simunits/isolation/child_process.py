"""The sure end of every process that a run starts."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess

from orchestrator.core.simunits.isolation.wire import MARK
from orchestrator.engine import end_marked


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
