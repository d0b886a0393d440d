"""When the garbage collector walks: not while large structures are built, and seldom in a command.

Nearly all that a file, a system or a schedule is made of lives on, and counting references frees
the rest: walks of the collector find nothing, and cost a quarter of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Process:
    """What the collector may do in this process."""

    #: Whether it is a command's own, with no other objects in it: who starts it says so.
    is_own = False
    #: Whether there are objects that it passes over, as far as is known: to ask counts them all.
    passes_over = False


def pass_over_loaded() -> None:
    """Let the collector pass over all that is there by now, in a process that is a command's own.

    It lives on, so that whoever ends need not look for rings among it. A host that calls a command
    has objects that it may let go of, and rings of them would never be freed.
    """
    if Process.is_own:
        gc.freeze()
        Process.passes_over = True


@contextmanager
def collection_paused() -> Iterator[None]:
    """Stop the garbage collector for a while, and let it go on as it was; also a decorator.

    What was built meanwhile counts as old then: else all of it is walked at the next allocation.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            Process.passes_over = Process.passes_over or gc.get_freeze_count() > 0
            if not Process.passes_over:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
