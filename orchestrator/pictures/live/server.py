"""Serves what is shown of a run to browsers: a page, and what its script asks for.

A viewer requests what it is about to draw, and receives nothing else, so a viewer that is
slow, comes late or loads the page again needs no care, and one that takes no answer holds only the
thread that answers it. Plain HTTP of the standard library does this.

While a run goes on a process of its own serves it, ``python -m`` by :class:`.extension.Viewing`. It
is told of the run by messages, and reads its rows in the memory that the run records in. It goes
when the run ends, as soon as those who look know that.
"""

from __future__ import annotations

import hmac
import json
import math
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import numpy as np

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.realtime import SharedRows
from orchestrator.core.structs import MutableStruct, field
from orchestrator.pictures.drawing.page import environment, policy_of
from orchestrator.pictures.live.door import LONGEST_REQUEST, Door, Head, is_local
from orchestrator.pictures.live.messages import (
    MARK,
    SET,
    Answered,
    Begun,
    CaseReady,
    Done,
    Ended,
    Intervals,
    Message,
    Opened,
    Said,
    SampleFinder,
    Stands,
    Wish,
    receive,
    send_wish,
)
from orchestrator.pictures.live.shown import Shown, ShownCase, signals_of
from orchestrator.pictures.report import TEMPLATES, figure_style, script_of, uplot

#: s, in which a viewer must take an answer, or ask again.
PATIENCE = 10.0
#: Samples of a signal in one answer, and of all its signals: of more signals there are fewer each.
_MOST_SAMPLES, _MOST_VALUES = 20_000, 1 << 20
#: Rows that are looked through for one sample, at most, where extremes are sent.
_LOOKED_THROUGH = 32
#: Viewers whose names are kept, and the length of a name.
_MOST_NAMES, _LONGEST_NAME = 256, 40
_PORT_AT_END = re.compile(r":\d+$")


class Server(Door):
    """Answers those who look at a run, or command it.

    listener, token: See :class:`Door`.
    shown: What they see.
    """

    def __init__(self, listener: socket.socket, token: str, shown_run: Shown) -> None:
        is_port = listener.family in {socket.AF_INET, socket.AF_INET6}
        super().__init__(listener, _Viewer if is_port else _Local, token)
        self.names = {"localhost", listener.getsockname()[0]} if is_port else set()
        self.shown = shown_run
        #: When each viewer last asked, and whether it knows that nothing more will come.
        self.seen: dict[str, tuple[float, bool]] = {}

    def wait_until_told(self, seconds: float) -> None:
        """Wait until those who look know that nothing more will come, for so long at most."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.shown.is_asked:
                time.sleep(0.02)
                continue
            looking = [
                was_told for at, was_told in list(self.seen.values()) if until - seconds - at < 1.5
            ]
            if all(looking):
                return
            time.sleep(0.02)


class _RefusedError(Exception):
    """Why a viewer's request is refused."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Viewer(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "softdock", ""
    timeout = PATIENCE
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def setup(self) -> None:
        """Read no more than a budget for each request."""
        super().setup()
        self._head = Head(self.rfile)
        self.rfile: Any = self._head

    def handle_one_request(self) -> None:
        """Answer one request; the next has a budget of its own."""
        self._head.left = LONGEST_REQUEST
        super().handle_one_request()

    def do_GET(self) -> None:
        """Answer a request."""
        self._answer(self._ANSWERS)

    def do_POST(self) -> None:
        """Let the run have a wish: only the page's own script can ask so."""
        self.close_connection = True  # whatever else was sent with it
        self._answer({} if self.headers.get("Origin") is None else self._WISHES)

    def _answer(self, answers: Mapping[str, _Answer]) -> None:
        address = urlsplit(self.path)
        fields = parse_qs(address.query, keep_blank_values=True)
        query = {name: values[-1] for name, values in fields.items()}
        answer = answers.get(address.path)
        try:
            self._expect_known(query.get("token", ""), page=answer is _Viewer._page)
            self.server.welcome(self.connection)
            if answer is None:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")
            answer(self, query)
        except _RefusedError as refused:
            self.close_connection = True
            self._send(f"{refused}\n".encode(), "text/plain; charset=utf-8", refused.status)
        except KeyError as error:
            message = f"expected {error} in the address\n".encode()
            self._send(message, "text/plain; charset=utf-8", HTTPStatus.BAD_REQUEST)
        except (DescriptionError, ValueError, OverflowError) as error:
            message = f"{type(error).__name__}: {error}\n".encode()
            self._send(message, "text/plain; charset=utf-8", HTTPStatus.BAD_REQUEST)
        except OSError:  # the viewer is gone
            raise
        except Exception as error:  # whatever it is, the viewer receives the error
            message = f"{type(error).__name__}: {error}\n".encode()
            self._send(message, "text/plain; charset=utf-8", HTTPStatus.INTERNAL_SERVER_ERROR)
            raise

    def _expect_known(self, token: str, *, page: bool) -> None:
        """Expect one who knows the token, or is of this account; and no page of another site."""
        server, host = self.server, self.headers.get("Host", "")
        if not server.is_port:
            return
        if not hmac.compare_digest(token.encode(), server.token.encode()):
            raise _RefusedError(
                HTTPStatus.FORBIDDEN,
                "expected the token that the run printed: open that address as it stands there",
            )
        host_name = _PORT_AT_END.sub("", host).strip("[]")
        if is_local(server.socket) and host_name not in server.names:
            # a name of another site that was made to lead here
            raise _RefusedError(
                HTTPStatus.FORBIDDEN, f"expected this machine's own name, found {host}"
            )
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            raise _RefusedError(HTTPStatus.FORBIDDEN, f"pages of {origin} may not look")
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if not page and site not in {"same-origin", "none"}:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "pages of other sites may not look")

    def _wish(self, query: Mapping[str, str]) -> None:
        self.server.shown.wish(query["wish"])
        self._send_json({})

    def _set(self, query: Mapping[str, str]) -> None:
        ramp = float(query["ramp"]) if query.get("ramp") else None
        setting = query["name"], query["value"], ramp, _who(query)
        self._grant(partial(self.server.shown.ask, Wish(SET, "", 0, *setting)))

    def _mark(self, query: Mapping[str, str]) -> None:
        wish = Wish(MARK, text=query["text"], by=_who(query))
        self._grant(partial(self.server.shown.ask, wish))

    def _operate(self, query: Mapping[str, str]) -> None:
        viewer = query.get("viewer", "")[:_LONGEST_NAME]
        self._grant(partial(self.server.shown.operate, query["wish"], viewer))

    def _grant(self, request: Callable[[], None]) -> None:
        """Do what is requested, or answer why it is refused."""
        try:
            request()
        except SoftdockError as error:
            self._send_json({"refused": str(error)})
        else:
            self._send_json({})

    def _page(self, _query: Mapping[str, str]) -> None:
        text, policy = live_page(self.server.shown.title)
        more = {"Content-Security-Policy": policy}
        self._send(text.encode(), "text/html; charset=utf-8", more=more)

    def _state(self, query: Mapping[str, str]) -> None:
        viewer = query.get("viewer", "")[:_LONGEST_NAME]
        state = self.server.shown.state(viewer)
        if viewer:
            viewers = self.server.seen
            viewers.pop(viewer, None)
            viewers[viewer] = time.monotonic(), "done" in query
            for oldest in list(viewers)[:-_MOST_NAMES]:
                viewers.pop(oldest, None)
        self._send_json(state)

    def _case(self, query: Mapping[str, str]) -> None:
        self._send_json(self.server.shown.case(int(query["case"])))

    def _samples(self, query: Mapping[str, str]) -> None:
        """Answer doubles: times in s, then each signal, then a whole row at one time."""
        shown_run, number = self.server.shown, int(query["case"])
        columns = [int(item) for item in query.get("columns", "").split(",") if item]
        if not all(0 <= column < shown_run.columns(number) for column in columns):
            raise ValueError("columns: no such signal")
        if len(set(columns)) < len(columns):
            raise ValueError("columns: expected each signal once")
        limit = min(max(int(query["most"]), 2), _MOST_SAMPLES)
        limit = max(min(limit, _MOST_VALUES // max(len(columns), 1)), 2)
        at_ns = int(query["at_ns"])
        with shown_run.samples(number) as samples:
            row_ns, row = samples.at(at_ns)
            head = {"row_ns": row_ns, "count": 0, "exact": True}
            parts = [row]
            if columns:
                span = int(query["begin_ns"]), int(query["end_ns"])
                # some signals at a time: more samples are read than sent
                room = max(_MOST_VALUES // (_LOOKED_THROUGH * limit), 1)
                stretches = [
                    samples.between(*span, columns[first : first + room], limit)
                    for first in range(0, len(columns), room)
                ]
                times = stretches[0].times_ns
                head |= {"count": len(times), "exact": stretches[0].is_exact}
                parts = [times / 1e9, *(item.values.T.ravel() for item in stretches), row]
        content = np.concatenate(parts, dtype="<f8").tobytes()
        self._send(content, "application/octet-stream", more={"X-About": json.dumps(head)})

    _ANSWERS: ClassVar[Mapping[str, _Answer]] = {
        "/": _page,
        "/state": _state,
        "/case": _case,
        "/samples": _samples,
    }

    _WISHES: ClassVar[Mapping[str, _Answer]] = {
        "/wish": _wish,
        "/set": _set,
        "/mark": _mark,
        "/operate": _operate,
    }

    def _send_json(self, data: Any) -> None:
        self._send(json.dumps(_finite(data), allow_nan=False).encode(), "application/json")

    def _send(
        self,
        content: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            **(more or {}),
            **({"Connection": "close"} if self.close_connection else {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base calls it
        """Say nothing."""


class _Local(_Viewer):
    """One connection of a command of the same account."""

    disable_nagle_algorithm = False  # it is of TCP


def _who(query: Mapping[str, str]) -> str:
    return query.get("by", "")[:60] or "a viewer of its page"


@cache
def live_page(title: str) -> tuple[str, str]:
    """Return the HTML, and what a browser may do with it: its own scripts, and its own server."""
    scripts = (uplot(), script_of("figure_data.js", "figures.js", "console.js", "live.js"))
    style = "\n".join((figure_style(), (TEMPLATES / "live.css").read_text(encoding="utf-8")))
    text = (
        environment(TEMPLATES)
        .get_template("live.html.j2")
        .render(title=title, scripts=scripts, style=style)
    )
    policy = (
        f"default-src 'none'; img-src data:; connect-src 'self'; script-src {policy_of(*scripts)};"
        " style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return text, policy


def _finite(data: Any) -> Any:
    """Return data in which what is no number is nothing."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return data


_Answer = Callable[[_Viewer, Mapping[str, str]], None]


#: s, in which those who look are to learn that the run has ended.
_LAST = 5.0
_NICE = 10


class _Rows(MutableStruct):
    """Rows of a run, and how many of them are whole: all while no step is done."""

    rows: SharedRows
    stands: bool = False

    def complete(self) -> int:
        return self.rows.written - (0 if self.stands else 1)


class Follower(MutableStruct):
    """Lets viewers see what a run says."""

    run: Shown
    _rows: dict[str, _Rows] = field(default_factory=dict)

    def take(self, message: Message, memory: int | None) -> None:
        """Let viewers see a message."""
        match message:
            case Begun():
                facts = {"diagram": message.diagram, "signals": None}
                case = ShownCase(message.name, message.title, facts, rig=message.rig, version=1)
                case.is_steered, case.has_devices = message.is_steered, message.has_devices
                case.again, case.unknown = message.again, message.unknown
                case.margin_s = message.margin_s
                self.run.cases.append(case)
            case CaseReady():
                assert memory is not None  # noqa: S101 - it comes with it
                self._record(self.run.cases[-1], message, memory)
            case Stands():
                case = self.run.cases[-1]
                case.state = "standing" if message.stands else "running"
                self._rows[case.name].stands = message.stands
            case Done():
                self.run.cases[-1].add(message.event)
            case Answered():
                self.run.answered(message)
            case Said():
                case = next(case for case in self.run.cases if case.name == message.case)
                case.say(message.sections, message.remarks)
                if message.is_over:
                    case.state = "ended"
                    self.run.over(case.name)
                    if case.name in self._rows:
                        self._rows[case.name].stands = True
            case Ended():
                self.run.end(message.reason)

    def _record(self, case: ShownCase, message: CaseReady, memory: int) -> None:
        step_aside(message.cpus)
        begun = message.begun
        shared = SharedRows(message.rows, len(begun.names), memory)
        rows = self._rows[case.name] = _Rows(shared)
        facts = {"signals": signals_of(begun), "tunables": message.tunables}
        case.facts, case.requested_ns = case.facts | facts, shared.asked
        case.samples = SampleFinder(begun.time_ns, begun.values, shared)
        case.complete_rows, case.counts = rows.complete, shared.told
        if message.factor is not None:
            case.intervals = Intervals(shared.times_ns, shared.clocks_ns, message.factor)
            case.clocks_ns = shared.clocks_ns
        case.stop_ns, case.factor, case.state = message.stop_ns, message.factor, "running"
        case.version += 1


def step_aside(cpus: AbstractSet[int]) -> None:
    """Leave some processors to the run, if there are others."""
    others = operating_system.processors() - cpus
    if cpus and others:
        for thread in threading.enumerate():  # all, as each has its own processors
            if thread.native_id is not None:
                operating_system.keep_to(others, thread.native_id)


def follow(channel: socket.socket, take: Callable[[Message, int | None], None]) -> bool:
    """Take messages until one says that the run has ended; false: it is gone without a word."""
    while True:
        try:
            message, memory = receive(channel)
        except (EOFError, OSError):
            return False
        take(message, memory)
        if isinstance(message, Ended):
            return True


def main() -> None:
    """Serve viewers until the run is over: ``server CHANNEL SOCKETS``, the first a port."""
    channel, count = operating_system.taken(sys.argv[1]), int(sys.argv[2])
    port, *local_sockets = (operating_system.receive_socket(channel) for _ in range(count))
    opened, _ = receive(channel)
    assert isinstance(opened, Opened)  # noqa: S101 - what comes first
    operating_system.yield_to_others(_NICE)
    shown_run = Shown(opened.title, grant=partial(send_wish, channel))
    server = Server(port, opened.token, shown_run)
    for page_server in (server, *(Server(local, "", shown_run) for local in local_sockets)):
        threading.Thread(target=partial(page_server.serve_forever, 0.1), daemon=True).start()
    if not follow(channel, Follower(shown_run).take):
        shown_run.end("the run was ended from outside")
    server.wait_until_told(_LAST)


if __name__ == "__main__":
    main()
