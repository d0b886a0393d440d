"""Samplers and time relations: rounded times, changed intervals, other start times, long runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy.fmi1 import FMICallException

Open = Callable[..., Any]
Build = Callable[..., Path]

SAMPLED = """model Sampled
  parameter Real T = 0.1;
  Integer n(start=0);
equation
  when sample(0, T) then n = pre(n) + 1; end when;
end Sampled;"""


def count_of(slave: Any, name: str = "n") -> int:
    return int(slave.fmu.getInteger([slave.references[name]])[0])


def start_at(slave: Any, time: float) -> Any:
    slave.fmu.setupExperiment(startTime=time)
    slave.fmu.enterInitializationMode()
    slave.fmu.exitInitializationMode()
    slave.time = time
    return slave


@pytest.mark.parametrize(("first", "second"), [(0.2, 0.5), (0.3, 0.4), (0.3, 0.9), (0.4, 0.1)])
def test_a_moment_is_met_though_its_difference_rounds_below_zero(
    build_text: Build, open_fmu: Open, first: float, second: float
) -> None:
    assert (first + second) - first - second < 0.0
    text = (
        f"model Late Integer n(start=0); equation when time - {first} >= {second} then"
        " n = pre(n) + 1; end when; end Late;"
    )
    slave = open_fmu(build_text("Late", text, method="dopri5")).initialize()
    slave.step(0.5, 3)
    assert count_of(slave) == 1


def test_a_moment_between_an_end_and_the_next_begin_is_noticed(
    build_text: Build, open_fmu: Open
) -> None:
    moment = 0.6000000000000001  # one bit after 0.5 + 0.1
    text = (
        f"model Gap Integer n(start=0); equation when time >= {moment!r} then n = pre(n) + 1;"
        " end when; end Gap;"
    )
    fmu = build_text("Gap", text, method="dopri5")
    slave = open_fmu(fmu).initialize()
    slave.fmu.doStep(0.0, 0.5)
    slave.fmu.doStep(0.5, 0.1)
    assert count_of(slave) == 1, "an instant at the end of a step, but for rounding, belongs to it"
    slave.fmu.doStep(moment, 0.1)
    slave.fmu.doStep(0.7, 0.1)
    assert count_of(slave) == 1
    far = open_fmu(fmu).initialize()
    far.fmu.doStep(0.0, moment - 1e-10)
    assert count_of(far) == 0
    far.fmu.doStep(moment + 1e-10, 0.1)  # within the slack for times of importers
    assert count_of(far) == 1


@pytest.mark.parametrize(
    ("interval", "length", "expected"), [(0.05, 0.25, 11 + 5), (0.5, 0.75, 12), (0.1, 0.25, 13)]
)
def test_a_changed_interval_counts_from_the_start_of_the_sampler(
    build_text: Build, open_fmu: Open, interval: float, length: float, expected: int
) -> None:
    slave = open_fmu(build_text("Sampled", SAMPLED, method="dopri5")).initialize()
    slave.step(0.25, 4)
    assert count_of(slave) == 11
    slave.set(T=interval)
    slave.step(length)
    assert count_of(slave) == expected


@pytest.mark.parametrize("interval", [0.0, -0.1, 1e-17])
def test_an_interval_that_never_ends_is_an_error(
    build_text: Build, open_fmu: Open, interval: float
) -> None:
    slave = open_fmu(build_text("Sampled", SAMPLED, method="dopri5")).initialize()
    slave.step(1.0)
    slave.set(T=interval)
    with pytest.raises(FMICallException):
        slave.step(1.0)
    assert "interval must be positive" in slave.messages[-1]


@pytest.mark.parametrize(
    ("offset", "interval", "begin", "expected"),
    [
        (1000.0, 0.1, 1000.1, 1),
        (0.1, 0.1, 0.4, 1),
        (0.0, 0.1, 0.3, 1),
        (0.0, 0.1, 0.35, 0),
        (-5.0, 0.1, -1.0, 1),
        (7.0, 0.1, 2.0, 0),
    ],
)
def test_sampling_from_any_start_time(
    build_text: Build, open_fmu: Open, offset: float, interval: float, begin: float, expected: int
) -> None:
    text = (
        f"model From Integer n(start=0); equation when sample({offset}, {interval}) then"
        " n = pre(n) + 1; end when; end From;"
    )
    slave = start_at(open_fmu(build_text("From", text, method="dopri5")), begin)
    assert count_of(slave) == expected
    slave.step(0.03)
    assert count_of(slave) == expected


def test_the_last_of_a_million_instants_is_not_late(build_text: Build, open_fmu: Open) -> None:
    text = (
        "model Long discrete Real t(start=-1); Integer n(start=0); equation"
        " when sample(0, 0.001) then n = pre(n) + 1; t = time; end when; end Long;"
    )
    slave = open_fmu(build_text("Long", text, method="dopri5")).initialize()
    slave.step(100.0, 10)
    assert count_of(slave) == 1_000_001
    assert slave.get("t") == [1000.0]


def test_without_states_the_longest_step_is_where_relations_are_looked_at(
    build_text: Build, open_fmu: Open
) -> None:
    text = (
        "model Fast Integer n(start=0); equation when sin(100*time) > 0.5 then n = pre(n) + 1;"
        " end when; end Fast;"
    )
    slave = open_fmu(build_text("Fast", text, max_step=0.01, method="dopri5")).initialize()
    slave.step(0.5, 2)
    assert count_of(slave) == 16
