"""The docking loop, run by the engine and by FMPy: the same numbers, bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator import read_system, simulate

EPOS = Path(__file__).parents[3] / "examples" / "epos"


@pytest.mark.usefixtures("plants")
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_fmpy_gives_the_same_run(algorithm):
    system = read_system(EPOS / "capture.ssd")
    options = {"step": "1 ms", "stop": "2 s", "algorithm": algorithm, "delay": "mean"}
    ours = simulate(system, **options)
    theirs = simulate(system.with_backend("fmpy", "chaser", "sheet"), **options)
    assert ours.names == theirs.names
    assert ours.values.tobytes() == theirs.values.tobytes()
    assert np.ptp(ours.values, axis=0).max() > 0
