"""What a run tells the process that shows it, and its rows as viewers ask for them."""

from __future__ import annotations

import json
import pickle
import select
import socket
import struct
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchestrator.core import operating_system
from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.recording import Result
from orchestrator.core.structs import Struct
from orchestrator.study import Section

if TYPE_CHECKING:
    from orchestrator.core.realtime import SharedRows

#: What viewers may wish of a run that they steer.
WISHES = ("pause", "go", "step", "stop")
#: And of every run that they see; whether it would be set comes first, where devices are in it.
SET, MARK, CHECK = "set", "mark", "check"
CHANGES = (SET, MARK, CHECK)
_LENGTH = struct.Struct("<q")


class Opened(Struct):
    """The process is started: what a viewer must know, and the title of the page."""

    token: str
    title: str


class Begun(Struct):
    """A case is about to be made: its diagram, its rig if it has one, whether viewers steer it."""

    name: str
    title: str
    diagram: dict[str, Any] | None
    rig: str
    is_steered: bool = False
    has_devices: bool = False
    #: Least delay margin of the loops through devices, s, by which the rig was armed.
    margin_s: float | None = None
    #: Computes its margins with other values: pickled, or empty and why it cannot.
    again: bytes = b""
    unknown: str = ""


class Stands(Struct):
    """Whether the present case stands still between two steps."""

    stands: bool


class CaseReady(Struct):
    """A case is ready for its first step; the memory of its rows accompanies this message.

    ``begun`` is what was recorded before, without its system; ``cpus`` are left to the run.
    """

    begun: Result
    rows: int
    stop_ns: int
    factor: float | None
    cpus: frozenset[int] = frozenset()
    tunables: Sequence[dict[str, Any]] = ()


class Done(Struct):
    """What was changed in the present case, or marked."""

    event: Tuned | Mark


class Answered(Struct):
    """What became of a wish, by its number: why it is refused, or empty.

    ``values`` are values on the way to the requested one, as text.
    """

    number: int
    refused: str
    values: tuple[str, ...] = ()


class Said(Struct):
    """All that is known of a case, and whether its steps are over."""

    case: str
    sections: Sequence[Section] = ()
    remarks: Sequence[str] = ()
    is_over: bool = False


class Ended(Struct):
    """Nothing more will come: why."""

    reason: str


Message = Opened | Begun | CaseReady | Stands | Done | Answered | Said | Ended


class Wish(Struct):
    """What a viewer wishes of a run.

    request: One of :data:`WISHES`, :data:`SET`, :data:`MARK` or :data:`CHECK`.
    case: Of which case.
    number: Number that its answer repeats.
    name, text, ramp: What is to be set, to what, and in how many seconds; or the text of a mark.
    by, granted: Who wishes it, and by which margins the supervisor of a rig granted it.
    """

    request: str
    case: str = ""
    number: int = 0
    name: str = ""
    text: str = ""
    ramp: float | None = None
    by: str = ""
    granted: str = ""


def send(channel: socket.socket, message: Message, memory: int | None = None) -> None:
    """Send a message, and hand over memory if there is any."""
    content = pickle.dumps(message)
    operating_system.send_memory(channel, _LENGTH.pack(len(content)), memory)
    channel.sendall(content)


def receive(channel: socket.socket) -> tuple[Message, int | None]:
    """Receive a message, and the memory that came with it; EOFError: nobody sends any more."""
    head, memory = operating_system.receive_memory(channel, _LENGTH.size)
    if not (content := _exactly(channel, *_LENGTH.unpack(head))):
        raise EOFError
    message: Message = pickle.loads(content)  # noqa: S301 - of the run that started us
    return message, memory


def send_wish(channel: socket.socket, wish: Wish) -> None:
    """Send the run what a viewer wishes."""
    content = json.dumps(asdict(wish)).encode()
    channel.sendall(_LENGTH.pack(len(content)) + content)


def receive_wish(channel: socket.socket, *, waits: bool) -> Wish | None:
    """Receive what a viewer wishes; ``None``: nothing, or nobody is there to wish."""
    if not select.select([channel], [], [], None if waits else 0)[0]:
        return None
    head = _exactly(channel, _LENGTH.size)
    return Wish(**json.loads(_exactly(channel, *_LENGTH.unpack(head)))) if head else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    """Receive a number of bytes; none if the sender has closed."""
    data = bytearray()
    while len(data) < size:
        if not (part := channel.recv(min(size - len(data), 1 << 20))):
            return b""
        data += part
    return bytes(data)


Floats = NDArray[np.float64]
Times = NDArray[np.int64]
#: Rows of the stretches whose extremes are kept; each divides the next.
_KEPT = (64, 1024, 16384)


class RecordedRows(NamedTuple):
    """Rows of a run that is over, of shape (rows,) and (rows, columns)."""

    times_ns: Times
    values: Floats


class Stretch(Struct):
    """What is seen of some signals in a stretch of time.

    times_ns: Of shape (n,), ns; each twice where extremes are given.
    values: Of shape (n, columns): samples, or the lowest and the highest from a time to the next.
    is_exact: Whether they are all samples that there are.
    """

    times_ns: Times
    values: Floats
    is_exact: bool


#: Ends of the buckets of deviations, us; what is beyond the last has a bucket of its own.
BUCKETS_US = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


class Intervals:
    """Counts how far the wall time between two rows is from what it should be.

    times_ns, clocks_ns: Of all rows, which are still being written: simulated, and by
        CLOCK_MONOTONIC.
    factor: Simulated over wall time.
    """

    def __init__(self, times_ns: Times, clocks_ns: Times, factor: float) -> None:
        self._times, self._clocks, self._factor = times_ns, clocks_ns, factor
        self._known = 0
        self.counts = [0] * (len(BUCKETS_US) + 1)

    def grow(self, complete_rows: int) -> None:
        """Count the intervals of the first ``whole`` rows, which are final."""
        if complete_rows <= self._known:
            return
        part = slice(max(self._known - 1, 0), complete_rows)
        expected_steps = np.diff(self._times[part]) / self._factor
        away_us = np.abs(np.diff(self._clocks[part]) - expected_steps) / 1e3
        counts = np.bincount(np.searchsorted(BUCKETS_US, away_us), minlength=len(self.counts))
        self.counts = [count + int(more) for count, more in zip(self.counts, counts, strict=True)]
        self._known = complete_rows


class SampleFinder:
    """Finds what is seen of rows, also of millions, in a few milliseconds.

    times_ns, values: Rows that stand before all others, a few.
    rows: The others.
    """

    def __init__(self, times_ns: Times, values: Floats, rows: SharedRows | RecordedRows) -> None:
        self._first = times_ns, values
        self._rows = rows
        self._whole = 0
        columns = rows.values.shape[1]
        room = [len(rows.times_ns) // size for size in _KEPT]
        self._low = [np.empty((count, columns)) for count in room]
        self._high = [np.empty((count, columns)) for count in room]
        self._done = [0] * len(_KEPT)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self._first[0]) + self._whole

    @property
    def begin_ns(self) -> int:
        """Time of the first row."""
        return int((self._first[0] if len(self._first[0]) else self._rows.times_ns)[0])

    @property
    def end_ns(self) -> int:
        """Time of the last row."""
        return int(self._rows.times_ns[self._whole - 1] if self._whole else self._first[0][-1])

    def grow(self, complete_rows: int) -> None:
        """Thin the first ``whole`` rows, which are final."""
        self._whole = max(complete_rows, self._whole)
        finer: tuple[Floats, Floats, int] = (self._rows.values, self._rows.values, 1)
        for level, size in enumerate(_KEPT):
            low, high, step = finer
            begin, end = self._done[level], self._whole // size
            if end > begin:
                part = slice(begin * size // step, end * size // step)
                shape = (end - begin, size // step, low.shape[1])
                self._low[level][begin:end] = np.fmin.reduce(low[part].reshape(shape), axis=1)
                self._high[level][begin:end] = np.fmax.reduce(high[part].reshape(shape), axis=1)
                self._done[level] = end
            finer = self._low[level], self._high[level], size

    def at(self, time_ns: int) -> tuple[int, Floats]:
        """Return the last row that is not later than a time, and its time; else the first."""
        times = self._rows.times_ns[: self._whole]
        row = int(np.searchsorted(times, time_ns, "right")) - 1
        if row >= 0:
            return int(times[row]), self._rows.values[row]
        before, values = self._first
        if not len(before):
            return int(times[0]), self._rows.values[0]
        row = max(int(np.searchsorted(before, time_ns, "right")) - 1, 0)
        return int(before[row]), values[row]

    def between(self, begin_ns: int, end_ns: int, columns: Sequence[int], limit: int) -> Stretch:
        """Return samples from one time to another, and one more on each side.

        begin_ns, end_ns: Times.
        columns: Of the signals.
        most: Of more rows than that, the extremes of about half as many stretches are returned,
            which begin at the same rows whatever the times are, so that a picture does not flicker.
            A stretch of which nothing is a number is a gap.
        """
        selected = list(columns)
        times = self._rows.times_ns[: self._whole]
        first = max(int(np.searchsorted(times, begin_ns)) - 1, 0)
        last = min(int(np.searchsorted(times, end_ns, "right")) + 1, self._whole)
        parts: list[tuple[Times, Floats]] = []
        before, values = self._first
        if len(before) and (first == 0):
            parts.append((before, values[:, selected]))
        is_exact = last - first <= limit
        if is_exact:
            parts.append((times[first:last], self._rows.values[first:last, selected]))
        else:
            size = 1 << int(np.ceil(np.log2(2 * (last - first) / limit)))
            parts.append(self._extremes(first // size * size, last, selected, size))
        return Stretch(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            is_exact,
        )

    def _extremes(
        self, begin: int, end: int, columns: list[int], size: int
    ) -> tuple[Times, Floats]:
        """Return lowest and highest of stretches of a number of rows, two rows for each."""
        edges = np.arange(begin, end, size)
        extremes = np.empty((len(edges), 2, len(columns)))
        level = sum(size >= block_size for block_size in _KEPT) - 1
        stored = 0
        if level >= 0:
            block_size = _KEPT[level]
            stored = max(min(end, self._done[level] * block_size) - begin, 0) // size
            part = slice(begin // block_size, (begin + stored * size) // block_size)
            shape = (stored, size // block_size, len(columns))
            for side, extreme, of in ((0, np.fmin, self._low), (1, np.fmax, self._high)):
                extremes[:stored, side] = extreme.reduce(
                    of[level][part][:, columns].reshape(shape), axis=1
                )
        if stored < len(edges):
            remaining = self._rows.values[edges[stored] : end, columns]
            starts = edges[stored:] - edges[stored]
            extremes[stored:, 0] = np.fmin.reduceat(remaining, starts, axis=0)
            extremes[stored:, 1] = np.fmax.reduceat(remaining, starts, axis=0)
        return np.repeat(self._rows.times_ns[edges], 2), extremes.reshape(-1, len(columns))
