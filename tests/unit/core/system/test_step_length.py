"""Steps that are no whole number of nanoseconds."""

import copy
from fractions import Fraction

import pytest

from orchestrator.author import read_toml, write_toml
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp import read_system, write_ssd
from orchestrator.core.system import System
from orchestrator.core.system.time import (
    StepLength,
    end_of_steps,
    step_length,
    step_text,
    whole_steps,
)

SIXTIETH = Fraction(10**9, 60)


@pytest.mark.parametrize(
    "step", ["1/60 s", "1 / 60", "1000/60 ms", 1 / 60, "16.666666666666666 ms"]
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
def test_what_is_no_step(step):
    with pytest.raises(DescriptionError, match="communication step: "):
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
