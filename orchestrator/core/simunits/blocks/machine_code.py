"""What Numba makes of functions of blocks, once for each machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import config, njit
from numba.core import event
from numba.core.dispatcher import Dispatcher

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits.blocks.compiled import tell_watchers

_LOGGER = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def machine_code(function: _Function) -> _Function:
    """Compile a function at its first call; see :func:`.compiled.compiled`."""
    if config.DISABLE_JIT:
        return function
    _expect_one_file(function)
    try:
        made = njit(cache=True)(function)
    except RuntimeError:  # no folder can be written
        made = njit(function)
        _NOTICE.kept[made.py_func] = False
    else:
        _NOTICE.kept[made.py_func] = True
    return cast("_Function", made)


def _expect_one_file(function: Callable[..., Any]) -> None:
    code = function.__code__
    for name in code.co_names:
        called = function.__globals__.get(name)
        if not isinstance(called, Dispatcher):
            continue
        file = called.py_func.__code__.co_filename
        if file != code.co_filename:
            raise DescriptionError(
                f"compiled function {function.__qualname__} of {code.co_filename} calls '{name}' of"
                f" {file}; expected compiled functions of its own file only, as machine code that"
                " is kept would not see another file change: move it here, or let the block call"
                " both"
            )


class _Notice(event.Listener):  # type: ignore[misc]
    """Says that a file's functions are being compiled: a run begins seconds later then."""

    def __init__(self) -> None:
        self.kept: dict[Callable[..., Any], bool] = {}
        self._said: set[str] = set()
        self._depth = 0  # of functions that are compiled for one another

    def on_start(self, event: event.Event) -> None:
        """Numba begins to compile a function; what is found in a cache is not compiled."""
        self._depth += 1
        if self._depth == 1:
            tell_watchers(compiling=True)
        function = event.data["dispatcher"].py_func
        file = function.__code__.co_filename
        if function not in self.kept or file in self._said:
            return
        self._said.add(file)
        _LOGGER.warning(
            "compiling %s for this processor, which takes some seconds%s",
            file,
            ", once"
            if self.kept[function]
            else " in every process: no folder can be written to keep it in; set NUMBA_CACHE_DIR",
        )

    def on_end(self, event: event.Event) -> None:
        """Let the run go on without a message."""
        self._depth -= 1
        if self._depth == 0:
            tell_watchers(compiling=False)


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)
