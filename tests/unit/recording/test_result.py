import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from orchestrator.errors import DescriptionError, UnknownNameError


def test_signal_by_name(result):
    assert result["chaser.position"].shape == (50,)
    np.testing.assert_array_equal(result["sheet.count"], result.values[:, 2])


def test_unknown_signal_lists_the_names(result):
    with pytest.raises(UnknownNameError, match=r"no signal 'chaser.x'.*chaser.position, sheet"):
        result["chaser.x"]


def test_time_is_seconds_correctly_rounded(result):
    assert result.time[3] == 0.0003
    assert result.time.dtype == np.float64


def test_real_time_factor(result):
    assert result.real_time_factor == 20.0
    assert math.isnan(replace(result, wall_seconds=0.0).real_time_factor)


def test_arrays_must_fit(result):
    with pytest.raises(DescriptionError, match=r"expected values of shape \(50, 3\).*\(50, 2\)"):
        replace(result, values=result.values[:, :2])


def test_frame_is_indexed_by_time_and_has_units(result):
    frame = result.to_frame()
    assert frame.index.name == "time [s]"
    assert list(frame.columns) == list(result.names)
    assert frame.attrs["units"] == {"chaser.position": "m", "sheet.force[0,1]": "N"}
    np.testing.assert_array_equal(frame.to_numpy(), result.values)
    frame.iloc[0, 0] = 99.0
    assert result.values[0, 0] != 99.0


def test_package_is_imported_without_its_heavy_libraries():
    code = (
        "import sys, orchestrator.recording\n"
        "heavy = {'matplotlib', 'pandas', 'pyarrow', 'jinja2', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
