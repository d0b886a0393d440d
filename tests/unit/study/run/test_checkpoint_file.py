import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from orchestrator import read_checkpoint, read_system, start, write_checkpoint
from orchestrator.core.diagnostics import CapabilityError, LoadError
from orchestrator.core.files.archive import MOST_BYTES
from orchestrator.core.simunits import Block, Output, State, block
from orchestrator.core.system import System
from orchestrator.study.run import checkpoint_file

pytestmark = pytest.mark.usefixtures("sample_blocks")
EPOS = Path(__file__).parents[4] / "examples" / "epos"

RESUME = """
import hashlib, sys
from orchestrator import read_checkpoint, read_system, start
path, system, algorithm, delay = sys.argv[1:]
with start(read_system(system), step="1 ms", algorithm=algorithm, delay=delay) as execution:
    execution.restore(read_checkpoint(path))
    assert execution.time == 0.2
    execution.advance("0.5 s")
    print(hashlib.sha256(execution.recording().values.tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "algorithm", "delay"),
    [
        ("SystemStructure.ssd", "gauss-seidel", "mean"),
        ("SystemStructure.ssd", "jacobi", "mean"),
        ("capture_axis.ssd", "gauss-seidel", "mean"),
        ("capture_axis.ssd", "jacobi", "plain"),
    ],
)
def test_a_new_process_goes_on_bit_for_bit(plants, tmp_path, file, algorithm, delay):
    import hashlib

    path = tmp_path / "run.checkpoint"
    options = {"step": "1 ms", "algorithm": algorithm, "delay": delay}
    with start(read_system(EPOS / file), **options) as execution:
        execution.advance("0.2 s")
        write_checkpoint(execution.save(), path)
        execution.advance("0.5 s")
        values = execution.recording().values
    with start(read_system(EPOS / file), **options) as whole:
        whole.advance("0.5 s")
        assert whole.recording().values.tobytes() == values.tobytes()
    command = [sys.executable, "-c", RESUME, str(path), str(EPOS / file), algorithm, delay]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - this interpreter, our script
    assert done.stderr == ""
    assert done.stdout.strip() == hashlib.sha256(values.tobytes()).hexdigest()


def matrix():
    """Array connectors, an array as state, and a delay."""
    return (
        System("matrix")
        .add("a", block("matrix"), u=(1.0, 10.0))
        .add("b", block("matrix"))
        .connect("a.y", "b.u", delay="1.5 s")
    )


def test_blocks_with_arrays(tmp_path):
    one, two = start(matrix(), step="1 s"), start(matrix(), step="1 s")
    one.advance("3 s")
    write_checkpoint(one.save(), tmp_path / "c")
    stored = read_checkpoint(tmp_path / "c")
    assert stored.time == 3.0
    two.restore(stored)
    for run in (one, two):
        run.advance("6 s")
    np.testing.assert_array_equal(one.recording().values, two.recording().values)
    assert one.recording().values[3:].min() < 0.0
    two.restore(stored)  # reading and going on has not changed it
    two.advance("6 s")
    np.testing.assert_array_equal(one.recording().values, two.recording().values)


def test_a_block_whose_state_is_no_data(register, tmp_path, wording):
    class Drawing(Block):
        y: float = Output()
        rng: object = State(start=np.random.default_rng(1))

        def step(self, t, h):
            self.y = self.rng.normal()

    register(drawing=Drawing)
    run = start(System("s").add("noise", block("drawing")), step="1 s")
    here = run.save()
    run.advance("3 s")
    first = run.recording().values
    run.restore(here)
    run.advance("3 s")
    np.testing.assert_array_equal(run.recording().values, first)
    path = tmp_path / "c"
    with wording.raises(CapabilityError):
        write_checkpoint(here, path)
    assert not path.exists()


def test_too_large_a_recording(monkeypatch, tmp_path, wording):
    run = start(matrix(), step="1 s")
    run.advance("50 s")
    monkeypatch.setattr(checkpoint_file, "MOST_BYTES", 4000)
    with wording.raises(CapabilityError):
        write_checkpoint(run.save(), tmp_path / "c")
    assert MOST_BYTES > 10**9


def rewritten(path, name, change):
    with zipfile.ZipFile(path) as archive:
        content = {entry: archive.read(entry) for entry in archive.namelist()}
    content[name] = change(content[name])
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in content.items():
            if data is not None:
                archive.writestr(entry, data)


def header(shape):
    """An array's file that says that it is large."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"shape": shape, "fortran_order": False, "descr": "<f8"}
    )
    return file.getvalue()


def described(**changes):
    return lambda data: json.dumps(json.loads(data) | changes)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("checkpoint.json", lambda data: data[:20]),
        ("checkpoint.json", lambda data: None),
        ("checkpoint.json", lambda data: "[]"),
        ("checkpoint.json", described(format="softdock checkpoint 9")),
        ("checkpoint.json", described(units=["a"])),
        ("checkpoint.json", described(units=3)),
        ("checkpoint.json", described(steps=4)),
        ("signals.npy", lambda data: data[:-8]),
        ("samples.npy", lambda data: None),
        ("rows.npy", lambda data: b"PK"),
        ("rows.npy", lambda data: data.replace(b"4, 12", b"4, (2")),
        ("rows.npy", lambda data: header((1 << 42,))),
        ("checkpoint.json", described(time_ns=2**70)),
        ("checkpoint.json", described(time_ns=2**63)),
        ("checkpoint.json", described(steps=-1)),
        ("checkpoint.json", described(facts={"a": 1})),
        ("checkpoint.json", lambda data: b"[" * 100_000),
    ],
)
def test_damaged_files(tmp_path, name, change, wording):
    path = tmp_path / "c"
    run = start(matrix(), step="1 s")
    run.advance("3 s")
    write_checkpoint(run.save(), path)
    rewritten(path, name, change)
    with wording.raises(LoadError):
        run.restore(read_checkpoint(path))
    run.step()  # nothing was changed


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("signals", np.zeros(3)),
        ("samples", np.zeros(1)),
        ("marks", np.full(2, -1)),
        ("marks", np.zeros(3, dtype=np.int64)),
    ],
)
def test_tables_of_another_engine(tmp_path, name, array, wording):
    """What would lead the engine out of its memory is refused before anything is changed."""
    run = start(matrix(), step="1 s")
    run.advance("3 s")
    write_checkpoint(run.save(), tmp_path / "c")
    np.save(tmp_path / "a.npy", array)
    rewritten(tmp_path / "c", f"{name}.npy", lambda _: (tmp_path / "a.npy").read_bytes())
    with wording.raises(LoadError):
        run.restore(read_checkpoint(tmp_path / "c"))
    run.step()


def test_no_checkpoint_at_all(tmp_path, wording):
    with wording.raises(LoadError):
        read_checkpoint(tmp_path / "missing")
    (tmp_path / "text").write_text("hello")
    with wording.raises(LoadError):
        read_checkpoint(tmp_path / "text")
