"""Trials that were done are read back; what is left is told, run and judged. No rig is started."""

import json
import math
from pathlib import Path

import pytest

from orchestrator import read_experiment
from orchestrator.rig.trials.child import rewired
from orchestrator.rig.trials.judge import (
    Judge,
    Outcome,
    Reaction,
    Trial,
    selected_trials,
    trials_of,
)
from orchestrator.rig.trials.series import COLUMNS, Series, TrialRig, is_sound, mark_of, row_of
from orchestrator.study.tables import Expectation

EPOS = Path(__file__).parents[4] / "examples" / "epos"
FAULT = Trial("kill -9 of the simulation", target="engine")
LOG = "time_s,event,cycle,ipoc,late," + ",".join(f"asked_{i},actual_{i}" for i in range(1, 7))


def rig_in(output, file="rig.toml", case="capture"):
    return TrialRig(EPOS / file, read_experiment(EPOS / file), case, output, 0.6)


class Counted:
    """A rig whose trials come to their end at once; the one of a name fails."""

    def __init__(self, rig, fails=""):
        self.rig, self.fails, self.ran = rig, fails, []
        self.seconds, self.folder = rig.seconds, rig.folder

    def run(self, trial):
        if trial.name == self.fails:
            raise RuntimeError(trial.name)
        self.ran.append(trial.name)
        self.folder(trial).mkdir(parents=True)
        nothing = math.nan
        figures = (0.0, nothing, nothing, nothing, True, 1.5, {}, {}, {})
        return Outcome(trial, Reaction(), *figures, exit_code=0, sentence="")


def test_a_series_goes_on_where_it_was_broken_off(tmp_path):
    trials = selected_trials(
        trials_of({"robot": "kuka_rsi"}, supervised=False), ["robot: kill", "stop of"]
    )
    broken = Counted(rig_in(tmp_path), fails=trials[3].name)
    with pytest.raises(RuntimeError):
        Series(broken, trials, "mark").run(1, lambda _: None)
    assert broken.ran[:3] == [trial.name for trial in trials[:3]]
    rest = [trial for trial in trials if trial.name not in broken.ran]
    assert trials[3] in rest
    again = Counted(broken.rig)
    series, told = Series(again, trials, "mark"), []
    assert series.remaining == rest
    rows = list(series.run(2, told.append))
    assert sorted(again.ran) == sorted(trial.name for trial in rest)
    assert [row[0] for row in rows] == [trial.name for trial in trials]
    assert len(told) == len(rest)
    assert Series(Counted(broken.rig), trials, "another mark").remaining == trials
    assert all(is_sound(row) for row in rows)


@pytest.mark.parametrize("text", ["", "[]", '{"mark": "mark", "row": {}}', '{"row": 1}'])
def test_what_is_no_row_is_run_again(tmp_path, text):
    rig = rig_in(tmp_path)
    rig.folder(FAULT).mkdir()
    (rig.folder(FAULT) / "outcome.json").write_text(text)
    assert Series(rig, [FAULT], "mark").remaining == [FAULT]


def test_what_it_will_take_is_told_before(tmp_path):
    rig = rig_in(tmp_path)
    stop = Trial("stop", target="engine", stop_s=5.0)
    one, both = (Series(rig, trials, "").seconds(1) for trials in ([FAULT], [FAULT, stop]))
    assert rig.seconds(FAULT) <= 4.0  # whatever the case lasts: capture has 20 s
    assert both == pytest.approx(2 * one + 5.0)
    assert Series(rig, [FAULT, stop], "").seconds(2) == pytest.approx(one + 5.0)  # the longer one


def test_another_file_case_or_lead_is_another_series(tmp_path):
    file = tmp_path / "rig.toml"
    file.write_text("a")
    first = mark_of(file, "a", 0.6)
    assert first == mark_of(file, "a", 0.6)
    others = [mark_of(file, "b", 0.6), mark_of(file, "a", 0.5)]
    file.write_text("b")
    assert first not in [*others, mark_of(file, "a", 0.6)]


def log_of(folder, position, *, until=100):
    """Write what the robot's log would have of a position in mm, one row in 4 ms."""
    rows = [LOG]
    for n in range(until):
        zeros = ",".join("0,0" for _ in range(5))
        rows.append(f"{0.004 * n:.3f},cycle,{n},{4 * n},0,{position(n)},{position(n - 4)},{zeros}")
    (folder / "robot.log.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize(("step", "within"), [(0.5, "yes"), (9.0, "NO")])
def test_an_unsupervised_rig_is_judged_by_the_speed_that_its_adapter_allows(tmp_path, step, within):
    """`speed_limit` is 2 m/s: 8 mm in a cycle."""
    experiment = read_experiment(EPOS / "rig.toml")
    log_of(tmp_path, lambda n: 0.01 * n if n < 50 else 0.49 + step)
    (tmp_path / "said.txt").write_text("error: component 'robot' was lost\n")
    judge = Judge(experiment, "capture", {"robot": "kuka_rsi"})
    row = dict(zip(COLUMNS, row_of(judge.outcome(FAULT, tmp_path, 0.1, 2)), strict=True))
    assert row["within limits"] == within
    assert row["detected by"] == "the run"
    assert row["reaction"] == "the run ends"
    assert row["exit code"] == "2"
    assert row["sentence"] == "component 'robot' was lost"
    assert row["step"] == f"{step:.3g} mm"
    assert row["path"] == f"{0.49 + step - 0.21:.3g} mm"
    assert row["to rest [ms]"] == "116"  # row 54, by 216 ms
    assert row["recorded until [s]"] == "nothing"
    assert not is_sound(list(row.values()))


@pytest.mark.parametrize("told", [(), ("robot", "sensor")])
def test_a_supervisor_is_lost_where_devices_wrote_so(tmp_path, told):
    """Killed or stopped: it wrote nothing itself, and without the files nothing is claimed."""
    experiment = read_experiment(EPOS / "rig_supervised.toml")
    log_of(tmp_path, lambda n: 0.01 * n)
    (tmp_path / "sensor.log.csv").write_text("time_s,event,force\n")
    (tmp_path / "said.txt").touch()
    (tmp_path / "capture.supervisor").mkdir()
    for name in told:
        (tmp_path / "capture.supervisor" / f"supervisor_lost.{name}.csv").touch()
    trial = Trial("kill -9 of the supervisor", target="supervisor")
    judge = Judge(experiment, "capture", {"robot": "kuka_rsi", "sensor": "ati_net_ft"})
    reaction = judge.outcome(trial, tmp_path, 0.1, 2).reaction
    expected = ("supervisor_lost", "robot, sensor", "FALLBACK") if told else ("", "", "")
    assert (reaction.reason, reaction.location, reaction.state) == expected


def test_the_run_of_a_trial_is_short_plain_and_armed_by_itself():
    experiment = read_experiment(EPOS / "rig_supervised.toml")
    experiment = experiment.model_copy(update={"expect": {"gone": Expectation(that="force < 1 N")}})
    told = {
        "case": "capture",
        "settings": {"robot": {"port": 7}},
        "supervisor": {"rig": "other", "arm": "automatic"},
        "stop": "3 s",
    }
    found = rewired(experiment, json.loads(json.dumps(told)))
    case = found.case["capture"]
    assert (case.stop, case.linearise, case.emulators) == ("3 s", False, {})
    assert case.devices["robot"].settings == {"port": 7}
    assert (found.supervisor.rig, found.supervisor.arm) == ("other", "automatic")
    assert found.expect == {}  # of measures, which are left out
    plain = rewired(read_experiment(EPOS / "rig.toml"), told)
    assert plain.supervisor is None


LATE, RESTART = "later by 0.2 s in each second", "restart, counts go on"


@pytest.mark.parametrize(
    ("component", "disturbance", "found", "ended", "wrong"),
    [
        ("robot", "nothing comes", "sensor_stale,robot", 3, ""),
        ("robot", "nothing comes", "", 0, "it went on"),
        ("robot", "nothing comes", "device_restarted,robot", 3, "another cause: device_restarted"),
        ("robot", "nothing comes", "sensor_stale,sensor", 3, "another cause: sensor_stale (sensor"),
        ("robot", "nothing comes", "engine_lost,simulation", 3, "another cause: engine_lost"),
        ("robot", "each twice at once", "", 0, ""),
        ("robot", "each twice at once", "sensor_lost,robot", 3, "another cause: sensor_lost"),
        ("robot", "each twice at once", "", 2, "another cause: its newest valid sample is 1 s old"),
        ("robot", LATE, "sensor_stale,robot.x", 3, ""),
        ("robot", LATE, "", 2, ""),
        ("robot", RESTART, "device_restarted,robot", 3, ""),
        ("robot", RESTART, "", 0, "it went on"),
        ("sensor", "restart, counts as at power-on", "", 0, ""),
        ("sensor", "30 % lost", "sensor_lost,sensor", 3, ""),
        ("sensor", "30 % lost", "", 0, ""),
    ],
)
def test_a_reaction_to_a_disturbed_wire_is_right_or_named(
    tmp_path, component, disturbance, found, ended, wrong
):
    """The supervisor's limits may be narrower than those of the run, so it may find a fault."""
    log_of(tmp_path, lambda n: 0.01 * n)
    (tmp_path / "sensor.log.csv").write_text("time_s,event,force\n")
    told = "error: its newest valid sample is 1 s old: since then no sample came\n"
    (tmp_path / "said.txt").write_text(told if ended == 2 else "")
    (tmp_path / "capture.supervisor").mkdir()
    changes = "time_s,before,event,after,reason,where,figures\n"
    changes += f"0.2,ACTIVE,fault,FALLBACK,{found},\n" if found else ""
    (tmp_path / "capture.supervisor" / "changes.csv").write_text(changes)
    experiment = read_experiment(EPOS / "rig_supervised.toml")
    judge = Judge(experiment, "capture", {"robot": "kuka_rsi", "sensor": "ati_net_ft"})
    trial = Trial("relay", component, disturbance=disturbance)
    outcome = judge.outcome(trial, tmp_path, 0.1, ended)
    assert outcome.wrong.startswith(wrong) if wrong else outcome.wrong == ""
    assert dict(zip(COLUMNS, row_of(outcome), strict=True))["wrong"] == outcome.wrong
    assert judge.outcome(FAULT, tmp_path, 0.1, ended).wrong == ""  # there is no disturbance
