"""Start of the ``softdock`` command, and of ``python -m orchestrator``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line.

    Until it is loaded, and when all is done, Ctrl-C ends the process as it ends any program,
    without a word: there is nothing that would have to be tidied up.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from orchestrator.cli import main as command

    command()


if __name__ == "__main__":
    main()
