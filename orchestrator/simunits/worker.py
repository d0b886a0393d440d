"""The process of one unit: ``python -m orchestrator.simunits.worker SOCKET MEMORY``.

Steps are served natively, from shared memory; everything else comes as messages on the socket.
The process ends with its parent, also in the middle of a step.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from orchestrator.engine import SharedBlock, end_with_master, serve
from orchestrator.errors import SoftdockError
from orchestrator.simunits import registry
from orchestrator.simunits.block_place import class_at
from orchestrator.simunits.unit import SimulationUnit
from orchestrator.simunits.wire import receive, send
from orchestrator.system import Component, Source, SourceKind, UnitOptions


class _Records(logging.Handler):
    """Keeps what is logged until the next answer takes it along."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append((record.name, record.levelno, record.getMessage()))

    def take(self) -> list[tuple[str, int, str]]:
        taken, self.kept = self.kept, []
        return taken


class _Server:
    """Does what the messages ask for; one method for each."""

    unit: SimulationUnit

    def __init__(self) -> None:
        self.states: dict[int, object] = {}
        self.made = 0

    def make(self, component: dict[str, Any], place: dict[str, str]) -> Any:
        source = Source(SourceKind(component["kind"]), component["location"])
        if place:
            registry.know(source.location, class_at(place))
        options = UnitOptions(**component["options"])
        made = Component(component["name"], source, values=component["values"], options=options)
        self.unit = registry.make_unit(made)
        return asdict(self.unit.description.capabilities)

    def bind(self, inputs: list[str], outputs: list[str]) -> Any:
        self.unit.bind(inputs, outputs)
        native = self.unit.native
        can = native.can_roll_back, native.takes_slopes
        return [*can, native.has_derivatives, native.has_event_mode]

    def set_values(self, values: dict[str, Any]) -> None:
        self.unit.set_values(values)

    def set_value(self, name: str, value: Any) -> None:
        self.unit.set_value(name, value)

    def setup(self, start: int, stop: int | None, tolerance: float | None) -> None:
        self.unit.setup(start, stop, tolerance)

    def initialise_outputs(self, start: int) -> None:
        self.unit.initialise_outputs(start)

    def exit_initialisation(self) -> None:
        self.unit.exit_initialisation()

    def value(self, name: str) -> Any:
        return self.unit.value(name)

    def last_ns(self, time: int) -> int:
        return self.unit.last_ns(time)

    def _keep(self, state: object) -> int:
        self.made += 1
        self.states[self.made] = state
        return self.made

    def get_state(self) -> int:
        return self._keep(self.unit.get_state())

    def set_state(self, state: int) -> None:
        self.unit.set_state(self.states[state])

    def drop_states(self, states: list[int]) -> None:
        for state in states:
            del self.states[state]

    def serialize(self, state: int) -> bytes:
        return self.unit.serialize(self.states[state])

    def deserialize(self, data: bytes) -> int:
        return self._keep(self.unit.deserialize(data))

    def save(self) -> bytes:
        return self.unit.serialize(self.unit.get_state())

    def resume(self, data: bytes) -> None:
        self.unit.set_state(self.unit.deserialize(data))

    def notices(self) -> list[dict[str, Any]]:
        return [asdict(notice) for notice in self.unit.notices()]

    def exception(self) -> str:
        found = self.unit.exception()
        return "".join(traceback.format_exception(found)) if found else ""

    def forward_log(self) -> None:
        self.unit.forward_log()

    def terminate(self) -> None:
        self.states.clear()
        self.unit.terminate()


def _answer(method: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, bytes]:
    """Call and put the result, or the error that was raised, into words for the parent."""
    try:
        result = method(**arguments)
    except BaseException as error:  # noqa: BLE001 - whatever foreign code raises ends in its parent
        known = isinstance(error, SoftdockError)
        return {
            "error": type(error).__name__ if known else "",
            "text": str(error) if known else f"{type(error).__name__}: {error}",
            "trace": "".join(traceback.format_exception(error)),
        }, b""
    if isinstance(result, bytes):
        return {}, result
    return {"result": result}, b""


def main(socket_file: int, memory: int) -> None:
    """Serve one unit until the parent says that it is enough, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a run ends
    end_with_master(socket_file, os.pidfd_open(os.getppid()))
    records = _Records()
    logging.getLogger().addHandler(records)
    logging.getLogger("orchestrator").setLevel(logging.DEBUG)  # the parent chooses
    logging.captureWarnings(capture=True)
    with socket.socket(fileno=socket_file) as channel:
        hello, _ = receive(channel)
        logging.getLogger().setLevel(hello["level"])
        block = SharedBlock(memory, hello["signals"], hello["signals"])
        os.close(memory)
        server = _Server()
        send(channel, {"result": None, "log": []})
        while True:
            if hasattr(server, "unit"):
                serve(server.unit.native, block)
            message, data = receive(channel)
            if message["call"] == "quit":
                return
            arguments = message["arguments"] | ({"data": data} if data else {})
            answer, out = _answer(getattr(server, message["call"]), arguments)
            send(channel, {**answer, "log": records.take()}, out)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
