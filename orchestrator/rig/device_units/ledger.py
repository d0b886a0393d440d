"""What a device was sent, and what it took of it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from orchestrator.core.structs import Struct
from orchestrator.rig.devices import DeviceConnectors, Received
from orchestrator.rig.devices.device import slices_of

#: So many commands are remembered.
_MOST = 4096
#: A command that was not taken after so many times the quickest way there and back, and so many
#: periods, is held or lost.
_WAYS, _PERIODS = 4.0, 3.0
#: A robot that missed so many frames in a row has counted their answers as late, or half of them.
_UNANSWERED = 5
#: A measured value that stands while its command moved by this share of its range, for so long, s.
_TRAVEL, _STANDS_S = 0.01, 0.3


class _Sent(Struct):
    """A command: which one that was sent, which one of the run, when, and its values."""

    ordinal: int
    number: int
    sent_ns: int
    values: tuple[float, ...]


class CommandLedger:
    """Keeps what was sent until the device says that it took it.

    A device says so by the count of the newest command that it took (``Received.taken``), or by how
    many answers it found late (``Received.late_answers``). Of others nothing is known.

    period: Between two samples, s.
    patience: For how long a device may take no command, s.
    start: What it was led to before the first command.
    """

    def __init__(self, period: float, patience: float, start: Sequence[float]) -> None:
        self._period, self._patience = period, patience
        self._open: deque[_Sent] = deque(maxlen=_MOST)
        self._newest: _Sent | None = None
        self._last = _Sent(0, -1, 0, tuple(start))
        self._count = 0
        self._way_s = math.inf
        self._late: int | None = None
        self._answered = False
        self._says = False
        self._same = 0
        #: Commands that the device passed over.
        self.missed = 0
        #: When the last command was sent; 0: none was.
        self.sent_ns = 0

    @property
    def taken(self) -> int:
        """Number of the newest command of the run that the device took; -1: it does not say."""
        return self._last.number

    @property
    def values(self) -> tuple[float, ...]:
        """What the device took last."""
        return self._last.values

    def send(self, number: int, now_ns: int, values: Sequence[float]) -> None:
        """Take note of a command; of an answer, before the next sample."""
        self._count += 1
        self._newest = _Sent(self._count, number, now_ns, tuple(values))
        self._open.append(self._newest)
        self._answered, self.sent_ns = True, now_ns

    def answers(self, received: Received, gap: int) -> tuple[bool, str]:
        """Hold the count of late answers against the frames.

        received, gap: A frame that follows, and by how many it does.
        Returns: Whether the last answer was taken, and why the robot is another one; empty: it is
            the same.
        """
        late, before = received.late_answers, self._late
        self._late = late
        answered, self._answered = self._answered, False
        if late is None or before is None or gap <= 0:
            return True, ""
        if late < before:
            return True, f"its count of late answers went from {before} to {late}"
        unanswered = gap - 1
        if unanswered >= _UNANSWERED and late - before < unanswered / 2 and self._last.ordinal:
            return True, (
                f"{unanswered} of its frames did not come, and it counts {late - before} late"
                " answers: it was not in the same motion"
            )
        if not answered or self._newest is None:
            return True, ""
        self._says = True
        if late - before < gap:
            self._take(self._newest)
            return True, ""
        self.missed += 1
        return False, ""

    def took(self, ordinal: int, sample_ns: int) -> str:
        """Take note of the newest command that the device took, at the time of its sample.

        Returns: Why the device is another one; empty: it is the same.
        """
        self._says = True
        if not ordinal and self._last.ordinal:
            return f"the newest command that it took was {self._last.ordinal}, and is none"
        while self._open and self._open[0].ordinal < ordinal:
            self._open.popleft()
            self.missed += 1
        if self._open and self._open[0].ordinal == ordinal:
            sent = self._open[0]
            self._take(sent)
            self._way_s = min(self._way_s, max((sample_ns - sent.sent_ns) * 1e-9, 0.0))
        return ""

    @property
    def rests(self) -> bool:
        """Whether the device took what it was sent last, twice, as far as it says."""
        newest = self._newest
        if not self._says or newest is None:
            return True
        return self._same > 1 and self._last.values == newest.values

    def _take(self, sent: _Sent) -> None:
        if sent.ordinal > self._last.ordinal:
            self._same = self._same + 1 if sent.values == self._last.values else 1
        self._last = sent
        while self._open and self._open[0].ordinal <= sent.ordinal:
            self._open.popleft()

    def waits(self, sample_ns: int) -> float:
        """Return for how long the device has not taken what it was sent, s, at a sample's time."""
        if not self._says or not self._open:
            return 0.0
        return max((sample_ns - self._open[0].sent_ns) * 1e-9, 0.0)

    def is_held(self, sample_ns: int) -> bool:
        """Whether commands are held or lost on their way, longer than they are usually."""
        way = min(self._way_s, 0.25 * self._patience)
        return self.waits(sample_ns) > _WAYS * way + _PERIODS * self._period

    def lost(self, sample_ns: int) -> str:
        """Say that the device takes nothing any more; empty: it does."""
        waits = self.waits(sample_ns)
        if waits <= self._patience:
            return ""
        last = self._last.ordinal
        took = f"the last that it took was number {last}" if last else "it never took one"
        return (
            f"it has taken no command for {waits:.3g} s, while its samples come: {took} of the"
            f" {self._count} that it was sent"
        )


class _Followed(Struct):
    """A measured scalar, the command that it follows, and from which travel on it must."""

    name: str
    measured: int
    command: int
    travel: float


class FollowCheck:
    """Finds a measured value that stands while its command moves.

    ports: Of the device; outputs name the input that they follow.
    """

    def __init__(self, ports: DeviceConnectors) -> None:
        inputs, commands = {port.name: port for port in ports.inputs}, slices_of(ports.inputs)
        measured = slices_of(ports.outputs)
        self._pairs: list[_Followed] = []
        for port in ports.outputs:
            command = inputs.get(port.follows)
            if command is None or not math.isfinite(command.maximum - command.minimum):
                continue
            travel = _TRAVEL * (command.maximum - command.minimum)
            first, of = measured[port.name].start, commands[command.name].start
            names = port.scalars[: command.size]
            self._pairs += [
                _Followed(name, first + i, of + i, travel) for i, name in enumerate(names)
            ]
        self._stands: dict[int, tuple[float, float, float]] = {}
        self._since: dict[int, int] = {}

    def look(self, values: Sequence[float], sent: Sequence[float], now_ns: int) -> str:
        """Say what stands while it should move; empty: nothing does."""
        for pair in self._pairs:
            value, command = values[pair.measured], sent[pair.command]
            at, low, high = self._stands.get(pair.measured, (value, command, command))
            if abs(value - at) > 0.1 * pair.travel:
                at, low, high = value, command, command
            low, high = min(low, command), max(high, command)
            self._stands[pair.measured] = at, low, high
            if high - low <= pair.travel:
                self._since.pop(pair.measured, None)
                continue
            since = self._since.setdefault(pair.measured, now_ns)
            if (now_ns - since) * 1e-9 > _STANDS_S:
                return (
                    f"its command moved by {high - low:.3g}, and '{pair.name}' stands at"
                    f" {value:.6g} for {(now_ns - since) * 1e-9:.2g} s: it does not take its"
                    " commands, or shows the same value again and again"
                )
        return ""
