"""The run's side of the process that shows it."""

from __future__ import annotations

import socket
import subprocess
from contextlib import suppress

from orchestrator.core import posix
from orchestrator.pictures.live.messages import Ended, Message, receive_wish, send
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
        with theirs, listener:
            files = (theirs.fileno(), listener.fileno())
            arguments = *map(str, files), token, title
            self._process = posix.start_module(
                _MODULE, *arguments, files=files, stdout=subprocess.DEVNULL
            )

    def say(self, message: Message, memory: int | None = None) -> None:
        """Send a message; a process that does not take it is left alone from then on."""
        if self.lost:
            return
        try:
            send(self._channel, message, memory)
        except OSError as error:
            self.lost = f"the run went on without its live view: {error.strerror or error}"

    def wish(self, *, waits: bool) -> str:
        """Return what a viewer wishes; empty: nothing, or, having waited, nobody can any more."""
        if self.lost:
            return ""
        try:
            return receive_wish(self._channel, waits=waits)
        except OSError as error:
            self.lost = f"the run went on without its live view: {error.strerror or error}"
            return ""

    def end(self, why: str) -> None:
        """Say why nothing more will come, and wait until those who look know it."""
        self.say(Ended(why))
        self._channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self._process.kill()
        self._process.wait()
