"""What happens when nobody reads the output any more, as in ``softdock .. | head``."""

from __future__ import annotations

import os
import signal
import sys

#: What a shell shows of a program that such a write has ended.
CLOSED = 128 + signal.SIGPIPE


class ClosedOutput(Exception):  # noqa: N818 - no error: the reader has seen enough
    """The other end of a pipe was closed."""


def close_output() -> int:
    """Let what is left of the output go nowhere; return the exit code of a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED
