"""Who wants to know when functions of blocks are being compiled in this process."""

from __future__ import annotations

from collections.abc import Callable

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
