"""Streams of a run to programs that show signals: PlotJuggler by UDP, Foxglove by its SDK.

Each is a process of its own (``python -m``), which receives messages about the run and reads its
rows in the memory that the run records in. So a library that fails, or a program that takes
nothing, does not touch the run.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.files.mcap import ChannelPlan, Floats, Times, channel_plans
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording import Result
from orchestrator.core.structs import MutableStruct, replace
from orchestrator.pictures.live.door import LOOPBACK, is_local, listening
from orchestrator.pictures.live.extension import Beside, recording_of
from orchestrator.pictures.live.messages import CaseReady, Ended, Message, Said, SampleFinder
from orchestrator.pictures.live.server import follow, step_aside
from orchestrator.study import Extension, Run, Steps
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.core.master import Execution

_LOG = logging.getLogger(__name__)
#: s, between two looks at the rows, and rows sent then: the buffer of a socket that
#: receives takes about 160 small datagrams. Where more rows wait, their extremes are sent.
_PERIOD, _MOST, _LONGEST = 0.02, 100, 5000
#: s, in which a stream sends what it has not sent when the run has ended.
_FAREWELL = 30.0
#: Bytes of a datagram.
_LARGEST = 60_000
_NICE = 10


class Udp:
    """Sends an object in JSON for each row, as PlotJuggler's UDP server reads it.

    ``{"timestamp": 0.001, "CASE": {"COMPONENT": {"signal": 1.0}}}``; what is no finite number is
    null. A row that is longer than a datagram is sent in parts.
    """

    def __init__(self, host: str, port: int) -> None:
        family, kind, protocol, _, self._to = _resolved_address(host, port)
        self._socket = socket.socket(family, kind, protocol)

    def begin(self, case: str, plans: Sequence[ChannelPlan]) -> None:
        """Take note of the names of a case."""
        self._case = json.dumps(case)
        self._plans = [(f"{json.dumps(plan.topic.removeprefix('/'))}:", plan) for plan in plans]

    def send(self, times_ns: Times, values: Floats) -> None:
        """Send rows."""
        finite = np.where(np.isfinite(values), values, np.nan)
        columns = [
            [head + text.decode() for text in plan.messages(finite)] for head, plan in self._plans
        ]
        for time_ns, parts in zip(times_ns.tolist(), zip(*columns, strict=True), strict=True):
            for part in _packed(parts):
                text = f'{{"timestamp":{time_ns / 1e9!r},{self._case}:{{{part}}}}}'
                self._socket.sendto(text.encode(), self._to)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Foxglove:
    """Serves Foxglove: a channel for each component, as in an MCAP file."""

    def __init__(self, host: str, port: int) -> None:
        import foxglove

        self._server = foxglove.start_server(name="softdock", host=host, port=port)
        self._channels: list[tuple[Any, ChannelPlan]] = []

    def begin(self, case: str, plans: Sequence[ChannelPlan]) -> None:
        """Open the channels of a case."""
        from foxglove import Channel, Schema

        self._close_channels()
        for plan in plans:
            schema = Schema(
                name=f"softdock.{plan.topic.removeprefix('/')}",
                encoding="jsonschema",
                data=plan.schema,
            )
            channel = Channel(f"/{case}{plan.topic}", schema=schema, message_encoding="json")
            self._channels.append((channel, plan))

    def send(self, times_ns: Times, values: Floats) -> None:
        """Send rows."""
        for channel, plan in self._channels:
            for time_ns, text in zip(times_ns.tolist(), plan.messages(values), strict=True):
                channel.log(text, log_time=time_ns)

    def close(self) -> None:
        """End the server."""
        self._close_channels()
        self._server.stop()

    def _close_channels(self) -> None:
        for channel, _ in self._channels:
            channel.close()
        self._channels.clear()


def _packed(parts: Sequence[str]) -> Iterator[str]:
    """Join parts as far as a datagram has room."""
    joined = ""
    for part in parts:
        if joined and len(joined) + len(part) > _LARGEST:
            yield joined
            joined = ""
        joined = f"{joined},{part}" if joined else part
    yield joined


#: By what an address begins with, and the port where nobody says another.
SINKS: Mapping[str, tuple[type[Udp | Foxglove], int]] = {
    "udp": (Udp, 9870),
    "foxglove": (Foxglove, 8765),
}


class _Case(MutableStruct):
    """The rows of a case, as far as they were sent."""

    begun: Result
    rows: SharedRows
    samples: SampleFinder
    sent: int = 0
    is_over: bool = False

    def new(self) -> tuple[Times, Floats]:
        """Return the next rows that are whole; where many wait their extremes, and the last."""
        first, complete_rows = self.sent, self.rows.written - (0 if self.is_over else 1)
        last = (
            complete_rows if complete_rows - first > _LONGEST else min(complete_rows, first + _MOST)
        )
        self.sent = max(last, first)
        times, values = self.rows.times_ns[first:last], self.rows.values[first:last]
        if len(times) <= _MOST:
            return times, values
        self.samples.grow(last)
        span = int(times[0]), int(times[-1])
        stretch = self.samples.between(*span, range(values.shape[1]), _MOST)
        fresh = stretch.times_ns >= times[0]
        return (
            np.append(stretch.times_ns[fresh], times[-1]),
            np.concatenate([stretch.values[fresh], values[-1:]]),
        )


class Streaming:
    """Sends what a run says to a sink."""

    def __init__(self, sink: Udp | Foxglove) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._case: _Case | None = None

    def take(self, message: Message, memory: int | None) -> None:
        """Take a message of the run."""
        match message:
            case CaseReady():
                begun = message.begun
                assert memory is not None  # noqa: S101 - it comes with it
                step_aside(message.cpus)
                rows = SharedRows(message.rows, len(begun.names), memory)
                samples = SampleFinder(begun.time_ns[:0], begun.values[:0], rows)
                properties = {name: {"unit": unit} for name, unit in begun.units.items()}
                with self._lock:
                    self._case = _Case(begun, rows, samples)
                    self._sink.begin(begun.name, channel_plans(begun.names, properties))
                    self._sink.send(begun.time_ns, begun.values)
            case Said(is_over=True) | Ended():
                if self._case is not None:
                    self._case.is_over = True
                while self.send():
                    time.sleep(_PERIOD)

    def send(self) -> bool:
        """Send what is new; say whether there was something."""
        with self._lock:
            if self._case is None:
                return False
            times, values = self._case.new()
            if len(times):
                self._sink.send(times, values)
            return bool(len(times))


class Streams(Extension):
    """Sends the rows of all cases to the requested programs."""

    follows = ("live",)

    def begin(self, run: Run) -> None:
        """Start a process for each of them."""
        addresses = [place_of(text) for text in run.settings.stream or ()]
        self._streams = []
        for kind, host, port in addresses:
            address_text = f"{kind}:{host}:{port}"
            self._streams.append(
                Beside(__name__, (kind, host, str(port)), f"stream to {address_text}")
            )
            run.announce(f"stream: {address_text}")

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Give them the rows of a case."""
        try:
            yield replace(steps, share=partial(self._share, run, steps))
        except BaseException as error:
            self._end(str(error))
            raise
        lost = [stream.lost for stream in self._streams if stream.lost]
        run.remarks[steps.case.name] += lost

    def _share(
        self, run: Run, steps: Steps, rows: SharedRows, begun: Result, execution: Execution
    ) -> None:
        if steps.share is not None:
            steps.share(rows, begun, execution)
        for stream in self._streams:
            stream.say(recording_of(run, steps.case, rows, begun), rows.file)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say that the steps of a case are over."""
        for stream in self._streams:
            stream.say(Said(case.name, is_over=True))
        return result

    def end(self, run: Run) -> None:
        """End them."""
        self._end("the run has ended")

    def _end(self, reason: str) -> None:
        for stream in self._streams:
            if not stream.end(reason, _FAREWELL) and not stream.lost:
                _LOG.warning("the %s was ended before it had sent all rows", stream.what)


def place_of(text: str) -> tuple[str, str, int]:
    """Read ``KIND[:[HOST:]PORT]``, and expect that rows can go there.

    Raises DescriptionError: if that is no address, or another program has it; of Foxglove one
        beyond this machine.
    Raises CapabilityError: if a package is missing.
    """
    kind, _, address = text.partition(":")
    if kind not in SINKS:
        raise DescriptionError(f"stream: expected one of {', '.join(SINKS)}, found '{text}'")
    host, colon, port = address.rpartition(":")
    host, port = host.strip("[]") if colon else LOOPBACK, port or str(SINKS[kind][1])
    if not port.isdecimal() or not 0 < int(port) <= 65535 or not host:
        raise DescriptionError(f"stream: {text}: expected {kind}:PORT or {kind}:HOST:PORT")
    if kind == "foxglove":
        if (reason := missing_module("foxglove")) is not None:
            raise CapabilityError(f"stream: {text}: {reason}")
        listener, _ = listening(f"{host}:{port}")
        with listener:
            is_open = not is_local(listener)
        if is_open:  # other machines reach it, and its server asks nobody for a token
            raise DescriptionError(
                f"stream: {text}: Foxglove's server asks for no token: expected an address that"
                f" only this machine reaches, such as {LOOPBACK}; forward a port of another machine"
                f" there: ssh -L {port}:{LOOPBACK}:{port} .."
            )
    else:
        _resolved_address(host, int(port))
    return kind, host, int(port)


def _resolved_address(host: str, port: int) -> Any:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        raise DescriptionError(f"stream: {host}: no such host: {error.strerror or error}") from None


def main() -> None:
    """Send rows until the run is over: ``streams CHANNEL KIND HOST PORT``."""
    channel, kind, host, port = sys.argv[1:]
    operating_system.yield_to_others(_NICE)
    with closing(SINKS[kind][0](host, int(port))) as sink:
        streaming, over = Streaming(sink), threading.Event()

        def read_messages() -> None:
            try:
                follow(operating_system.taken(channel), streaming.take)
            finally:
                over.set()

        threading.Thread(target=read_messages, daemon=True).start()
        while not over.wait(_PERIOD):
            streaming.send()


if __name__ == "__main__":
    main()
