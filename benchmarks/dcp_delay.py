"""How late a DCP slave in real time is: our slave, coupled by our master over UDP on one machine.

``python benchmarks/dcp_delay.py``: the axis of ``fmus/PositionAxis.toml`` follows two sines for
``--seconds``, in process and, in SRT and HRT, as a slave in a process of its own that is given the
same commands by a run in real time. What a run can state of its delay is held against the delay by
which the trajectory in process fits best: a step of the run, at whose beginning it reads what it
has at the end; the age of the samples (``sample_age``, mean); and the wait of a command for the
next step of the slave, up to one of it. ``--fifo PRIORITY``: SCHED_FIFO for run and slave.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import cos
from pathlib import Path

import numpy as np
from runner import Benchmark
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from orchestrator import (
    Block,
    DeviceError,
    Output,
    RealTime,
    StepError,
    System,
    block,
    fmu,
    simulate,
)
from orchestrator.rig.devices.conformance import free_udp_port
from orchestrator.rig.devices.registry import write_address
from orchestrator.study.prepare.prepare import swap_component

ROOT = Path(__file__).parents[1]
AXIS = ROOT / "fmus" / "build" / "PositionAxis.fmu"
#: Step of the run, s; what is before is the beginning of the motion.
STEP, SETTLED_S = 4e-3, 0.5


class Sines(Block):
    """Commands a position."""

    u: float = Output(unit="m", depends_on=())

    def initialise(self, t: float) -> None:
        """Begin at its largest."""
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Go on along two sines."""
        self.u = 0.03 * cos(9.0 * (t + h)) + 0.01 * cos(31.0 * (t + h))


def axis_system() -> System:
    """Return the axis and what commands it."""
    system = System("axis").add("command", block(Sines)).add("axis", fmu(AXIS), x0=0.04)
    return system.connect("command.u", "axis.position_command")


@contextmanager
def served(folder: Path, step: float, priority: int) -> Iterator[dict[str, object]]:
    """Serve the axis in a process of its own; yield the settings of the adapter."""
    port, about = free_udp_port(), folder / "axis.dcp"
    command = ["dcp", "serve", str(AXIS), "--step", f"{step} s", "--port", str(port)]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "orchestrator",
            *command,
            "--description",
            str(about),
            "--runs",
            "1",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is not None:
            process.stdout.readline()
        if priority:
            os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(priority))
        yield {"description": str(about), "steps": 1, "parameters": {"x0": 0.04}}
    finally:
        process.terminate()
        process.communicate()


def fitted(times: np.ndarray, here: np.ndarray, there: np.ndarray) -> tuple[float, float]:
    """Return the delay that fits best, s, and the RMS of what is left, m."""
    spline, kept = CubicSpline(times, here), times >= SETTLED_S

    def left(delay: float) -> float:
        return float(np.sqrt(np.mean((there[kept] - spline(times[kept] - delay)) ** 2)))

    found = minimize_scalar(left, bounds=(-0.02, 0.1), method="bounded", options={"xatol": 1e-7})
    return float(found.x), left(float(found.x))


def measure(mode: str, slave_step: float, seconds: float, priority: int) -> tuple[str, ...]:
    """Run once in a mode; return a row of the table."""
    signals = ["axis.position", "axis.sample_age", "axis.lost", "axis.late"]
    named = f"{mode}, {1e3 * slave_step:g} ms"
    run = {"step": STEP, "stop": seconds, "algorithm": "jacobi", "delay": "plain"}
    here = simulate(axis_system(), record=["axis.position"], **run)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), slave_step, priority) as given,
    ):
        address = write_address("dcp", {**given, "mode": mode})
        system = swap_component(axis_system(), "axis", f"device:{address}")
        paced = RealTime(priority=priority)
        try:
            there = simulate(system, record=signals, realtime=paced, **run)
        except (DeviceError, StepError) as error:
            return named, f"ended: {error}", "", "", "", ""
    times = here.time
    age = there["axis.sample_age"][times >= SETTLED_S]
    delay, rest = fitted(times, here["axis.position"], there["axis.position"])
    share = 100.0 * rest / float(np.ptp(here["axis.position"]))
    least = STEP + float(np.mean(age))
    counts = f"{there['axis.lost'][-1]:.0f}, {there['axis.late'][-1]:.0f}"
    return (
        named,
        f"{1e3 * np.mean(age):.2f} ({1e3 * np.quantile(age, 0.99):.2f})",
        f"{1e3 * least:.2f} to {1e3 * (least + slave_step):.2f}",
        f"{1e3 * delay:.2f}",
        f"{share:.3f}",
        counts,
    )


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seconds", type=float, default=5.0)
    benchmark.argument("--fifo", type=int, default=0, metavar="PRIORITY")
    benchmark.argument("--modes", default="srt,hrt")
    benchmark.argument("--slave-steps", default="1,4", help="ms")
    options = benchmark.options()
    columns = ("mode, step of the slave", "age, mean (99 %), ms", "stated, ms", "fitted, ms")
    rows = [
        measure(mode, 1e-3 * step, options.seconds, options.fifo)
        for mode in options.modes.split(",")[: 1 if options.quick else None]
        for step in map(float, options.slave_steps.split(",")[: 1 if options.quick else None])
    ]
    benchmark.table("", [*columns, "left, %", "lost, late"], rows)
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
