"""Contact laws side by side: restitution, peak force, contact time, and loops.

``python examples/impact/laws.py [FOLDER]`` prints the table of docs/explanation/contact-laws.md and
writes ``contact-laws.png`` into the folder, by closed form and quadrature, without a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import pi, sqrt
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from orchestrator.loops.contact import IdealImpact
from python_blocks.contact.damping_numbers import DAMPING_NUMBERS, exact, restitution_of
from python_blocks.contact.kelvin_voigt import KelvinVoigt, KelvinVoigtAdhesive
from python_blocks.contact.normal_impact import NormalImpact, samples

# Row 1 of Table 1 of Cai, Chen, Luo, Wang (2021); k is fitted.
M1, M2, V0, K, RESTITUTION = 38.4, 21.85, 0.09483, 1.2e7, 0.55
M = M1 * M2 / (M1 + M2)
RADIUS = 0.018
COLOURS = ("#000000", "#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#e69f00")


def impacts() -> dict[str, NormalImpact]:
    """Return the impact of row 1 for every law that damps in proportion to its elastic force."""
    found = {
        name: NormalImpact(M, V0, K, law(RESTITUTION)) for name, law in DAMPING_NUMBERS.items()
    }
    found["exact damping number"] = NormalImpact(M, V0, K, exact(RESTITUTION))
    deep = found["hertz"].largest_depth
    volume = M * V0**2 / 2.0 / (deep**3 / 3.0 - deep**4 / (12.0 * RADIUS))
    number = DAMPING_NUMBERS["gonthier"](RESTITUTION)
    found["volumetric"] = NormalImpact(M, V0, volume, number, n=2.0, radius=RADIUS)
    return found


def linear(deep: float) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield name, restitution, peak, contact time and largest depth of the two linear laws."""
    stiffness = M * V0**2 / deep**2
    for kind, name in ((KelvinVoigt, "kelvin_voigt"), (KelvinVoigtAdhesive, "with adhesion")):
        zeta = kind(k=stiffness, mass=M, restitution=RESTITUTION).damping_ratio()
        damping = 2.0 * zeta * sqrt(stiffness * M)
        ideal = IdealImpact(M1, M2, stiffness, damping, V0)
        adhesive = kind is KelvinVoigtAdhesive
        swing = pi / (ideal.natural_frequency * sqrt(1.0 - zeta**2))
        lowest = deep * np.exp(-zeta * np.arccos(zeta) / sqrt(1.0 - zeta**2))
        yield name, RESTITUTION, ideal.peak_force, swing if adhesive else ideal.release_time, lowest


def rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    yield "law", "D", "restitution", "leaves", "peak", "contact", "depth"
    yield "", "", "[1]", "[mm/s]", "[N]", "[ms]", "[mm]"
    found = impacts()
    for name, one in found.items():
        yield (
            name,
            f"{one.damping_number:.5f}",
            f"{one.restitution:.4f}",
            f"{1e3 * one.restitution * V0:.2f}",
            f"{one.peak_force:.2f}",
            f"{1e3 * one.contact_time:.2f}",
            f"{1e3 * one.largest_depth:.4f}",
        )
    for name, back, peak, time, deep in linear(found["hertz"].largest_depth):
        figures = (1e3 * back * V0, peak, 1e3 * time)
        yield name, "", f"{back:.4f}", *(f"{x:.2f}" for x in figures), f"{1e3 * deep:.4f}"


def draw(path: Path) -> None:
    """Draw actual over requested restitution, and the loops of row 1 (Figure 22)."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    requested = np.linspace(0.05, 1.0, 96)
    left.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    for colour, (name, law) in zip(COLOURS, DAMPING_NUMBERS.items(), strict=True):
        label = name.replace("_", " ")
        left.plot(requested, [restitution_of(law(c)) for c in requested], color=colour, label=label)
        depth, speed, force = samples(NormalImpact(M, V0, K, law(RESTITUTION)))
        middle.plot(1e3 * depth, force, color=colour)
        right.plot(1e3 * depth, -1e3 * speed, color=colour)
    left.set(xlabel="Requested restitution [1]", ylabel="Actual restitution [1]")
    middle.set(xlabel="Deformation [mm]", ylabel="Impact force [N]")
    right.set(xlabel="Deformation [mm]", ylabel="Relative velocity [mm/s]")
    left.set_title("Actual over requested restitution")
    middle.set_title("Row 1 of Table 1, requested 0.55")
    right.set_title("The same, as Figure 22 (no friction)")
    for axes in (left, middle, right):
        axes.grid(visible=True, alpha=0.3)
    left.legend(fontsize="small")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Print and draw."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/impact-laws")
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    for row in rows():
        print("| " + " | ".join(row) + " |")  # noqa: T201
    draw(folder / "contact-laws.png")
    print(folder / "contact-laws.png")  # noqa: T201


if __name__ == "__main__":
    main()
