"""Noise of the tachometer on the emulated line, cycle by cycle without a clock: fifty seeds.

python tests/reproduction/met/line_noise.py
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from test_rig import on_the_line, share

SEEDS = range(1, 51)
NOISE = 0.5  # rad/s


def rates(seed: int) -> np.ndarray:
    """Rates of both joints from 1 s on, % of the command, shape (2, n); seed 0: without noise."""
    result = on_the_line(NOISE if seed else 0.0, seed)
    late = result.time >= 1.0
    return np.array([share(result, joint)[late] for joint in (1, 2)])


def main() -> None:
    """Print median, quantiles and worst of the root mean square of each joint's deviation."""
    with ProcessPoolExecutor(2) as pool:
        still, *noisy = pool.map(rates, [0, *SEEDS])
    sizes = np.sqrt(np.mean((np.array(noisy) - still) ** 2, axis=2))
    for joint, size in enumerate(sizes.T, start=1):
        low, middle, high = np.quantile(size, [0.05, 0.5, 0.95])
        print(f"joint {joint}: {middle:.3f} ({low:.3f}, {high:.3f}; {size.max():.3f}) %")  # noqa: T201


if __name__ == "__main__":
    main()
