"""A portable .ssp gives in FMPy what our master gives by Jacobi, bit by bit."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, System, block, read_experiment
from orchestrator.export.portable import left_to_tools
from orchestrator.study.prepare.prepare import prepare

EPOS = Path(__file__).parents[4] / "examples" / "epos"


class Source(Block):
    """Begins with zero: so tools agree that exchange nothing before the first step."""

    wave: float = Output(unit="m", description="A sine")
    count: int = Output()
    high: bool = Output()
    vector = Output(unit="N", shape=(2,))

    def step(self, t: float, h: float) -> None:
        self.count = self.count + 1 * (h > 0.0)  # no time: FMPy adds up steps
        self.wave = math.sin(0.04 * self.count)
        self.high = self.wave > 0.5
        self.vector[0] = self.wave * 2.0
        self.vector[1] = self.wave - 0.25 * self.vector[0]


class Sink(Block):
    """Shows what arrives, and remembers it."""

    held: float = Input(unit="m")
    linear: float = Input(unit="mm")
    cubic: float = Input(unit="m")
    count: int = Input()
    high: bool = Input()
    vector = Input(unit="N", shape=(2,))
    seen: float = Output(unit="mm", depends_on=("linear",))
    others = Output(unit="m", shape=(2,))
    counted: int = Output()
    was_high: bool = Output()
    sum: float = Output()
    gain: float = Parameter(start=1.0)
    past: float = State(start=0.0)

    def step(self, t: float, h: float) -> None:
        self.seen = self.gain * self.linear
        self.others[0] = self.held
        self.others[1] = self.cubic
        self.counted = self.count
        self.was_high = self.high
        self.past = self.past + h * (self.vector[0] - 2.0 * self.vector[1])
        self.sum = self.past + self.vector[1]


def chain(counts=None, **line):
    return (
        System("chain")
        .add("a", block(Source))
        .add("b", block(Sink), gain=3.0)
        .connect("a.wave", "b.linear", delay="7300 us", interpolation="linear", **line)
        .connect("a.wave", "b.held", delay="7300 us", interpolation="hold")
        .connect("a.wave", "b.cubic", delay="7300 us", interpolation="cubic")
        .connect("a.count", "b.count", delay="4 ms", mapping=counts)
        .connect("a.high", "b.high", delay="5500 us")
        .connect("a.vector", "b.vector", delay="6 ms")
    )


def assert_equal(found, others, count):
    """Elements of arrays are counted from 0 in our recordings, from 1 in FMUs."""
    for name, values in found.items():
        called = re.sub(r"\[(\d+)\]", lambda at: f"[{int(at[1]) + 1}]", name)
        np.testing.assert_array_equal(others[called][:count], values, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("delay", ["mean", "plain"])
def test_lines_of_every_kind(delay, played):
    ours, fmpy, again, made = played(chain(), delay=delay)
    assert np.ptp(ours["b.seen"]) > 1000.0
    assert ours["b.counted"].max() > 100
    assert set(ours["b.was_high"]) == {0.0, 1.0}
    assert np.ptp(ours["b.sum"]) > 0
    assert_equal(ours, again, 200)
    np.testing.assert_allclose(1000.0 * fmpy["b.seen"], ours["b.seen"], rtol=1e-15)  # no units
    del ours["b.seen"]
    assert_equal(ours, fmpy, 200)
    assert [c for c in made.system.connections if c.delay] == []
    assert {c.source.kind for c in made.system.components.values()} == {"fmu"}


@pytest.mark.slow
def test_fmpy_sees_units_and_factors_where_connections_are_plain(played):
    ours, fmpy, again, made = played(chain(factor=0.5, offset=2.0), plain=True)
    assert ours["b.seen"].max() > 1000.0
    assert_equal(ours, again, 200)
    assert "begins with 0 on a.wave -> b.linear" in made.remarks[-1]
    assert (ours["b.seen"][0], fmpy["b.seen"][0]) == (6.0, 0.0)
    fmpy["b.seen"][0] = 6.0
    assert_equal(ours, fmpy, 200)


def test_a_gain_on_an_undelayed_line_is_one_step_late_and_says_so(played):
    system = (
        System("gained")
        .add("a", block(Source))
        .add("b", block(Sink), held=0.0, cubic=0.0, count=1, high=True, vector=(0.0, 1.0))
        .connect("a.wave", "b.linear", factor=-2.0)
    )
    ours, fmpy, again, made = played(system, plain=True)
    assert_equal(ours, again, 200)
    assert_equal(ours, fmpy, 200)
    assert "gain_1 multiplies by -2000 and adds 0" in made.remarks[0]
    np.testing.assert_array_equal(ours["b.seen"][2:], -2000.0 * ours["a.wave"][:-2])


def test_every_line_that_another_tool_must_convert_is_named():
    linear, table = left_to_tools(chain(factor=0.5, offset=2.0, counts={0: 3}))
    assert linear.startswith("a.wave -> b.linear: the tool has to multiply by 500 and add 2 (m to")
    assert "--plain-connections" in linear
    assert table.startswith("a.count -> b.count: the tool has to apply a table of values")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "delay", "step_ns"),
    [
        ("capture_b60", "mean", 1_000_000),
        ("capture_b20", "mean", 3_200_000),
        ("capture_b60_jacobi", "plain", 8_000_000),
        ("capture_b60_axis", "mean", 1_000_000),
        ("hybrid_total_delay", "mean", 1_000_000),
        ("ideal_delay", "mean", 1_000_000),
    ],
)
def test_epos(case, delay, step_ns, played, plants):
    experiment = read_experiment(EPOS / "experiment.toml")
    system = prepare(case, experiment.case[case], EPOS, {}, {})
    ours, fmpy, again, _ = played(system, count=1500, delay=delay, step_ns=step_ns)
    forces = [name for name in ours if "force" in name]
    assert max(np.abs(ours[name]).max() for name in forces) > 5.0
    assert_equal(ours, fmpy, 1500)
    assert_equal(ours, again, 1500)
