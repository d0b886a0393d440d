"""Start of the ``softdock`` command, and of ``python -m orchestrator``."""

from __future__ import annotations

import os
import signal


def _end(number: int, _frame: object) -> None:
    """End at once, as no exception could: whoever is imported might swallow it."""
    os._exit(128 + number)


def main() -> None:
    """Run the command line.

    Until it is loaded, and when all is done, Ctrl-C ends the process at once with exit code 130:
    there is nothing that would have to be tidied up.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from orchestrator.cli import main as command

    command()


if __name__ == "__main__":
    main()
