"""A run that goes on for a while when its device is lost."""

import sys
import time
from pathlib import Path

import pytest
from scripted_device import Peer

from orchestrator import DescriptionError, Execution, RealTime, StepError
from orchestrator.rig.device_units.device_unit import DeviceUnit, IoProcess

sys.path.insert(0, str(Path(__file__).parent))
from test_device_unit import STEP, with_device


def test_a_run_goes_on_without_its_device_for_as_long_as_it_is_told(capfd):
    with Peer() as peer:
        lost = with_device(peer, "&fails=later&run_on=0.5")
        with Execution(lost, step=STEP, realtime=RealTime(priority=0, lock_memory=False)) as run:
            peer.wait_for(lambda: peer.commands and peer.commands[-1] == 0.0)
            time.sleep(0.1)  # the device counts 30 samples, one each ms
            run.step(20)
            held = run.get("rig.y")
            assert run.get("rig.valid") == 0.0
            run.step(10)
            assert run.get("rig.y") == held
            with pytest.raises(StepError, match="its device was lost: the link broke"):
                run.step(200)
            assert 0.3 < run.time < 1.0  # it was lost some 0.1 s before the first step
    assert "leaked" not in capfd.readouterr().err  # by the process of the device, as it ends


def test_a_process_whose_run_ends_first_leaves_nothing_behind(capfd):
    with Peer() as peer:
        lost = with_device(peer, "&fails=later&run_on=30&stale_after=30")
        with Execution(lost, step=STEP, realtime=RealTime(priority=0, lock_memory=False)) as run:
            peer.wait_for(lambda: block_of(run).held)
            run.step(20)
            assert run.get("rig.valid") == 0.0
    assert "leaked" not in capfd.readouterr().err


def block_of(run):
    (unit,) = (unit for unit in run.units if unit.name == "rig")
    return unit._process.block


def is_lost(run):
    return block_of(run).lost


def test_a_command_beyond_its_range_does_not_end_a_run_that_goes_on_without_its_device():
    with Peer() as peer:
        lost = with_device(peer, "&fails=later&run_on=60", wrong_at=0.5, wrong=1e9)
        with Execution(lost, step=STEP) as run:
            peer.wait_for(lambda: block_of(run).held)
            run.step(60)
            (notice,) = run.notices
            assert notice.what == (
                "commands outside their range while the device was held, which were not sent: 10"
            )
            assert notice.time_ns == 500_000_000  # the step from which it came
        assert max(peer.commands) < 1.0


@pytest.mark.parametrize("steps_after", [0, 1])
def test_a_run_that_is_long_in_closing_its_device_has_missed_nothing(caplog, steps_after):
    """Its commands come to rest by themselves; a run that goes on after that is told so."""
    with Peer() as peer:
        rig = with_device(peer, "&command_stale_after=0.05&stale_after=30")
        with Execution(rig, step=STEP, realtime=RealTime(priority=0, lock_memory=False)) as run:
            run.step(20)
            peer.wait_for(lambda: is_lost(run))
            if steps_after:
                with pytest.raises(StepError, match="sent no new command for 50 of its cycles"):
                    run.step()
        assert ("sent no new command" in caplog.text) is bool(steps_after)
        assert ("sent no new command" in run.notes[-1]) is bool(steps_after)


def test_a_supervised_device_has_one_end():
    with (
        Peer() as peer,
        pytest.raises(DescriptionError, match="run_on: expected 0 of a supervised"),
    ):
        with_device(peer, "&run_on=0.5&supervisor=rig")


def test_a_device_that_is_led_to_rest_after_its_loss_says_why_it_was_lost(monkeypatch):
    """A drive that restarted was told as a silent clock: its process led the others to rest."""
    process = IoProcess("arm", "scripted", 0, 1)
    monkeypatch.setattr(process, "error", lambda: None)  # it has said nothing at its end yet
    assert process.loss() is None
    process.block.lose("its device was lost: drive 'motor' (node 1): it restarted")
    unit = object.__new__(DeviceUnit)
    unit._process = process
    assert "drive 'motor' (node 1): it restarted" in str(unit.exception())
    assert "component 'arm'" in str(unit.exception())
