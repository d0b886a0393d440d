"""Start of the ``softdock`` command, and of ``python -m orchestrator``."""

from __future__ import annotations

import atexit
import gc
import os
import signal

from orchestrator.core.garbage import Process

#: How many more objects there are made than freed before the collector looks for rings among them:
#: of the few hundred thousand that start-up makes nearly all live on.
_MANY = 500_000


def _end(number: int, _frame: object) -> None:
    """End at once, as no exception could: whoever is imported might swallow it."""
    os._exit(128 + number)


def _collect() -> None:
    """Free rings, which may hold what is the engine's; who ends need not look for them again."""
    gc.collect()
    gc.freeze()


def main() -> None:
    """Run the command line.

    Until it is loaded, and when all is done, Ctrl-C ends the process at once with exit code 130:
    there is nothing that would have to be tidied up.
    """
    Process.is_own = True
    # Else pydantic reads the metadata of all packages that are installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(_MANY, 20, 20)
    atexit.register(_collect)  # the last of all
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from orchestrator.cli import main as command

    command()


if __name__ == "__main__":
    main()
