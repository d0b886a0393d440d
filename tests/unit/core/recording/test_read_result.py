"""Results that were changed after they were written."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.files import plain_data
from orchestrator.core.recording import Result, read_parquet, read_result, write_parquet, writer
from orchestrator.core.simunits import Notice

UNTOLD = object()


@pytest.fixture
def path(tmp_path):
    notices = (Notice(1_000_000, "stopped", safe=True),)
    values = np.arange(6.0).reshape(3, 2)
    result = Result(
        "a", np.arange(3) * 1_000_000, ("x", "y[0]"), values, {"x": "m"}, notices=notices
    )
    write_parquet(result, tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_what_was_written_is_read(path):
    result = read_result(path)
    assert (result.name, result.names, result.units) == ("a", ("x", "y[0]"), {"x": "m"})
    np.testing.assert_array_equal(result.values, np.arange(6.0).reshape(3, 2))
    assert result.notices == (Notice(1_000_000, "stopped", safe=True),)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("case", UNTOLD, "its metadata: 'case': Field required"),
        ("case", 3, "its metadata: 'case': "),
        ("units", UNTOLD, "it has no 'units'"),
        ("units", ["x"], "its units: "),
        ("units", {"x": None}, "its units: 'x': "),
        ("step_ns", "soon", "its metadata: 'step_ns': "),
        ("step_ns", 10**400, "an integer of 401 digits; expected at most 64 bits"),
        ("faults", UNTOLD, "its metadata: 'faults': Field required"),
        ("faults", [{"name": "f"}], "its metadata: 'faults.0.lines': Field required"),
        ("notices", [{"time_ns": 1.5, "what": ""}], "its metadata: 'notices.0.time_ns': "),
        ("notices", "x", "its metadata: 'notices': "),
    ],
)
def test_damaged_metadata_is_named(path, key, value, expected):
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    run = json.loads(metadata[b"softdock"]) | {key: value}
    metadata[b"softdock"] = json.dumps({k: v for k, v in run.items() if v is not UNTOLD}).encode()
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(LoadError) as error:
        read_result(path)
    assert str(error.value).startswith(f"{path}: expected a Parquet file that Softdock has written")
    assert expected in str(error.value)


@pytest.mark.parametrize("content", [b"[]", b"3", b"null", b"\xff", b"{", b"[" * 100_000])
def test_metadata_that_is_none(path, content, wording):
    table = pq.read_table(path)
    metadata = {**table.schema.metadata, b"softdock": content}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with wording.raises(LoadError):
        read_parquet(path)


@pytest.mark.parametrize(
    ("column", "content"),
    [
        ("time [s]", [0.0, 1e300, 2e300]),
        ("time [s]", [0.0, 0.0, 1.0]),
        ("time [s]", [0.0, None, 1.0]),
        ("time", [0.0, 1.0, 2.0]),
        ("x", ["a", "b", "c"]),
    ],
)
def test_columns_that_are_no_signals(path, column, content, wording):
    table = pq.read_table(path)
    at = 2 if "time" in column else 0
    pq.write_table(table.set_column(at, column, pa.array(content)), path)
    with wording.raises(LoadError):
        read_result(path)


def test_a_folder_of_results_names_them(tmp_path, wording):
    with wording.raises(LoadError):
        read_result(tmp_path)
    for number in range(9):
        (tmp_path / f"case{number}.parquet").touch()
    (tmp_path / "case0.ledger.csv").touch()
    with wording.raises(LoadError):
        read_result(tmp_path)


@pytest.mark.parametrize("name", ["experiment.toml", "rows"])
def test_another_file_is_told_by_its_suffix(tmp_path, name, wording):
    (tmp_path / name).write_text("")
    with wording.raises(LoadError):
        read_result(tmp_path / name)


@pytest.fixture
def recorded(tmp_path):
    """Return a result of more rows than are read at once, in which each number is another one."""
    rows = 10_000
    names = tuple(f"c.s{i}" for i in range(5))
    values = np.arange(5.0 * rows).reshape(rows, 5)
    return Result("long", np.arange(rows) * 1_000_000, names, values, {"c.s1": "m"})


@pytest.mark.parametrize("kind", ["parquet", "mcap"])
def test_a_recording_is_read_in_parts_and_whole(recorded, tmp_path, kind):
    writer(kind)(recorded, tmp_path / f"a.{kind}")
    result = read_result(tmp_path / f"a.{kind}")
    assert (result.names, result.units) == (recorded.names, {"c.s1": "m"})
    np.testing.assert_array_equal(result.time_ns, recorded.time_ns)
    np.testing.assert_array_equal(result.values, recorded.values)


@pytest.mark.parametrize(("kind", "copies"), [("parquet", 1), ("mcap", 3)])
def test_a_recording_that_does_not_fit_into_memory_is_refused_before_it_is_read(
    recorded, tmp_path, monkeypatch, kind, copies, wording
):
    path = tmp_path / f"a.{kind}"
    writer(kind)(recorded, path)
    size = 8 * 10_000 * 6
    for available, fits in ((copies * size + 1, True), (copies * size, False)):
        monkeypatch.setattr(plain_data, "available_memory", lambda size=available: size)
        if fits:
            assert len(read_result(path).time_ns) == 10_000
        else:
            with wording.raises(LoadError):
                read_result(path)
    monkeypatch.setattr(plain_data, "available_memory", lambda: None)
    assert len(read_result(path).time_ns) == 10_000


def test_a_missing_file_names_the_one_of_another_format(recorded, tmp_path, wording):
    writer("npz")(recorded, tmp_path / "a.npz")
    with wording.raises(LoadError):
        read_result(tmp_path / "a.parquet")
    with wording.raises(LoadError):
        read_result(tmp_path / "b.parquet")
