"""Which names are elements of one array, and where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_INDICES = re.compile(r"\[([\d,]+)\]")


@dataclass(frozen=True, slots=True)
class Element:
    """Place of a variable in a row of an array: ``x[7,2]`` is element 7 of the row ``x[*,2]``."""

    row: str
    index: int


def elements(names: Sequence[str]) -> dict[int, Element]:
    """Return by position which element each name with indices is.

    The row is along the longest dimension of its array, over all components that it may be in:
    ``node[3].v[1]`` is element 3 of ``node[*].v[1]`` where there are more than three nodes.
    """
    split = {position: _split(name) for position, name in enumerate(names) if "[" in name}
    seen: dict[tuple[str, int], set[int]] = {}
    for pattern, indices in split.values():
        for dimension, index in enumerate(indices):
            seen.setdefault((pattern, dimension), set()).add(index)
    found = {}
    for position, (pattern, indices) in split.items():
        sizes = [len(seen[pattern, dimension]) for dimension in range(len(indices))]
        along = sizes.index(max(sizes))
        found[position] = Element(_with_star(names[position], along), indices[along])
    return found


def _with_star(name: str, along: int) -> str:
    """A name with a star in place of one of its indices."""
    counted = iter(range(name.count("[") + name.count(",")))

    def replaced(group: re.Match[str]) -> str:
        indices = group[1].split(",")
        return f"[{','.join('*' if next(counted) == along else i for i in indices)}]"

    return _INDICES.sub(replaced, name)


def _split(name: str) -> tuple[str, tuple[int, ...]]:
    """A name without its indices, and these."""
    indices = tuple(int(i) for group in _INDICES.findall(name) for i in group.split(","))
    return _INDICES.sub("[]", name), indices
