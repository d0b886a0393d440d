"""A process of units: ``python -m orchestrator.core.simunits.worker SOCKET MEMORY``.

Steps are served natively, from shared memory; everything else comes as messages on the socket.
The process ends with its parent, also in the middle of a step.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from dataclasses import asdict
from typing import Any

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import SoftdockError, class_name
from orchestrator.core.own_process import MARK
from orchestrator.core.simunits import instantiation
from orchestrator.core.simunits.isolation.wire import packed, receive, receive_memory, send
from orchestrator.core.simunits.protocol import SimulationUnit, put_back
from orchestrator.core.system import Component, ComponentOptions, Source, SourceKind
from orchestrator.engine import (
    ProcessBlock,
    SharedBlock,
    Surroundings,
    Unit,
    end_with_master,
    serve,
)


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


#: What the unit answers itself.
_OF_UNIT = frozenset(
    {
        "exit_initialisation",
        "forward_log",
        "initialise_outputs",
        "last_message",
        "last_ns",
        "set_value",
        "set_values",
        "setup",
        "value",
    }
)


class _UnitServer:
    """Does what the messages ask of one unit; one method for each that is not the unit's."""

    unit: SimulationUnit

    def __init__(self, block: SharedBlock) -> None:
        self.block = block
        self.states: dict[int, object] = {}
        self.made = 0

    def call(self, operation: str, arguments: dict[str, Any]) -> Any:
        return getattr(self.unit if operation in _OF_UNIT else self, operation)(**arguments)

    def make(self, component: dict[str, Any]) -> Any:
        source = Source(SourceKind(component["kind"]), component["location"])
        options = ComponentOptions(**component["options"])
        description = Component(
            component["name"], source, values=component["values"], options=options
        )
        self.unit = instantiation.make_unit(description)
        return asdict(self.unit.description.capabilities)

    @property
    def served(self) -> tuple[Unit | None, SharedBlock]:
        return (self.unit.native if hasattr(self, "unit") else None), self.block

    def bind(self, inputs: list[str], outputs: list[str]) -> Any:
        self.unit.bind(inputs, outputs)
        native = self.unit.native
        can = native.can_roll_back, native.input_order
        return [*can, native.has_derivatives, native.has_event_mode]

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

    def notes(self) -> list[str]:
        return list(self.unit.notes)

    def exception(self) -> str:
        error = self.unit.exception()
        return "".join(traceback.format_exception(error)) if error else ""

    def terminate(self) -> None:
        self.states.clear()
        self.unit.terminate()


def _answer(server: _UnitServer, message: dict[str, Any], data: bytes) -> tuple[Any, bytes]:
    """Call and put the result, or the error that was raised, into plain data for the parent."""
    try:
        arguments = message["arguments"] | ({"data": data} if data else {})
        result = server.call(message["call"], arguments)
    except BaseException as error:  # noqa: BLE001 - whatever foreign code raises ends in its parent
        trace = "".join(traceback.format_exception(error))
        if isinstance(error, SoftdockError):
            return {"error": class_name(error), "diagnostics": packed(error), "trace": trace}, b""
        return {"error": "", "text": f"{type(error).__name__}: {error}", "trace": trace}, b""
    if isinstance(result, bytes):
        return {}, result
    return {"result": result}, b""


class _Members:
    """The units of this process, by number, and what they may not change for each other."""

    def __init__(self, *, shared: bool) -> None:
        self.shared = shared
        self.servers: dict[int, _UnitServer] = {}
        self._before = Surroundings()
        SimulationUnit.shares_process = shared

    def serve(self, process: ProcessBlock) -> None:
        """Serve steps until a message lies on the socket."""
        nobody = (None, None)
        count = max(self.servers, default=-1) + 1
        numbers = [self.servers.get(number) for number in range(count)]
        serve(process, [member.served if member else nobody for member in numbers], self.shared)
        if self.shared and any(changed := put_back(self._before)):
            for server in self.servers.values():  # any that stepped meanwhile may have left it
                if hasattr(server, "unit"):
                    server.unit.has_changed(*changed, "stepping")


def main(connection: str, memory: int) -> None:
    """Serve units until the parent says that it is enough, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a run ends
    worker = os.getpid()
    channel = operating_system.taken(connection)
    parent = operating_system.process_handle(os.getppid())
    end_with_master(channel.fileno(), parent, f"{MARK}={os.environ[MARK]}")
    records = _Records()
    logging.getLogger().addHandler(records)
    logging.getLogger("orchestrator").setLevel(logging.DEBUG)  # the parent chooses
    logging.captureWarnings(capture=True)
    with channel:
        hello, _ = receive(channel)
        logging.getLogger().setLevel(hello["level"])
        process = ProcessBlock(memory)
        operating_system.close(memory)
        members = _Members(shared=hello["shared"])
        send(channel, {"result": None, "log": []})
        while True:
            members.serve(process)
            message, data = receive(channel)
            if message["call"] == "quit":
                return
            if message["call"] == "make":
                memory, signals = receive_memory(channel)
                try:
                    block = SharedBlock(memory, signals, signals)
                finally:
                    operating_system.close(memory)
                members.servers[message["member"]] = _UnitServer(block)
            answer, out = _answer(members.servers[message["member"]], message, data)
            if os.getpid() != worker:  # a fork that came back from the unit answers nothing
                os._exit(0)
            send(channel, {**answer, "log": records.take()}, out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
