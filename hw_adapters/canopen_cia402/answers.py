"""Which SYNC each TPDO answers: how old a measurement is that carries neither number nor time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum, auto

from hw_adapters.canopen_cia402.pdo import PdoMap

#: Cycles whose answers are awaited at most; the oldest go first.
_MOST_OPEN = 10_000
#: So many surplus TPDOs with other values than the newest, within so many cycles, are no accident.
_MOST_STRANGE, _STRANGE_CYCLES = 8, 1000


class Use(Enum):
    """What a TPDO is good for."""

    NEW = auto()
    AGAIN = auto()
    IN_DOUBT = auto()


class Answers:
    """Counts SYNCs and the TPDOs that answer them, on a line that keeps their order.

    A drive answers each SYNC with one TPDO of each number, in turn. So a TPDO answers the oldest
    SYNC that is still open. Whether the missing ones were lost or are late, an answer of the drive
    to a request says: what it sent before is here, or lost (:meth:`settle`). A TPDO that comes
    while none is open was sent twice.

    Parameters
    ----------
    pdos
        Of all drives.
    """

    def __init__(self, pdos: Iterable[PdoMap]) -> None:
        self._pdos = {pdo.identifier: pdo for pdo in pdos}
        self._open: dict[int, deque[int]] = {
            identifier: deque(maxlen=_MOST_OPEN) for identifier in self._pdos
        }
        self._answered = dict.fromkeys(self._pdos, -1)
        self._is_late = dict.fromkeys(self._pdos, False)
        self._newest: dict[int, bytes] = {}
        self._strange: deque[int] = deque(maxlen=_MOST_STRANGE)
        self._number = -1

    @property
    def complete(self) -> int:
        """The last SYNC that all TPDOs have answered, or one after it; -1: none."""
        return min(self._answered.values(), default=-1)

    @property
    def is_repeated(self) -> bool:
        """Whether TPDOs come again, with old values: which are the newest cannot be known."""
        strange = self._strange
        full = len(strange) == _MOST_STRANGE
        return full and self._number - strange[0] <= _STRANGE_CYCLES

    def begin_cycle(self, number: int) -> None:
        """Note a SYNC."""
        self._number = number
        for each in self._open.values():
            each.append(number)

    def take(self, identifier: int, data: bytes) -> Use:
        """Note a TPDO; return what it is good for."""
        numbers = self._open[identifier]
        if not numbers:
            if data != self._newest.get(identifier):
                self._strange.append(self._number)
            return Use.AGAIN
        number = numbers.popleft()
        was_late, is_late = self._is_late[identifier], number < self._number
        self._is_late[identifier] = is_late
        if is_late and not was_late:
            # The first behind a gap may be two, cut where characters of a serial line were lost.
            return Use.IN_DOUBT
        self._answered[identifier], self._newest[identifier] = number, data
        return Use.NEW

    def lacks(self, node: int) -> bool:
        """Whether a drive has not answered all SYNCs with all of its TPDOs."""
        return any(self._of(node))

    def settle(self, node: int, most: int) -> None:
        """Give up answers that are lost, the oldest first, until so many may be on their way."""
        for each in self._of(node):
            while len(each) > most:
                each.popleft()

    def _of(self, node: int) -> list[deque[int]]:
        return [self._open[i] for i, pdo in self._pdos.items() if pdo.node == node]
