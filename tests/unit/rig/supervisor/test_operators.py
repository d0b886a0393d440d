"""What operators may do, and are told, in synthetic time."""

import pytest
from supervised_rig import Rig

from orchestrator import Reason
from orchestrator.rig.supervisor.machine import COLUMNS, RefusedWish, change_row
from orchestrator.rig.supervisor.process import status_of
from orchestrator.rig.supervisor.states import State, change_record, read_changes
from orchestrator.rig.supervisor.watch_memory import RowFile
from orchestrator.rig.supervisor.wire import StateLine, state_line


def held(**changes):
    rig = Rig(arm="operator", **changes)
    rig.engine = False
    assert rig.cycle(3) is State.SHADOW
    return rig


def status(rig):
    return status_of(rig.supervisor, rig.now)


def test_only_who_armed_engages_and_the_other_is_told_who(wording):
    rig = held()
    wish = rig.supervisor.wish
    with wording.raises(RefusedWish):
        wish("engage", rig.now, "pts/1")
    wish("arm", rig.now, "pts/1")
    assert status(rig)["armed"] == {"by": "pts/1", "left_s": 10.0, "of_s": 10.0}
    with wording.raises(RefusedWish):
        wish("engage", rig.now, "pts/2")
    assert rig.state is State.SHADOW
    wish("arm", rig.now, "pts/2")
    with wording.raises(RefusedWish):
        wish("engage", rig.now, "pts/1")
    wish("engage", rig.now, "pts/2")
    assert rig.state is State.BLEND
    assert status(rig)["wished"]["by"] == "pts/2"
    assert status(rig)["armed"] is None


def test_times_are_those_since_the_change_and_a_fault_says_why():
    rig = held()
    rig.supervisor.wish("arm", rig.now, "pts/1")
    rig.supervisor.wish("engage", rig.now, "pts/1")
    begun, rig.engine = rig.now, True
    rig.cycle(10)
    rig.force = 80.0
    rig.cycle(40)
    told = status(rig)
    assert told["engaged_s"] == pytest.approx((rig.now - begun) * 1e-9)
    assert told["wished"]["time_s"] == pytest.approx(begun * 1e-9)
    faults = [change for change in told["changes"] if change["event"] == "quick fault"]
    assert faults
    assert all("sensor.fx" in change["why"] and change["advice"] for change in faults)
    others = [change for change in told["changes"] if change["event"] != "quick fault"]
    assert {(change["why"], change["advice"]) for change in others} == {("", "")}


def test_arming_lapses_for_the_one_who_armed_as_well(wording):
    rig = held()
    rig.supervisor.wish("arm", rig.now, "pts/1")
    rig.cycle(2501)
    with wording.raises(RefusedWish):
        rig.supervisor.wish("engage", rig.now, "pts/2")


def test_anybody_may_stop_and_a_quick_stop_is_one_also_after_a_stop():
    rig = held()
    rig.supervisor.wish("arm", rig.now, "pts/1")
    rig.supervisor.wish("engage", rig.now, "pts/1")
    rig.engine = True
    rig.cycle(10)
    rig.stands = False
    rig.supervisor.wish("stop", rig.now, "pts/2")
    assert rig.cycle() is State.FALLBACK
    rig.supervisor.wish("quickstop", rig.now, "pts/1")
    assert rig.cycle() is State.QUICKSTOP
    stops = [Reason.OPERATOR_STOP, Reason.OPERATOR_QUICK_STOP]
    assert rig.latched == list(zip(stops, ["operator pts/2", "operator pts/1"], strict=True))


def test_a_run_waits_until_its_rig_is_engaged_or_will_not_be():
    rig = held()
    assert not rig.supervisor.run_may_begin
    rig.supervisor.wish("arm", rig.now, "one")
    assert not rig.supervisor.run_may_begin
    rig.supervisor.wish("engage", rig.now, "one")
    assert rig.supervisor.run_may_begin
    stopped = held()
    stopped.supervisor.wish("stop", stopped.now, "one")
    assert stopped.supervisor.run_may_begin
    goes_on = held(after_fault="continue")
    goes_on.supervisor.wish("stop", goes_on.now, "one")
    assert not goes_on.supervisor.run_may_begin  # it is reset, and engaged then


def test_what_keeps_a_rig_in_off_is_told():
    rig = Rig(arm="operator")
    rig.silent.add("sensor")
    rig.cycle()
    assert status(rig)["missing"] == ["sensor: no sample arrived yet"]
    rig.silent.clear()
    rig.cycle(valid=0)
    assert "robot: the device itself reports a fault" in status(rig)["missing"]
    rig.cycle(valid=1)
    assert (rig.state, status(rig)["missing"]) == (State.SHADOW, [])


def test_a_line_has_state_time_force_and_what_is_left():
    rig = held()
    rig.force = 12.0
    rig.cycle(x=0.01, fx=12.0)
    rig.supervisor.wish("arm", rig.now, "pts/1")
    line = state_line(status(rig))
    assert line == (
        "test SHADOW 0.0 s | armed by pts/1, 10 s left to engage"
        " | sensor.fx 12 N (38 to its limit) | robot.x 0.01 m (0.02 to its limit)"
    )
    rig.cycle(fx=float("nan"))
    known = {"value": None, "unit": "N", "margin": None, "minimum": -50.0, "maximum": 50.0}
    assert status(rig)["signals"]["sensor.fx"] == known


def test_nothing_is_said_of_a_rig_that_nobody_watches():
    assert StateLine("nowhere")() == ""


def test_the_states_of_a_rig_are_read_back_since_it_was_engaged(tmp_path):
    rig = held()
    rig.supervisor.wish("arm", rig.now, "pts/1")
    rig.cycle(250)
    rig.supervisor.wish("engage", rig.now, "pts/1")
    rig.engine = True
    rig.cycle(10)
    record = written(rig, tmp_path)
    assert record.engaged
    assert record.never_engaged == ""
    told = [
        (change.after, change.event, change.where, round(change.time_s, 6))
        for change in record.changes
    ]
    assert told[1:] == [
        ("SHADOW", "arm", "pts/1", -1.0),
        ("BLEND", "engage", "pts/1", 0.0),
        ("ACTIVE", "blended", "", 0.02),
    ]
    assert record.as_json()["states"][2]["after"] == "BLEND"


def test_a_rig_that_was_never_engaged_is_named_with_its_fault(tmp_path):
    rig = held()
    rig.force = 80.0
    rig.cycle(2)
    record = written(rig, tmp_path)
    assert not record.as_json()["engaged"]
    assert record.never_engaged == (
        "rig 'test' was never engaged: sensor.fx: force (force 80 N, limit 50 N)"
    )


def written(rig, folder):
    """Write the states of a rig and read them back."""
    file = RowFile(folder / "changes.csv", COLUMNS)
    for change in rig.supervisor.machine.changes:
        file.write(change.time_ns, change_row(change))
    file.close()
    assert len(read_changes(folder / "changes.csv")) == len(rig.supervisor.machine.changes)
    return change_record("test", folder / "changes.csv")


def tune(rig, what="damper.b = 60"):
    rig.supervisor.tune(what, {}, rig.now, "pts/1")


def test_another_value_is_consented_to_where_nothing_is_wrong_and_written(wording):
    rig = held()
    rig.supervisor.wish("arm", rig.now, "pts/1")
    tune(rig)
    assert status(rig)["armed"] is None  # what was armed is another rig
    rig.supervisor.wish("arm", rig.now, "pts/1")
    rig.supervisor.wish("engage", rig.now, "pts/1")
    with wording.raises(RefusedWish):
        tune(rig)
    rig.engine = True
    assert rig.cycle(10) is State.ACTIVE
    tune(rig)
    last = rig.supervisor.machine.changes[-1]
    assert (last.event, last.after, last.by) == ("tune", State.ACTIVE, "pts/1: damper.b = 60")
    assert status(rig)["wished"]["wish"] == "tune damper.b = 60"
    rig.force = 80.0
    rig.cycle(40)
    with wording.raises(RefusedWish):
        tune(rig)
