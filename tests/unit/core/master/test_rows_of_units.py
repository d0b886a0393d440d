"""FMUs of Reals that step one after the other: in one go, told as if each had been alone.

By one thread: several threads first measure what each unit takes, one by one.
"""

import platform

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

STEP, ROUND = 4, 0  # small_fmu.h, rude.c
COUNT = 40  # more than are stepped before their outputs are read


@pytest.fixture(scope="module")
def reals(make_fmu):
    """The probe without what a row cannot have: Integers, Booleans and texts."""

    def change(text):
        lines = text.splitlines()
        others = ("<Integer", "<Boolean", "<String", *(f'<Unknown index="{n}"' for n in (10, 11)))
        others += tuple(f'<Unknown index="{n}"' for n in (13, 17))
        return "\n".join(line for line in lines if not any(word in line for word in others))

    return make_fmu(change, name="Reals")


def probes(source, fail):
    """FMUs side by side; what makes some fail, by their number."""
    system, component = System("side by side"), fmu(source)
    others = {"n": 0, "flag": False, "label": ""} if "n" in component.connectors else {}
    for i in range(COUNT):
        system = system.add(f"p{i:02}", component, u=0.01 * i, **others, **fail.get(i, {}))
    return system


def run(system, steps, threads=1, **options):
    ends = [f"{name}.y" for name in system.components]
    options |= {"algorithm": "jacobi", "record": ends, "threads": threads}
    with Execution(system, step="0.5 s", **options) as execution:
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
def test_the_first_that_fails_is_told(probe, reals, fail, wording):
    with pytest.raises(StepError) as alone:
        run(probes(probe, fail), 4, threads=2)
    with pytest.raises(StepError) as in_a_row:
        run(probes(reals, fail), 4)
    assert str(in_a_row.value) == str(alone.value)
    with wording.raises(StepError):
        run(probes(reals, fail), 4)


def test_each_steps_as_it_does_alone(probe, reals):
    found, others = run(probes(reals, {}), 5), run(probes(probe, {}), 5)
    np.testing.assert_array_equal(found, others)
    one = System("one").add("p", fmu(reals), u=0.01 * 7)
    np.testing.assert_array_equal(found[:, 7], run(one, 5)[:, 0])
    assert np.ptp(found[-1]) > 0.5


def test_slower_ones_among_them_step_in_their_time(reals):
    slow = {f"p{i:02}": 2 for i in (5, 6, 30)}
    found, every = run(probes(reals, {}), 4, rates=slow), run(probes(reals, {}), 4)
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
        options = {"algorithm": "jacobi", "record": ends, "threads": 1}
        with Execution(system, step="0.5 s", **options) as execution:
            execution.step(20)
            found.append(execution.recording().values)
            assert bool(execution.notes) is bool(phase)
            assert all("'r09'" in note for note in execution.notes)
    np.testing.assert_array_equal(*(np.delete(values, 9, axis=1) for values in found))
