"""CiA 402: drives that are switched on with the run, or start anew while they are set up."""

import pytest
from canopen_bench import Bench, FakeBus, drive, settings

from orchestrator.rig.devices import DeviceError


class BootingBus(FakeBus):
    """The drive of a node is off until its object was asked for so often, and then boots."""

    def __init__(self, line, node, index, asked):
        super().__init__(line)
        (self.late,) = (d for d in line.drives if d.node == node)
        self.index, self.left = index.to_bytes(2, "little"), asked

    def send(self, frames):
        for frame in frames:
            asked = frame.identifier == 0x600 + self.late.node and frame.data[1:3] == self.index
            if asked and self.left:
                self.left -= 1
                self.late.boot()
                self.late.out = self.late.out if self.left == 0 else []
                self.push(self.line.answers())
            else:
                super().send([frame])


@pytest.mark.parametrize(
    ("node", "index", "asked"),
    [
        (1, 0x1000, 4),  # it was switched on with the run
        (2, 0x1000, 1),
        (2, 0x6502, 1),  # and in the middle of its set-up
        (1, 0x1A01, 1),
    ],
)
def test_a_drive_that_boots_is_waited_for_and_set_up_anew(monkeypatch, node, index, asked):
    given = settings(drive(), drive("load", 2, "cst"), answer_timeout=0.02)
    bench = Bench(monkeypatch, given)
    bench.bus = BootingBus(bench.bus.line, node, index, asked)
    bench.device.open()
    assert bench.bus.left == 0
    assert [d.state for d in bench.drives] == ["ENABLED"] * 2
    assert bench.drives[node - 1].objects[0x6007, 0] == 3
    assert bench.cycles(200, (5.0, 0.0))[-1].values[1] == pytest.approx(5.0, abs=1e-2)


def test_a_drive_that_boots_again_and_again_is_told(monkeypatch, wording):
    bench = Bench(monkeypatch, settings(drive(), answer_timeout=0.01, start_timeout=0.05))
    bench.bus.push = lambda frames: FakeBus.push(bench.bus, [*frames, (0x701, b"\0")])
    with wording.raises(DeviceError):
        bench.device.open()
