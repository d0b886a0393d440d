"""The run's side of processes that show it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from orchestrator.core.own_process import OwnProcess
from orchestrator.pictures.live.messages import Ended, Message, Wish, receive_wish, send
from orchestrator.pictures.live.server import listening, url_of

_MODULE = "orchestrator.pictures.live.viewing"
#: s, in which the process takes a message, and in which it ends.
_PATIENCE = 5.0


class Beside:
    """A process that is told what is new of a run; one that does not listen is left alone.

    Parameters
    ----------
    module, arguments
        What it is; before the arguments stands the descriptor of its channel.
    what
        It does, for ``lost``.
    files
        Descriptors that it inherits.

    Attributes
    ----------
    lost
        Why it is told nothing any more; empty while it is.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], what: str, files: Sequence[int] = ()
    ) -> None:
        self.lost, self._what = "", what
        self._process = OwnProcess(
            module, *arguments, files=files, connected=True, stdout=subprocess.DEVNULL
        )
        self._channel = self._process.channel
        self._channel.settimeout(_PATIENCE)

    def say(self, message: Message, memory: int | None = None) -> None:
        """Send a message."""
        if self.lost:
            return
        try:
            send(self._channel, message, memory)
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        self.lost = f"the run went on without its {self._what}: {error.strerror or error}"

    def end(self, why: str) -> None:
        """Say why nothing more will come, and wait until it has gone."""
        self.say(Ended(why))
        self._channel.close()
        self._process.finish(_PATIENCE)


class Viewing(Beside):
    """Shows a run to browsers; it ends when those who look know that the run has ended.

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

    Raises
    ------
    DescriptionError
        If the address cannot be listened to.
    """

    def __init__(self, address: str, title: str) -> None:
        listener, token = listening(address)
        self.url = url_of(listener, token)
        with listener:
            file = listener.fileno()
            super().__init__(_MODULE, (str(file), token, title), "live view", (file,))

    def wish(self, *, waits: bool) -> Wish | None:
        """Return what a viewer wishes; ``None``: nothing; having waited: nobody can any more."""
        if self.lost:
            return None
        try:
            return receive_wish(self._channel, waits=waits)
        except OSError as error:
            self._lose(error)
            return None
