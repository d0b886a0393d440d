"""Slaves that are served for tests of DCP, and a network between master and slave that fails."""

import heapq
import itertools
import select
import socket
import struct
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

from orchestrator.dcp.dcp_file import archive_of
from orchestrator.dcp.identifiers import Transport
from orchestrator.dcp.server import SlaveServer
from orchestrator.dcp.unit import ServeOptions, ipv4, served_slave

STEP = 0.001


@contextmanager
def serving(what, folder=None, **options):
    """Serve in a thread; yields the slave's description, with its port, and the server."""
    chosen = ServeOptions(**{"step": STEP, **options})
    with served_slave(what, chosen) as served:
        server = SlaveServer(served.description, served.model, chosen.transport, "127.0.0.1", 0)
        place = ipv4("127.0.0.1", server.address[1])
        server.slave.about = about = replace(
            served.description, transports={chosen.transport: place}
        )
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        if folder is not None:
            (folder / "slave.dcp").write_bytes(archive_of(about))
        try:
            yield about, server
        finally:
            server.stop()
            thread.join()
            server.close()


class Relay:
    """Passes datagrams between one master and one slave as a rule says.

    port: Of the slave.
    rule: Takes the way (``"to"`` or ``"from"`` the slave), the type of a PDU, how many of both came
        before, and its bytes; returns what is passed on: pairs of a delay in s and bytes.
    """

    def __init__(self, port, rule):
        self._front, self._back = (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)
        )
        for each in (self._front, self._back):
            each.bind(("127.0.0.1", 0))
        self.port, self.rule = self._front.getsockname()[1], rule
        self._slave, self._master = ("127.0.0.1", port), None
        self.counts, self._queue, self._ticks = {}, [], itertools.count()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()
        self._front.close()
        self._back.close()

    def towards(self, about):
        """Return a description of the slave that leads to the relay."""
        return replace(about, transports={Transport.UDP_IPV4: ipv4("127.0.0.1", self.port)})

    def _run(self):
        while not self._stopped.is_set():
            wait = min(self._queue[0][0] - time.monotonic() if self._queue else 0.02, 0.02)
            for each in select.select([self._front, self._back], [], [], max(wait, 0.0))[0]:
                content, origin = each.recvfrom(65535)
                self._take("to" if each is self._front else "from", content, origin)
            while self._queue and self._queue[0][0] <= time.monotonic():
                *_, way, content = heapq.heappop(self._queue)
                if way == "to":
                    self._back.sendto(content, self._slave)
                else:
                    self._front.sendto(content, self._master)

    def _take(self, way, content, origin):
        if way == "to":
            self._master = origin
            content = self._redirected(content)
        key = way, content[0]
        number = self.counts.get(key, 0)
        self.counts[key] = number + 1
        for delay, each in self.rule(*key, number, content):
            due = time.monotonic() + delay
            heapq.heappush(self._queue, (due, next(self._ticks), way, each))

    def _redirected(self, content):
        """Let the slave send its outputs to the relay, and take its inputs at its own port."""
        ports = {
            0x25: (self._master[1], self._back.getsockname()[1]),
            0x26: (self.port, self._slave[1]),
        }
        if content[0] not in ports:
            return content
        before, after = (struct.pack("<H", port) for port in ports[content[0]])
        return content.replace(before, after)


def only(way, kind, number, change):
    """Return a rule that changes one PDU; ``number`` ``None``: all of the kind."""

    def rule(found_way, found_kind, found_number, content):
        is_it = (found_way, found_kind) == (way, kind) and number in {None, found_number}
        return change(content) if is_it else [(0.0, content)]

    return rule
