"""Results as MCAP: what its own reader sees, what is left of a file, full disks, conversion."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from orchestrator import Block, Output, RealTime, System, block, read_result, read_system, simulate
from orchestrator.core.coupling import FaultRecord
from orchestrator.core.diagnostics import DescriptionError, LoadError, SoftdockError
from orchestrator.core.recording import Journal, Result, mcap
from orchestrator.core.recording.mcap import write_mcap
from orchestrator.core.simunits import Notice


class Part(Block):
    x: float = Output(unit="m", depends_on=(), description="Way")
    f: np.ndarray = Output(unit="N", shape=(2,), depends_on=())

    def step(self, t, h):
        self.x = 0.1 * (t + h)
        self.f[:] = t, -t


@pytest.fixture
def result():
    system = System("s").add("a", block(Part)).add("b", block(Part))
    part = system.components["a"]
    way = replace(part.connectors["x"], frame="base")
    part = replace(part, connectors={**part.connectors, "x": way})
    system = replace(system, components={**system.components, "a": part})
    run = replace(simulate(system, step=1e-3, stop=0.02), system=system)
    notices = (Notice(3_000_000, "too hot", "let it cool", safe=True, component="a"),)
    faults = (FaultRecord("late", ("a.x -> b.u",), 5_000_000, 7_000_000, "5 ms later"),)
    return replace(run, notices=notices, faults=faults)


def opened(path):
    """All that mcap's own reader says of a file, with its indexes."""
    with Path(path).open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        messages = [
            (channel.topic, message.log_time, json.loads(message.data))
            for _, channel, message in reader.iter_messages()
        ]
        metadata = {one.name: one.metadata for one in reader.iter_metadata()}
        attachments = {
            iter_attachment.name: iter_attachment.data
            for iter_attachment in reader.iter_attachments()
        }
    return summary, messages, metadata, attachments


def test_its_own_reader_sees_signals_units_events_and_what_was_run(result, tmp_path):
    write_mcap(result, tmp_path / "a.mcap")
    summary, messages, metadata, attachments = opened(tmp_path / "a.mcap")
    assert summary.statistics.message_count == len(messages) == 2 * 21 + 3
    schemas = {
        schema.name: json.loads(schema.data)["properties"] for schema in summary.schemas.values()
    }
    assert schemas["softdock.a"]["x"] == {
        "type": ["number", "null"], "unit": "m", "frame": "base", "description": "Way"
    }  # fmt: skip
    rows = [(ns, row["f[1]"]) for topic, ns, row in messages if topic == "/b"]
    assert rows == list(zip(result.time_ns.tolist(), result["b.f[1]"].tolist(), strict=True))
    told = [(ns, row["kind"]) for topic, ns, row in messages if topic == "/events"]
    times = [3_000_000, 5_000_000, 7_000_000]
    assert told == list(zip(times, ["safe state", "fault begins", "fault ends"], strict=True))
    assert json.loads(metadata["run"]["step_ns"]) == 1_000_000
    assert "loops" in metadata["run"]
    assert metadata["versions"]["python"]
    (tmp_path / "read.ssd").write_bytes(attachments["system.ssd"])
    assert set(read_system(tmp_path / "read.ssd").components) == {"a", "b"}


def test_rows_in_real_time_have_the_monotonic_time_too(tmp_path, wording):
    system = System("s").add("a", block(Part))
    before = time.monotonic_ns()
    paced = RealTime(priority=0, lock_memory=False)
    journal = Journal(tmp_path / "j", 0.005, grows=True)
    result = simulate(system, step=1e-3, stop=0.05, realtime=paced, journal=journal)
    clock_ns = result.clock_ns
    assert clock_ns.shape == result.time_ns.shape
    assert before < clock_ns[0]
    assert clock_ns[-1] < time.monotonic_ns()
    assert (np.diff(clock_ns) > 0).all()
    # A row is written at its step's end, and a step begins no earlier than its time. Steps that
    # begin later than that follow each other faster, so only the whole run has a least duration.
    assert clock_ns[-1] - before >= result.time_ns[-2] - result.time_ns[0]
    write_mcap(result, tmp_path / "a.mcap")
    for path in (tmp_path / "a.mcap", *tmp_path.glob("j/rows.mcap")):
        with path.open("rb") as file:
            rows = [m for _, c, m in make_reader(file).iter_messages() if c.topic == "/a"]
        count = len(rows)
        assert [row.log_time for row in rows] == result.time_ns[:count].tolist()
        assert [row.publish_time for row in rows] == clock_ns[:count].tolist()
    found = read_result(tmp_path / "a.mcap")
    np.testing.assert_array_equal(found.clock_ns, clock_ns)
    np.testing.assert_array_equal(found.part(found.names, 10).clock_ns, clock_ns[::10])
    with wording.raises(DescriptionError):
        replace(found, clock_ns=clock_ns[1:])


def test_others_have_none(result, tmp_path):
    write_mcap(result, tmp_path / "a.mcap")
    assert (result.clock_ns, read_result(tmp_path / "a.mcap").clock_ns) == (None, None)


def test_it_is_read_back_bit_for_bit(result, tmp_path):
    result.values[2, :4] = np.nan, np.inf, -np.inf, 5e-324
    write_mcap(result, tmp_path / "a.mcap")
    found = read_result(tmp_path / "a.mcap")
    np.testing.assert_array_equal(found.values, result.values)
    np.testing.assert_array_equal(found.time_ns, result.time_ns)
    for what in ("name", "names", "units", "notices", "faults", "step_ns", "algorithm"):
        assert getattr(found, what) == getattr(result, what)
    assert found.notes == ()
    frame = found.to_frame()
    assert frame["a.x"].iloc[-1] == result["a.x"][-1]


def test_cut_anywhere_it_is_what_can_be_read_and_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap, "_CHUNK", 8)
    long = Result("one", np.arange(20) * 1000, ("a.x",), np.arange(20.0)[:, None])
    whole = tmp_path / "whole.mcap"
    write_mcap(long, whole)
    data = whole.read_bytes()
    seen = set()
    for end in [*range(0, len(data), 13), *range(len(data) - 40, len(data))]:
        cut = tmp_path / "cut.mcap"
        cut.write_bytes(data[:end])
        found, said = read_or_said(cut)
        count = len(found.time_ns) if found else 0
        seen.add(count)
        if not found:
            assert "expected MCAP with rows" in said
            assert "\n" not in said
            continue
        np.testing.assert_array_equal(found.values, long.values[:count])
        (note,) = found.notes
        assert f"cut.mcap is cut or damaged: these are the {count} rows up to" in note
    assert seen == {0, 8, 16, 20}


def test_damage_in_the_middle_is_told(result, tmp_path):
    write_mcap(replace(result, values=np.random.default_rng(1).random(result.values.shape)),
               tmp_path / "a.mcap")  # fmt: skip
    data = bytearray((tmp_path / "a.mcap").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "a.mcap").write_bytes(data)
    found, said = read_or_said(tmp_path / "a.mcap")
    assert said or found.notes


def read_or_said(path):
    try:
        return read_result(path), ""
    except LoadError as error:
        return None, str(error)


def test_of_another_tool_the_numbers_are_read_by_all_times(tmp_path):
    from mcap.writer import Writer

    with (tmp_path / "other.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        one = writer.register_channel("/arm/joint", "json", 0)
        two = writer.register_channel("/base", "json", 0)
        other = writer.register_channel("/camera", "protobuf", 0)
        for ns in (1000, 2000, 3000):
            writer.add_message(one, ns, b'{"q": 1.5, "name": "j"}', ns)
            writer.add_message(other, ns, b"\x00\x01", ns)
        writer.add_message(two, 2500, b'{"on": true}', 2500)
        writer.finish()
    found = read_result(tmp_path / "other.mcap")
    assert found.names == ("arm/joint.q", "base.on")
    assert found.time_ns.tolist() == [1000, 2000, 2500, 3000]
    np.testing.assert_array_equal(
        found.values, [[1.5, np.nan], [1.5, np.nan], [np.nan, 1.0], [1.5, np.nan]]
    )


def test_times_before_0_are_refused(result, tmp_path, wording):
    with wording.raises(SoftdockError):
        write_mcap(replace(result, time_ns=result.time_ns - 1), tmp_path / "a.mcap")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk():
    """Let no file grow beyond so many bytes, as on a disk that is full then."""
    resource = pytest.importorskip("resource", reason="Windows limits no sizes of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_earlier_file_or_all_chunks_before(
    result, tmp_path, small_disk, wording
):
    path = tmp_path / "a.mcap"
    write_mcap(result, path)
    before = path.read_bytes()
    journal = Journal(tmp_path / "one.partial", 1.0, grows=True)
    journal.add(result)
    grown = tmp_path / "one.partial" / "rows.mcap"
    noise = np.random.default_rng(1).random(result.values.shape)
    small_disk(grown.stat().st_size + 100)
    with wording.raises(SoftdockError):
        journal.add(replace(result, time_ns=result.time_ns + 21_000_000, values=noise))
    small_disk(2000)
    with wording.raises(SoftdockError):
        write_mcap(result, path)
    assert path.read_bytes() == before
    found = read_result(tmp_path / "one.partial")
    np.testing.assert_array_equal(found.values, result.values)
    assert found.notes == ()  # its end stands behind what there is


SCRIPT = """
from pathlib import Path
from orchestrator import RealTime, System, block, simulate
from orchestrator.core.recording import Journal
system = System("mortal").add("a", block("mortal.py:Mortal"))
journal = Journal(Path("journal"), {interval}, grows=True)
realtime = RealTime(priority=0, lock_memory=False) if {paced} else None
simulate(system, step="1 ms", stop="60 s", realtime=realtime, journal=journal)
"""
MORTAL = """
import os, signal, time
from orchestrator import Block, Output
class Mortal(Block):
    y: float = Output(unit="m")
    def step(self, t: float, h: float) -> None:
        self.y = t + h
        if t > 0.2495:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep({sleep})
"""


@pytest.mark.parametrize("paced", [False, True])
def test_after_kill_9_its_own_reader_opens_it(tmp_path, paced):
    (tmp_path / "mortal.py").write_text(MORTAL.replace("{sleep}", "0" if paced else "0.001"))
    program = SCRIPT.format(interval=10.0, paced=paced)  # the run ends long before
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == -9, done.stderr
    path = tmp_path / "journal" / "rows.mcap"
    if paced:  # another process has every row, and writes them when the run is no more
        wait_for(lambda: path.exists() and b"was killed" in str(written(path)).encode())
    summary, messages, _, _ = opened(path)
    rows = [row["y"] for topic, _, row in messages if topic == "/a"]
    assert rows[:3] == pytest.approx([0.0, 0.001, 0.002], abs=1e-12)
    assert np.diff(rows) == pytest.approx(0.001)
    assert len(rows) == 251 if paced else len(rows) > 20
    assert any(row["kind"] == "written" for topic, _, row in messages if topic == "/events")
    assert len(summary.chunk_indexes) >= 1
    again = read_result(tmp_path / "journal")
    assert (again.notes, len(again.time_ns)) == ((), len(rows))


def written(path):
    try:
        return opened(path)[1]
    except Exception:  # noqa: BLE001 - it is being written
        return []


def wait_for(reached):
    end = time.monotonic() + 60.0
    while not reached():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


@pytest.mark.parametrize("kind", ["parquet", "csv", "mat"])
def test_it_is_converted_both_ways(softdock, result, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    write_mcap(result, "a.mcap")
    assert softdock("convert", "a.mcap", f"b.{kind}")[0] == 0
    assert softdock("convert", f"b.{kind}", "c.mcap")[0] == 0
    found = read_result("c.mcap")
    assert (found.names, found.units) == (result.names, result.units)
    np.testing.assert_array_equal(found.values, result.values)
    np.testing.assert_array_equal(found.time_ns, result.time_ns)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a.mcap", "a.mcap"), "expected another file than the one that is read"),
        (("a.mcap", "b.xls"), "no format 'xls'"),
        (("no.mcap", "b.csv"), "no.mcap"),
        (("bad.csv", "b.mcap"), "expected a result, which has a column 'time [s]'"),
        (("bad.mat", "b.mcap"), "layout of Dymola"),
        (("bad.mcap", "b.csv"), "expected MCAP with rows"),
    ],
)
def test_what_cannot_be_converted_is_one_error(
    softdock, result, tmp_path, monkeypatch, names, said
):
    monkeypatch.chdir(tmp_path)
    write_mcap(result, "a.mcap")
    for name in ("bad.csv", "bad.mat", "bad.mcap"):
        Path(name).write_text("x,y\n1,2\n")
    code, _, error = softdock("convert", *names)
    assert code == 2
    assert said in " ".join(error.split())
    assert error.count("error: ") == 1
    assert not Path(names[1]).exists() or names[1] == "a.mcap"


def test_what_is_cut_is_converted_with_a_warning(softdock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long = Result("one", np.arange(9000) * 1000, ("a.x",), np.arange(9000.0)[:, None])
    write_mcap(long, "a.mcap")
    Path("cut.mcap").write_bytes(Path("a.mcap").read_bytes()[:-2000])
    code, _, warned = softdock("convert", "cut.mcap", "b.csv")
    assert code == 0
    assert "is cut or damaged" in warned
    assert len(read_result("b.csv").time_ns) >= 4096


def test_without_its_package_a_run_is_refused_before_it_begins(tmp_path):
    (tmp_path / "part.py").write_text(
        "from orchestrator import Block, Output\n"
        "class Part(Block):\n    y: float = Output(unit='m', depends_on=())\n"
        "    def step(self, t, h): self.y = t\n"
    )
    (tmp_path / "s.toml").write_text(
        '[system]\nname = "s"\n[component.a]\nsource = "block:part.py:Part"\n'
    )
    program = (
        "import sys; sys.modules['mcap'] = None\n"
        "sys.argv = 'softdock run s.toml --step 0.1s --stop 1s --format mcap'.split()\n"
        "from orchestrator.cli.main import main; main()"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "format 'mcap': this needs the package 'mcap'" in said
    assert "pip install 'softdock[mcap]'" in said
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("grows", [False, True])
def test_a_block_of_this_program_alone_has_a_journal_in_real_time(tmp_path, grows):
    class Own(Part):
        """Which no other process can find."""

    journal = Journal(tmp_path / "own.partial", 0.01, grows=grows)
    realtime = RealTime(priority=0, lock_memory=False)
    system = System("s").add("a", block(Own))
    run = simulate(system, step=1e-3, stop=0.03, realtime=realtime, journal=journal)
    assert len(run.time_ns) == 31
    assert not any("journal" in note for note in run.notes)


CASE = """
title = "x"
[defaults]
step = "1 ms"
stop = "5 ms"
linearise = false
formats = ["mcap"]
[case.one]
system = "s.toml"
[case.one.recorder.slow]
every = 5
"""


def test_a_case_is_written_as_mcap_and_its_journal_is_one(softdock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("part.py").write_text(
        "from pathlib import Path\nfrom orchestrator import Block, Output\n"
        "class Part(Block):\n    y: float = Output(unit='m', depends_on=())\n"
        "    def step(self, t, h):\n        self.y = t + h\n"
        "        if t > 0.0035:\n"
        "            path = Path('out/one.partial/rows.mcap')\n"
        "            Path('seen.mcap').write_bytes(path.read_bytes())\n"
    )
    Path("s.toml").write_text(
        '[system]\nname = "s"\n[component.a]\nsource = "block:part.py:Part"\n'
    )
    Path("experiment.toml").write_text(CASE)
    code, _, error = softdock("run", ".", "--output", "out", "--flush", "1 ns")
    assert code == 0, error
    assert len(read_result("out/one.mcap").time_ns) == 6
    assert read_result("out/one.slow.mcap").time_ns.tolist() == [0, 5_000_000]
    assert len(opened("seen.mcap")[1]) > 1  # as it was in the middle of the run
    assert not Path("out/one.partial").exists()
    Path("experiment.toml").write_text(CASE.replace("[case.one]", 'start = "-1 ms"\n[case.one]'))
    code, _, error = softdock("run", ".", "--output", "other")
    assert code == 2
    assert "MCAP has no time before 0: choose another format" in " ".join(error.split())
    assert not Path("other").exists()
