"""What trials read off the files that are left."""

import math

import numpy as np
import pytest

from orchestrator import LoadError
from orchestrator.rig.devices.conformance import Logged
from orchestrator.rig.trials.judge import (
    LoggedMotion,
    motion_of,
    reaction_of,
    recorded_until,
    selected_trials,
    sentence_of,
    trials_of,
    was_disturbed,
)

CHANGES = """time_s,before,event,after,reason,where
1.0,SHADOW,engage,BLEND,,
2.5,ACTIVE,fault,FALLBACK,sensor_stale,sensor
2.6,FALLBACK,at rest,SAFE,,
2.7,SAFE,fault,SAFE,engine_lost,simulation
"""
LOG = "time_s,event,number,actual_1\n" + "".join(
    f"{0.004 * n:.3f},cycle,,{min(n, 50) * 0.2}\n{0.004 * n:.3f},answer,,\n" for n in range(100)
)


def test_the_first_fault_after_a_moment_counts(tmp_path):
    path = tmp_path / "changes.csv"
    path.write_text(CHANGES)
    reaction = reaction_of(path, 2.0)
    assert (reaction.reason, reaction.location, reaction.found_s) == ("sensor_stale", "sensor", 2.5)
    assert reaction.states == ("FALLBACK", "SAFE")
    assert not was_disturbed(path, 2.5)
    assert was_disturbed(path, 2.55)
    assert math.isnan(reaction_of(path, 3.0).found_s)


def test_a_log_says_how_fast_how_far_and_when_it_stood(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    motion = motion_of(path, Logged("cycle", "actual_1", 1e-3), 0.004)
    assert motion.step(0.0) == pytest.approx(0.2e-3)
    assert motion.path(0.1) == pytest.approx(0.005)  # the other half
    assert motion.largest(0.0) == pytest.approx(0.01)
    assert motion.velocity(0.0) == pytest.approx(0.05)  # 0.2 mm in 4 ms
    assert motion.last_motion_s(0.1) == pytest.approx(0.2)  # the 50th cycle
    assert math.isnan(motion.last_motion_s(0.3))
    assert math.isnan(motion.largest(1.0))


def test_a_shaft_that_coasts_at_a_thousandth_of_its_speed_stands():
    times = 0.005 * np.arange(200)
    speed = np.where(times < 0.3, 5.0, np.where(times < 0.5, 25.0 * (0.5 - times), 9e-4))
    motion = LoggedMotion(times, np.cumsum(speed * 0.005), 0.005)
    assert motion.last_motion_s(0.3) == pytest.approx(0.495)


def test_of_a_log_of_several_drives_one_is_read(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"{t},cycle,{node},{t * node}\n" for t in range(4) for node in (1, 2))
    path.write_text("time_s,event,node,position\n" + rows)
    second = motion_of(path, Logged("cycle", "position", row_key=("node", "2")), 1.0)
    assert second.path(0.0) == 6.0
    assert second.step(0.0) == 2.0


def test_a_run_that_left_nothing_is_an_error(tmp_path, wording):
    with wording.raises(LoadError):
        recorded_until(tmp_path, "c")


def test_faults_that_a_protocol_cannot_have_are_left_out():
    names = [trial.name for trial in trials_of({"robot": "kuka_rsi", "sensor": "ati_net_ft"})]
    assert "robot: nan" in names
    assert "sensor: nan" not in names
    assert "robot: slower:8" in names
    assert "sensor: slower:8" not in names
    assert {"robot: relay: all commands lost", "robot: relay: restart, counts go on"} <= {*names}
    assert "sensor: relay: nothing comes" in names
    assert "sensor: relay: all commands lost" not in names
    assert "robot: restart" in names
    assert {"robot: count or clock runs over", "sensor: count or clock runs over"} <= set(names)
    assert "arm: count or clock runs over" not in [t.name for t in trials_of({"arm": "ur_rtde"})]
    assert len(names) == len(set(names))
    assert [t.target for t in selected_trials(trials_of({"robot": "kuka_rsi"}), ["kill"])] == [
        *("emulator", "device", "engine", "supervisor", "operator")
    ]


def test_each_process_is_stopped_for_three_times():
    stops = [(t.target, t.stop_s) for t in trials_of({"robot": "kuka_rsi"}) if t.stop_s]
    for target in ("emulator", "device", "engine", "supervisor"):
        assert [s for t, s in stops if t == target] == [0.2, 1.0, 5.0]


def test_without_a_supervisor_there_is_none_to_lose():
    alone = trials_of({"robot": "kuka_rsi"}, supervised=False)
    assert {t.target for t in alone} == {None, "emulator", "device", "engine"}


def test_without_a_supervisor_nothing_is_read_of_it_and_the_run_says_what_it_was(tmp_path):
    assert reaction_of(tmp_path / "changes.csv", 0.0).reason == ""
    assert not was_disturbed(tmp_path / "changes.csv", 1.0)
    said = tmp_path / "said.txt"
    said.write_text("a warning\nerror: the first\nerror: the last one\n")
    assert sentence_of(said) == "the last one"
