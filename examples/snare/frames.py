"""Pictures of a snare that closes, from one run; writes docs/pictures/snare-closing.png.

python examples/snare/frames.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt

from orchestrator import read_system, resolve, simulate

HERE = Path(__file__).parent
PICTURE = HERE.parents[1] / "docs" / "pictures" / "snare-closing.png"
TIMES = (0.0, 1.0, 1.9, 3.5)  # s: open, closing, tight, drawn in
COLOURS = ("#c0392b", "#1e8449", "#2471a3")
BASE, LENGTH = np.array([0.040931, -0.00137, -0.342138]), 0.08  # m, of the shaft


def turned(q: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Turn a vector by a unit quaternion, scalar first."""
    across = 2.0 * np.cross(q[1:], vector)
    return np.asarray(vector + q[0] * across + np.cross(q[1:], across))


def main() -> None:
    """Run the case on the axis, 20 mm off the axis and tumbling, and draw it four times."""
    system = resolve(read_system(HERE / "SystemStructure.ssd"))
    for name, value in (("r0[2]", 0.02137), ("w0[1]", -0.03), ("w0[3]", 0.05)):
        system = system.set(f"target.{name}", value)
    run = simulate(system, step="1 ms", stop="4 s", delay="mean")
    figure = plt.figure(figsize=(12.0, 3.6))
    around = np.linspace(0.0, 2.0 * np.pi, 90)
    for column, time in enumerate(TIMES):
        row = round(time * 1e3)
        axes = figure.add_subplot(1, len(TIMES), column + 1, projection="3d")
        drag = run["screw.drag[3]"][row]
        for height in (0.01, -0.01):
            circle = 0.15 * np.cos(around), 0.15 * np.sin(around), np.full(90, drag + height)
            axes.plot(*circle, color="#6b7785", linewidth=1.5)
        for number, colour in enumerate(COLOURS, start=1):
            nodes = [
                [run[f"rope_{number}.nodes[{n},{j}]"][row] for n in range(1, 17)] for j in (1, 2, 3)
            ]
            axes.plot(*nodes, color=colour, linewidth=2.0)
        r = np.array([run[f"target.r[{j}]"][row] for j in (1, 2, 3)])
        q = np.array([run[f"target.q[{j}]"][row] for j in (1, 2, 3, 4)])
        ends = [r + turned(q, BASE), r + turned(q, BASE - [0.0, 0.0, LENGTH])]
        axes.plot(*np.transpose(ends), color="#333a41", linewidth=5.0)
        push = sum(run[f"rope_{number}.push"][row] for number in (1, 2, 3))
        axes.set(
            xlim=(-0.16, 0.16),
            ylim=(-0.16, 0.16),
            zlim=(-0.12, 0.12),
            title=f"{time:g} s, {push:.0f} N",
        )
        axes.view_init(elev=50, azim=-60)
        axes.set_box_aspect((1, 1, 0.75))
        axes.set_axis_off()
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
