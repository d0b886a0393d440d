"""Steps and start-up as ratios to a C loop, in this Python: of Linux, or of Windows under Wine.

usage: python -P benchmarks/windows.py FLOOR

FLOOR is benchmarks/floor.c as a program of the same platform, such as by
``python -m ziglang cc -O2 -target x86_64-windows-gnu -o floor.exe benchmarks/floor.c``. The chain
is that of one_fmu.py, of the FMU that comes with Softdock. C loop and engine take turns; the least
of each counts, so that the ratio can be taken on a busy machine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from orchestrator import Execution, System, example_fmu, fmu
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files.archive import extract
from orchestrator.core.simunits import read_fmu

INPUT, OUTPUT = "position_command", "position"
H = 1e-3
TURNS, STARTS = 25, 6
STEPS = {2: 20_000, 10: 5_000, 50: 1_000}
RUN = (
    "from orchestrator import System, example_fmu, fmu, simulate;"
    "system = System('s').add('a', fmu(example_fmu('PositionAxis')));"
    "simulate(system, step='1 ms', stop='10 ms')"
)


def engine(path: Path, n: int, steps: int) -> tuple[float, float]:
    """Step a chain; return the seconds that it took, and the last position."""
    system = System("chain")
    for i in range(n):
        system = system.add(f"axis{i}", fmu(path), **({INPUT: 1.0} if i == 0 else {}))
        if i:
            system = system.connect(f"axis{i - 1}.{OUTPUT}", f"axis{i}.{INPUT}")
    last = f"axis{n - 1}.{OUTPUT}"
    with Execution(system, step=H, algorithm="jacobi", record=[last], every=steps) as run:
        run.advance(f"{steps} ms")
        return run.wall_seconds, float(run.get(last))


def least(*words: str) -> float:
    """Return the least time that a program took, s."""
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        taken.append(time.perf_counter() - began)
    return min(taken)


def main(floor: str) -> None:
    """Print one line for each chain, and one for start-up."""
    path = example_fmu("PositionAxis")
    described = read_fmu(path)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        extract(path, folder, FmuError)
        begin = [floor, str(folder / described.library), described.guid]
        begin.append((folder / "resources").as_uri())
        end = [str(H), *(str(described.references[each]) for each in (INPUT, OUTPUT))]
        for n, steps in STEPS.items():
            bare, ours = [], []
            for _ in range(TURNS):
                words = [*begin, str(n), str(steps), *end]
                printed = subprocess.run(words, check=True, capture_output=True).stdout.split()
                seconds, position = engine(path, n, steps)
                if float(printed[1]) != position:
                    sys.exit(f"N = {n}: C {float(printed[1])!r}, Softdock {position!r}")
                bare.append(float(printed[0]))
                ours.append(seconds)
            scale = 1e6 / (n * steps)
            print(
                f"N = {n}: C loop {scale * min(bare):.3f} us, Softdock {scale * min(ours):.3f} us"
                f" per step and FMU: {min(ours) / min(bare):.2f}"
            )
        program = least(*begin, "1", "10", *end)
        numpy, run = (least(sys.executable, "-c", code) for code in ("import numpy", RUN))
        print(
            f"start and 10 steps: C {program:.3f} s, import numpy {numpy:.2f} s, Softdock"
            f" {run:.2f} s: {run / program:.0f} of C, {run / numpy:.1f} of numpy"
        )


if __name__ == "__main__":
    main(sys.argv[1])
