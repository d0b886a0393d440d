"""Margins of a loop through a device, with models in its place, against closed forms."""

import math

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, System, block
from orchestrator.arming import Reserve, arm
from orchestrator.arming.advice import Knobs
from orchestrator.arming.shrinkage import margin_table
from orchestrator.linearisation import linear_system
from orchestrator.linearisation.sampled_loop import SampledLoop
from orchestrator.supervisor.tracking.margin_table import MarginTable

T, MASS, K, B = 0.004, 750.0, 2510.0, 100.0


class Body(Block):
    """A mass with a damper, exactly stepped under a constant force."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    m: float = Parameter(start=MASS, unit="kg")
    b: float = Parameter(start=B, unit="N.s/m")
    x: float = State(start=0.0)
    v: float = State(start=0.0)

    def step(self, t, h):
        rate = self.b / self.m
        fade = math.exp(-rate * h)
        end = self.force / self.b
        self.x = self.x + end * h + (self.v - end) * (1.0 - fade) / rate
        self.v = end + (self.v - end) * fade
        self.position = self.x


class Robot(Block):
    """Is where it is told to be."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=("dx",))

    def step(self, t, h):
        self.x = self.dx


class Sheet(Block):
    """A spring."""

    x: float = Input(unit="m")
    fx: float = Output(unit="N", depends_on=("x",))
    k: float = Parameter(start=K, unit="N/m")

    def step(self, t, h):
        self.fx = -self.k * self.x


def rig(delay="20 ms", **sheet):
    system = System("rig").add("body", block(Body)).add("robot", block(Robot))
    system = system.add("sensor", block(Sheet), **{"k": K, **sheet})
    system = system.connect("body.position", "robot.dx").connect("sensor.fx", "body.force")
    return system.connect("robot.x", "sensor.x", delay=delay)


def linear(**given):
    return linear_system(rig(**given), step=T, algorithm="gauss-seidel", delay="plain")


def cycle(cycles, k, gain=1.0):
    """The matrix of one cycle, by hand: F over it is -k x(t - cycles T)."""
    fade, rate = math.exp(-B / MASS * T), B / MASS
    n = 2 + cycles
    step = np.eye(n, k=-1)
    step[:3] = 0.0
    step[0, 0], step[0, 1], step[1, 1] = 1.0, (1.0 - fade) / rate, fade
    push = -gain * k / B
    step[0, -1], step[1, -1] = push * (T - (1.0 - fade) / rate), push * (1.0 - fade)
    step[2, 0] = 1.0
    return step


def growth(step):
    return math.log(np.abs(np.linalg.eigvals(step)).max()) / T


def test_growth_and_limits_are_those_of_the_matrix_of_one_cycle():
    loop = SampledLoop.of(linear(), "body.position -> robot.dx")
    assert loop.roots[0].real == pytest.approx(growth(cycle(5, K)), rel=1e-6)
    margins = loop.margins()
    assert margins.is_stable
    limit = growth(cycle(5, K, margins.gain.value))
    assert limit == pytest.approx(0.0, abs=1e-6)
    # as many whole cycles more as the delay margin has are stable, one more is not
    more = math.floor(margins.delay.value / T)
    assert growth(cycle(5 + more, K)) < 0.0 < growth(cycle(6 + more, K))


def test_an_unstable_loop_has_the_gain_that_would_do():
    loop = SampledLoop.of(linear(k=8000.0), "body.position -> robot.dx")
    margins = loop.margins()
    assert not margins.is_stable
    assert loop.roots[0].real == pytest.approx(growth(cycle(5, 8000.0)), rel=1e-6)
    limit = growth(cycle(5, 8000.0, margins.gain_reduction.value))
    assert limit == pytest.approx(0.0, abs=1e-6)
    assert margins.delay.value < 0.0


def test_what_has_its_reserve_is_granted():
    found = arm(linear(), ["robot"], Reserve(4e-3, 1.25), Knobs())
    assert found.is_granted
    assert found.notes[0].startswith("armed: body.position -> robot.dx has a delay margin of ")
    (line,) = found.as_json()["lines"]
    assert line["delay_margin_s"] > 4e-3


@pytest.mark.slow
def test_what_has_not_is_refused_with_the_numbers_and_what_would_do():
    found = arm(linear(k=8000.0), ["robot"], Reserve(4e-3, 1.25), Knobs("sensor.k"))
    assert not found.is_granted
    told = found.refusal()
    assert "the loop is unstable: it grows with +0.0" in told
    assert "compensation of " in told
    assert "or lower sensor.k from 8000 to " in told
    k = float(told.partition("sensor.k from 8000 to ")[2].partition(";")[0])
    assert arm(linear(k=k * 0.999), ["robot"], Reserve(4e-3, 1.25), Knobs()).is_granted
    assert not arm(linear(k=k * 1.05), ["robot"], Reserve(4e-3, 1.25), Knobs()).is_granted


@pytest.mark.parametrize(
    ("reserve", "told"), [((0.1, 1.01), "delay margin"), ((1e-3, 9.0), "gain")]
)
def test_each_reserve_counts(reserve, told):
    found = arm(linear(), ["robot"], Reserve(*reserve), Knobs(clock="robot"))
    assert told in found.refusal()
    assert "would take a faster 'robot'" in found.refusal()


def test_a_command_that_comes_back_nowhere_is_granted():
    system = rig().disconnect("sensor.fx", "body.force").set("body.force", 0.0)
    free = linear_system(system, step=T, algorithm="gauss-seidel", delay="plain")
    found = arm(free, ["robot"], Reserve(4e-3, 1.25), Knobs())
    assert found.notes[0] == "armed: body.position -> robot.dx comes back nowhere"


def test_another_order_of_steps_is_told():
    model = linear(delay=None)  # without a delay the ring begins with the body
    run = rig().disconnect("robot.x", "sensor.x").set("sensor.x", 0.0)
    found = arm(model, ["robot", "sensor"], Reserve(1e-3, 1.01), Knobs(), run)
    assert any("the other way round" in remark for remark in found.remarks)


def test_what_is_left_of_the_margins_is_what_the_loop_itself_has_then():
    table = margin_table(linear(), "body.position -> robot.dx", Reserve(0.004, 1.2))
    for delay, factor in (("20 ms", 1.0), ("28 ms", 1.0), ("24 ms", 1.1), ("20 ms", 0.8)):
        loop = SampledLoop.of(linear(delay=delay, k=K * factor), "body.position -> robot.dx")
        added = float(delay.removesuffix(" ms")) * 1e-3 - 0.020
        left = table.left(added, factor)
        # table and interpolated response: rows 9 % of gain apart, 400 frequencies
        assert left[0] == pytest.approx(loop.margins().delay.value, abs=3e-4)
        assert left[1] == pytest.approx(loop.margins().gain.value, rel=0.02)
    assert MarginTable.of_json(table.as_json()) == table
