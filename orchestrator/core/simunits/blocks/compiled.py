"""Functions of blocks that are compiled to machine code, where Numba is there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

_LOGGER = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Let Numba compile a function at its first call: ``@compiled`` above ``def``.

    It takes numbers and float64 arrays, and uses what Numba knows of Python, ``math`` and numpy.
    It rounds as Python does: nothing is rearranged or contracted. The plain function stays in
    ``py_func``; with ``NUMBA_DISABLE_JIT=1`` in the environment nothing is compiled. Without Numba
    the function stays as it is, with the same values, which is said once.

    The machine code is kept beside the file in ``__pycache__``, or where that cannot be written in
    the user's cache, or in ``NUMBA_CACHE_DIR``, until the file changes. That it is made, and that
    it cannot be kept, is logged as a warning, once for each file.

    Parameters
    ----------
    function
        At the top of a module or script. What it calls of this kind stands in the same file.

    Raises
    ------
    DescriptionError
        If it calls a compiled function of another file: code that is kept would not see it change.
    """
    try:
        from orchestrator.core.simunits.blocks.machine_code import machine_code
    except ModuleNotFoundError as missing:
        if missing.name != "numba":
            raise
        _say_slow()
        return function
    return machine_code(function)


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


def tell_watchers(*, compiling: bool) -> None:
    """Tell all that compiling begins, or has ended."""
    for watcher in _watchers:
        watcher(compiling)
