"""FMUs of Reals that step one after the other: in one go, told as if each had been alone."""

import platform

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

STEP, ROUND = 4, 0  # small_fmu.h, rude.c
COUNT = 40  # more than are stepped before their outputs are read


def probes(probe, fail):
    """Probes side by side; what makes some fail, by their number."""
    system = System("side by side")
    for i in range(COUNT):
        values = {"u": 0.01 * i, "n": 0, "flag": False, "label": "", **fail.get(i, {})}
        system = system.add(f"p{i:02}", fmu(probe), **values)
    return system


def run(system, steps, **options):
    ends = [f"{name}.y" for name in system.components]
    with Execution(system, step="0.5 s", algorithm="jacobi", record=ends, **options) as execution:
        execution.step(steps)
        return execution.recording().values


@pytest.mark.parametrize(
    "fail",
    [
        {20: {"error_at": 1.0}},
        {20: {"discard_at": 1.0}},
        {20: {"nan_at": 1.0}},
        {20: {"nan_at": 1.0}, 22: {"error_at": 1.0}},
        {20: {"error_at": 1.0}, 22: {"nan_at": 1.0}},
        {3: {"nan_at": 1.0}, 39: {"discard_at": 1.0}},
        {0: {"error_at": 1.0}, 1: {"nan_at": 1.0}},
    ],
)
def test_the_first_that_fails_is_told(probe, fail, wording):
    with wording.raises(StepError):
        run(probes(probe, fail), 4)


def test_each_steps_as_it_does_alone(probe):
    found = run(probes(probe, {}), 5)
    one = System("one").add("p", fmu(probe), u=0.01 * 7, n=0, flag=False, label="")
    np.testing.assert_array_equal(found[:, 7], run(one, 5)[:, 0])
    assert np.ptp(found[-1]) > 0.5


def test_slower_ones_among_them_step_in_their_time(probe):
    slow = {f"p{i:02}": 2 for i in (5, 6, 30)}
    found, every = run(probes(probe, {}), 4, rates=slow), run(probes(probe, {}), 4)
    others = [i for i in range(COUNT) if f"p{i:02}" not in slow]
    np.testing.assert_array_equal(found[:, others], every[:, others])
    np.testing.assert_array_equal(found[::2], every[::2])
    np.testing.assert_array_equal(found[1, [5, 6, 30]], every[0, [5, 6, 30]])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="rude.c sets MXCSR")
def test_one_that_changes_how_is_rounded_leaves_the_others(small_fmu):
    source, found = fmu(small_fmu("rude")), []
    for phase in (STEP, 0):  # the library changes it once only
        system = System("row")
        for i in range(COUNT):
            told = {"phase": phase, "how": ROUND, "at": 2.0} if i == 9 else {"phase": 0, "how": 0}
            system = system.add(f"r{i:02}", source, u=0.1 + 1e-3 * i, **told)
        ends = [f"r{i:02}.y" for i in range(COUNT)]
        with Execution(system, step="0.5 s", algorithm="jacobi", record=ends) as execution:
            execution.step(20)
            found.append(execution.recording().values)
            assert bool(execution.notes) is bool(phase)
            assert all("'r09'" in note for note in execution.notes)
    np.testing.assert_array_equal(*(np.delete(values, 9, axis=1) for values in found))
