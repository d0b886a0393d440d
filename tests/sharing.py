"""In which order the workers of a run take the tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest


def shared_out(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Order tests so that each worker begins with slow ones, and files stay together.

    With ``--dist worksteal`` each worker gets an equal piece of the list and, when it is done with
    it, the later half of what another still has: what is stolen last shall be short, or one worker
    ends long before the other.
    """
    pieces: list[list[pytest.Item]] = [[] for _ in range(workers)]
    files = groupby(filter(_is_slow, items), key=lambda item: item.path)
    groups = [list(group) for _, group in files]
    for group in sorted(groups, key=lambda group: not _is_reproduction(group[0])):
        min(pieces, key=len).extend(group)
    quick = [item for item in items if not _is_slow(item)]
    size, begin = len(items) // workers, 0
    for piece in pieces:
        end = len(quick) if piece is pieces[-1] else begin + max(size - len(piece), 0)
        piece.extend(quick[begin:end])
        begin = end
    return [item for piece in pieces for item in piece]


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def _is_reproduction(item: pytest.Item) -> bool:
    return item.get_closest_marker("reproduction") is not None
