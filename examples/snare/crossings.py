"""Distances between the ropes of a snare, which do not feel each other; prints a table.

python examples/snare/crossings.py
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from ledger import CASES, ROPES
from steps import run

from orchestrator import Result

THICK = 3e-3  # m, a rope
EVERY = 5  # ms


def nodes(result: Result, rope: str) -> np.ndarray:
    """Return the places of the nodes of a rope, m, shape (times, 16, 3)."""
    rows = [[result[f"{rope}.nodes[{i},{j}]"][::EVERY] for j in (1, 2, 3)] for i in range(1, 17)]
    return np.moveaxis(np.array(rows), 2, 0)


def distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the least distance of two chains of straight segments, m, one for each time.

    Of two segments the nearest points follow from both being across the line that joins them; the
    point that is then outside of its segment moves to the end, and the other one to what is nearest
    to that.
    """
    a, d = first[:, :-1, None], np.diff(first, axis=1)[:, :, None]
    b, e = second[:, None, :-1], np.diff(second, axis=1)[:, None]
    between = a - b
    dd, ee, de = (np.sum(u * v, axis=-1) for u, v in ((d, d), (e, e), (d, e)))
    db, eb = (np.sum(u * between, axis=-1) for u in (d, e))
    across = np.maximum(dd * ee - de**2, 1e-30)
    on_first = np.clip((de * eb - db * ee) / across, 0.0, 1.0)
    on_second = (de * on_first + eb) / ee
    inside = np.clip(on_second, 0.0, 1.0)
    moved = np.clip((de * inside - db) / dd, 0.0, 1.0)
    on_first = np.where(inside == on_second, on_first, moved)
    gap = between + on_first[..., None] * d - inside[..., None] * e
    return np.linalg.norm(gap, axis=-1).min(axis=(1, 2))


def main() -> None:
    """Print the table."""
    pairs = list(combinations(ROPES, 2))
    titles = [f"{a[-1]} and {b[-1]}: {of}" for a, b in pairs for of in ("least [mm]", "near [s]")]
    print(f"| case | {' | '.join(titles)} |\n{'|---' * (1 + len(titles))}|")  # noqa: T201
    for name in CASES:
        result, _ = run(name, "all lines linear, as written", "1 ms")
        row = [name]
        for a, b in pairs:
            apart = distances(nodes(result, a), nodes(result, b))
            near = 1e-3 * EVERY * np.count_nonzero(apart < THICK)
            row += [f"{1e3 * apart.min():.2g}", f"{near:.2g}"]
        print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
