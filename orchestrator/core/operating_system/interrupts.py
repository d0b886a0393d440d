"""Signals that end a program: each is one interrupt, after which every part of a run tidies up."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from orchestrator.core import operating_system

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

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
    for number in operating_system.ENDINGS:
        mine = signals.interrupt if number == signal.SIGINT else signals.terminate
        if signal.getsignal(number) not in {signal.SIG_IGN, None}:
            before[number] = signal.signal(number, mine)
    previous_hook = sys.unraisablehook
    sys.unraisablehook = lambda lost: signals.again(lost) or previous_hook(lost)
    try:
        yield
    except SystemExit as ended:
        if signals.seen and ended.code in _ABORTED:
            sys.exit(128 + signals.seen[0])
        raise
    except KeyboardInterrupt:
        sys.exit(128 + (signals.seen[0] if signals.seen else signal.SIGINT))
    finally:
        sys.unraisablehook = previous_hook
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def exits_raised() -> Iterator[None]:
    """Let ``os._exit`` of foreign code raise SystemExit: else it ends the program unseen.

    Forks of this process still end by it.
    """
    process_id, leave = os.getpid(), os._exit

    def ended(status: int) -> NoReturn:
        if os.getpid() != process_id:
            leave(status)
        raise SystemExit(status)

    os._exit = ended
    try:
        yield
    finally:
        os._exit = leave


class _Signals:
    """The interrupts that came, in their order."""

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
        # it may wait by then, and is to be woken
        threading.Timer(_WAIT, operating_system.interrupt_main, (number,)).start()


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a frame, or one that has called it, is of Python's import."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
