"""Functions of blocks that are compiled to machine code, where Numba is there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from orchestrator.core.diagnostics import DescriptionError

_LOGGER = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Let Numba compile a function at its first call: ``@compiled`` above ``def``.

    The function takes numbers and float64 arrays, and may use the parts of Python, ``math`` and
    numpy that Numba supports. It rounds as Python does: Numba rearranges and contracts nothing. The
    plain function is in ``py_func``. Without Numba, or with ``NUMBA_DISABLE_JIT=1`` in the
    environment, Python runs the function with the same values; without Numba, a warning is logged
    once.

    Numba stores the machine code in ``__pycache__`` next to the file, in the user's cache if that
    cannot be written, or in ``NUMBA_CACHE_DIR``, until the file changes. A warning is logged once
    for each file when the code is compiled, and when it cannot be stored.

    Parameters
    ----------
    function
        A function at the top of a module or script. Compiled functions that it calls must be in
        the same file.

    Raises
    ------
    DescriptionError
        If it calls a compiled function of another file, whose changes stored code would miss.
    """
    try:
        from numba import config, njit
    except ModuleNotFoundError as missing:
        if missing.name != "numba":
            raise
        _say_slow()
        return function
    if config.DISABLE_JIT:
        return function
    _expect_one_file(function)
    try:
        compiled_function, is_kept = njit(cache=True)(function), True
    except RuntimeError:  # no folder can be written
        compiled_function, is_kept = njit(function), False
    _kept_by_function()[compiled_function.py_func] = is_kept
    return cast("_Function", compiled_function)


@cache
def _say_slow() -> None:
    _LOGGER.warning(
        "functions that are marked with @compiled run as plain Python, some hundred times slower:"
        " pip install 'softdock[compiled]'"
    )


#: Called with True when compiling begins and with False when it has ended.
Watcher = Callable[[bool], None]
_watchers: list[Watcher] = []


def watch_compiling(watcher: Watcher) -> None:
    """Let a function be called whenever compiling begins and ends, from now on."""
    _watchers.append(watcher)


def _tell_watchers(*, compiling: bool) -> None:
    for watcher in _watchers:
        watcher(compiling)


def _expect_one_file(function: Callable[..., Any]) -> None:
    from numba.core.dispatcher import Dispatcher

    code = function.__code__
    for name in code.co_names:
        called = function.__globals__.get(name)
        if not isinstance(called, Dispatcher):
            continue
        file = called.py_func.__code__.co_filename
        if file != code.co_filename:
            raise DescriptionError(
                f"compiled function {function.__qualname__} of {code.co_filename} calls '{name}'"
                f" of {file}; expected compiled functions of its own file only, since stored"
                " machine code does not follow changes of another file: move it here, or let the"
                " block call both"
            )


@cache
def _kept_by_function() -> dict[Callable[..., Any], bool]:
    """Say from now on that functions are compiled; returned is where to note which are kept."""
    from numba.core import event

    is_kept: dict[Callable[..., Any], bool] = {}
    reported: set[str] = set()

    class Notice(event.Listener):  # type: ignore[misc]
        """Says that a file's functions are being compiled: a run begins seconds later then."""

        depth = 0  # of functions that are compiled for one another

        def on_start(self, event: event.Event) -> None:
            """Numba begins to compile a function; what is found in a cache is not compiled."""
            self.depth += 1
            if self.depth == 1:
                _tell_watchers(compiling=True)
            function = event.data["dispatcher"].py_func
            file = function.__code__.co_filename
            if function not in is_kept or file in reported:
                return
            reported.add(file)
            _LOGGER.warning(
                "compiling %s for this processor, which takes some seconds%s",
                file,
                ", once"
                if is_kept[function]
                else " in every process: no folder can be written to keep it in; set"
                " NUMBA_CACHE_DIR",
            )

        def on_end(self, event: event.Event) -> None:
            """Let the run go on without a message."""
            self.depth -= 1
            if self.depth == 0:
                _tell_watchers(compiling=False)

    event.register("numba:compile", Notice())
    return is_kept
