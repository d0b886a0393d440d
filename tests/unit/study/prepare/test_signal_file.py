"""Signals in files, and what is no signal."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.study.prepare.inputs import read_signal


@pytest.mark.parametrize("time", ["1e300", "1e20", "-1e10", "9223372037"])
def test_times_that_are_not_counted_in_nanoseconds(tmp_path, time, wording):
    path = tmp_path / "s.csv"
    path.write_text(f"time,force\n0,1\n{time},2\n", encoding="utf-8")
    with wording.raises(DescriptionError):
        read_signal(path, "force")


def test_a_unit_that_is_no_text(tmp_path, wording):
    fields = [
        pa.field("time", pa.float64()),
        pa.field("f", pa.float64(), metadata={"unit": b"\xff"}),
    ]
    arrays = [pa.array([0.0]), pa.array([1.0])]
    path = tmp_path / "s.parquet"
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)
    with wording.raises(LoadError):
        read_signal(path, "f")


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b"\xef\xbb\xbftime,force [N]\n0,1\n1,2\n")
    signal_file = read_signal(path, "force")
    assert (signal_file.values.tolist(), signal_file.unit) == ([1.0, 2.0], "N")


@pytest.mark.parametrize(
    "titles",
    [
        "time,force,force",
        "time,force [N],force [kN]",
        "time,time [s],force",
    ],
)
def test_columns_of_one_title(tmp_path, titles, wording):
    path = tmp_path / "s.csv"
    path.write_text(f"{titles}\n0,4,9\n1,4,9\n", encoding="utf-8")
    with wording.raises(DescriptionError):
        read_signal(path, "force")


def test_a_column_that_its_unit_tells_from_another(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("time,force [N],force [kN]\n0,4,9\n", encoding="utf-8")
    assert read_signal(path, "force [kN]").values.tolist() == [9.0]


@pytest.mark.parametrize("cell", ["1_0", "", "nan", "1e"])
def test_cells_that_are_no_numbers(tmp_path, cell, wording):
    path = tmp_path / "s.csv"
    path.write_text(f"time,force\n0,{cell}\n", encoding="utf-8")
    with wording.raises(DescriptionError):
        read_signal(path, "force")
