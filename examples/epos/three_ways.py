"""The hybrid contact of EPOS three times: in process, as one FMU, and as a portable .ssp in FMPy.

``python examples/epos/three_ways.py [FOLDER]`` writes ``three-ways.png`` there, and prints the
differences of the curves. All take Jacobi steps of 1 ms, with the declared delays held exactly.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import fmpy
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import read_ssv
from numpy.typing import NDArray

from orchestrator import (
    build_block,
    export_system,
    prepare,
    read_experiment,
    simulate,
    swap_component,
    write_portable_ssp,
)

HERE = Path(__file__).parent
CASE = "hybrid_total_delay"
STEP = 0.001
HOW = {"algorithm": "jacobi", "delay": "mean"}  # as tools that hold their inputs do it
SHOWN = ("hybrid.force_1", "chaser.velocity", "sheet.force_a")
LABELS = ("Total force on\nthe chaser [N]", "Velocity of the\nchaser [m/s]", "Measured force [N]")


@dataclass(frozen=True)
class Ways:
    """Values after every step, by signal; the rows of all are those of ``times``."""

    times: NDArray[np.float64]
    in_process: dict[str, NDArray[np.float64]]
    one_fmu: dict[str, NDArray[np.float64]]
    portable: dict[str, NDArray[np.float64]]

    def differences(self) -> dict[str, float]:
        """Return the largest difference to the run in process, of all signals."""
        return {
            name: max(float(np.abs(other[key] - self.in_process[key]).max()) for key in SHOWN)
            for name, other in (("one FMU", self.one_fmu), ("portable .ssp", self.portable))
        }


def three_ways(folder: Path, seconds: float = 1.5) -> Ways:
    """Run the case in the three ways.

    Parameters
    ----------
    folder
        Where the FMUs and the .ssp go.
    seconds
        Simulated time; the contact is from 0 to 1.5 s.
    """
    case = read_experiment(HERE / "experiment.toml").case[CASE]
    count = round(seconds / STEP)
    archive = folder / "epos.ssp"
    made = write_portable_ssp(prepare(CASE, case, HERE, {}, {}), archive, step_ns=round(STEP * 1e9))
    system = made.inside  # delays of zero ask for extrapolation, which a plain tool does not do
    run = simulate(system, step=STEP, stop=seconds, **HOW)
    times = np.arange(1, count + 1) * STEP

    build_block("hybrid_contact", folder)
    only_fmus = swap_component(system, "hybrid", str(folder / "hybrid_contact.fmu"))
    fmu = export_system(only_fmus, folder / "epos.fmu", step=STEP, **HOW)
    alone = fmpy.simulate_fmu(
        fmu, stop_time=seconds, step_size=STEP, output_interval=STEP, output=list(SHOWN)
    )

    parameters = read_ssv(archive, "parameters.ssv")
    for parameter in parameters.parameters:
        if parameter.type == "Boolean":  # FMPy takes any text for true
            parameter.value = parameter.value == "true"
    rows = simulate_ssp(
        str(archive), stop_time=seconds - STEP / 2, step_size=STEP, parameter_set=parameters
    )
    return Ways(
        times,
        {name: run.values[1:, run.names.index(name)] for name in SHOWN},
        {name: alone[name][1 : count + 1] for name in SHOWN},
        {name: rows[name][:count] for name in SHOWN},
    )


def draw(ways: Ways, path: Path) -> None:
    """Draw the curves over each other."""
    figure, panels = plt.subplots(len(SHOWN), 1, sharex=True, figsize=(8, 7), layout="constrained")
    drawn = (
        ("in process", ways.in_process, {"color": "#9ecae9", "linewidth": 7}),
        ("one FMU, run by FMPy", ways.one_fmu, {"color": "#1f5a99", "linewidth": 2.5}),
        (
            "portable .ssp, run by FMPy",
            ways.portable,
            {"color": "#d95f02", "linewidth": 1.2, "linestyle": (0, (5, 4))},
        ),
    )
    for axes, name, label in zip(panels, SHOWN, LABELS, strict=True):
        for what, values, style in drawn:
            axes.plot(ways.times, values[name], label=what, **style)
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
    panels[0].legend(loc="upper center")
    panels[0].set_title("EPOS hybrid contact, 32 ms of delay on the total force, H = 1 ms, Jacobi")
    panels[-1].set_xlabel("Time [s]")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run, draw and print."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/epos-three-ways")
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    ways = three_ways(folder)
    draw(ways, folder / "three-ways.png")
    for name, difference in ways.differences().items():
        print(f"{name}: largest difference to the run in process {difference:.3g}")  # noqa: T201
    print(folder / "three-ways.png")  # noqa: T201


if __name__ == "__main__":
    main()
