"""Two emulated drives on one shaft at 1 kHz SYNC: what the line keeps, and how fast faults stop it.

``python benchmarks/canopen.py``: a position loop of 100 Hz in Softdock over the drive motor, the
load motor gives torque; then each fault ``--repeat`` times, and the time from its cause to the
quick stop of the last drive, over the time that was allowed. Times are the emulator's log.
"""

import csv
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from runner import Benchmark

from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.settings import CanopenSettings
from orchestrator import Block, Execution, Input, Output, Parameter, System, block
from orchestrator.core.simunits.registry import component_of
from orchestrator.core.system.source import Source
from orchestrator.rig.devices import DeviceError
from orchestrator.rig.devices.conformance import EmulatorProcess
from orchestrator.rig.devices.registry import write_address

EMULATOR = "hw_adapters.canopen_cia402.emulator"
DRIVE = {
    "position_scale": math.tau / 65536,
    "torque_scale": 1e-3,
    "velocity_limit": 50.0,
    "torque_limit": 1.0,
    "quick_stop_deceleration": 500.0,
}
DRIVES = [
    DRIVE | {"name": "motor", "node": 1, "mode": "csv"},
    DRIVE | {"name": "load", "node": 2, "mode": "cst"},
]
STEP = 0.01
#: Cause, and what the reaction may take in ms: time-out of the heartbeat, tolerance of SYNC, and
#: two cycles for what is told by the drive itself.
FAULTS = {
    "mute": ("no heartbeat of drive 2", "2:mute:0.3", 100.0),
    "dead": ("drive 2 dead", "2:dead:0.3", 100.0),
    "deaf": ("drive 2 hears no SYNC", "2:deaf:0.3", 50.0),
    "reset": ("drive 2 starts anew", "2:reset:0.3", 2.0),
    "8611": ("following error of drive 2", "2:8611:0.3", 2.0),
    "2310": ("overcurrent of drive 2", "2:2310:0.3", 2.0),
    "kill": ("master killed", "", 100.0),
}


class PositionLoop(Block):
    """Leads a motor along a sine, and loads it."""

    position: float = Input(unit="rad")
    velocity_set: float = Output(unit="rad/s", depends_on=("position",))
    torque_set: float = Output(unit="N.m", depends_on=())
    error: float = Output(unit="rad", depends_on=("position",))
    gain: float = Parameter(start=10.0, unit="1/s")

    def step(self, t: float, h: float) -> None:
        """Proportional, with the wanted velocity fed forward."""
        w = math.pi
        self.error = 1.0 - math.cos(w * t) - self.position
        self.velocity_set = w * math.sin(w * t) + self.gain * self.error
        self.torque_set = 0.05


def settings(path: Path) -> dict[str, object]:
    """Of the adapter, for a line at a path."""
    return {"channel": str(path), "drives": DRIVES, "heartbeat_timeout_ms": 100}


def emulated(folder: Path, fault: str = "") -> EmulatorProcess:
    """Two drives on one shaft."""
    options = ["--nodes", "1,2", "--one-shaft", "--sync-tolerance", "50", "--coulomb", "0.005"]
    more = ["--drive-fault", fault] if fault else []
    return EmulatorProcess(
        EMULATOR, ["--link", str(folder / "can"), "--log", str(folder / "log.csv"), *options, *more]
    )


@contextmanager
def preferred(emulator: EmulatorProcess, priority: int) -> Iterator[None]:
    """Give this process, what it starts, and the emulator SCHED_FIFO; 0: leave them as they are."""
    if priority:
        emulator.prefer(priority)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def position_loop(folder: Path, seconds: float, priority: int) -> list[tuple[str, object]]:
    """Run the loop; return what the line and the loop did."""
    address = write_address("canopen_cia402", settings(folder / "can") | {"stale_after": 1.0})
    with emulated(folder) as emulator, preferred(emulator, priority):
        rig = System("rig").add("loop", block(PositionLoop))
        rig = rig.add("drives", component_of(Source.parse(f"device:{address}")))
        rig = rig.connect("loop.velocity_set", "drives.motor_velocity_set")
        rig = rig.connect("loop.torque_set", "drives.load_torque_set")
        rig = rig.connect("drives.motor_position", "loop.position")
        errors, ages = [], []
        with Execution(rig, step=STEP) as run:
            begin = time.monotonic()
            count = round(seconds / STEP)
            for i in range(count):
                run.step()
                errors.append(run.get("loop.error"))
                ages.append(run.get("drives.sample_age"))
                time.sleep(max(0.0, begin + (i + 1) * STEP - time.monotonic()))
            samples, lost = run.get("drives.samples"), run.get("drives.lost")
    errors, ages = np.array(errors[100:]), np.array(ages)
    worst = [f"{1e3 * np.quantile(ages, q):.2f}" for q in (0.5, 0.99, 1.0)]
    return [
        ("bits in a cycle, of 1000", CanopenSettings(**settings(folder)).cycle_bits),
        ("SYNC per second", f"{(samples + lost) / seconds:.0f}"),
        ("cycles not complete before the next", f"{lost:.0f} of {samples + lost:.0f}"),
        ("age of the sample in a step of 10 ms, ms, median, 99 %, worst", ", ".join(worst)),
        ("error of a sine of 1 rad, 0.5 Hz, rms, rad", f"{np.sqrt(np.mean(errors**2)):.2e}"),
        ("worst, rad", f"{np.abs(errors).max():.2e}"),
    ]


HOST = """
import sys
from hw_adapters.canopen_cia402.adapter import CanopenCia402
device = CanopenCia402(CanopenCia402.Settings.model_validate_json(sys.argv[1]))
device.open()
print("open", flush=True)
while True:
    if device.receive(0.1) is not None:
        device.send((5.0, 0.05))
"""


def killed(given: CanopenSettings) -> None:
    """Lead the drives from another process, and kill it."""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, given.model_dump_json()], stdout=subprocess.PIPE
    )
    assert host.stdout is not None  # noqa: S101 - a pipe was asked for
    host.stdout.readline()
    time.sleep(0.3)
    os.kill(host.pid, signal.SIGKILL)
    host.communicate()
    time.sleep(0.5)


def led(given: CanopenSettings) -> None:
    """Lead the drives until one of them fails."""
    device = CanopenCia402(given)
    try:
        device.open()
        while True:
            if device.receive(0.1) is not None:
                device.send((5.0, 0.05))
    except DeviceError:
        pass
    finally:
        device.close()


def reaction(folder: Path, kind: str) -> tuple[float, float]:
    """Let a fault happen; return the time from it to the last quick stop, and to rest, in ms."""
    _, fault, _ = FAULTS[kind]
    given = CanopenSettings(**settings(folder / "can"))
    with emulated(folder, fault):
        (killed if kind == "kill" else led)(given)
    with (folder / "log.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sign = "cycle" if kind == "kill" else f"inject_{fault.split(':')[1]}"
    cause = [float(r["time_s"]) for r in rows if r["event"] == sign][-1]
    stops = [float(r["time_s"]) for r in rows if r["event"] in {"quick_stop", "fault_reaction"}]
    rests = [float(r["time_s"]) for r in rows if r["event"] in {"switch_on_disabled", "fault"}]
    return 1e3 * (max(stops) - cause), 1e3 * (max(rests) - cause)


def faults(folder: Path, repeat: int) -> Iterator[tuple[str, ...]]:
    """Let each fault happen some times; yield the rows of the table."""
    for kind, (text, _, allowed) in FAULTS.items():
        found = []
        for i in range(repeat):
            place = folder / f"{kind}{i}"
            place.mkdir()
            try:
                found.append(reaction(place, kind))
            except (IndexError, ValueError, DeviceError):
                continue  # the machine stood still: the line was in fault before
        if not found:
            yield text, f"the line was in fault before, in each of {repeat}", "", ""
            continue
        stop, rest = np.array(found).T
        yield (
            text,
            f"{np.median(stop):.1f} ({stop.max():.1f}), {len(found)} runs",
            f"{np.median(stop) / allowed:.2f} of {allowed:g} ms",
            f"{np.median(rest):.0f}",
        )


def main() -> None:
    """Measure."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seconds", type=float, default=10.0)
    benchmark.argument("--repeat", type=int, default=5)
    benchmark.argument("--fifo", type=int, default=0, help="priority of SCHED_FIFO of the loop")
    options = benchmark.options()
    seconds, repeat = (2.0, 1) if options.quick else (options.seconds, options.repeat)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "loop").mkdir()
        loop = position_loop(Path(folder) / "loop", seconds, options.fifo)
        benchmark.table("Position loop of 100 Hz", ["figure", "value"], loop)
        rows = list(faults(Path(folder), repeat))
    columns = ["fault", "last quick stop, ms, median (worst)", "over the allowed", "rest, ms"]
    benchmark.table("", columns, rows)
    benchmark.finish(loop=dict(loop), faults=rows)


if __name__ == "__main__":
    main()
