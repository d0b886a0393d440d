"""What the process of a device keeps for an identification: samples, commands, what was taken."""

import numpy as np
import pytest

from hw_adapters.kuka_rsi.adapter import KukaRsi, KukaRsiSettings
from orchestrator.core.operating_system import shared_memory
from orchestrator.engine import DeviceBlock
from orchestrator.rig.device_units.facts import DeviceFacts
from orchestrator.rig.device_units.io_loop import _Link
from orchestrator.rig.device_units.samples import SampleLogWriter, read_sample_log
from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import Received

PORTS = KukaRsi.connectors(KukaRsiSettings(axes=("x",)))


class Robot(KukaRsi):
    """A robot of which the test says what it sends, and sees what it is answered."""

    def __init__(self, settings, samples):
        super().__init__(settings)
        self.samples, self.answers_seen = list(samples), []

    def receive(self, timeout_s):
        return self.samples.pop(0)

    def send(self, values):
        self.answers_seen.append(list(values))

    def close(self):
        pass


def sample(sequence, late, *, valid=True):
    return Received([1e-3 * sequence] * 6, sequence=sequence, late_answers=late, valid=valid)


def kept(tmp_path, samples):
    """Let the process of a robot receive samples, and return its log."""
    path = tmp_path / "log"
    size = DeviceBlock.size(1, 6)
    block = DeviceBlock(shared_memory("robot", size), 1, 6)
    settings = KukaRsiSettings(axes=("x",), sample_log=str(path))
    facts = DeviceFacts("kuka_rsi", KukaRsi, settings, PORTS)
    link = _Link(Robot(settings, samples), PORTS, block, OwnGate(facts))
    for _ in samples:
        link.receive_once()
    link.finish()
    return read_sample_log(path)


def test_every_sample_is_kept_with_the_answer_that_it_got(tmp_path):
    log = kept(tmp_path, [sample(10, 0), sample(11, 0), sample(12, 0)])
    assert log.numbers.tolist() == [1, 2, 3]
    assert log.ticks.tolist() == log.answered.tolist() == [1, 2, 3]
    assert log.values[:, 0].tolist() == pytest.approx([0.01, 0.011, 0.012])
    assert (log.commands == 0.0).all()
    assert (np.diff(log.arrivals) >= 0.0).all()
    assert (log.sent >= log.arrivals - 1.0).all()
    assert log.taken.all()


def test_what_came_again_or_was_not_valid_is_no_sample(tmp_path):
    log = kept(tmp_path, [sample(10, 0), sample(10, 0), sample(11, 0, valid=False), sample(12, 0)])
    assert log.values[:, 0].tolist() == pytest.approx([0.01, 0.012])
    assert log.ticks.tolist() == [1, 3]
    assert log.answered.tolist() == [1, 2, 3]


def written(tmp_path, cycles, answers=True):
    """Return the log of ``(ticks since the last sample, late answers so far)``."""
    log = SampleLogWriter(answers=answers)
    for number, (ticks, late) in enumerate(cycles, 1):
        log.sent(number, number, [0.1 * number])
        log.received(number, ticks, number, late, [0.0])
    log.write(tmp_path / "log", 1, 1)
    return read_sample_log(tmp_path / "log")


@pytest.mark.parametrize(
    ("cycles", "taken"),
    [
        ([(1, 0), (1, 0), (1, 1), (1, 1)], [True, False, True, True]),  # the second came late
        ([(1, 0), (3, 2), (1, 2)], [True, True, True]),  # two were lost, and not answered
        ([(1, 0), (3, 3), (1, 3)], [False, True, True]),  # and the one before them late
        ([(1, None), (3, None)], [True, True]),  # nothing is said
        ([(1, 7), (1, 7)], [True, True]),  # of an earlier run
    ],
)
def test_the_next_sample_says_which_answer_was_late(tmp_path, cycles, taken):
    assert written(tmp_path, cycles).taken.tolist() == taken


def test_a_device_that_is_not_answered_takes_each_command(tmp_path):
    log = written(tmp_path, [(1, None), (1, None)], answers=False)
    assert log.answered.tolist() == [-1, -1]
    assert log.commands[:, 0].tolist() == pytest.approx([0.1, 0.2])
    assert log.taken.all()
