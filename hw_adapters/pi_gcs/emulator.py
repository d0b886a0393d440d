"""An emulated controller of a hexapod: ``python -m hw_adapters.pi_gcs.emulator --port PORT``.

It answers every client at its TCP port. It reads and writes its text by itself. The faults of
``--fault`` are those of replies to ``POS?`` and ``ERR?`` in one, as in each cycle.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
import time
from collections.abc import Sequence
from functools import partial

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import positive
from hw_adapters.emulation.program import (
    Address,
    Waiting,
    emulate,
    option_parser,
    run_program,
)
from hw_adapters.pi_gcs.hexapod import AXES, Hexapod, Setup

_COLUMNS = ("number", "line", *AXES, *(f"to_{axis}" for axis in AXES))
#: Between two looks at the clock, s.
_TICK = 0.02
_NO_NUMBER = "TCP neither repeats nor reorders, and replies have no number"
_WITHOUT = {
    "duplicate": _NO_NUMBER,
    "reorder": _NO_NUMBER,
    "clock-jump": "replies have no time, and nothing that counts with one",
}


class Server:
    """The controller at its port."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._log, self._sender = log, sender_of(options, log, _WITHOUT)
        self._setup = Setup(
            options.travel, options.velocity, not options.no_reference, options.reference_time
        )
        self._hexapod = self._new_hexapod()
        self._clients: dict[socket.socket, bytes] = {}
        self._lost: list[socket.socket] = []
        self.socket = socket.create_server((options.host, options.port))

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"tcp": self.socket.getsockname()}

    def run(self, waiting: Waiting) -> None:
        """Serve until SIGTERM."""
        while not waiting.stopped:
            tick = time.monotonic() + _TICK
            ready = waiting.wait([self.socket, *self._clients], tick, self._sender.due)
            self._sender.flush()
            if self._sender.restarts():
                self._lost += self._clients  # power was off: nobody says good-bye
                self._clients = {}
                self._hexapod = self._new_hexapod()
                continue
            for readable in ready:
                self._serve(readable)

    def close(self) -> None:
        """Close all connections."""
        for open_socket in (self.socket, *self._clients, *self._lost):
            open_socket.close()

    def _new_hexapod(self) -> Hexapod:
        return Hexapod(self._setup)

    def _serve(self, ready: socket.socket) -> None:
        if ready is self.socket:
            connection, _ = self.socket.accept()
            connection.settimeout(0.0)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._clients[connection] = b""
            return
        try:
            data = ready.recv(65536)
        except OSError:
            data = b""
        if not data:
            ready.close()
            del self._clients[ready]
        elif not self._sender.dead:
            self._take(ready, data)

    def _take(self, client: socket.socket, data: bytes) -> None:
        now = time.monotonic()
        data = self._obey_bytes(client, data, now)
        *lines, self._clients[client] = (self._clients[client] + data).split(b"\n")
        is_cycle = {b"POS?", b"ERR?"} <= {line[:4] for line in lines}
        self._hexapod.is_wrong = is_cycle and self._sender.wrong_status
        self._hexapod.tell = self._reported if is_cycle else list
        replies = [self._answer(line.decode("ascii", "replace").strip(), now) for line in lines]
        reply = "".join(filter(None, replies)).encode()
        if is_cycle:
            self._sender.send(partial(_reply, client), reply)
        elif reply:
            _reply(client, reply)

    def _obey_bytes(self, client: socket.socket, data: bytes, now: float) -> bytes:
        """Obey commands of one byte, which have no end, and return the rest."""
        if b"\x18" in data:
            self._hexapod.stop(now)
            self._log_line("stop", now)
        if b"\x05" in data:
            _reply(client, b"%X\n" % self._hexapod.moving(now))
        if b"\x07" in data:
            _reply(client, b"\xb1\n")
        return data.translate(None, b"\x05\x07\x18")

    def _reported(self, pose: Sequence[float]) -> list[float]:
        return self._sender.values(pose, self._setup.travel)

    def _answer(self, line: str, now: float) -> str | None:
        self._log_line(line, now)
        return self._hexapod.obey(line, now) if line else None

    def _log_line(self, line: str, now: float) -> None:
        here = {axis: f"{x:.9g}" for axis, x in self._hexapod.position(now).items()}
        goal = {f"to_{axis}": f"{x:.9g}" for axis, x in self._hexapod.goal.items()}
        self._log.write("line", line=line, **here, **goal)


def _reply(client: socket.socket, reply: bytes) -> None:
    with contextlib.suppress(OSError):  # it has gone, or takes nothing
        client.send(reply if reply.endswith(b"\n") else reply + b"\n")


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("pi_gcs", "A hexapod that moves straight to its targets.")
    add = parser.add_argument
    add("--port", type=int, default=50000, help="TCP port; 0: any free port (default: %(default)s)")
    add(
        "--travel",
        type=positive,
        default=20.0,
        help="range to either side of 0, mm and degrees (default: %(default)s)",
    )
    add(
        "--velocity",
        type=positive,
        default=10.0,
        help="velocity of the system, mm/s and degrees/s (default: %(default)s)",
    )
    add("--no-reference", action="store_true", help="start without a reference")
    add(
        "--reference-time",
        type=positive,
        default=0.5,
        help="duration of the reference move, s (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    emulate(Server, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
