"""Hold an interrupt back while a message is under way: half a message could not be answered."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Self


class Interruption:
    """Holds an interrupt back until the block is left.

    Python raises KeyboardInterrupt in the main thread only; elsewhere this does nothing. Where
    SIGINT is ignored, as in the background of a script, it stays so, and SIGTERM is held back.

    Parameters
    ----------
    raise_after
        Whether it is raised when the block is left; otherwise the caller looks at ``seen``.
    """

    def __init__(self, *, raise_after: bool = True) -> None:
        self.seen = False
        self._raise_after = raise_after
        self._before: object = None
        self._number = signal.SIGINT

    def _note(self, _signal: int, _frame: object) -> None:
        self.seen = True

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            self._number = signal.SIGTERM
        # None: a handler that is not of Python, which Python could not put back
        if signal.getsignal(self._number) not in {None, signal.SIG_IGN}:
            self._before = signal.signal(self._number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is None:
            return
        signal.signal(self._number, self._before)  # type: ignore[arg-type]
        if self.seen and self._raise_after:
            signal.raise_signal(self._number)
