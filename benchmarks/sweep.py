"""Whether a sweep keeps two processors busy, and what a run costs besides its steps.

usage: python benchmarks/sweep.py [--turns N] [--json FILE]

The sweep is examples/famdc/axial_compensated.ssd over noise and seeds: 5000 steps in each run,
all blocks in Python. Three things take turns: one worker, two workers, and two processes that do
nothing but count, which is what the machine had to give. Workers are started and have loaded
everything before they are timed; starting them is timed apart. Each figure is the median of the
turns; the ratios are those of neighbours in one turn. The share of the workers' time that is within
runs does not depend on what else the machine does.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runner import Benchmark

from orchestrator.study.experiment import Experiment
from orchestrator.study.prepare.axes import placed
from orchestrator.study.run.case_runs import run_case
from orchestrator.study.sweep import plans_of
from orchestrator.study.sweep.executors import Dispatcher, JobExecutor, local_executors
from orchestrator.study.sweep.jobs import JobRecord, SweepPlan

ROOT = Path(__file__).resolve().parents[1]
RUNS = 120
TICK = os.sysconf("SC_CLK_TCK")
EXPERIMENT = {
    "title": "Benchmark",
    "defaults": {"algorithm": "gauss-seidel", "delay": "plain", "step": "1 ms", "stop": "5 s"},
    "case": {
        "rig": {
            "system": "axial_compensated.ssd",
            "fault": {"noise": {"kind": "noise", "on": "sensor.measured", "from": 0, "sigma": 1.0}},
            "measure": {"end": {"kind": "final", "signal": "dynamics.position"}},
        }
    },
    "sweep": {
        "c": {
            "cases": ["rig"],
            "measures": ["end"],
            "seeds": RUNS // 4,
            "over": {"noise": {"fault": ["noise.sigma"], "values": [0.5, 1.0, 1.5, 2.0]}},
        }
    },
}


def processor_seconds(processes: Sequence[int]) -> float:
    """User and system time of processes so far."""
    total = 0
    for process in processes:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def timed(
    plan: SweepPlan, executors: Sequence[JobExecutor], workers: Sequence[int]
) -> tuple[float, float, float]:
    """Seconds on the clock, of the processors, and of the clock within runs, for all runs."""
    records: list[JobRecord] = []
    before = processor_seconds(workers)
    began = time.perf_counter()
    Dispatcher(executors, plan.context, records.append).run(plan.jobs)
    wall = time.perf_counter() - began
    if not all(record.status == "done" for record in records):
        raise SystemExit("a run failed; build the FMUs first (`softdock build`)")
    within = sum(record.wall_seconds for record in records)
    return wall, processor_seconds(workers) - before, within


def count(seconds: float) -> None:
    """Keep one processor busy."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def spun(seconds: float) -> float:
    """Share of two processors that two processes get which do nothing but count."""
    spawn = multiprocessing.get_context("fork")
    processes = [spawn.Process(target=count, args=(seconds,)) for _ in range(2)]
    began = time.perf_counter()
    for process in processes:
        process.start()
    time.sleep(0.9 * seconds)
    used = processor_seconds([p.pid for p in processes if p.pid])
    share = used / (2 * (time.perf_counter() - began))
    for process in processes:
        process.join()
    return share


def cost_of_a_run(plan: SweepPlan) -> dict[str, float]:
    """Milliseconds of one run in this process: all of it, and its steps."""
    whole, steps = [], []
    for job in plan.jobs[:20]:
        began = time.perf_counter()
        there = placed(plan.context.sweep, job.point, job.seed, plan.context.cases["rig"])
        result = run_case(there, threads=1)
        whole.append(time.perf_counter() - began)
        steps.append(result.wall_seconds)
    return {"run_ms": 1e3 * statistics.median(whole), "steps_ms": 1e3 * statistics.median(steps)}


def measure(turns: int) -> dict[str, Any]:
    """All figures."""
    experiment = Experiment.model_validate(EXPERIMENT)
    plan = plans_of(experiment, ROOT / "examples" / "famdc")["c"]
    rows = []
    began = time.perf_counter()
    with local_executors(2) as executors:
        Dispatcher(executors, plan.context, lambda _record: None).run(plan.jobs[:8])
        started = time.perf_counter() - began
        workers = [child.pid for child in multiprocessing.active_children() if child.pid]
        for _ in range(turns):
            one, _, _ = timed(plan, executors[:1], workers)
            two, used, within = timed(plan, executors, workers)
            rows.append(
                {
                    "one_s": one,
                    "two_s": two,
                    "speed_up": one / two,
                    "busy": used / (2 * two),
                    "occupied": within / (2 * two),
                    "offered": spun(min(two, 3.0)),
                }
            )
    found = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    found["busy_of_offered"] = statistics.median(r["busy"] / r["offered"] for r in rows)
    return {**found, "start_s": started, "runs": RUNS, **cost_of_a_run(plan), "turns": rows}


def main() -> None:
    """Print the table; write JSON if asked."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--turns", type=int, default=5)
    options = benchmark.options()
    found = measure(1 if options.quick else options.turns)
    rows = {
        "one worker": f"{found['one_s']:.2f} s",
        "two workers": f"{found['two_s']:.2f} s",
        "speed-up of two workers": f"{found['speed_up']:.2f}",
        "time of two workers that is within runs": f"{100 * found['occupied']:.0f} %",
        "two processors are busy with runs": f"{100 * found['busy']:.0f} %",
        "two processes that only count get": f"{100 * found['offered']:.0f} %",
        "ratio of both": f"{100 * found['busy_of_offered']:.0f} %",
        "starting two workers, first runs": f"{found['start_s']:.1f} s",
        "one run": f"{found['run_ms']:.1f} ms",
        "of that, steps": f"{found['steps_ms']:.1f} ms",
    }
    benchmark.table(f"{RUNS} runs of 5000 steps", ["figure", "value"], rows.items())
    benchmark.finish(**found)


if __name__ == "__main__":
    main()
