"""Children that measure, in turns, and what their figures amount to."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from job import Job
from verdict import verdict

Row = dict[str, Any]
_CHILD = Path(__file__).with_name("child.py")
#: The first is what the others are held to.
PEERS = ("floor", "softdock", "ecos", "libcosim", "fmpy", "fmpy_ssp", "cofmupy", "pyfmi")


def measure(peer: str, python: str, job: Job, limit: float) -> Row:
    """Run one child; a reason under ``skipped`` if it gives no figures."""
    work = Path(job.work)
    work.mkdir(parents=True)
    source, target = work / "job.json", work / "result.json"
    job.write(source)
    try:
        done = subprocess.run(
            [python, str(_CHILD), peer, str(source), str(target)],
            check=False,
            capture_output=True,
            text=True,
            timeout=limit,
            cwd=work,
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"longer than {limit:g} s"}
    except OSError as error:
        return {"skipped": f"{python}: {error.strerror}"}
    if not target.exists():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"skipped": f"ended with status {done.returncode}: {last}"}
    return json.loads(target.read_text(encoding="utf-8"))


def measure_all(
    job: Job,
    sizes: Sequence[int],
    turns: int,
    limit: float,
    pythons: Mapping[str, str],
    keep: Callable[[list[Row]], None],
    chosen: Sequence[str] = PEERS,
) -> list[Row]:
    """Measure every peer at every size, without and with recording.

    A peer that gave no figures is not asked again at a larger size. ``keep`` gets all rows so far
    after each size and kind.
    """
    rows: list[Row] = []
    given_up = {peer: "not asked for" for peer in PEERS[1:] if peer not in chosen}
    for n in sizes:
        for record in (False, True):
            runs: dict[str, list[Row]] = {peer: [] for peer in PEERS}
            for turn in range(turns):
                for peer in PEERS:
                    if peer in given_up:
                        continue
                    work = Path(job.work) / f"{peer}-{n}-{record}-{turn}"
                    python = pythons.get(peer, sys.executable)
                    run = measure(peer, python, job.at(n, work, record=record), limit)
                    if "skipped" in run:
                        given_up[peer] = f"{run['skipped']} (N = {n})"
                        runs[peer] = []
                    else:
                        runs[peer].append(run)
            if not runs["floor"]:
                raise SystemExit(f"the bare C loop gives no figures: {given_up['floor']}")
            for peer in PEERS:
                head = {"peer": peer, "n": n, "record": record}
                if runs[peer]:
                    rows.append(head | summary(runs[peer], runs["floor"], n))
                else:
                    rows.append(head | {"skipped": given_up[peer]})
            keep(rows)
    return rows


def summary(runs: Sequence[Row], floor: Sequence[Row], n: int) -> Row:
    """Medians over the turns; ratios are to the bare C loop of the same turn."""
    steps = [statistics.median(run["step_s"]) for run in runs]
    bare = [statistics.median(run["step_s"]) for run in floor]
    checks = [
        verdict(r["outputs"], f["outputs"], f["in_sequence"])
        for r, f in zip(runs, floor, strict=True)
    ]
    order, deviation = max(checks, key=lambda check: check[1])
    return {
        "us": 1e6 / n * statistics.median(steps),
        "ratio": statistics.median(a / b for a, b in zip(steps, bare, strict=True)),
        "start_ms": 1e3 * statistics.median(run["start_s"] for run in runs),
        "import_ms": 1e3 * statistics.median(run["import_s"] for run in runs),
        "order": order,
        "deviation": deviation,
        "steps": runs[0]["steps"],
        "version": runs[0]["version"],
    }
