"""What a device was sent, and what it took of it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from orchestrator.core.structs import MutableStruct
from orchestrator.rig.devices import Received

#: Largest number of commands in memory.
_MOST = 4096
#: A command that was not taken after so many times the usual way there and back, and so many
#: periods, is held or lost.
_WAYS, _PERIODS = 4.0, 3.0
#: The usual way is the median of so many. The quickest says too little: a device that makes up for
#: cycles for which it was late shows a command in a sample whose time is before that of the
#: command.
_RECENT = 33
#: So many samples in a row that show no command of this run are those of a device that restarted;
#: one is enough where samples have a number or a time, since an old one is not taken for it.
_SURE = 3
#: A robot that missed so many frames in a row has counted some of their answers as late, and of so
#: many half.
_UNANSWERED, _HALF = 3, 5


class _Sent(MutableStruct):
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
        self._ways: deque[float] = deque(maxlen=_RECENT)
        self._said_from: int | None = None
        self._late: int | None = None
        self._answered = False
        self._says = False
        self._overdue_ns = round(1e9 * max(_PERIODS * period, 0.25 * patience / _WAYS))
        self._same = self._nones = 0
        #: Commands that the device passed over, of those since it first said that it took one.
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

    def sent_late(self, now_ns: int) -> None:
        """Take note that the last command is on its way only now: its process was held up."""
        if self._newest is not None:
            self._newest.sent_ns = now_ns

    def answers(self, received: Received, gap: int) -> tuple[bool, str]:
        """Hold the count of late answers against the frames.

        received, gap: A frame that follows, and by how many it does.
        Returns: Whether the last answer was taken, and why the robot is another one; empty: it is
            the same.
        """
        late_answers, before = received.late_answers, self._late
        self._late = late_answers
        answered, self._answered = self._answered, False
        if late_answers is None or before is None or gap <= 0:
            return True, ""
        if late_answers < before:
            return True, f"its count of late answers went from {before} to {late_answers}"
        unanswered = gap - 1
        expected_late = unanswered / 2 if unanswered >= _HALF else 1
        if (
            unanswered >= _UNANSWERED
            and late_answers - before < expected_late
            and self._last.ordinal
        ):
            return True, (
                f"{unanswered} of its frames did not come, and it counts {late_answers - before}"
                " late"
                " answers: it was not in the same motion"
            )
        if not answered or self._newest is None:
            return True, ""
        self._says = True
        if late_answers - before < gap:
            self._take(self._newest)
            return True, ""
        self.missed += 1
        return False, ""

    def took(self, ordinal: int, sample_ns: int, *, in_order: bool = True) -> str:
        """Take note of the newest command that the device took, at the time of its sample.

        ordinal: Which one it took; 0: none since it began.
        in_order: Whether its samples have a number or a time, so that this one is the newest.
        Returns: Why the device is another one; empty: it is the same.
        """
        self._says = True
        if ordinal and self._said_from is None:
            self._said_from = self._count
        self._nones = self._nones + 1 if not ordinal and self._last.ordinal else 0
        if self._nones >= (1 if in_order else _SURE):
            return f"the newest command that it took was {self._last.ordinal}, and is none"
        while self._open and self._open[0].ordinal < ordinal:
            passed = self._open.popleft()
            self.missed += passed.ordinal > (self._said_from or 0)
        if self._open and self._open[0].ordinal == ordinal:
            sent = self._open[0]
            self._take(sent)
            way_s = (sample_ns - sent.sent_ns) * 1e-9
            self._ways.append(way_s)
            if way_s > 0.0:
                self._way_s = min(self._way_s, way_s)
        return ""

    @property
    def in_doubt(self) -> bool:
        """Whether the last sample showed that the device took none of the commands."""
        return self._nones > 0

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

    def is_overdue(self, now_ns: int) -> bool:
        """Whether the newest command was not taken, so that it is to be sent again."""
        return self._says and bool(self._open) and now_ns - self.sent_ns > self._overdue_ns

    def is_held(self, sample_ns: int) -> bool:
        """Whether commands are held or lost on their way, longer than they are usually."""
        usual = sorted(self._ways)[len(self._ways) // 2] if self._ways else math.inf
        usual_way = min(max(usual, 0.0), 0.25 * self._patience)
        return self.waits(sample_ns) > _WAYS * usual_way + _PERIODS * self._period

    def lost(self, sample_ns: int) -> str:
        """Say that the device takes nothing any more; empty: it does."""
        waits = self.waits(sample_ns)
        if waits <= self._patience:
            return ""
        last = self._last.ordinal
        took = f"the last that it took was number {last}" if last else "it never took one"
        return (
            f"its samples confirm no command that was sent in the last {waits:.3g} s ({took} of"
            f" the {self._count} that it was sent): it takes no commands, they do not arrive, or"
            " its samples take that long to arrive"
        )

    @property
    def account(self) -> str:
        """Say how old samples may be beyond their age; empty: no more than they are often."""
        if not _PERIODS * self._period < self._way_s < math.inf:
            return ""
        return (
            f"a command and the sample that shows it took {self._way_s:.3g} s at least, both ways"
            " together: its samples may be older than their age by as much"
        )
