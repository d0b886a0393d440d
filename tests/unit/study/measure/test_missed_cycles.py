"""Cycles that a rig missed: which they are, and that a run does not fail for them."""

from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator import Result
from orchestrator.core.simunits import component_of
from orchestrator.core.system import Source, System
from orchestrator.study.energy import LedgerPlan
from orchestrator.study.experiment import Measure
from orchestrator.study.measure.measures import missed_shares, with_measures
from orchestrator.study.measure.outcome import ExperimentOutcome
from orchestrator.study.run import ledger as extension
from orchestrator.study.run.ledger import LedgerRequest, ledger_of

ROBOT = component_of(Source.parse('device:kuka_rsi?axes=["x"]'), "robot")
SENSOR = component_of(Source.parse("device:ati_net_ft?rate=1000&device_host=127.0.0.1"), "sensor")
STEPS = 50


def rig(rates=None, measure=None):
    system = System("rig", {"robot": ROBOT, "sensor": SENSOR})
    options = SimpleNamespace(rates=rates)
    return SimpleNamespace(
        name="rig", system=system, options=options, case=SimpleNamespace(measure=measure or {})
    )


def recorded(robot=None, lost=(), late=()):
    """Return a result of steps of 4 ms; ``robot``: frames that came in each."""
    frames = np.ones(STEPS) if robot is None else np.array(robot, dtype=float)
    marks = {
        name: np.isin(np.arange(STEPS), rows) for name, rows in (("lost", lost), ("late", late))
    }
    columns = {
        "robot.samples": np.cumsum(frames) - np.cumsum(marks["lost"]),
        "robot.lost": np.cumsum(marks["lost"]),
        "robot.late": np.zeros(STEPS),
        "sensor.samples": 4.0 * np.arange(STEPS) + np.arange(STEPS) % 2,
        "sensor.lost": np.zeros(STEPS),
        "sensor.late": np.cumsum(marks["late"]),
    }
    rows = np.column_stack([np.append(0.0, column) for column in columns.values()])
    return Result("rig", 4_000_000 * np.arange(STEPS + 1), tuple(columns), rows)


def frames_with(**rows):
    values = np.ones(STEPS)
    for name, count in rows.items():
        values[int(name[1:])] = count
    return values


def test_a_run_in_which_each_step_had_its_frame_missed_nothing():
    assert not missed_shares(rig(), recorded(), "robot").any()


@pytest.mark.parametrize(
    ("result", "first", "share"),
    [
        (recorded(frames_with(_20=3.0)), 20, 2.0),  # held up for two cycles
        (recorded(frames_with(_20=0.0)), 20, 1.0),  # two steps for one frame
        (recorded(lost=(20,)), 20, 1.0),
        (recorded(late=(20,)), 20, 0.25),  # of four samples in a step
    ],
)
def test_missed_cycles_count_until_they_are_answered(result, first, share):
    values = missed_shares(rig(), result, "robot")
    assert values[first : first + 3] == pytest.approx(share)
    assert not values[:first].any()
    assert not values[first + 3 :].any()
    slower = missed_shares(rig({"arm": 4}), result, "robot")
    assert np.flatnonzero(slower).tolist() == list(range(first, first + 9))
    assert np.count_nonzero(values) == 3


def test_frames_in_a_step_are_those_of_the_clock_only():
    """A device that is no clock drifts: in some steps one sample more, in others one fewer."""
    assert not missed_shares(rig(), recorded(frames_with(_20=2.0)), None).any()


@pytest.mark.parametrize("late", [(), (20,)])
def test_a_measure_that_cannot_be_read_is_a_problem_without_missed_cycles_only(late):
    measure = Measure(kind="settling", signal="robot.samples", within=0.1)
    outcome, case = ExperimentOutcome("rig"), rig(measure={"rest": measure})
    result, measured = with_measures(case, {"rig": recorded(late=late)}, outcome, "robot")
    assert not measured
    assert bool(outcome.problems) is not bool(late)
    (note,) = result.notes
    assert "expected to stay within 0.1" in note
    assert note.startswith("warning: ") is bool(late)
    assert ("cycles were missed in 3 steps" in note) is bool(late)


@pytest.mark.parametrize("late", [(), (20,)])
def test_an_open_balance_is_a_problem_without_missed_cycles_only(late, monkeypatch):
    ledger = SimpleNamespace(
        closes=lambda _: False,
        of=lambda _: [SimpleNamespace(name="arm", energy=np.array([0.0273]))],
        residual=0.0273,
        turnover=4.6,
        unsure=0.001 * len(late),
    )
    monkeypatch.setattr(extension, "energy_ledger", lambda *_: ledger)
    monkeypatch.setattr(extension, "with_series", lambda result, *_: result)
    request = LedgerRequest("bench", LedgerPlan((), ()), 0.005)
    outcome = ExperimentOutcome("rig")
    monkeypatch.setattr(extension, "ledger_request", lambda *_: request)
    monkeypatch.setattr(extension, "ledger_section", lambda *_: None)
    monkeypatch.setattr(extension, "with_signals", lambda case, _: case)
    paced, case = SimpleNamespace(clock="robot"), rig()
    run = SimpleNamespace(experiment=None, realtime=paced, outcome=outcome)
    run.add = run.write = lambda *_: None
    drawn_up = extension.Ledger("ledger")
    drawn_up.prepare(run, case)
    result = drawn_up.after(run, case, recorded(late=late))
    (note,) = result.notes
    assert "the balance is open by 0.0273 J" in note
    assert ("and 0.001 J for 3 steps with missed cycles" in note) is bool(late)
    assert note.startswith("warning: ") is bool(late)
    assert bool(outcome.problems) is not bool(late)
    assert ledger_of(request, result, rig().system, np.zeros(STEPS))[1] in note or late
