"""The arm at several moments of its ejection from five attitudes: Figures 7 and 13.

``python examples/ejection/strip.py FILE.png``, after ``softdock run examples/ejection``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from orchestrator import Result, read_result

RESULTS = Path(__file__).parents[2] / "results" / "ejection"
TIMES = (0.0, 0.25, 0.75, 1.5)  # s
TIP = 0.45  # length of the last link, m


def outline(result: Result, row: int) -> np.ndarray:
    """Places of base, joints and end in the x-z plane, shape (5, 2), m."""
    joints = [[result[f"arm.position[{i},{k}]"][row] for k in (1, 3)] for i in range(1, 5)]
    w, _, y, _ = (result[f"arm.attitude[4,{k}]"][row] for k in (1, 2, 3, 4))
    angle = 2.0 * np.arctan2(y, w)
    end = np.array(joints[-1]) + TIP * np.array([np.sin(angle), np.cos(angle)])
    return np.array([*joints, end])


def draw(path: Path) -> None:
    """Draw all attitudes on the table into a file."""
    figure, panels = plt.subplots(1, 5, figsize=(15, 4.4), sharey=True, layout="constrained")
    colours = plt.get_cmap("viridis")(np.linspace(0.85, 0.0, len(TIMES)))
    for number, panel in enumerate(panels, 1):
        result = read_result(RESULTS / f"plane_{number}.parquet")
        panel.axhspan(-0.4, 0.0, color="#d5dae0")  # the spacecraft
        for time, colour in zip(TIMES, colours, strict=True):
            places = outline(result, int(np.searchsorted(result.time, time - 1e-9)))
            panel.plot(*places.T, "o-", color=colour, markersize=4, label=f"{time:g} s")
            panel.plot(*places[0], "s", color=colour, markersize=8)
        panel.set(title=f"Attitude {number}", xlabel="x [m]", aspect="equal")
        panel.set(xlim=(-2.5, 2.5), ylim=(-0.4, 3.4))
    panels[0].set_ylabel("z, along the rail [m]")
    panels[-1].legend(loc="upper right")
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
