"""An emulated controller: ``python -m hw_adapters.ur_rtde.emulator --port PORT``.

It is the clock: a package for each cycle to every client that asked, at absolute deadlines. It
reads and writes its packages by itself. On the robot runs a program that follows the registers.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import add_tracking_options
from hw_adapters.emulation.program import (
    Address,
    Waiting,
    emulate,
    option_parser,
    run_program,
)
from hw_adapters.ur_rtde.robot import Robot, Setup
from hw_adapters.ur_rtde.still_variables import STILL

_COLUMNS = (
    "number",
    "cycle",
    *(f"wanted_{i}" for i in range(6)),
    *(f"actual_{i}" for i in range(6)),
)
_FORMATS = {"DOUBLE": "d", "UINT32": "I", "UINT64": "Q", "INT32": "i"}
_FORMATS |= {"VECTOR3D": "3d", "VECTOR6D": "6d", "VECTOR6INT32": "6i"}
#: The end of what a joint turns, either side, in rad; what a saturated sensor shows in any unit.
_LARGEST = math.tau
#: Of the controller, by its rate: an e-Series, a CB3.
_SOFTWARE = {500: (5, 11, 0, 0), 125: (3, 15, 0, 0)}
_KINDS = {"V": 86, "v": 118, "O": 79, "I": 73, "S": 83, "P": 80, "U": 85, "M": 77}


class Client:
    """One connection: what it has agreed with the controller."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.rest = b""
        self.outputs: list[str] = []
        self.inputs: dict[int, list[str]] = {}
        self.every = 1
        self.is_running = False

    def send(self, kind: str, content: bytes) -> None:
        """Send a package; a client that takes nothing loses it."""
        with contextlib.suppress(OSError):
            self.socket.send(struct.pack(">HB", 3 + len(content), _KINDS[kind]) + content)


class Server:
    """The controller at its port."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log)
        self._setup = Setup(
            options.rate,
            options.program,
            options.space,
            options.first_register,
            options.counter_register,
            options.watchdog,
            options.delay,
            options.bandwidth,
            options.damping,
        )
        self._robot = Robot(self._setup)
        self._clients: list[Client] = []
        self._lost: list[Client] = []
        self.socket = socket.create_server((options.host, options.port))

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"tcp": self.socket.getsockname()}

    def run(self, waiting: Waiting) -> None:
        """Serve until SIGTERM."""
        deadline = time.monotonic()
        while not waiting.stopped:
            sockets = [self.socket, *(c.socket for c in self._clients)]
            ready = waiting.wait(sockets, deadline, self._sender.due)
            self._sender.flush()
            for readable in ready:
                self._serve(readable)
            if time.monotonic() >= deadline:
                self._cycle()
                deadline += 1.0 / self._setup.rate

    def close(self) -> None:
        """Close all connections."""
        for client in (*self._clients, *self._lost):
            client.socket.close()
        self.socket.close()

    def _serve(self, ready: socket.socket) -> None:
        if ready is self.socket:
            connection, _ = self.socket.accept()
            connection.settimeout(0.0)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._clients.append(Client(connection))
            return
        client = next(c for c in self._clients if c.socket is ready)
        try:
            data = client.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            client.socket.close()
            self._clients.remove(client)
        elif not self._sender.dead:
            self._take(client, data)

    def _take(self, client: Client, data: bytes) -> None:
        client.rest += data
        while len(client.rest) >= 3:
            size = client.rest[0] << 8 | client.rest[1]
            if size < 3 or len(client.rest) < size:
                return
            package, client.rest = client.rest[:size], client.rest[size:]
            self._obey(client, package[2], package[3:])

    def _obey(self, client: Client, kind: int, content: bytes) -> None:
        if kind == _KINDS["V"]:
            client.send("V", bytes((content == b"\0\2",)))
        elif kind == _KINDS["v"]:
            client.send("v", struct.pack(">4I", *_SOFTWARE[self._setup.rate]))
        elif kind == _KINDS["O"] and len(content) >= 8:
            (frequency,) = struct.unpack(">d", content[:8])
            client.every = max(1, round(self._setup.rate / max(frequency, 1.0)))
            client.outputs, types = self._sendable(content[8:])
            client.send("O", bytes((bool(client.outputs),)) + types)
        elif kind == _KINDS["I"]:
            client.send("I", self._free(client, content))
        elif kind == _KINDS["S"]:
            client.is_running = bool(client.outputs)
            client.send("S", bytes((client.is_running,)))
        elif kind == _KINDS["P"]:
            client.is_running = False
            client.send("P", b"\1")
        elif kind == _KINDS["U"]:
            self._write(client, content)

    def _sendable(self, content: bytes) -> tuple[list[str], bytes]:
        """Return names that all can be sent, and what is said of each."""
        variables = {
            name: kind
            for name, (kind, _) in (STILL | {**self._robot.variables()}).items()
            if name not in self._options.refuse
        }
        names = _names(content)
        types = [self._type(name, variables) for name in names]
        return ([] if "NOT_FOUND" in types else names), ",".join(types).encode()

    def _type(self, name: str, variables: dict[str, str]) -> str:
        """Return the type of an output; input registers can be read as well."""
        refused = "NOT_FOUND" if name in self._options.refuse else _register(name)
        return variables.get(name, refused)

    def _value(
        self, name: str, variables: dict[str, tuple[str, Sequence[float]]]
    ) -> tuple[str, Sequence[float]]:
        if name in variables:
            return variables[name]
        return STILL.get(name) or (_register(name), (self._robot.registers.get(name, 0),))

    def _free(self, client: Client, content: bytes) -> bytes:
        """Give a client inputs that nobody has, as another of its recipes; return its number."""
        recipes = (recipe for client in self._clients for recipe in client.inputs.values())
        taken = {name for recipe in recipes for name in recipe}
        names = _names(content)
        types = ["IN_USE" if name in taken else _register(name) for name in names]
        number = 0
        if not {"IN_USE", "NOT_FOUND"} & {*types}:
            number = 1 + len(client.inputs)
            client.inputs[number] = names
        return bytes((number,)) + ",".join(types).encode()

    def _write(self, client: Client, content: bytes) -> None:
        names = client.inputs.get(content[0], []) if content else []
        layout = ">B" + "".join(_FORMATS[_register(name)] for name in names)
        if names and len(content) == struct.calcsize(layout):
            values = struct.unpack(layout, content)[1:]
            self._robot.registers |= dict(zip(names, values, strict=True))

    def _cycle(self) -> None:
        if self._sender.restarts():
            self._lost += self._clients  # power was off: nobody says good-bye
            self._clients = []
            position = tuple(self._robot.position.tolist())  # it does not move while it is off
            self._robot = Robot(replace(self._setup, start=position))
        self._robot.is_stopped = self._sender.wrong_status
        happened = self._robot.next_cycle()
        if happened:
            self._log.write(happened, cycle=self._robot.cycle)
        self._log_motion()
        variables = self._reported()
        for client in self._clients:
            if client.is_running and self._robot.cycle % client.every == 0:
                parts = (self._value(name, variables) for name in client.outputs)
                content = b"".join(struct.pack(f">{_FORMATS[t]}", *values) for t, values in parts)
                self._sender.send(partial(client.send, "U"), b"\1" + content)

    def _reported(self) -> dict[str, tuple[str, Sequence[float]]]:
        """Return the variables as they are said, vectors with their faults."""
        variables: dict[str, tuple[str, Sequence[float]]] = dict(self._robot.variables())
        for part, (name, (kind, values)) in enumerate(variables.items()):
            if kind == "VECTOR6D":
                variables[name] = kind, self._sender.values(values, _LARGEST, part=part)
        seconds, (now,) = variables["timestamp"]
        variables["timestamp"] = seconds, (now + self._sender.clock_jump_s,)
        return variables

    def _log_motion(self) -> None:
        cells = {f"wanted_{i}": f"{x:.9g}" for i, x in enumerate(self._robot.wanted)}
        cells |= {f"actual_{i}": f"{x:.9g}" for i, x in enumerate(self._robot.position)}
        self._log.write("cycle", cycle=self._robot.cycle, **cells)


def _names(content: bytes) -> list[str]:
    """Read the names of a recipe; some clients end it with a comma, too."""
    return content.decode("ascii", "replace").removesuffix(",").split(",")


def _register(name: str) -> str:
    kind, _, number = name.rpartition("_")
    kinds = {"input_double_register": "DOUBLE", "input_int_register": "INT32"}
    return kinds.get(kind, "NOT_FOUND") if number.isdecimal() and int(number) < 48 else "NOT_FOUND"


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("ur_rtde", "A robot of Universal Robots, led by registers.")
    add = parser.add_argument
    add(
        "--port",
        type=int,
        default=30004,
        help="TCP port of RTDE; 0: any free port (default: %(default)s)",
    )
    add(
        "--rate",
        type=int,
        choices=(125, 500),
        default=500,
        help="cycles per second, Hz (default: %(default)s)",
    )
    add(
        "--program",
        choices=("follow", "move"),
        default="follow",
        help="program on the robot (default: %(default)s)",
    )
    add("--space", choices=("joint", "cartesian"), help="space in which the program moves")
    add(
        "--first-register",
        type=int,
        default=0,
        help="first of six double registers that the program reads (default: %(default)s)",
    )
    add(
        "--counter-register",
        type=int,
        default=0,
        help="integer register that must grow (default: %(default)s)",
    )
    add(
        "--watchdog",
        type=float,
        default=10.0,
        help="lowest rate at which the counter must grow, Hz; 0: none (default: %(default)s)",
    )
    add_tracking_options(parser, delay_ms=8.0)
    add(
        "--refuse",
        action="append",
        default=[],
        help="variable that this controller lacks; repeatable",
    )
    options = parser.parse_args(arguments)
    if options.space is None:  # the program of UR's example moves to a pose
        options.space = "cartesian" if options.program == "move" else "joint"
    emulate(Server, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
