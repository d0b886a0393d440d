"""The run's side of the process that shows it."""

from __future__ import annotations

import subprocess

from orchestrator.core.own_process import OwnProcess
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
        with listener:
            handle = listener.fileno()
            self._process = OwnProcess(
                _MODULE,
                *(str(handle), token, title),
                files=[handle],
                connected=True,
                stdout=subprocess.DEVNULL,
            )
        self._channel = self._process.channel
        self._channel.settimeout(_PATIENCE)

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
        self._process.finish(_PATIENCE)
