"""The hybrid contact in process, as one FMU in FMPy, and as a portable .ssp in FMPy."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[3] / "examples" / "epos" / "three_ways.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("three_ways", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["three_ways"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["three_ways"]


@pytest.mark.slow
def test_three_equal_curves(script, plants, tmp_path):
    ways = script.three_ways(tmp_path, seconds=1.0)
    # the same operations on the same numbers in the same order: nothing is left to a tolerance
    assert ways.differences() == {"one FMU": 0.0, "portable .ssp": 0.0}
    force = ways.in_process["hybrid.force_1"]
    # Jacobi adds steps to the undelayed lines: the paper's 46.347 N are of the 32 ms alone
    assert np.abs(force).max() == pytest.approx(46.35, abs=0.2)
    script.draw(ways, tmp_path / "ways.png")
    assert (tmp_path / "ways.png").stat().st_size > 10_000
