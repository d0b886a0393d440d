"""Which commands a drive took, by the demand that its loops follow."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import pairwise

#: Commands that are remembered, of a drive whose demand follows them and of another.
_MOST, _FEW = 2048, 64
#: A demand that has gone from one command to another so often in a row follows them.
_SURE = 3


class TakenCommands:
    """Finds the demand of a drive among the commands that it was sent.

    Commands are taken in turn. So the demand is looked for from the last one on that was taken:
    while nothing changes, the newest of equal commands counts as taken. A demand between two
    commands is on its way from the first to the second. A drive whose demand does not follow, such
    as one with other units, does not say what it takes.

    Parameters
    ----------
    name
        Of the demand among the measurements.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._sent: deque[tuple[int, int]] = deque(maxlen=_MOST)
        self._demand: int | None = None
        self._newest = self._moves = 0

    def sent(self, count: int, target: int) -> None:
        """Note a command: the how-many-th it is, and its target in increments."""
        self._sent.append((count, target))
        if not self._follows and len(self._sent) > _FEW:
            self._sent.popleft()

    def see(self, measured: Mapping[str, int]) -> None:
        """Look at measurements, of which the demand may be one."""
        if self._name not in measured:
            return
        before, self._demand = self._demand, measured[self._name]
        index = self._index(self._demand)
        if index is None:
            self._moves = self._moves if self._follows else 0
            return
        if before is not None and before != self._demand:
            self._moves += 1
        self._newest = self._sent[index][0]
        for _ in range(index):
            self._sent.popleft()

    def _index(self, demand: int) -> int | None:
        """Return where the command stands that a demand shows; ``None``: none that was sent."""
        index_found = None
        for index, (_, target) in enumerate(self._sent):
            if target == demand:
                index_found = index
            elif index_found is not None:
                break
        if index_found is not None:
            return index_found
        for index, ((_, target_before), (_, target_after)) in enumerate(pairwise(self._sent)):
            if min(target_before, target_after) < demand < max(target_before, target_after):
                return index if self._follows else None
        return None

    def newest(self, count: int) -> int | None:
        """Return which command was taken last of so many; ``None``: the drive does not say."""
        if not self._follows:
            return None
        return self._newest if self._sent else count

    @property
    def _follows(self) -> bool:
        return self._moves >= _SURE
