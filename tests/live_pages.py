"""Pages that are served: a server in this process, and what a viewer without a browser asks."""

import http.client
import json
import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

import numpy as np

from orchestrator.core.accounts import NamedSocket, page_name
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording import Result
from orchestrator.pictures.live.door import listening, url_of
from orchestrator.pictures.live.messages import Begun, CaseReady
from orchestrator.pictures.live.server import Follower, Server
from orchestrator.pictures.live.shown import Shown

MS = 1_000_000
HOSTILE = "</script><script>alert(1)</script>"


def recording(count=4001, names=("one.x", "one.f", "two.v[0]", "two.v[1]"), **more):
    """Return a run of which each sample is another number."""
    time_ns = np.arange(count) * MS
    phase = time_ns[:, np.newaxis] / 1e9 * (1.0 + np.arange(len(names)))
    units = dict(zip(names, ("m", "N"), strict=False))
    return Result("sway", time_ns, tuple(names), np.sin(phase), units, **more)


@contextmanager
def served(shown, address="0"):
    """Give the address of a page, which is there as long as the test looks."""
    listener, token = listening(address)
    local = NamedSocket(page_name(*listener.getsockname()[:2]), socket.SOCK_STREAM)
    servers = [Server(listener, token, shown), Server(local, "", shown)]
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield url_of(listener, token)
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def asked(url, path, headers=None, method="GET", **given):
    """Return status, headers and content of an answer."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    query = "&".join(filter(None, (place.query if "token" not in given else "", urlencode(given))))
    try:
        connection.request(method, f"/{path}?{query}", headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def state_of(url, **given):
    """Return what changes."""
    status, _, content = asked(url, "state", **given)
    assert status == 200, content
    return json.loads(content)


def wish(url, word):
    """Wish as the page does."""
    own = {"Origin": f"http://{urlsplit(url).netloc}"}
    status, _, content = asked(url, "wish", own, "POST", wish=word)
    assert status == 200, content


def samples_of(url, columns, begin_ns, end_ns, at_ns=0, most=1000, case=0):
    """Return times in s, signals, the row at one time with its time in ns, and if all is exact."""
    given = {"begin_ns": begin_ns, "end_ns": end_ns, "at_ns": at_ns, "most": most, "case": case}
    status, headers, content = asked(url, "samples", columns=",".join(map(str, columns)), **given)
    assert status == 200, content
    about, values = json.loads(headers["X-About"]), np.frombuffer(content, "<f8")
    count = about["count"]
    signals = values[count : count * (1 + len(columns))].reshape(len(columns), count)
    return values[:count], signals, values[count * (1 + len(columns)) :], about


@contextmanager
def deaf_viewer(url, columns):
    """Ask for more than any buffer holds, and take nothing of it."""
    place = urlsplit(url)
    wish = f"columns={columns}&begin_ns=0&end_ns=99999999999&at_ns=0"
    with socket.create_connection((place.hostname, place.port)) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(8):
            known = f"{wish}&most=20000&{place.query}"
            asking = f"GET /samples?case=0&{known} HTTP/1.1\r\nHost: localhost:1\r\n\r\n"
            deaf.sendall(asking.encode())
        yield


class Going:
    """A run whose rows the test writes, as its server sees it."""

    def __init__(self, names=("one.x", "one.f")):
        self.shown = Shown("Going")
        self.follower = Follower(self.shown)
        self.all = recording(3001, names)
        begun = replace(self.all, time_ns=self.all.time_ns[:1], values=self.all.values[:1])
        self.rows, self.count = SharedRows(3000, len(names)), 0
        self.follower.take(Begun("one", "The one", None, ""), None)
        ready = CaseReady(begun, 3000, 3_000_000_000, 1.0)
        self.follower.take(ready, os.dup(self.rows.file))

    def write(self, until):
        """Record so many rows; the last is not yet whole for others."""
        for row in range(self.count, until):
            self.rows.values[row] = self.all.values[row + 1]
            late_ns = 20_000_000 if row == 500 else 30_000 * (row % 2)
            self.rows.clocks_ns[row] = 10**15 + self.all.time_ns[row + 1] + late_ns
            self.rows.times_ns[row] = self.all.time_ns[row + 1]
        self.count = until
        self.rows.told[:] = 7, -500_000, 20_000, 3_000_000
