"""MAT files of version 4, read by SciPy as readers of Dymola's and OpenModelica's files do."""

from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from scipy.io import loadmat

from orchestrator.core.diagnostics import PluginError, SoftdockError, UnknownNameError
from orchestrator.core.plugins import FunctionGroup
from orchestrator.core.recording import ParameterRow, files, formats, write_mat, writer

PARAMETERS = (
    ParameterRow("chaser", "m", 750.0, "kg", "Mass"),
    ParameterRow("chaser", "thrust", 10, "N"),
    ParameterRow("sheet", "k", (1.5, -2.5), "N/m", "Stiffness"),
    ParameterRow("sheet", "stiff", True, "", "Whether it is stiff"),
    ParameterRow("sheet", "table", "data.txt", "", "Texts are no numbers"),
    ParameterRow("sheet", "unknown", None),
)


def texts(matrix):
    """Columns of a matrix of characters."""
    return ["".join(column).rstrip() for column in zip(*matrix, strict=True)]


def read(path):
    """Time, values and descriptions by name, by nothing but what the file says of itself."""
    raw = loadmat(path, chars_as_strings=False)
    rows = ["".join(row).rstrip() for row in raw["Aclass"]]
    assert rows == ["Atrajectory", "1.1", "", "binTrans"]
    names, about = texts(raw["name"]), texts(raw["description"])
    values = {}
    time = None
    for name, (block, row, _, _) in zip(names, raw["dataInfo"].T.astype(int), strict=True):
        assert row >= 1
        if block == 0:
            time = (name, raw["data_2"][row - 1])
        else:
            assert row >= 2  # readers take the first row of any block for the time
            values[name] = raw[f"data_{block}"][row - 1]
    return time, values, dict(zip(names, about, strict=True))


def test_signals_keep_every_bit_and_their_time(result, tmp_path):
    write_mat(replace(result, parameters=PARAMETERS), tmp_path / "run.mat")
    (name, time), values, _ = read(tmp_path / "run.mat")
    assert name == "time"
    np.testing.assert_array_equal(time, result.time)
    for i, signal in enumerate(result.names):
        got, expected = values[signal], np.ascontiguousarray(result.values[:, i])
        np.testing.assert_array_equal(got.view(np.int64), expected.view(np.int64))


def test_parameters_stand_in_data_1(result, tmp_path):
    write_mat(replace(result, parameters=PARAMETERS), tmp_path / "run.mat")
    raw = loadmat(tmp_path / "run.mat")
    assert raw["data_1"].tolist() == [
        [0.0, result.time[-1]],
        [750.0, 750.0],
        [10.0, 10.0],
        [1.5, 1.5],
        [-2.5, -2.5],
        [1.0, 1.0],
    ]
    _, values, about = read(tmp_path / "run.mat")
    assert values["sheet.k[1]"].tolist() == [-2.5, -2.5]
    assert list(values)[:5] == [
        "chaser.m",
        "chaser.thrust",
        "sheet.k[0]",
        "sheet.k[1]",
        "sheet.stiff",
    ]
    assert about["chaser.m"] == "Mass [kg]"
    assert about["sheet.stiff"] == "Whether it is stiff"


def test_units_end_the_descriptions(result, tmp_path):
    descriptions = {"chaser.position": "Way, from dock", "sheet.count": "Contacts so far"}
    write_mat(replace(result, descriptions=descriptions), tmp_path / "run.mat")
    _, _, about = read(tmp_path / "run.mat")
    assert about == {
        "time": "Time [s]",
        "chaser.position": "Way, from dock [m]",
        "sheet.force[0,1]": "[N]",
        "sheet.count": "Contacts so far",
    }


@pytest.mark.parametrize("rows", [0, 1, 16_384, 16_385, 40_000])
def test_any_number_of_rows(result, tmp_path, rows):
    values = np.arange(3.0 * rows).reshape(rows, 3)
    long = replace(result, time_ns=np.arange(rows) * 1000, values=values)
    write_mat(long, tmp_path / "run.mat")
    data = loadmat(tmp_path / "run.mat")["data_2"]
    np.testing.assert_array_equal(data.T, np.column_stack([long.time, values]))


def test_a_matrix_that_the_format_cannot_hold(result, kept, monkeypatch, wording):
    path = kept("run.mat")
    monkeypatch.setattr(files, "LARGEST_MATRIX", 8 * 50 * 4 - 1)
    with wording.raises(SoftdockError):
        write_mat(result, path)
    assert path.read_bytes() == b"earlier"


def test_a_mat_file_that_cannot_be_written(result, tmp_path, wording):
    (tmp_path / "file").write_text("")
    with wording.raises(SoftdockError):
        write_mat(result, tmp_path / "file" / "run.mat")


def test_formats_are_found_by_name(monkeypatch, wording):
    assert formats.SINKS.function_of("mat") is write_mat
    assert {"csv", "mat", "parquet"} <= set(formats.format_names())
    with wording.raises(UnknownNameError):
        writer("xls")

    group = FunctionGroup("softdock.sinks", "format")
    entry = EntryPoint("broken", "no_such_package.files:write", "softdock.sinks")
    monkeypatch.setitem(vars(group), "entry_points", {"broken": entry})
    monkeypatch.setattr(formats, "SINKS", group)
    with wording.raises(PluginError):
        writer("broken")
