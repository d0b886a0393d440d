"""Ctrl-C and SIGTERM: both are one interrupt, after which every part of a run tidies up."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: How a command ends that an interrupt has ended: click says "Aborted!" and 1.
_ABORTED = {1, 130}


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does; afterwards the exit code is 130 or 143, 128 and the signal.

    A signal that whoever started the command has ignored stays so.
    """
    seen: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    def terminate(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a script
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # so it waits where an interrupt would

    before = {}
    for number, mine in ((signal.SIGINT, interrupt), (signal.SIGTERM, terminate)):
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            before[number] = signal.signal(number, mine)
    try:
        yield
    except SystemExit as ended:
        if seen and ended.code in _ABORTED:
            sys.exit(128 + seen[0])
        raise
    except KeyboardInterrupt:
        sys.exit(128 + (seen[0] if seen else signal.SIGINT))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
