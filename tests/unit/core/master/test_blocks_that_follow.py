"""Python blocks that are given what their inputs do over a step."""

import math

import numpy as np
import pytest
from oracle.reference import run_reference
from systems import body_at_contact, plant

from orchestrator import simulate
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu
from orchestrator.core.system import System
from orchestrator.export.blocks.build_block import trace
from orchestrator.loops import linear_system

K = (10.0 * math.pi) ** 2
D = 0.003 * K + 0.05
BOTH = {"algorithm": "waveform", "delay": "waveform"}


class Mass(Block):
    """A mass that is pushed, exactly for forces that are cubics of time."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=1.0)
    v0: float = Parameter(unit="m/s", start=0.1)

    def initialise(self, t):
        self.position, self.velocity = 0.0, self.v0

    def follow(self, t, h, inputs):
        force = inputs["force"]
        powers = [h**k / math.factorial(k) for k in range(6)]
        self.position += self.velocity * h + float(force @ powers[2:]) / self.m
        self.velocity += float(force @ powers[1:5]) / self.m


class Held(Mass):
    """The same with a force that stays what it was."""

    follow = Block.follow

    def step(self, t, h):
        self.position += self.velocity * h + self.force * h * h / (2.0 * self.m)
        self.velocity += self.force * h / self.m


class Rows(Block):
    """Keeps what it is given: of an array, a whole number, and an input that is not connected."""

    u: np.ndarray = Input(shape=(2,))
    n: int = Input(start=3)
    alone: float = Input(start=0.0)
    seen: np.ndarray = Output(shape=(8,), depends_on=())
    last: np.ndarray = Output(shape=(2,), depends_on=())

    def follow(self, t, h, inputs):
        assert sorted(inputs) == ["alone", "u"]
        self.seen[:] = inputs["u"].ravel()
        self.last[:] = inputs["alone"][:2]


class Pair(Block):
    """Puts two numbers side by side."""

    position: float = Input(unit="m")
    velocity: float = Input(unit="m/s")
    both: np.ndarray = Output(shape=(2,))

    def step(self, t, h):
        self.both[:] = self.position, self.velocity


def loop(plants, body, late="3 ms"):
    return body_at_contact(
        body.with_values({"m": 1.0, "v0": 0.1}),
        plant(plants, "SpringDashpot", k=K, d=D, latched=True),
        motion={"delay": late},
    )


def growth_error(system, step, **options):
    (account,) = linear_system(system, step=step, **options).loop_accounts(1)
    return account.modes[0].error


@pytest.mark.parametrize(("late", "algorithm"), [("3 ms", "waveform"), ("9 ms", "gauss-seidel")])
def test_a_block_is_as_exact_as_an_fmu(plants, late, algorithm):
    options = {"algorithm": algorithm, "delay": "waveform"}
    errors = [
        growth_error(loop(plants, body, late), "5 ms", **options)
        for body in (block(Mass), fmu(plants / "Chaser.fmu"), block(Held))
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)
    assert abs(errors[2]) > 3.0 * abs(errors[0])


def test_the_engine_equals_the_reference(plants):
    one, two = (Execution(loop(plants, block(Mass)), step="5 ms", **BOTH) for _ in range(2))
    one.advance("0.2 s")
    rows = run_reference(two, 40)
    found = one.recording()
    for column, name in enumerate(found.names):
        np.testing.assert_array_equal(found.values[:, column], rows[:, one.schedule.slots[name][0]])


@pytest.mark.slow
def test_a_process_of_its_own_changes_nothing(plants):
    rows = []
    for options in ({}, {"isolation": "process"}):
        system = loop(plants, block(Mass)).with_options("body", **options)
        rows.append(simulate(system, step="5 ms", stop="0.2 s", **BOTH)["body.position"])
    np.testing.assert_array_equal(*rows)


def test_what_a_block_is_given():
    """A body under a constant force, 30 ms later."""
    system = (
        System("lines")
        .add("rows", block(Rows), alone=7.0, n=3)
        .add("mass", block(Mass), force=2.0, m=1.0, v0=0.5)
        .add("pair", block(Pair))
        .connect("mass.position", "pair.position")
        .connect("mass.velocity", "pair.velocity")
        .connect("pair.both", "rows.u", delay="30 ms")
    )
    run = simulate(system, step="10 ms", stop="0.3 s", delay="waveform")
    begin = run.time[-1] - 0.01 - 0.03
    position, velocity = 0.5 * begin + begin * begin, 0.5 + 2.0 * begin
    expected = [position, velocity, velocity, 2.0, 2.0, 0.0, 0.0, 0.0]
    found = [run[f"rows.seen[{i}]"][-1] for i in range(8)]
    assert found == pytest.approx(expected, abs=1e-7)
    assert [run[f"rows.last[{i}]"][-1] for i in range(2)] == [7.0, 0.0]


def test_alone_it_holds_its_inputs():
    mass = Mass(force=2.0)
    mass.initialise(0.0)
    mass.step(0.0, 0.5)
    assert (mass.position, mass.velocity) == (0.1 * 0.5 + 0.25, 0.1 + 1.0)


def test_one_of_step_and_follow(wording):
    class Both(Mass):
        def step(self, t, h):
            """Do nothing."""

    with wording.raises(DescriptionError):
        Both()


def test_an_exported_block_would_hold_and_is_refused(wording):
    with wording.raises(CapabilityError):
        trace(Mass, {})
