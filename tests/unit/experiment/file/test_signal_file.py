"""Signals in files, and what is no signal."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.diagnostics import DescriptionError, LoadError
from orchestrator.experiment.file.signal_file import read_signal


@pytest.mark.parametrize("time", ["1e300", "1e20", "-1e10", "9223372037"])
def test_times_that_are_not_counted_in_nanoseconds(tmp_path, time):
    path = tmp_path / "s.csv"
    path.write_text(f"time,force\n0,1\n{time},2\n", encoding="utf-8")
    expected = rf"s\.csv, row 2: expected a time within 9\.22e\+09 s, found '{time}'"
    with pytest.raises(DescriptionError, match=expected.replace("e+", "e\\+")):
        read_signal(path, "force")


def test_a_unit_that_is_no_text(tmp_path):
    fields = [
        pa.field("time", pa.float64()),
        pa.field("f", pa.float64(), metadata={"unit": b"\xff"}),
    ]
    arrays = [pa.array([0.0]), pa.array([1.0])]
    path = tmp_path / "s.parquet"
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path)
    with pytest.raises(LoadError, match=r"s\.parquet: column 'f': expected a unit in UTF-8, found"):
        read_signal(path, "f")
