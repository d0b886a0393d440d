"""Start of the ``softdock`` command, and of ``python -m orchestrator``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line.

    Until it is loaded, Ctrl-C ends the process as it ends any program, without a word: nothing has
    begun that would have to be tidied up.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from orchestrator.cli import main as command

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command()


if __name__ == "__main__":
    main()
