"""Inputs of simulated components that come to rest when a device is lost."""

import sys
from pathlib import Path

import numpy as np
import pytest

from orchestrator import Block, DescriptionError, Input, Output, System, block, simulate
from orchestrator.study.prepare.inputs import Rest, block_in, with_rests
from orchestrator.study.prepare.prepare import swap_component
from orchestrator.study.tables import RestTable

sys.path.insert(0, str(Path(__file__).parents[2] / "rig" / "device_units"))

H = 0.01


class Rig(Block):
    """What a device replaces."""

    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.y = 1.0 + t


class Joint(Block):
    """Follows what it is told."""

    rate: float = Input(unit="m")
    seen: float = Input(unit="m")
    found: float = Output(unit="m", depends_on=("rate", "seen"))

    def step(self, t, h):
        self.found = self.rate + self.seen


class Trust(Block):
    """Is trusted from 0.05 s until 0.2 s."""

    valid: float = Output(unit="1", depends_on=())

    def step(self, t, h):
        self.valid = float(0.05 < t + 0.5 * h < 0.2)


def rig():
    system = System("rig").add("rig", block(Rig), u=0.0).add("joint", block(Joint), rate=0.03)
    return system.connect("rig.y", "joint.seen")


def with_device(system):
    return swap_component(system, "rig", "device:scripted_device:Scripted?port=1")


def test_a_signal_passes_bit_for_bit_until_the_device_is_lost_and_then_goes_to_rest():
    system = System("s").add("trust", block(Trust)).add("signal", block(Rig), u=0.0)
    made = block(block_in(Rest, "m"))
    system = system.add("rest", made, at=0.4, within=0.1, device="rig")
    system = system.connect("signal.y", "rest.wanted").connect("trust.valid", "rest.valid")
    result = simulate(system, step=H, stop=0.4, algorithm="gauss-seidel", delay="plain")
    t, y, value = result.time, result["signal.y"], result["rest.value"]
    before = t < 0.195  # before it was there for the first time as well
    assert (value[before] == y[before]).all()
    last = y[before][-1]
    way = last + (0.4 - last) * np.minimum(1.0, (t - 0.19 - 0.5 * H) / 0.1)
    assert np.abs(value - way)[~before].max() <= abs(0.4 - last) * H / 0.1
    assert value[-1] == 0.4
    (notice,) = result.safe_states
    assert (notice.component, notice.safe) == ("rest", True)
    assert notice.time_ns == pytest.approx(0.2e9, abs=1.01e7)


def test_a_block_stands_right_before_its_input():
    table = {"joint.rate": RestTable(), "joint.seen": RestTable(value=1.0, within="20 ms")}
    system = with_rests(with_device(rig()), table)
    assert list(system.components) == ["rig", "rest_joint_rate", "rest_joint_seen", "joint"]
    lines = {str(line) for line in system.connections}
    assert lines == {
        "rig.y -> rest_joint_seen.wanted",
        "rig.valid -> rest_joint_seen.valid",
        "rig.valid -> rest_joint_rate.valid",
        "rest_joint_rate.value -> joint.rate",
        "rest_joint_seen.value -> joint.seen",
    }
    assert system.component("rest_joint_rate").values["wanted"] == 0.03
    assert system.component("rest_joint_seen").values["within"] == 0.02
    system.check()


def test_without_a_device_nothing_can_be_lost():
    system = rig()
    assert with_rests(system, {"joint.rate": RestTable()}) == system
    assert with_rests(system, {"joint.rate": RestTable(device="rig")}) == system


@pytest.mark.parametrize(
    ("path", "table"),
    [
        ("joint.found", {}),
        ("joint.rote", {}),
        ("joint.rate", {"device": "ring"}),
    ],
)
def test_what_cannot_be_led_to_rest_is_refused(path, table, wording):
    with wording.raises(DescriptionError):
        with_rests(with_device(rig()), {path: RestTable(**table)})


@pytest.mark.parametrize("within", ["0 s", "-1 s", "soon"])
def test_a_time_to_rest_is_above_zero(within):
    with pytest.raises(ValueError, match="within"):
        RestTable(within=within)
