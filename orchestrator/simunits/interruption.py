"""Ctrl-C that waits while a message is under way: half a message would be the end of the talk."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Self


class Interruption:
    """Holds an interrupt back until the block is left.

    Python raises KeyboardInterrupt in the main thread only; elsewhere this does nothing.

    Parameters
    ----------
    raise_after
        Whether it is raised when the block is left; otherwise the caller looks at ``seen``.
    """

    def __init__(self, *, raise_after: bool = True) -> None:
        self.seen = False
        self._raise_after = raise_after
        self._before: object = None

    def _note(self, _signal: int, _frame: object) -> None:
        self.seen = True

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        # None: a handler that is not of Python, which Python could not put back
        if main and signal.getsignal(signal.SIGINT) is not None:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]
        if self.seen and self._raise_after:
            signal.raise_signal(signal.SIGINT)
