"""The run's side of the process of a device: its start, its end, and what it says of errors."""

from __future__ import annotations

import errno
import os
import traceback
import weakref
from typing import Any

from orchestrator.core import posix
from orchestrator.core.diagnostics import (
    DeviceError,
    Diagnostic,
    SoftdockError,
    class_name,
    error_named,
)
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simunits.isolation.wire import packed, receive, send, send_memory
from orchestrator.engine import DeviceBlock

_MODULE = "orchestrator.rig.device_units.io_loop"
#: What the start of an interpreter may take, also on a busy machine, in seconds.
_START = 60.0
#: What the way to the safe state may take.
_END = 5.0


class IoProcess:
    """Leads one device in a process of its own.

    component: Whose device it is, for messages.
    location: Of its source.
    commands, measurements: How many scalars it takes and gives.
    """

    def __init__(self, component: str, location: str, commands: int, measurements: int) -> None:
        self._component, self._location = component, location
        self._size = {"commands": commands, "measurements": measurements}
        self._memory = posix.shared_memory(component, DeviceBlock.size(commands, measurements))
        weakref.finalize(self, os.close, self._memory)
        self.block = DeviceBlock(self._memory, commands, measurements)
        self._process: OwnProcess | None = None
        self._error: DeviceError | None = None

    def open(self, seconds: float) -> None:
        """Start the process, and wait until the device is open and its first sample is there.

        seconds: What the device may take for it.
        Raises DeviceError: if it does not open, or the process does not start.
        """
        try:
            self._process = OwnProcess(
                _MODULE,
                self._component,  # for who looks for its process: ps, trials
                connected=True,
                folder="softdock-device-",
            )
        except OSError as error:
            raise self._failed(f"its process cannot be started: {error}") from None
        self._channel, self.pid = self._process.channel, self._process.pid
        try:
            hello = {"component": self._component, "location": self._location}
            send(self._channel, {**hello, **self._size})
            send_memory(self._channel, self._memory, 0)
            answer = self._receive(_START + seconds)
        except (OSError, EOFError, ValueError):
            self.kill()
            raise self._failed(
                "its process ended, or gave no answer, before the device was open; see what it"
                " wrote on stderr"
            ) from None
        if "error" in answer:
            self.kill()
            raise self._raised(answer)

    def error(self) -> DeviceError | None:
        """Return why the device was lost, if it was."""
        if self._error is None and self._is_led:
            try:
                answer = self._receive(0.0)
            except TimeoutError:
                return None
            except (OSError, EOFError, ValueError):
                self._error = self._failed("its process has ended")
                return self._error
            if "error" in answer:
                self._error = self._raised(answer)
        return self._error

    def close(self) -> DeviceError | None:
        """Let the device come to its safe state, and end the process; allowed more than once."""
        if not self._is_led:
            return None
        found = self.error()
        if found is None:
            try:
                send(self._channel, {"call": "quit"})
                answer = self._receive(_END)
                found = self._raised(answer) if "error" in answer else None
            except TimeoutError:
                found = self._failed(
                    f"it did not come to its safe state within {_END:g} s; its process was ended"
                )
            except (OSError, EOFError, ValueError):
                found = self._failed("its process ended before it was in its safe state")
        self.kill()
        return found

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.end()

    @property
    def _is_led(self) -> bool:
        return self._process is not None and self._process.end.alive

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self._process is not None  # noqa: S101 - it is open
        self._process.await_message(self._channel.fileno(), seconds)
        self._channel.settimeout(max(seconds, 1.0))
        content, _ = receive(self._channel)
        if not isinstance(content, dict):
            raise ValueError("no message of a device")  # noqa: TRY004 - damage, as of any other form
        return content

    def _failed(self, why: str) -> DeviceError:
        return DeviceError.about(why, place=f"component '{self._component}' ({self._name})")

    @property
    def _name(self) -> str:
        return f"device '{self._location.partition('?')[0]}'"

    def _raised(self, answer: dict[str, Any]) -> DeviceError:
        kind = error_named(str(answer["error"])) or DeviceError
        found = kind(*(Diagnostic(**each) for each in answer["diagnostics"]))
        context = f"component '{self._component}' ({self._name})"
        if not isinstance(found, DeviceError):
            return DeviceError(*found.within(context))
        return type(found)(*found.within(context))


_ADVICE = {
    errno.EADDRINUSE: "another program has it: end that one, or choose another port",
    errno.EACCES: "a permission is missing: run it as a user who has it",
    errno.EPERM: "a permission is missing: run it as a user who has it",
    errno.ECONNREFUSED: "nothing listens there: is the device on, are address and port right?",
    errno.ENETUNREACH: "there is no route to it: is the network connected?",
    errno.EHOSTUNREACH: "there is no route to it: is the network connected?",
}


def error_text(error: BaseException) -> str:
    """Say what an error is, and what helps against those of the system."""
    if isinstance(error, SoftdockError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _ADVICE:
        return f"{error.strerror}: {_ADVICE[error.errno]}"
    return f"{type(error).__name__}: {error}"


def told(error: BaseException) -> dict[str, Any]:
    """Put an error into plain data for the run."""
    trace = "".join(traceback.format_exception(error))
    if not isinstance(error, SoftdockError):
        error = DeviceError(error_text(error))
    return {"error": class_name(error), "diagnostics": packed(error), "trace": trace}
