import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from orchestrator.core.coupling import FaultRecord
from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.recording import read_parquet, read_result, write_csv, write_parquet
from orchestrator.core.recording.files import write_npz
from orchestrator.core.recording.whole_folder import whole_file
from orchestrator.core.simunits import Notice


def bits(values):
    return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)


def test_parquet_keeps_every_bit(result, tmp_path):
    path = tmp_path / "new folder" / "run.parquet"
    write_parquet(result, path)
    frame = read_parquet(path)
    np.testing.assert_array_equal(bits(frame.to_numpy()), bits(result.values))
    np.testing.assert_array_equal(frame.index, result.time)
    assert frame.index.name == "time [s]"
    assert frame.attrs["units"] == result.units


def test_parquet_says_where_it_comes_from(result, tmp_path):
    write_parquet(result, tmp_path / "run.parquet")
    schema = pq.read_schema(tmp_path / "run.parquet")
    assert schema.field("chaser.position").metadata[b"unit"] == b"m"
    run = json.loads(schema.metadata[b"softdock"])
    assert (run["step_ns"], run["algorithm"], run["delay_mode"]) == (
        100_000,
        "gauss-seidel",
        "plain",
    )
    assert {"softdock", "python", "numpy", "platform"} <= set(run["versions"])
    (loop, *_) = run["loops"]
    assert loop["components"] == ["chaser", "sheet"]
    assert loop["physical_ns"] + loop["numerical_ns"] == loop["total_ns"]
    assert run["plans"][0]["declared_ns"] == 16_000_000
    assert read_parquet(tmp_path / "run.parquet").attrs["run"]["case"] == "exact"


@pytest.mark.parametrize(("kind", "write"), [("parquet", write_parquet), ("npz", write_npz)])
def test_a_result_is_read_back_with_what_went_wrong(result, tmp_path, kind, write):
    told = replace(
        result,
        faults=(FaultRecord("dropout", ("a.y -> b.u",), 500_000_000, None, "nothing arrives"),),
        notices=(Notice(700_000_000, "no number", "look there", safe=True, component="guard"),),
    )
    write(told, tmp_path / f"run.{kind}")
    read = read_result(tmp_path / f"run.{kind}")
    np.testing.assert_array_equal(read.time_ns, result.time_ns)
    np.testing.assert_array_equal(bits(read.values), bits(result.values))
    assert (read.name, read.names, read.units) == (result.name, result.names, result.units)
    assert (read.faults, read.notices) == (told.faults, told.notices)


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv", "mat", "mcap"])
def test_a_result_is_saved_in_the_format_that_the_ending_names(result, tmp_path, kind):
    result.save(tmp_path / f"run.{kind}")
    read = read_result(tmp_path / f"run.{kind}")
    assert read.names == result.names
    np.testing.assert_array_equal(bits(read.values), bits(result.values))


def test_a_format_that_nobody_registered_is_refused(result, tmp_path, wording):
    with wording.raises(SoftdockError):
        result.save(tmp_path / "run.mcpa")


def test_pandas_reads_the_parquet_file_alone(result, tmp_path):
    write_parquet(result, tmp_path / "run.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "run.parquet"), result.to_frame())


def test_numpy_reads_an_npz_file_alone(result, tmp_path):
    write_npz(result, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(bits(file["values"]), bits(result.values))
        assert tuple(file["names"]) == result.names
        assert json.loads(str(file["about"]))["units"] == result.units


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"values": np.zeros((2, 3))}, "3 names and 5 times"),
        ({"time": np.arange(5)}, "not of float64"),
        ({"time": np.zeros(5)}, "expected increasing times"),
        ({"about": "{}"}, "'units'"),
        ({"about": '{"units": {}, "case": 3}'}, "its metadata: 'case'"),
        ({"names": np.array([{}], dtype=object)}, "allow_pickle=False"),
    ],
)
def test_a_changed_npz_file_is_refused(result, tmp_path, changed, expected, wording):
    path = tmp_path / "bad.npz"
    short = replace(result, time_ns=result.time_ns[:5], values=np.asarray(result.to_frame())[:5])
    write_npz(short, path)
    with np.load(path) as file:
        np.savez(path, **{**file, **changed})
    with wording.raises(LoadError) as error:
        read_result(path)
    assert expected in str(error.value)


def test_a_compressed_npz_file_is_refused_before_it_is_unpacked(tmp_path, wording):
    zeros = np.zeros((1_000_000, 1))
    np.savez_compressed(tmp_path / "big.npz", time=zeros[:, 0], names="x", values=zeros, about="{}")
    with wording.raises(LoadError):
        read_result(tmp_path / "big.npz")


def test_csv_keeps_every_bit(result, tmp_path):
    write_csv(result, tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["time [s]", "chaser.position [m]", "sheet.force[0,1] [N]", "sheet.count"]
    read = np.array([[float(text) for text in row] for row in rows])
    finite = ~np.isnan(result.values)
    np.testing.assert_array_equal(bits(read[:, 1:])[finite], bits(result.values)[finite])
    assert np.isnan(read[4, 1])
    np.testing.assert_array_equal(read[:, 0], result.time)


def test_csv_header_of_a_simple_result_is_plain(result, tmp_path):
    simple = replace(result, names=("a.x", "a.v", "a.n"), units={"a.x": "m"})
    write_csv(simple, tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().startswith("time [s],a.x [m],a.v,a.n\n0.0,")


def test_empty_results_are_written_too(result, tmp_path):
    nothing = replace(result, time_ns=result.time_ns[:0], values=np.empty((0, 3)))
    write_csv(nothing, tmp_path / "run.csv")
    write_parquet(nothing, tmp_path / "run.parquet")
    write_npz(nothing, tmp_path / "run.npz")
    assert read_result(tmp_path / "run.npz").to_frame().shape == (0, 3)
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 1
    assert read_parquet(tmp_path / "run.parquet").shape == (0, 3)


@pytest.mark.parametrize(
    ("write", "module", "function"),
    [(write_csv, np, "column_stack"), (write_parquet, pq, "write_table"), (write_npz, np, "savez")],
)
@pytest.mark.parametrize("reason", [OSError(28, "No space left on device"), RuntimeError("broken")])
def test_a_failed_write_keeps_the_earlier_file(
    result, kept, monkeypatch, write, module, function, reason
):
    def fail(*args, **kwargs):
        raise reason

    path = kept("run")
    monkeypatch.setattr(module, function, fail)
    with pytest.raises((SoftdockError, RuntimeError), match=r"run: cannot be written|broken"):
        write(result, path)
    assert path.read_bytes() == b"earlier"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_named(result, tmp_path, wording):
    (tmp_path / "file").write_text("")
    with wording.raises(SoftdockError):
        write_csv(result, tmp_path / "file" / "run.csv")


def test_an_unfinished_file_is_not_seen(tmp_path):
    path = tmp_path / "run"
    with whole_file(path) as draft:
        draft.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_parquet_file_is_named(tmp_path, wording):
    with wording.raises(LoadError):
        read_parquet(tmp_path / "bad.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing PAR1"])
def test_a_damaged_parquet_file_is_refused(tmp_path, content, wording):
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with wording.raises(LoadError):
        read_parquet(path)


def test_a_foreign_parquet_file_is_refused(tmp_path, wording):
    pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / "foreign.parquet")
    with wording.raises(LoadError):
        read_parquet(tmp_path / "foreign.parquet")
