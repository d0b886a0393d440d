"""The tracking of all responses of a rig that ask for it, fed by rows, and what it left."""

from __future__ import annotations

import csv
import io
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError, LoadError, Reason, choices_for
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.structs import Struct
from orchestrator.rig.supervisor.limits import WatchedLimit
from orchestrator.rig.supervisor.settings import TrackingLimits
from orchestrator.rig.supervisor.tracker import WIDTH, Tracked, Tracker
from orchestrator.rig.supervisor.watch_memory import Head, JoiningDevice


class MarginTable(Struct):
    """Margins of the loop through one command, over changes of the device in it.

    With a gain that is ``factor`` times what it was and a delay that is longer by ``added``, the
    loop's response is ``factor L(w) exp(-i w added)``: its delay margin is that of ``factor L``
    less ``added``, its gain margin that of ``L exp(-i w added)`` over ``factor``. Both are exact;
    what lies between two rows is linear.

    line: ``component.output -> component.input``.
    delay_reserve, gain_reserve: What must be left: s, and a factor.
    factors, delay_margins: Increasing factors, and the delay margin at each, s; 0 where the loop is
        unstable.
    added, gain_margins: Increasing added delays, s, and the gain margin at each; 0 where it is
        unstable.
    """

    line: str
    delay_reserve: float
    gain_reserve: float
    factors: tuple[float, ...]
    delay_margins: tuple[float, ...]
    added: tuple[float, ...]
    gain_margins: tuple[float, ...]

    def remaining(self, added: float, factor: float) -> tuple[float, float]:
        """Return what is left of the delay margin, s, and of the gain margin, a factor."""
        delay = _between(self.factors, self.delay_margins, factor) - added
        return delay, _between(self.added, self.gain_margins, added) / max(factor, 1e-9)

    def as_json(self) -> dict[str, Any]:
        """Return plain data, which :meth:`of_json` reads."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> MarginTable:
        """Return the table that :meth:`as_json` wrote."""
        lists = ("factors", "delay_margins", "added", "gain_margins")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})


def _between(points: Sequence[float], values: Sequence[float], at: float) -> float:
    """Interpolate; outside the first and the last value hold."""
    right = bisect_right(points, at)
    if right == 0:
        return values[0]
    if right == len(points):
        return values[-1]
    lower = right - 1
    share = (at - points[lower]) / (points[right] - points[lower])
    return values[lower] + share * (values[right] - values[lower])


_MS = 1e3
#: A sample that comes so large a share of a period after it was due is answered too late.
_LATE = 0.9
#: By which share of a period the moment at which samples are due may move with each: clocks drift.
_DRIFT = 1e-3


class _Answers:
    """Which answers of a device that takes a command with its sample come too late to be taken.

    Samples are due at even times, none of which is later than any sample came.

    period_ns: Of the samples.
    """

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self._number, self._due, self._taken = -1, math.inf, math.nan

    def taken(self, number: int, time_ns: int, command: float) -> float:
        """Return the command that the device has after it was sent one."""
        begun = number - self._number
        came = time_ns - number * self._period_ns
        if begun <= 0 or self._number < 0:
            self._due = math.inf
        self._number = number
        self._due = min(self._due + _DRIFT * self._period_ns * max(begun, 1), came)
        if came - self._due <= _LATE * self._period_ns or math.isnan(self._taken):
            self._taken = command
        return self._taken


class TrackedResponse:
    """One response, its tracker, and the margins that it bears on.

    name: ``device.response``.
    tracker: Of it.
    margins: Of the loop through its command; ``None``: not known.
    columns: Of command and response in the rows of the device.
    answers: Period in ns of a device that takes a command at the moment of the sample that it
        answers; ``None``: it takes one when it comes.
    """

    def __init__(
        self,
        name: str,
        tracker: Tracker,
        margins: MarginTable | None,
        columns: tuple[int, int],
        *,
        answers: int | None,
    ) -> None:
        self.name, self.tracker, self.margins = name, tracker, margins
        self._answers = None if answers is None else _Answers(answers)
        self._command, self._response = columns
        self._number = -1.0
        self._before: Tracked | None = None
        #: Times at which changes were found, CLOCK_MONOTONIC in ns, that nobody took yet.
        self.found_ns: list[int] = []

    def take(self, time_ns: int, row: list[float]) -> None:
        """Take a row of the device's ring."""
        if row[Head.NUMBER] == self._number:
            return  # it is of a datagram that was no sample
        self._number = row[Head.NUMBER]
        if self.tracker.settled is not None:
            self._before = self.tracker.settled
        number = int(row[Head.NUMBER] + row[Head.LOST])
        age, command = row[Head.COMMAND_AGE], row[self._command]
        if self._answers is not None:
            age, command = 0.0, self._answers.taken(number, time_ns, command)
        if self.tracker.take(number, command, row[self._response], age):
            self.found_ns.append(time_ns)

    def left_of(self, margins: MarginTable | None) -> tuple[float, float] | None:
        """Return what is left of delay and gain margin of a loop; ``None``: not known."""
        now, identified = self.tracker.settled, self.tracker.known
        if now is None or margins is None:
            return None
        return margins.remaining(now.delay - identified.delay, abs(now.gain / identified.gain))

    def lacks(self, margins: MarginTable | None) -> bool | None:
        """Whether less is left of a loop than its reserve; ``None``: nothing new is known."""
        remaining = self.left_of(margins)
        if remaining is None or margins is None:
            return None
        delay, gain = _reserves(self.name, margins)
        return bool(delay.take(remaining[0]) or gain.take(remaining[1]))

    @property
    def limits(self) -> tuple[WatchedLimit, ...]:
        """What is tracked against its reserves, and against a change of the device."""
        change = WatchedLimit(
            self.name, "evidence of a change", "1", Reason.DEVICE_CHANGED, maximum=1.0
        )
        change.show(self.tracker.score)
        remaining = self.left_of(self.margins)
        if remaining is None or self.margins is None:
            return (change,)
        reserves = _reserves(self.name, self.margins)
        for limit, value in zip(reserves, remaining, strict=True):
            limit.show(value)
        return (*reserves, change)

    @property
    def figures(self) -> str:
        """What is known, in words."""
        now, before = self.tracker.settled, self._before
        if now is None:
            was = "" if before is None else f"; it was {before.delay * _MS:.4g} ms"
            return f"its delay is being estimated again{was}"
        low, high = now.interval
        text = (
            f"delay {now.delay * _MS:.4g} ms ({low * _MS:.4g} to {high * _MS:.4g}), gain"
            f" {now.gain:.4g}"
        )
        remaining, margins = self.left_of(self.margins), self.margins
        if remaining is not None and margins is not None:
            text += (
                f"; the margins left are {remaining[0] * _MS:.4g} ms of delay, reserve"
                f" {margins.delay_reserve * _MS:.4g} ms, and a gain of {remaining[1]:.4g}, reserve"
                f" {margins.gain_reserve:.4g}"
            )
        return text


def _reserves(name: str, margins: MarginTable) -> tuple[WatchedLimit, WatchedLimit]:
    """Return what must be left of delay margin, s, and gain margin of a loop."""
    return (
        WatchedLimit(
            name, "delay margin left", "ms", Reason.MARGIN,
            minimum=margins.delay_reserve, scale=_MS, is_main=True,
        ),
        WatchedLimit(
            name, "gain margin left", "1", Reason.MARGIN, minimum=margins.gain_reserve
        ),
    )  # fmt: skip


class RigTracking:
    """Hands each row of a device to the trackers of its responses.

    tables: By ``device.response``.
    margins: Of loops, by ``device.command``.
    devices: All of the rig.
    Raises DescriptionError: if a table names a signal that there is not, or is not complete; all
        are reported together.
    """

    def __init__(
        self,
        tables: Mapping[str, TrackingLimits],
        margins: Mapping[str, MarginTable],
        devices: Iterable[JoiningDevice],
    ) -> None:
        self.responses: dict[str, TrackedResponse] = {}
        self._of_device: dict[str, list[TrackedResponse]] = {}
        self._commands = {name: limits.command for name, limits in tables.items()}
        facts_by_device = {facts.device: facts for facts in devices}
        problems: list[DescriptionError] = []
        for name, limits in tables.items():
            try:
                self._add(name, limits, margins.get(limits.command), facts_by_device)
            except DescriptionError as error:
                problems.append(error)
        if problems:
            raise DescriptionError.collect(problems)

    def take(self, device: str, time_ns: int, row: list[float]) -> None:
        """Take a row of a device's ring."""
        for response in self._of_device.get(device, ()):
            response.take(time_ns, row)

    def following(
        self, margins: Mapping[str, MarginTable]
    ) -> list[tuple[TrackedResponse, MarginTable]]:
        """Return the responses to commands of which there are margins, with these."""
        tables = {name: margins.get(command) for name, command in self._commands.items()}
        return [(self.responses[name], table) for name, table in tables.items() if table]

    def changes(self) -> Iterator[tuple[TrackedResponse, int]]:
        """Yield the changes that were found since this was last asked, with their times."""
        for response in self.responses.values():
            times_ns, response.found_ns = response.found_ns, []
            yield from ((response, time_ns) for time_ns in times_ns)

    def _add(
        self,
        name: str,
        limits: TrackingLimits,
        margins: MarginTable | None,
        devices: Mapping[str, JoiningDevice],
    ) -> None:
        facts = devices.get(name.partition(".")[0])
        signals = (
            [] if facts is None else [f"{facts.device}.{signal.name}" for signal in facts.measured]
        )
        if facts is None or name not in signals:
            raise DescriptionError(
                f"supervisor.tracking: no device has a response"
                f" '{name}'{choices_for(name, signals, 'response')}"
            )
        commands = [f"{facts.device}.{command.name}" for command in facts.commands]
        if limits.command not in commands:
            raise DescriptionError(
                f"supervisor.tracking.'{name}'.command: expected a command of '{facts.device}'"
                f" ({', '.join(commands) or 'none'}), found '{limits.command}'"
            )
        columns = {signal: column for signal, column, _ in facts.columns_of_signals()}
        response = TrackedResponse(
            name,
            Tracker(limits.tracker_settings(name, facts.period_ns)),
            margins,
            (columns[limits.command], columns[name]),
            answers=facts.period_ns if facts.answers else None,
        )
        self.responses[name] = response
        self._of_device.setdefault(facts.device, []).append(response)


NAME = "tracking.csv"
COLUMNS = (
    "time_s",
    "response",
    "delay_s",
    "delay_low_s",
    "delay_high_s",
    "gain",
    "gain_low",
    "gain_high",
    "delay_margin_s",
    "gain_margin",
    "score",
    "samples",
    "changes",
)


def track_row(response: TrackedResponse) -> list[object]:
    """Return what is known of a response now, behind the time; an unknown cell is empty."""
    tracker = response.tracker
    now = tracker.settled
    estimates: tuple[float, ...] = (math.nan,) * 6
    if now is not None:
        half = WIDTH * now.gain_deviation
        estimates = (now.delay, *now.interval, now.gain, now.gain - half, now.gain + half)
    remaining = response.left_of(response.margins) or (math.nan, math.nan)
    cells = [
        "" if math.isnan(cell) else f"{cell:.9g}"
        for cell in (*estimates, *remaining, tracker.score)
    ]
    return [response.name, *cells, tracker.counted, tracker.changes]


Floats = npt.NDArray[np.float64]


class TrackRecord(Struct, eq=False):
    """One response over time.

    response: ``device.response``.
    columns: By name, each of shape (n,): those of the file; ``time_s`` from its first row on.
    """

    response: str
    columns: dict[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    @property
    def changes(self) -> int:
        """How many changes were found."""
        return int(self["changes"][-1])

    def as_json(self) -> dict[str, Any]:
        """Return the last row in which something was known, and the counts."""
        rows = np.flatnonzero(np.isfinite(self["delay_s"]))
        last = {
            name: None if not len(rows) else _finite(values[rows[-1]])
            for name, values in self.columns.items()
            if name not in ("time_s", "score", "samples", "changes")
        }
        samples = int(self["samples"][-1])
        return {"response": self.response, "changes": self.changes, "samples": samples, **last}


#: Known in each row.
_ALWAYS = ("time_s", "samples", "changes")


@reads("expected a file of tracking")
def read_tracks(path: Path) -> tuple[TrackRecord, ...]:
    """Read a file with rows of :func:`track_row`.

    A last line without its end, which a writer that was killed leaves, is left out.
    """
    rows: dict[str, list[list[float]]] = {}
    names = [name for name in COLUMNS if name != "response"]
    try:
        complete = path.read_bytes().decode("utf-8").rpartition("\n")[0]
        for row in csv.DictReader(io.StringIO(complete, newline="")):
            if not all(math.isfinite(float(row[name] or math.nan)) for name in _ALWAYS):
                raise ValueError(f"{', '.join(_ALWAYS)} are numbers in each row")
            cells = [float(row[name] or math.nan) for name in names]
            rows.setdefault(row["response"], []).append(cells)
    except (OSError, csv.Error, KeyError, ValueError, TypeError) as error:
        raise LoadError.in_file(path, f"expected a file of tracking: {error}") from None
    tracks = []
    for response, response_rows in rows.items():
        columns = dict(zip(names, np.array(response_rows).T, strict=True))
        columns["time_s"] = columns["time_s"] - columns["time_s"][0]
        tracks.append(TrackRecord(response, columns))
    return tuple(tracks)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
