"""Responses of units that are known by their steps alone, against closed forms."""

from contextlib import contextmanager

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, System, block
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import Execution
from orchestrator.loops.response_model import response_model


class Kinked(Block):
    """A lag of one step whose slope is 10 above 0 and 8 below."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: float = State(start=0.0)

    def step(self, t, h):
        self.y = self.x
        self.x = self.u * (10.0 if self.u > 0.0 else 8.0)


class Zero(Block):
    """Holds the input at the kink."""

    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = 0.0


def test_a_kink_is_told_as_a_share_of_the_largest_response():
    system = System("s").add("k", block(Kinked)).add("z", block(Zero)).connect("z.y", "k.u")
    with Execution(system, step=0.01) as run:
        unit = next(unit for unit in run.units if unit.name == "k")
        model = response_model(unit, np.zeros(1), 0, 10_000_000, None)
    (a, b), (c, d) = model.transition(10_000_000, order=0)
    assert [a, c * b, d] == pytest.approx([0.0, 9.0, 0.0], abs=1e-9)
    (told,) = (remark for remark in model.remarks if "up and one down" in remark)
    assert "by 2.2e-01 of" in told  # (10 - 8) / 9


class Size(Block):
    """How far its input is from 0: it answers up and down alike."""

    u: float = Input()
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        self.y = abs(self.u)


class Late(Block):
    """Shows its input 30 steps later, with 30 states: more than a model is given."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: np.ndarray = State(start=np.zeros(30))

    def step(self, t, h):
        self.y = self.x[-1]
        self.x = np.concatenate([[self.u], self.x[:-1]])


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Size, "an output answers pulses up and down differently, by inf of its largest response"),
        (Late, "a model of 24 states leaves 1.0e[+]00 of the largest; linearise it at .* longer"),
    ],
)
def test_what_no_linear_model_answers_has_no_modes(kind, why):
    system = System("s").add("k", block(kind)).add("z", block(Zero)).connect("z.y", "k.u")
    with Execution(system, step=0.01) as run:
        unit = next(unit for unit in run.units if unit.name == "k")
        with pytest.raises(CapabilityError, match=f"'k' cannot be linearised: .*{why}"):
            response_model(unit, np.zeros(1), 0, 10_000_000, None)


def test_responses_that_take_long_are_told_before(monkeypatch, caplog):
    monkeypatch.setattr("orchestrator.loops.response_model._LONG", 0.0)
    system = System("s").add("k", block(Kinked)).add("z", block(Zero)).connect("z.y", "k.u")
    with Execution(system, step=0.01) as run:
        unit = next(unit for unit in run.units if unit.name == "k")
        response_model(unit, np.zeros(1), 0, 10_000_000, None)
    assert "component 'k' is slow: its 2 responses at steps of 10 ms take about 0 s" in caplog.text


class Lag(Block):
    """Nine tenths are left after a step; its output has noise that no state explains."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: float = State(start=0.0)
    rough: float = Parameter(start=0.0)

    def step(self, t, h):
        self.x = 0.9 * self.x + self.u
        self.y = self.x + self.rough * np.sin(1e8 * self.x)


def lag(**values):
    system = System("s").add("k", block(Lag), **values).add("z", block(Zero))
    return Execution(system.connect("z.y", "k.u"), step=0.01)


def unit_of(run):
    return next(unit for unit in run.units if unit.name == "k")


def test_noise_of_an_integration_gets_no_states():
    with lag(rough=1e-8) as run:
        model = response_model(unit_of(run), np.zeros(1), 0, 10_000_000, None)
    assert model.remarks[0].startswith("component 'k' is identified from 64 steps, order 1, to ")
    whole = model.transition(10_000_000, order=0)
    assert whole[0, 0] == pytest.approx(0.9, abs=1e-3)


class Sticky:
    """A unit that begins each step at the state that is kept, as long as one is."""

    def __init__(self, unit):
        self.unit, self.kept = unit, None

    def __getattr__(self, name):
        return getattr(self.unit, name)

    def set(self, values):
        self.values = values.copy()

    def get_state(self):
        self.kept = self.unit.get_state()
        return self.kept

    def do_step(self, time_ns, step_ns):
        if self.kept is not None:
            self.unit.set_state(self.kept)
        self.unit.set(self.values)
        return self.unit.do_step(time_ns, step_ns)


@pytest.mark.parametrize("sticky", [True, False])
def test_a_unit_that_only_says_that_it_goes_back_is_started_anew(sticky):
    started = []

    @contextmanager
    def replayed():
        started.append(None)
        with lag() as other:
            yield unit_of(other)

    with lag() as run, lag() as other:
        unit = Sticky(unit_of(run)) if sticky else unit_of(run)
        how = replayed, lambda: unit_of(other)
        model = response_model(unit, np.zeros(1), 0, 10_000_000, *how)
    whole = model.transition(10_000_000, order=0)
    assert whole[0, 0] == pytest.approx(0.9, abs=1e-9)
    anew = [remark for remark in model.remarks if "does not rightly go back to a state" in remark]
    assert (len(anew), len(started) > 0) == ((1, True) if sticky else (0, False))
