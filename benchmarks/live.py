"""A run at 1 kHz that two viewers look at, against one that nobody does, or that look elsewhere.

usage: python benchmarks/live.py [--seconds S] [--json FILE]

EPOS (examples) in real time, SCHED_FIFO 80 and locked memory where they are granted. All take
turns, so that a neighbour of the machine meets all. Viewers are processes that ask ten times a
second for what a page asks for: the state, the last ten seconds of all signals with all peaks, and
one row. Where Chromium is installed, the page is also open in it, as an operator has it, and draws
on the processors of the run. Those who look elsewhere ask as much of another server about rows
that are there already: what they cost is what processors that are shared cost. Ratios compare
medians of the turns.
"""

from __future__ import annotations

import argparse
import http
import http.client
import importlib
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit
from urllib.request import urlopen

from runner import Benchmark

from orchestrator import Execution, RealTime, read_system, simulate
from orchestrator.core.master import ExecutionSettings
from orchestrator.core.realtime import RealTimeRecord, SharedRows
from orchestrator.core.recording import Result
from orchestrator.core.simulation import RunHooks, simulate_with
from orchestrator.pictures.live.extension import Viewing
from orchestrator.pictures.live.messages import Begun, CaseReady

ROOT = Path(__file__).resolve().parents[1]
SYSTEM = ROOT / "examples" / "epos" / "ideal.ssd"
TURNS, VIEWERS, PERIOD_S, WINDOW_NS = 9, 2, 0.1, 10_000_000_000
LOOKED, ELSEWHERE, ALONE = "two viewers", "two look elsewhere", "nobody looks"
OPEN = "the page in Chromium"


def view(url: str) -> None:
    """Ask as a page does, until there is nobody to ask."""
    place, answers = urlsplit(url), 0
    connection = http.client.HTTPConnection(place.hostname or "", place.port)

    def ask(path: str) -> bytes:
        connection.request("GET", f"{path}{'&' if '?' in path else '?'}{place.query}")
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == http.HTTPStatus.OK, content  # noqa: S101
        return content

    try:
        ask("/state")
        sys.stdout.write("looks\n")
        sys.stdout.flush()
        columns = ""
        while True:
            (*_, case) = json.loads(ask("/state"))["cases"] or [{}]
            if end_ns := case.get("end_ns", 0):
                if not columns:
                    names = json.loads(ask("/case?case=0"))["signals"]["names"]
                    columns = ",".join(map(str, range(len(names))))
                wish = f"begin_ns={end_ns - WINDOW_NS}&end_ns={end_ns}&at_ns={end_ns}&most=4000"
                ask(f"/samples?case=0&columns={columns}&{wish}")
                answers += 1
            time.sleep(PERIOD_S)
    except (OSError, http.client.HTTPException):
        sys.stdout.write(str(answers))


def open_page(url: str) -> None:
    """Have the page open in a browser, until there is nobody to ask."""
    sys.path.insert(0, str(ROOT))
    browser = importlib.import_module("tests.browser").browser
    seen: set[float] = set()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, browser(folder) as page:
        page.show(url, 1366, 768)
        sys.stdout.write("looks\n")
        sys.stdout.flush()
        try:
            while True:
                urlopen(url, timeout=5.0).close()  # noqa: S310 - of our own server
                seen.add(page.run("view.shown"))
                time.sleep(5.0 * PERIOD_S)
        except (OSError, http.client.HTTPException):
            sys.stdout.write(str(len(seen)))


@contextmanager
def looked_at(how: str = "--view", count: int = VIEWERS) -> Iterator[Viewing]:
    """Let viewers look at a run that is told of."""
    viewing = Viewing("0", "benchmark")
    viewing.say(Begun("epos", "EPOS", None, ""))
    command = [sys.executable, __file__, how, viewing.url]
    viewers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    for viewer in viewers:
        assert viewer.stdout is not None  # noqa: S101
        viewer.stdout.readline()  # a busy machine starts the server and its viewers late
    try:
        yield viewing
    finally:
        viewing.end("over")
        answers = [int(viewer.communicate()[0] or 0) for viewer in viewers]
        assert min(answers) > 2, answers  # noqa: S101 - they did look


def show_recorded(viewing: Viewing, seconds: float) -> SharedRows:
    """Let viewers look at as many rows as a run has, which nobody writes any more."""
    result = simulate(read_system(SYSTEM), step="1 ms", stop=f"{seconds} s")
    rows = SharedRows(len(result.time_ns), len(result.names))
    rows.values[:], rows.times_ns[:] = result.values, result.time_ns
    plain = Result("other", result.time_ns[:0], result.names, result.values[:0], result.units)
    viewing.say(CaseReady(plain, len(rows.times_ns), round(seconds * 1e9), 1.0), rows.file)
    return rows


def timing(seconds: float, viewing: Viewing | None) -> RealTimeRecord:
    """Run for so long, and return how it kept to real time."""

    def share(rows: SharedRows, begun: Result, _execution: Execution) -> None:
        assert viewing is not None  # noqa: S101
        plain = Result(begun.name, begun.time_ns, begun.names, begun.values, begun.units)
        viewing.say(CaseReady(plain, len(rows.times_ns), round(seconds * 1e9), 1.0), rows.file)

    system, paced = read_system(SYSTEM), RealTime(priority=80)
    settings = ExecutionSettings.of(
        system, step="1 ms", stop=f"{seconds} s", delay="mean", realtime=paced
    )
    hooks = RunHooks(share=None if viewing is None else share)
    found = simulate_with(system, settings, hooks).timing
    assert found is not None  # noqa: S101
    return found


def measured(turns: int, seconds: float) -> dict[str, list[RealTimeRecord]]:
    """Let all take turns."""
    found: dict[str, list[RealTimeRecord]] = {ALONE: [], ELSEWHERE: [], LOOKED: []}
    if shutil.which("chromium"):
        found[OPEN] = []
    for _ in range(turns):
        found[ALONE].append(timing(seconds, None))
        with looked_at() as other:
            rows = show_recorded(other, seconds)
            found[ELSEWHERE].append(timing(seconds, None))
            del rows
        with looked_at() as viewing:
            found[LOOKED].append(timing(seconds, viewing))
        if OPEN in found:
            with looked_at("--open", 1) as viewing:
                found[OPEN].append(timing(seconds, viewing))
    return found


def main() -> None:
    """Measure, and print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seconds", type=float, default=12.0, help="of each turn")
    benchmark.argument("--turns", type=int, default=TURNS)
    benchmark.argument("--view", help=argparse.SUPPRESS)
    benchmark.argument("--open", help=argparse.SUPPRESS)
    options = benchmark.options()
    if options.open:
        open_page(options.open)
        return
    if options.view:
        view(options.view)
        return
    turns, seconds = (1, 3.0) if options.quick else (options.turns, options.seconds)
    found = measured(turns, seconds)
    figures, rows = {}, []
    for name, runs in found.items():
        wake = [(run.wake.percentile_ns(99.9) or 0) / 1e3 for run in runs]
        computing = [(run.computing.percentile_ns(99.9) or 0) / 1e3 for run in runs]
        figures[name] = {"wake_us": wake, "computing_us": computing}
        texts = [
            f"{statistics.median(each):.1f} ({min(each):.1f} to {max(each):.1f})"
            for each in (wake, computing)
        ]
        rows.append((name, *texts, sum(run.overruns for run in runs)))
    benchmark.table(
        f"1 kHz, {turns} turns of {seconds:g} s: median (least to most)",
        ["", "wake-up 99.9 % [us]", "computing 99.9 % [us]", "late steps"],
        rows,
    )
    looking = [name for name in (LOOKED, OPEN) if name in found]
    shares = [
        (
            f"{key}, {name}",
            *(
                f"{statistics.median(figures[name][key]) / statistics.median(figures[n][key]):.2f}"
                for n in (ELSEWHERE, ALONE)
            ),
        )
        for key in ("wake_us", "computing_us")
        for name in looking
    ]
    benchmark.table("Ratios of the medians", ["", f"of '{ELSEWHERE}'", f"of '{ALONE}'"], shares)
    benchmark.finish(rows=figures)


if __name__ == "__main__":
    main()
