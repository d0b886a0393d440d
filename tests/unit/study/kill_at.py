"""Looks at the folder of a run at every moment at which it could be killed, and kills some runs.

``python kill_at.py FOLDER``: an audit hook sees every call that changes files before it is done.
What a reader finds there is what a kill would leave. Writes JSON: what each file was of at each
moment; whether children that were to be killed at a few of them were; what the next run left.
"""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.pictures import report_page
from orchestrator.study import read_experiment, run_experiment

EXPERIMENT = """
title = "two"
[defaults]
step = "10 ms"
stop = "20 ms"
record = ["spring.force_a"]
formats = ["parquet", "csv"]
[case.a]
system = "a.ssd"
[case.b]
system = "a.ssd"
"""
CHANGES = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "open", "ctypes.dlsym"}


def write(folder, value):
    """Write the experiment, with another value in all that its run will write."""
    (folder / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    held = {"position_a": value, "velocity_a": 0.0, "position_b": 0.0, "velocity_b": 0.0}
    spring = System("a").add("spring", block("spring_dashpot"), k=1.0, latched=True, **held)
    write_ssd(spring, folder / "a.ssd")


def run(folder, value):
    experiment = read_experiment(folder / "experiment.toml")
    run_experiment(experiment, folder, folder / "out", notes=[f"value {value}"])


def found(out):
    """Return which run each file is of."""
    seen = {}
    for name in ("a", "b"):
        table = pq.read_table(out / f"{name}.parquet").to_pandas()
        seen[f"{name}.parquet"] = abs(table["spring.force_a"].iloc[-1])
        rows = pd.read_csv(out / f"{name}.csv")
        seen[f"{name}.csv"] = abs(rows["spring.force_a [N]"].iloc[-1])
    said = json.loads((out / "summary.json").read_text(encoding="utf-8"))["cases"]
    seen["summary"] = float(said["a"]["remarks"][0].split()[1])
    report = (out / "report.html").read_text(encoding="utf-8")
    seen["report"] = next(v for v in (1.0, 2.0, 3.0) if f"value {v}" in report)
    return {name: int(np.rint(value)) for name, value in seen.items()}


class Moments:
    """Calls a function before each change of a file, and before folders are exchanged."""

    def __init__(self):
        self.each = None
        sys.addaudithook(self._hook)

    def _hook(self, event, arguments):
        reads = event == "open" and "w" not in str(arguments[1])
        if self.each is None or event not in CHANGES or reads:
            return
        each, self.each = self.each, None
        each()
        self.each = each

    def during(self, each, folder, value):
        write(folder, value)
        self.each = each
        run(folder, value)
        self.each = None


def killed(moments, number, folder):
    """Run in a child that is killed before its n-th change."""
    left = number

    def die():
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            moments.during(die, folder, 2.0)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main():
    report_page._plots = lambda *_: {}  # they take long and change nothing here
    report_page._each_drawing = lambda *_: {}
    folder = Path(sys.argv[1])
    moments, seen = Moments(), []

    def look():
        notes = folder / "out" / "mine" / "notes.txt"
        seen.append([found(folder / "out"), notes.is_file() and notes.read_text(encoding="utf-8")])

    write(folder, 1.0)
    run(folder, 1.0)
    (folder / "out" / "mine").mkdir()
    (folder / "out" / "mine" / "notes.txt").write_text("kept", encoding="utf-8")
    moments.during(look, folder, 2.0)
    look()
    ends = [number * len(seen) // 5 for number in range(5)]
    crashes = [killed(moments, number, folder) for number in (*ends, len(seen) - 3)]
    write(folder, 3.0)
    run(folder, 3.0)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    last = found(folder / "out")
    told = {"seen": seen, "crashes": crashes, "last": last, "files": names}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
