"""The parent's side of a process of units: its start, its messages, its end."""

from __future__ import annotations

import logging
import os
import sys
import weakref
from collections.abc import Mapping
from functools import cache
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import (
    CapabilityError,
    Diagnostic,
    LoadError,
    StepError,
    error_named,
)
from orchestrator.core.files.plain_data import misfit
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simunits.isolation.wire import Interruption, receive, send, send_memory
from orchestrator.core.simunits.protocol import Capabilities, Notice
from orchestrator.engine import ProcessBlock, RemoteProcess, RemoteUnit, SharedBlock


class Answer(TypedDict):
    """One answer: what was logged since the last, and a result or an error.

    An error of Softdock has its class and its diagnostics, another one its text.
    """

    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]
    log: list[tuple[str, int, str]]
    error: NotRequired[str]
    diagnostics: NotRequired[Any]
    text: NotRequired[str]
    trace: NotRequired[str]
    result: NotRequired[Any]


#: Of the calls that return something, and of what an error carries.
_RESULTS: Mapping[str, Any] = {
    "diagnostics": list[Diagnostic],
    "make": Capabilities,
    "bind": tuple[bool, int, bool, bool],
    "get_state": int,
    "deserialize": int,
    "notices": list[Notice],
    "notes": list[str],
    "last_ns": int,
    "exception": str,
    "last_message": str,
}


def answer_of(content: Any) -> Answer:
    """Take a message for an answer."""
    answer: Answer = _checked(_form(""), content)
    if "error" in answer and not {"diagnostics" if answer["error"] else "text", "trace"} <= {
        *answer
    }:
        raise ValueError("an error without what it says")
    if "diagnostics" in answer:
        answer["diagnostics"] = _checked(_form("diagnostics"), answer["diagnostics"])
    return answer


def result_of(operation: str, answer: Answer) -> Any:
    """Return the result of a call."""
    result = answer.get("result")
    if operation == "value" and (result is None or isinstance(result, dict)):
        raise ValueError(f"no value: {result!r}")
    return _checked(_form(operation), result) if operation in _RESULTS else result


def _checked(form: TypeAdapter[Any], content: Any) -> Any:
    try:
        return form.validate_python(content)
    except ValidationError as error:
        raise ValueError(misfit(error)) from None


@cache
def _form(operation: str) -> TypeAdapter[Any]:
    return TypeAdapter(_RESULTS[operation] if operation else Answer)


#: What the start of an interpreter, and then that of a unit, may take, also on a busy machine.
_START_SECONDS = 60.0
_MODULE = "orchestrator.core.simunits.worker"


class RemoteTraceback(Exception):  # noqa: N818 - not raised: the cause of what is
    """The traceback of an exception in another process, as text."""

    def __str__(self) -> str:
        return "\n" + "".join(self.args)


class WorkerProcess:
    """Starts a process and speaks with it; another may take its place.

    The shared memory has no name, so nothing is left of it when both processes are gone.

    name: The component that needs it, for messages.
    shared: The name by which components share it; empty if it is one component's own.
    Raises LoadError: if the process does not start.
    Raises CapabilityError: if this process is itself a worker.
    """

    def __init__(self, name: str, shared: str = "") -> None:
        spec = getattr(sys.modules["__main__"], "__spec__", None)
        if spec is not None and spec.name == _MODULE:
            raise CapabilityError(
                f"component '{name}': a worker cannot start workers; a script that defines blocks"
                " and runs them in processes of their own runs only under"
                " `if __name__ == '__main__':`"
            )
        self._name = name
        self.shared = shared
        self._owner = os.getpid()
        self._memory = operating_system.shared_memory(shared or name, ProcessBlock.size())
        weakref.finalize(self, operating_system.close, self._memory)
        self.native = RemoteProcess(shared, self._memory)
        #: Of each unit its memory, the signals that this is for, and the seconds of a call.
        self._members: dict[int, tuple[int, int, float]] = {}
        self._patience = 0.0
        self._start()

    def enter(self, name: str, signals: int, limit_ns: int) -> RemoteUnit:
        """Take a unit in, which is made there by the next call.

        name: The component's name.
        signals: Scalar signals that may at most be bound, as inputs and as outputs.
        limit_ns: How long a call may take, in nanoseconds of wall time.
        """
        memory = operating_system.shared_memory(name, SharedBlock.size(signals, signals))
        weakref.finalize(self, operating_system.close, memory)
        unit = RemoteUnit(self.native, name, memory, signals, signals)
        unit.limit(limit_ns)
        self._patience = max(self._patience, limit_ns / 1e9)
        self._members[unit.number] = memory, signals, limit_ns / 1e9
        return unit

    def leave(self, unit: RemoteUnit, *, at_once: bool = False) -> None:
        """Let go of a unit; with the last one the process ends."""
        self._members.pop(unit.number, None)
        if self._members:
            return
        if not at_once:
            self._quit()
        self.close()

    def _start(self) -> None:
        memory = self._memory
        try:
            # The worker finds the same modules; what it writes is removed by us, however it ends.
            self._process = OwnProcess(
                _MODULE, str(memory), files=[memory], connected=True, folder="softdock-worker-"
            )
        except OSError as error:
            raise self._no_start(str(error)) from None
        self._channel, self.pid = self._process.channel, self._process.pid
        self.native.attach(self._process.handle)
        try:
            send(self._channel, {"shared": bool(self.shared), "level": logging.getLogger().level})
            self._receive(_START_SECONDS)
        except (OSError, EOFError, ValueError):
            ended = self._process.wait(0.1)
            reason = self.native.end() if ended else f"no answer within {_START_SECONDS:g} s"
            self.close()
            raise self._no_start(reason) from None

    def _no_start(self, reason: str) -> LoadError:
        return LoadError(
            f"component '{self._name}': the process of its own cannot be started with"
            f" {sys.executable}: {reason}; see its output on stderr, or choose isolation 'none'"
        )

    def restart(self) -> None:
        """End the process and start another one in its place."""
        self.close()
        self._start()

    def call(
        self,
        unit: RemoteUnit,
        doing: str,
        operation: str,
        arguments: Mapping[str, Any],
        data: bytes = b"",
    ) -> tuple[Any, bytes]:
        """Let the worker do something with a unit, and wait for its answer."""
        if os.getpid() != self._owner:
            raise StepError(
                f"component '{unit.name}' failed while {doing}: this process is a fork of the one"
                " that runs it; make an Execution of its own here"
            )
        unit.flush()
        if unit.lost:
            raise _failed(unit, doing)
        memory, signals, limit = self._members[unit.number]
        is_made = operation != "make"
        if not is_made:  # that reads and imports: it belongs to the start
            limit = max(limit, _START_SECONDS)
        message = {"call": operation, "member": unit.number, "arguments": dict(arguments)}
        try:
            with Interruption():
                send(self._channel, message, data)
                if not is_made:
                    send_memory(self._channel, memory, signals)
                unit.ring()
                content, out = self._receive(limit)
            answer = answer_of(content)
            result = None if "error" in answer else result_of(operation, answer)
        except TimeoutError:
            reason = f"no answer within {limit:g} s, so its process was ended"
            unit.lose(unit.late() if is_made else reason)
            raise _failed(unit, doing) from None
        except (OSError, EOFError):
            unit.lose(self.native.end() if self._process.wait(1.0) else "its process hung up")
            raise _failed(unit, doing) from None
        except ValueError as error:
            unit.lose(f"its process sent no answer: {error}")
            raise _failed(unit, doing) from None
        for logger, level, text in answer["log"]:
            logging.getLogger(logger).log(level, "%s", text)
        if "error" in answer:
            raise _raised(unit, answer, doing) from RemoteTraceback(answer["trace"])
        return result, out

    def _receive(self, seconds: float) -> tuple[Any, bytes]:
        self._process.await_message(self._channel, seconds)
        self._channel.settimeout(seconds)
        return receive(self._channel)

    def _quit(self) -> None:
        """Let the worker free its units and end, if it still can."""
        if not self._process.end.alive or self.native.lost or os.getpid() != self._owner:
            return
        try:
            send(self._channel, {"call": "quit"})
            self.native.ring()
            self._process.wait(self._patience)
        except OSError as error:
            if not isinstance(error, (BrokenPipeError, ConnectionError)):
                raise

    def close(self) -> None:
        """End the process at once; allowed more than once."""
        if not self.native.lost:
            self.native.lose("its process was ended")
        self._process.end()


def _failed(unit: RemoteUnit, doing: str) -> StepError:
    return StepError(f"component '{unit.name}' failed while {doing}: {unit.loss}")


def _raised(unit: RemoteUnit, answer: Answer, doing: str) -> Exception:
    if answer["error"]:
        return (error_named(answer["error"]) or StepError)(*answer["diagnostics"])
    return StepError(f"component '{unit.name}' failed while {doing}: {answer['text']}")
