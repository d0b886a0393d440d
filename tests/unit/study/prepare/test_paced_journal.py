"""What a run in real time has recorded is in files when it is killed."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from orchestrator import RealTime, System, block, simulate
from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording import Journal, Result, read_parquet, read_result
from orchestrator.core.recording.journal import LENGTH, JournalOrder, JournalProcess, write_journal

#: A run that is killed in the step that begins at 0.35 s.
SCRIPT = """
from pathlib import Path
from orchestrator import RealTime, System, block, simulate
from orchestrator.core.recording import Journal
system = System("paced").add("mortal", block("mortal.py:Mortal"))
journal = Journal(Path("journal"), {interval})
realtime = RealTime(priority=0, lock_memory=False)
simulate(system, step="1 ms", stop="60 s", realtime=realtime, journal=journal)
"""
MORTAL = """
import os
import signal
from orchestrator import Block, Output
class Mortal(Block):
    y: float = Output()
    def step(self, t: float, h: float) -> None:
        self.y = t + h
        if t > 0.3495:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def paced() -> System:
    rest = dict.fromkeys(("position_a", "velocity_a", "position_b", "velocity_b"), 0.0)
    return System("paced").add("contact", block("spring_dashpot"), k=1000.0, **rest)


@pytest.fixture
def begun() -> Result:
    return simulate(paced(), step="1 ms", stop="1 ms")


def rows_of(begun: Result, count: int) -> SharedRows:
    rows = SharedRows(10, len(begun.names))
    for i in range(count):
        rows.values[i] = i
        rows.times_ns[i] = (2 + i) * 1_000_000
    return rows


def order_of(begun: Result, rows: SharedRows, folder: Path) -> JournalOrder:
    file = os.dup(rows.file)  # the writer closes its own
    return JournalOrder(folder, 0.01, file, len(rows.times_ns), begun, frozenset())


def times_of(folder: Path) -> np.ndarray:
    """Times of all rows of a journal, ms."""
    parts = [read_parquet(file) for file in sorted(folder.glob("*.parquet"))]
    return np.concatenate([1e3 * part.index.to_numpy() for part in parts])


def test_the_last_row_counts_when_nothing_writes_it_any_more(begun: Result, tmp_path: Path) -> None:
    rows, folder = rows_of(begun, 3), tmp_path / "journal"
    read, write = os.pipe()
    before = []

    def run_until_something_is_written() -> None:
        while not list(folder.glob("*.parquet")):
            time.sleep(0.01)
        before.append(times_of(folder))
        os.close(write)

    thread = threading.Thread(target=run_until_something_is_written)
    thread.start()
    with os.fdopen(read, "rb", buffering=0) as run:
        write_journal(order_of(begun, rows, folder), run)
    thread.join()
    np.testing.assert_allclose(before[0], np.arange(4), atol=1e-9)
    np.testing.assert_allclose(times_of(folder), np.arange(5), atol=1e-9)


def test_the_end_of_a_run_waits_for_no_writer_that_others_keep_from_its_turn(
    begun: Result, tmp_path: Path
) -> None:
    process = JournalProcess(Journal(tmp_path / "journal", 60.0), rows_of(begun, 3), begun, ())
    process._process.send_signal(signal.SIGSTOP)  # as one of lowest priority may stand for minutes
    assert process.end() == ""
    assert process._process.returncode == -signal.SIGKILL


def test_what_is_done_to_the_run_stands_in_what_is_left_of_it(
    begun: Result, tmp_path: Path
) -> None:
    rows, folder = rows_of(begun, 3), tmp_path / "journal"
    done = Tuned(2, 2_000_000, "contact.k", 1000.0, 900.0), Mark(3, 3_000_000, "seen")
    read, write = os.pipe()
    with os.fdopen(write, "wb", buffering=0) as run:
        for event in done:
            data = pickle.dumps(event)
            run.write(LENGTH.pack(len(data)) + data)
    with os.fdopen(read, "rb", buffering=0) as run:
        write_journal(order_of(begun, rows, folder), run)
    result = read_result(folder)
    assert (result.tuned, result.marks) == (done[:1], done[1:])


def test_a_journal_in_real_time_knows_what_was_tuned(tmp_path: Path) -> None:
    journal, told = Journal(tmp_path / "journal", 0.001), []
    realtime = RealTime(priority=0, lock_memory=False)
    again = (Tuned(5, 5_000_000, "contact.k", 1000.0, 900.0, 3),)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JournalProcess, "tell", lambda _self, event: told.append(event))
        result = simulate(
            paced(), step="1 ms", stop="9 ms", realtime=realtime, journal=journal, tuned=again
        )
    assert tuple(told) == result.tuned == again


def test_a_short_run_has_none(tmp_path: Path, begun: Result) -> None:
    journal = Journal(tmp_path / "journal", 60.0)
    realtime = RealTime(priority=0, lock_memory=False)
    result = simulate(paced(), step="1 ms", stop="5 ms", realtime=realtime, journal=journal)
    assert not journal.folder.exists()
    assert result.names == begun.names


@pytest.mark.slow
@pytest.mark.parametrize("interval", [50.0, 0.01])
def test_a_killed_run_leaves_all_rows_and_says_so(tmp_path: Path, interval: float) -> None:
    """All 350 that were recorded, also if the process of the journal came to its turn later."""
    (tmp_path / "mortal.py").write_text(MORTAL)
    script = SCRIPT.format(interval=interval)
    run = subprocess.run(  # noqa: S603 - until the last has ended that has its output: the journal
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, check=False
    )
    assert run.returncode == -signal.SIGKILL
    table = read_parquet(tmp_path / "journal")
    np.testing.assert_allclose(1e3 * table.index, np.arange(351), atol=1e-9)
    assert table["mortal.y"].iloc[-1] == pytest.approx(0.35)
    (notice,) = table.attrs["run"]["notices"]
    assert notice["what"] == "the run was killed: these are all 351 rows that it had recorded"


def test_a_journal_that_cannot_be_written_is_said(tmp_path: Path, begun: Result) -> None:
    (tmp_path / "journal").touch()  # a file where a folder must be
    journal = Journal(tmp_path / "journal", 0.01)
    process = JournalProcess(journal, rows_of(begun, 3), begun, ())
    process._process.wait(60.0)  # it ends by itself
    assert str(tmp_path / "journal") in process.end()
