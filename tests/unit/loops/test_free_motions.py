"""What moves beside a loop and comes back to nothing changes none of its figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from orchestrator import Block, Input, Output, State, System, block
from orchestrator.loops import linear_system
from orchestrator.loops.loop_account import coupled_groups, inner_lines
from orchestrator.loops.sampled_loop import SampledLoop
from orchestrator.rig.arming.margins import Knobs, Reserve, arm
from tests.unit.rig.test_margins import rig

from .conftest import Factor, SecondOrder, capture


class Motor(Block):
    """A lag that is held at u, exactly over a step."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: float = State(start=0.1)

    def step(self, t, h):
        self.x += (self.u / 2.0 - self.x) * (1.0 - np.exp(-2.0 * h))
        self.y = self.x


def rate_loop():
    system = System("rate").add("motor", block(Motor)).add("gain", block(Factor), k=-3.0)
    system = system.connect("motor.y", "gain.u", delay="20 ms")
    return system.connect("gain.y", "motor.u")


def positive():
    """L at rest is -1/4: the gain of 4 is its limit, whatever delays it has."""
    w = 2.0 * np.pi
    return (
        System("positive")
        .add("b", block(SecondOrder), a=(0, 1, -w * w, -1.5 * w), b=(0, w * w / 4), c=(1, 0))
        .add("gain", block(Factor), k=1.0)
        .connect("b.y", "gain.u", delay="40 ms")
        .connect("gain.y", "b.u")
    )


LOOPS = {
    "rate": rate_loop,
    "positive": positive,
    "rig": rig,
    "unstable rig": lambda: rig(k=8000.0),
    "capture": capture,
}


def with_idle(model):
    """Give a model a state more, which integrates its first output and acts on nothing."""
    space, n = model.continuous, len(model.states)

    def transition(length_ns, *, order):
        own = model.transition(length_ns, order=order)
        whole = np.zeros((own.shape[0] + 1, own.shape[1] + 1))
        whole[:n, :n], whole[:n, n + 1 :] = own[:n, :n], own[:n, n:]
        whole[n + 1 :, :n], whole[n + 1 :, n + 1 :] = own[n:, :n], own[n:, n:]
        whole[n] = whole[n + 1] * length_ns / 1e9
        whole[n, n] = 1.0
        return whole

    k = len(space.a)
    beside = replace(
        space,
        a=np.block([[space.a, np.zeros((k, 1))], [space.c[:1], np.zeros((1, 1))]]),
        b=np.vstack([space.b, space.d[:1]]),
        c=np.hstack([space.c, np.zeros((len(space.c), 1))]),
        states=(*space.states, "idle"),
    )
    states = (*model.states, "idle")
    return replace(model, states=states, transition=transition, continuous=beside)


def figures(margins):
    kinds = (margins.gain, margins.gain_reduction, margins.phase, margins.delay, margins.distance)
    return [margins.is_stable, *(value for kind in kinds for value in (kind.value, kind.frequency))]


@pytest.mark.parametrize("name", LOOPS)
def test_an_idle_integrator_changes_no_margin_and_no_mode(name):
    alone = linear_system(LOOPS[name](), step="4 ms", algorithm="gauss-seidel", delay="plain")
    models = {key: with_idle(model) for key, model in alone.models.items()}
    beside = replace(alone, models=models)
    (one,), (other,) = alone.loop_accounts(), beside.loop_accounts()
    assert other.free == one.free + len(models)
    for mode, same in zip(one.modes, other.modes, strict=True):
        assert same.sampled == pytest.approx(mode.sampled, rel=1e-6, abs=1e-6)
        assert same.exact == pytest.approx(mode.exact, rel=1e-6, abs=1e-6)
    line = str(inner_lines(alone.system, coupled_groups(alone.system)[0])[0])
    told, same = (figures(each.margins(line)) for each in (alone, beside))
    assert same == pytest.approx(told, rel=1e-5, nan_ok=True)
    assert told[0] == all(mode.exact.real < 0.0 for mode in one.modes)
    told, same = (figures(SampledLoop.of(each, line).margins()) for each in (alone, beside))
    assert same == pytest.approx(told, rel=1e-5, nan_ok=True)
    armed = [
        arm(each, [line.partition("-> ")[2].partition(".")[0]], Reserve(1e-3, 1.1), Knobs())
        for each in (alone, beside)
    ]
    assert armed[0].is_granted == armed[1].is_granted == told[0]


@pytest.mark.parametrize("lag", ["40 ms", "100 ms"])
def test_the_limit_at_rest_is_there_with_any_delay(lag):
    system = positive().with_delay("b.y", "gain.u", lag)
    linear = linear_system(system, step="4 ms", algorithm="gauss-seidel", delay="plain")
    line = "gain.y -> b.u"
    for margins in (linear.margins(line), SampledLoop.of(linear, line).margins()):
        assert margins.gain.value == pytest.approx(4.0, rel=1e-6)
        assert margins.gain.frequency == 0.0


class Fast(Block):
    """An actuator of 200 Hz, exactly over a step with its input held."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: np.ndarray = State(start=np.zeros(2))

    def step(self, t, h):
        w = 400.0 * np.pi
        after = expm(np.array([[0, 1, 0], [-w * w, -0.8 * w, w * w], [0, 0, 0]]) * h)
        self.x = after[:2, :2] @ self.x + after[:2, 2] * self.u
        self.y = float(self.x[0])


@pytest.mark.parametrize("step", ["1 ms", "2.5 ms", "3 ms", "5 ms", "7 ms"])
def test_modes_above_half_the_rate_are_those_of_shorter_steps(step):
    system = System("fast").add("fast", block(Fast)).add("gain", block(Factor), k=-0.1)
    system = system.connect("fast.y", "gain.u").connect("gain.y", "fast.u")
    model = linear_system(system, step=step, algorithm="gauss-seidel").models["fast"]
    roots = np.linalg.eigvals(model.continuous.a)
    w = 400.0 * np.pi
    assert roots[np.argmax(roots.imag)] == pytest.approx(
        complex(-0.4 * w, np.sqrt(0.84) * w), rel=1e-5
    )
    told = any("modes above half the rate" in remark for remark in model.remarks)
    assert told == (np.sqrt(0.84) * w > np.pi / float(step.split()[0]) * 1e3)
