"""A relay between an adapter and its emulator: ``python -m orchestrator.rig.trials.relay``.

Its last argument is one line of JSON: ``adapter``, whose bench says how its samples are forged;
``places`` as :class:`RelayPlaces`; ``disturbance``, a name in :data:`DISTURBANCES`. It prints one
line when it is there, disturbs from the first content or from SIGUSR1 on, and ends at SIGTERM.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
import tty
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from orchestrator.core.structs import Struct
from orchestrator.rig.devices.conformance import EmulatorProcess, RelayPlaces, bench_of
from orchestrator.rig.trials.disturbances import disturbance
from orchestrator.rig.trials.wire_rules import (
    HALF_CLOSE,
    RESET,
    Leaving,
    Passing,
    Rule,
    Way,
    untouched,
)

_HOST, _OTHER_HOST = "127.0.0.1", "127.0.0.2"
_MOST_BYTES = 65536
#: How long it waits at most, and between two looks at memory, s.
_LOOK_S, _MEMORY_LOOK_S = 0.2, 2.5e-4
#: From a content, the relay's own port and the device's, makes one with addresses of the relay.
Readdressed = Callable[[bytes, int, int], bytes]
_OTHER_WAY: Mapping[Way, Way] = {"up": "down", "down": "up"}


class Queue:
    """What is to leave, by the time when it is due; a stream keeps its order.

    rules: Of both directions, once the disturbance begins.
    in_order: Whether nothing may overtake; what comes again later does not hold up the rest.
    now: A clock in s.
    """

    def __init__(
        self,
        rules: Mapping[Way, Rule],
        *,
        in_order: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rules, self._in_order, self._now = rules, in_order, now
        self._began: float | None = None
        self._counts: dict[Way, int] = {"up": 0, "down": 0}
        self._last: dict[Way, float] = {"up": 0.0, "down": 0.0}
        self._ticks = itertools.count()
        self._waiting: list[tuple[float, int, Way, Leaving]] = []

    def begin(self) -> None:
        """Let the disturbance begin."""
        if self._began is None:
            self._began = self._now()

    def put(self, direction: Way, content: bytes) -> None:
        """Take what came."""
        now, seconds = self._now(), 0.0
        rule: Rule = untouched
        if self._began is not None:
            rule, seconds = self._rules[direction], now - self._began
        passing = Passing(content, self._counts[direction], seconds)
        self._counts[direction] += self._began is not None
        for copy, leaving in enumerate(rule(passing)):
            due = now + leaving.delay_s
            is_again = copy > 0 and leaving.content == content  # which holds nothing up
            if self._in_order and not is_again:
                due = self._last[direction] = max(due, self._last[direction])
            heapq.heappush(self._waiting, (due, next(self._ticks), direction, leaving))

    def wait_s(self) -> float:
        """Return how long nothing is due, s."""
        return max(self._waiting[0][0] - self._now(), 0.0) if self._waiting else _LOOK_S

    def due(self) -> list[tuple[Way, Leaving]]:
        """Return what leaves now."""
        leaving = []
        while self._waiting and self._waiting[0][0] <= self._now():
            _, _, direction, content = heapq.heappop(self._waiting)
            leaving.append((direction, content))
        return leaving

    def clear(self) -> None:
        """Forget what has not left."""
        self._waiting.clear()


class Relay(ABC):
    """What stands between an adapter and its emulator.

    queue: What it does with what passes.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    @abstractmethod
    def sources(self) -> Sequence[socket.socket | int]:
        """Return what may have something to read."""

    @abstractmethod
    def take(self, source: socket.socket | int) -> None:
        """Read, and put it into the queue."""

    @abstractmethod
    def leave(self, direction: Way, leaving: Leaving) -> None:
        """Send."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds."""

    def turn(self) -> None:
        """Wait for a while, and pass on what is due."""
        for source in select.select(self.sources(), [], [], min(self._queue.wait_s(), _LOOK_S))[0]:
            self.take(source)
        for direction, leaving in self._queue.due():
            with contextlib.suppress(OSError):  # nobody listens there any more
                self.leave(direction, leaving)


class UdpRelay(Relay):
    """Two sockets, and two more from which strangers send."""

    def __init__(
        self, endpoints: RelayPlaces, queue: Queue, readdressed: Readdressed | None
    ) -> None:
        super().__init__(queue)
        self._readdressed = readdressed
        self._front = _udp_socket(_HOST, int(endpoints.front))
        self._back = _udp_socket(_HOST, endpoints.back)
        self._senders = {
            "own": self._front,
            "port": _udp_socket(_HOST, 0),
            "host": _udp_socket(_OTHER_HOST, 0),
        }
        self._device, self._adapter = int(endpoints.device), endpoints.adapter

    def sources(self) -> Sequence[socket.socket | int]:
        """Both sockets; what strangers are sent is not passed on."""
        return self._front, self._back

    def take(self, source: socket.socket | int) -> None:
        """Remember who sent it."""
        content, (_, port) = (self._back if source is self._back else self._front).recvfrom(
            _MOST_BYTES
        )
        if source is self._back:
            self._device = port
            self._queue.put("up", content)
        else:
            self._adapter = port
            if self._readdressed is not None:
                here = self._back.getsockname()[1]
                content = self._readdressed(content, here, self._device)
            self._queue.put("down", content)

    def leave(self, direction: Way, leaving: Leaving) -> None:
        """Send it to the other side, if that is known."""
        if direction == "down" and self._device:
            self._back.sendto(leaving.content, (_HOST, self._device))
        elif direction == "up" and self._adapter:
            self._senders[leaving.sender].sendto(leaving.content, (_HOST, self._adapter))

    def close(self) -> None:
        """Close the sockets."""
        for opened in (self._back, *self._senders.values()):
            opened.close()


def _udp_socket(host: str, port: int) -> socket.socket:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((host, port))
    return udp


class TcpRelay(Relay):
    """One connection at a time."""

    def __init__(self, endpoints: RelayPlaces, queue: Queue) -> None:
        super().__init__(queue)
        self._server = socket.create_server((_HOST, int(endpoints.front)))
        self._device = int(endpoints.device)
        self._sides: dict[Way, socket.socket] = {}  # by the way that is sent to it

    def sources(self) -> Sequence[socket.socket | int]:
        """The port, and the connection on both sides."""
        return self._server, *self._sides.values()

    def take(self, source: socket.socket | int) -> None:
        """Take a connection, or what came by it; the end of a side is that of both."""
        if source is self._server:
            self._end()
            adapter, _ = self._server.accept()
            device = socket.create_connection((_HOST, self._device))
            for connection in (adapter, device):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sides = {"up": adapter, "down": device}
            return
        direction: Way = "down" if source is self._sides.get("up") else "up"
        side = self._sides.get(_OTHER_WAY[direction])
        if side is None:
            return
        try:
            content = side.recv(_MOST_BYTES)
        except OSError:
            content = b""
        if content:
            self._queue.put(direction, content)
        else:
            self._end()

    def leave(self, direction: Way, leaving: Leaving) -> None:
        """Send it, or end the connection by half or at once."""
        side = self._sides.get(direction)
        if side is None:
            return
        if leaving.content == HALF_CLOSE:
            side.shutdown(socket.SHUT_WR)
        elif leaving.content == RESET:
            for connection in self._sides.values():
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._end()
        else:
            side.sendall(leaving.content)

    def _end(self) -> None:
        for side in self._sides.values():
            side.close()
        self._sides = {}
        self._queue.clear()

    def close(self) -> None:
        """Close all connections."""
        self._end()
        self._server.close()


class SerialRelay(Relay):
    """A pseudo terminal before another one; lines end with a carriage return."""

    def __init__(self, endpoints: RelayPlaces, queue: Queue) -> None:
        super().__init__(queue)
        self._front, self._slave = os.openpty()
        self._back = os.open(str(endpoints.device), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        for descriptor in (self._slave, self._back):
            tty.setraw(descriptor)
        os.set_blocking(self._front, False)
        self._rests = {self._front: b"", self._back: b""}
        self._link = Path(str(endpoints.front))
        self._link.symlink_to(os.ttyname(self._slave))

    def sources(self) -> Sequence[socket.socket | int]:
        """Both terminals."""
        return self._front, self._back

    def take(self, source: socket.socket | int) -> None:
        """Cut what came into lines."""
        assert isinstance(source, int)  # noqa: S101 - one of the two
        *lines, incomplete = (self._rests[source] + os.read(source, _MOST_BYTES)).split(b"\r")
        self._rests[source] = incomplete
        for line in lines:
            self._queue.put("down" if source == self._front else "up", line + b"\r")

    def leave(self, direction: Way, leaving: Leaving) -> None:
        """Write it."""
        os.write(self._back if direction == "down" else self._front, leaving.content)

    def close(self) -> None:
        """Take the terminal away."""
        self._link.unlink(missing_ok=True)
        for descriptor in (self._front, self._slave, self._back):
            os.close(descriptor)


class _Block(Struct):
    """A block of shared memory with two records, and the counter of each that was seen last."""

    memory: mmap.mmap
    at: Mapping[Way, slice]


class MemoryRelay(Relay):
    """A block like that of the emulator, and a copier of records in both directions."""

    _SHARED = Path("/dev/shm")  # noqa: S108 - that is where it is

    def __init__(self, endpoints: RelayPlaces, queue: Queue) -> None:
        super().__init__(queue)
        self._path = self._SHARED / str(endpoints.front)
        back = (self._SHARED / str(endpoints.device)).read_bytes()
        measured, commanded = struct.unpack_from("<II", back, 8)
        first, second = 32, 64 + 8 * measured
        records: Mapping[Way, slice] = {
            "up": slice(first, second),
            "down": slice(second, second + 32 + 8 * commanded),
        }
        self._path.write_bytes(back[:32] + bytes(len(back) - 32))
        with self._path.open("r+b") as file:
            self._front = _Block(mmap.mmap(file.fileno(), len(back)), records)
        with (self._SHARED / str(endpoints.device)).open("r+b") as file:
            self._back = _Block(mmap.mmap(file.fileno(), len(back)), records)
        self._seen: dict[Way, int] = {"up": 0, "down": 0}

    def sources(self) -> Sequence[socket.socket | int]:
        """None: memory tells nobody."""
        return ()

    def turn(self) -> None:
        """Look whether a record is new."""
        for direction, block in (("up", self._back), ("down", self._front)):
            self._look(_direction(direction), block)
        time.sleep(_MEMORY_LOOK_S)
        for direction, leaving in self._queue.due():
            self.leave(direction, leaving)

    def _look(self, direction: Way, block: _Block) -> None:
        record = block.memory[block.at[direction]]
        (counter,) = struct.unpack_from("<Q", record)
        if (
            counter == self._seen[direction]
            or counter & 1
            or record != block.memory[block.at[direction]]
        ):
            return
        self._seen[direction] = counter
        self._queue.put(direction, record[8:])

    def take(self, source: socket.socket | int) -> None:
        """Nothing comes by itself."""

    def leave(self, direction: Way, leaving: Leaving) -> None:
        """Write a record; where the relay cut it, write the remaining bytes only."""
        block = self._front if direction == "up" else self._back
        at = block.at[direction].start
        (counter,) = struct.unpack_from("<Q", block.memory, at)
        block.memory[at : at + 8] = struct.pack("<Q", counter + 1)
        block.memory[at + 8 : at + 8 + len(leaving.content)] = leaving.content
        block.memory[at : at + 8] = struct.pack("<Q", counter + 2)

    def close(self) -> None:
        """Take the block away."""
        self._path.unlink(missing_ok=True)


def _direction(text: str) -> Way:
    return "up" if text == "up" else "down"


_RELAYS: Mapping[str, Callable[[RelayPlaces, Queue], Relay]] = {
    "tcp": TcpRelay,
    "serial": SerialRelay,
    "memory": MemoryRelay,
}


def relay_process(adapter: str, endpoints: RelayPlaces, name: str) -> EmulatorProcess:
    """Return the process of a relay; its emulator must be there."""
    order = {"adapter": adapter, "places": asdict(endpoints), "disturbance": name}
    return EmulatorProcess("orchestrator.rig.trials.relay", [json.dumps(order)])


def main() -> int:
    """Relay until SIGTERM."""
    order = json.loads(sys.argv[-1])
    endpoints = RelayPlaces(**order["places"])
    selected, bench = disturbance(order["disturbance"]), bench_of(order["adapter"])
    forge = bench.forged or (lambda content, _: content)
    queue = Queue(selected.rules(forge), in_order=endpoints.transport in {"tcp", "serial"})
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, lambda *_: queue.begin())
    if selected.from_first:
        queue.begin()
    relay: Relay
    if endpoints.transport == "udp":
        relay = UdpRelay(endpoints, queue, bench.readdressed)
    else:
        relay = _RELAYS[endpoints.transport](endpoints, queue)
    try:
        sys.stdout.write(json.dumps({endpoints.transport: endpoints.front}) + "\n")
        sys.stdout.flush()
        while not stopped:
            relay.turn()
    finally:
        relay.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
