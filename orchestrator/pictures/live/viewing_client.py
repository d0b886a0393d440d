"""The run's side of the process that shows it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress

from orchestrator.pictures.live.messages import Ended, Message, Wish, receive_wish, send
from orchestrator.pictures.live.server import listening, url_of

_MODULE = "orchestrator.pictures.live.viewing"
#: s, in which the process takes a message, and in which it ends.
_PATIENCE = 5.0


class Viewing:
    """Shows a run to browsers by a process of its own, which the run tells what is new.

    Parameters
    ----------
    address
        Where viewers connect, ``PORT`` or ``HOST:PORT``.
    title
        Of the page.

    Attributes
    ----------
    url
        What a viewer opens.
    lost
        Why it shows nothing any more; empty while it does.

    Raises
    ------
    DescriptionError
        If the address cannot be listened to.
    """

    def __init__(self, address: str, title: str) -> None:
        listener, token = listening(address)
        self.url, self.lost = url_of(listener, token), ""
        self._channel, theirs = socket.socketpair()
        self._channel.settimeout(_PATIENCE)
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # noqa: PTH109
        with theirs, listener:
            files = (theirs.fileno(), listener.fileno())
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-m", _MODULE, *map(str, files), token, title],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=files,
                process_group=0,  # Ctrl-C is for the run
                env=os.environ | {"PYTHONPATH": paths},
            )

    def say(self, message: Message, memory: int | None = None) -> None:
        """Send a message; a process that does not take it is left alone from then on."""
        if self.lost:
            return
        try:
            send(self._channel, message, memory)
        except OSError as error:
            self.lost = f"the run went on without its live view: {error.strerror or error}"

    def wish(self, *, waits: bool) -> Wish | None:
        """Return what a viewer wishes; ``None``: nothing; having waited: nobody can any more."""
        if self.lost:
            return None
        try:
            return receive_wish(self._channel, waits=waits)
        except OSError as error:
            self.lost = f"the run went on without its live view: {error.strerror or error}"
            return None

    def end(self, why: str) -> None:
        """Say why nothing more will come, and wait until those who look know it."""
        self.say(Ended(why))
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self._process.kill()
        self._process.wait()
