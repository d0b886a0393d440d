"""Steps that are no whole number of nanoseconds."""

import copy
from fractions import Fraction

import pytest

from orchestrator import block, simulate
from orchestrator.author import read_toml, write_toml
from orchestrator.checks.context import IntendedRun
from orchestrator.checks.timing import check_run
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp import read_system, write_ssd
from orchestrator.core.system import System, nanoseconds
from orchestrator.core.system.time import (
    StepLength,
    end_of_steps,
    step_length,
    step_text,
    whole_steps,
)

SIXTIETH = Fraction(10**9, 60)


@pytest.mark.parametrize(
    "step", ["1/60 s", "1 / 60 s", "1000/60 ms", 1 / 60, "16.666666666666666 ms"]
)
def test_what_a_sixtieth_of_a_second_is(step):
    found = step_length(step)
    assert isinstance(found, StepLength)
    assert found == 16_666_666  # cut
    assert float(abs(found.exact - SIXTIETH)) < 1e-9
    assert found / 1e9 == 1 / 60
    assert step_length(step_text(found)).exact == found.exact
    assert copy.deepcopy(found).exact == found.exact


@pytest.mark.parametrize(
    ("step", "ns"), [("16 ms", 16_000_000), ("3/3 ms", 1_000_000), (0.1, 10**8)]
)
def test_whole_ones_are_plain(step, ns):
    found = step_length(step)
    assert (type(found), found) == (int, ns)
    assert step_text(found) == f"{ns} ns"


@pytest.mark.parametrize(
    "step", ["1/0 s", "1/60 m", "1/2/3 s", "1e-30 s", "100000000000/3 s", "-1/60 s"]
)
def test_what_is_no_step(step, wording):
    with wording.raises(DescriptionError):
        step_length(step)


def test_points_are_rounded_and_do_not_drift():
    step = step_length(1 / 60)
    for count in (0, 1, 2, 3, 59, 60, 61, 10**6, 6 * 10**7):
        end = end_of_steps(count, step)
        assert abs(end - count * SIXTIETH) <= Fraction(1, 2)
        assert whole_steps(end, step) == (count, 0)
        assert whole_steps(end + 7, step) == (count, 7)
    assert whole_steps(10, 3) == (3, 1)
    assert whole_steps(9, 3) == (3, 0)


def test_files_keep_it(tmp_path):
    system = System("s").with_experiment(step="1/60 s", stop="1 s")
    write_ssd(system, tmp_path / "s.ssd")
    assert read_system(tmp_path / "s.ssd").experiment.step_ns.exact == SIXTIETH
    write_toml(system, tmp_path / "s.toml")
    assert read_toml(tmp_path / "s.toml").experiment.step_ns.exact == SIXTIETH


@pytest.mark.parametrize(
    ("step", "stop", "end"),
    [
        ("1/60 s", 60 * round(1 / 60, 9), "1 s"),
        ("1/60 s", "1.00000002 s", "1 s"),
        ("1/3 s", "0.999999999 s", "1 s"),
        (0.016666667, 1.0, "1.00000002 s"),
        (0.016666667, 60 * 0.016666667, "1.00000002 s"),
        ("1/60 s", "0.9999999 s", None),  # further off than steps are rounded
        ("1 ms", "1.0000005 s", None),  # steps of whole microseconds are exact
    ],
)
def test_a_stop_that_was_computed_from_rounded_steps_is_whole(step, stop, end):
    system = System("s").add("b", block("saturation"), wanted=-0.0)
    result = simulate(system, step=step, stop=stop)
    told = [note for note in result.notes if "not a whole number of steps" in note]
    if end is None:
        assert told
        return
    assert told == []
    assert result.time_ns[-1] == nanoseconds(end)
    checked = IntendedRun(step_ns=step_length(step), stop_ns=nanoseconds(stop))
    assert not [one for one in check_run(checked) if one.code == "TIM107"]


@pytest.mark.parametrize(
    ("time", "ns"),
    [
        (60 * 0.016666667, 1_000_000_020),
        (0.1 + 0.2, 300_000_000),
        (-0.0, 0),
        (1e6 + 0.1, 10**15 + 10**8),
    ],
)
def test_the_rounding_of_a_sum_is_passed_over(time, ns):
    assert nanoseconds(time) == ns
