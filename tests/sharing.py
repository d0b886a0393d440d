"""In which order the workers of a run take the tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest

#: Folders of tests that are quick, in this order; those that are not named come after them.
_FIRST = ("unit", "conformance", "diagnostic_cases", "benchmark_problems", "property", "docs")


def shared_out(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Order tests so that quick ones come before slow ones, and files stay together.

    With ``--dist worksteal`` each worker gets an equal piece of the list and, when it is done with
    it, the later half of what another still has: what is stolen last shall be short, or one worker
    ends long before the other. So reproductions are the first of those that are slow.
    """
    pieces: list[list[pytest.Item]] = [[] for _ in range(workers)]
    files = groupby(filter(_is_slow, items), key=lambda item: item.path)
    groups = [list(group) for _, group in files]
    for group in sorted(groups, key=lambda group: not _is_reproduction(group[0])):
        min(pieces, key=len).extend(group)
    quick = sorted((item for item in items if not _is_slow(item)), key=_place)
    size, begin = len(items) // workers, 0
    for piece in pieces:
        end = len(quick) if piece is pieces[-1] else begin + max(size - len(piece), 0)
        piece[:0] = quick[begin:end]
        begin = end
    return [item for piece in pieces for item in piece]


def _place(item: pytest.Item) -> int:
    folder = item.nodeid.split("/")[1]
    return _FIRST.index(folder) if folder in _FIRST else len(_FIRST)


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def _is_reproduction(item: pytest.Item) -> bool:
    return item.get_closest_marker("reproduction") is not None
