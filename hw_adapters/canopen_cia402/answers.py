"""Which SYNC each TPDO answers: how old a measurement is that carries neither number nor time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum, auto

from hw_adapters.canopen_cia402.pdo import PdoMap

#: Cycles whose answers are awaited at most; the oldest go first.
_MOST_OPEN = 10_000
#: Number of cycles with old values among surplus TPDOs that is a fault, and the number of cycles in
#: which they are counted.
_MOST_STRANGE, _STRANGE_CYCLES = 8, 1000
#: Largest number of values of each TPDO in memory.
_MOST_SEEN = 4096
#: A TPDO that came twice so often in a row comes twice.
_DOUBLES = 3


class Use(Enum):
    """What a TPDO is good for."""

    NEW = auto()
    AGAIN = auto()
    IN_DOUBT = auto()


class _Heard:
    """What came of one TPDO: the newest value, those before it, and how often each came."""

    def __init__(self) -> None:
        self.newest: bytes | None = None
        self._before: dict[bytes, None] = {}
        #: Whether the newest is one that came before.
        self.is_old = False
        self._doubles, self._again = 0, False

    @property
    def is_owed(self) -> bool:
        """Whether the newest is to come once more, as each of those before it did."""
        return self._doubles >= _DOUBLES and not self._again

    def miss(self) -> None:
        """Note that frames were lost: a surplus one may be the answer to a SYNC that was given up.

        Whether frames come twice is seen again from the next ones.
        """
        self._doubles = 0

    def use(self, data: bytes) -> None:
        """Note an answer, also one in doubt: what comes behind it may be the same again."""
        if self.newest is not None:
            self._doubles = self._doubles + 1 if self._again else 0
            self._before.pop(self.newest, None)
            self._before[self.newest] = None
        if len(self._before) > _MOST_SEEN:
            del self._before[next(iter(self._before))]
        self.is_old = data != self.newest and data in self._before
        self.newest, self._again = data, False

    def repeat(self, data: bytes) -> bool:
        """Note a surplus TPDO; return whether it, or the newest in its place, is an old one.

        A surplus of other values than any before is that of a SYNC which came twice.
        """
        if data == self.newest:
            self._again = True
            return False
        return self.is_old or data in self._before


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
        self._heard = {identifier: _Heard() for identifier in self._pdos}
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
        for counts in self._open.values():
            counts.append(number)

    def take(self, identifier: int, data: bytes) -> Use:
        """Note a TPDO; return what it is good for."""
        numbers, heard = self._open[identifier], self._heard[identifier]
        if not numbers or (heard.is_owed and data == heard.newest):
            is_new_cycle = not self._strange or self._strange[-1] != self._number
            if heard.repeat(data) and is_new_cycle:
                self._strange.append(self._number)
            return Use.AGAIN
        number = numbers.popleft()
        was_late, is_late = self._is_late[identifier], number < self._number
        self._is_late[identifier] = is_late
        heard.use(data)
        if is_late and not was_late:
            # The first behind a gap may be two, cut where characters of a serial line were lost.
            return Use.IN_DOUBT
        self._answered[identifier] = number
        return Use.NEW

    def lacks(self, node: int) -> bool:
        """Whether a drive has not answered all SYNCs with all of its TPDOs."""
        return any(self._of(node))

    def settle(self, node: int, limit: int) -> None:
        """Give up answers that are lost, the oldest first, until so many may be on their way."""
        for open_requests in self._of(node):
            while len(open_requests) > limit:
                open_requests.popleft()
        for identifier, pdo in self._pdos.items():
            if pdo.node == node:
                self._heard[identifier].miss()

    def _of(self, node: int) -> list[deque[int]]:
        return [self._open[i] for i, pdo in self._pdos.items() if pdo.node == node]
