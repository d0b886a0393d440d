import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import body_at_contact, plant

from orchestrator import Block, Execution, Input, Output, System, block, simulate
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.loops import linear_system
from orchestrator.loops.run_account import run_account
from orchestrator.study.measure import fit_growth

from .conftest import Counter, Factor, SecondOrder, Spring, capture


@st.composite
def rings(draw):
    """A ring of two to six units with delays, some of them gains, and lines across."""
    count = draw(st.integers(2, 6))
    system, gain = System("ring"), 1.0
    small = st.floats(0.3, 1.5)
    rates = {}
    for i in range(count):
        name = f"c{i}"
        if i and draw(st.integers(0, 3)) == 0:
            system = system.add(name, block(Factor), k=draw(small) * draw(st.sampled_from([-1, 1])))
            continue
        w, zeta = 2 * np.pi * draw(st.floats(0.5, 8.0)), draw(st.floats(0.02, 0.5))
        gain = draw(small) * w * w
        system = system.add(
            name,
            block(SecondOrder),
            a=(0.0, 1.0, -w * w, -2 * zeta * w),
            b=(0.0, gain),
            c=(draw(small), 0.1 / w),
            kick=1.0,
        )
        rates[name] = draw(st.sampled_from([1, 1, 1, 2, 3]))
    for i in range(count):
        delay = draw(st.sampled_from(["0 ms", "3 ms", "8 ms", "20 ms", "33 ms"]))
        line = f"c{i}.y", f"c{(i + 1) % count}.u"
        system = system.connect(*line, delay=None if delay == "0 ms" else delay)
    return system, rates


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(rings(), st.sampled_from(["gauss-seidel", "jacobi"]), st.sampled_from(["mean", "plain"]))
def test_random_rings_answer_a_kick_as_predicted(made, algorithm, delay):
    """Two runs that differ in one state of one unit differ as powers of the map say."""
    system, rates = made
    options = {"step": "4 ms", "algorithm": algorithm, "delay": delay, "rates": rates}
    period_map = linear_system(system, **options).period_map()
    names = list(system.components)
    change = np.zeros(period_map.size)
    change[period_map.labels.index("c0.x[0]")] = 1.0
    predicted = []
    for _ in range(30):
        change = period_map.apply(change)
        predicted.append([change[period_map.labels.index(f"{name}: output 1")] for name in names])
    with Execution(system, record=(), **options) as run:
        run.step(12 * period_map.steps)
        begin = run.save()
        rows = []
        for kick in (0.0, 1.0):
            run.restore(begin)
            run.units[[unit.name for unit in run.units].index("c0")].block.x[0] += kick
            rows.append([])
            for _ in predicted:
                run.step(period_map.steps)
                rows[-1].append([run.get(f"{name}.y") for name in names])
    difference = np.subtract(rows[1], rows[0])
    scale = max(np.abs(rows).max(), np.abs(difference).max())
    # Derivatives are known to 1e-11 or so; what is off grows with the mode over the 30 periods.
    assert np.abs(predicted - difference).max() < 1e-7 * scale


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("delay", ["mean", "plain"])
@pytest.mark.parametrize("step", ["1 ms", "3 ms", "8 ms"])
def test_a_contact_grows_as_it_runs(algorithm, delay, step):
    options = {"step": step, "algorithm": algorithm, "delay": delay}
    (account,) = linear_system(capture(), **options).loop_accounts()
    run = simulate(capture(), stop="30 s", **options)
    fit = fit_growth(run.time, run["mass.y"], start=1.0)
    # The units are exact: what is left is the fit.
    assert account.modes[0].growth == pytest.approx(fit.sigma, abs=1e-9)
    assert 2 * np.pi * account.modes[0].frequency == pytest.approx(fit.omega, rel=1e-9)
    assert account.components == ("mass", "contact")


def test_a_wrong_sign_is_warned_of_before_the_run():
    """Plain Jacobi at 8 ms calls a stable capture unstable (docs/explanation/delay.md)."""
    (account,) = linear_system(
        capture(), step="8 ms", algorithm="jacobi", delay="plain"
    ).loop_accounts()
    assert account.modes[0].exact.real == pytest.approx(-0.013225, abs=1e-6)
    assert account.modes[0].is_misjudged
    (text,) = [text for text in account.warnings() if "0.29" in text]
    assert "loop of mass, contact: the step distorts the mode at 0.29" in text
    assert "1/s instead of decaying at 0.0132246 1/s" in text


def test_a_delay_that_is_shorter_than_the_step_is_flagged_before_it_runs():
    """A loop of 5 Hz with 3 ms at H = 5 ms: Jacobi rests on extrapolation, and the loop grows."""
    w = 2 * np.pi * 5.0
    system = (
        System("fast")
        .add(
            "mass",
            block(SecondOrder),
            a=(0.0, 1.0, 0.0, 0.0),
            b=(0.0, 1.0),
            c=(1.0, (0.003 * w * w + 0.05) / (w * w)),
            kick=0.01,
        )
        .add("spring", block(Factor), k=-w * w)
        .connect("mass.y", "spring.u", delay="3 ms")
        .connect("spring.y", "mass.u")
    )
    options = {"step": "5 ms", "algorithm": "jacobi"}
    (account,) = linear_system(system, **options).loop_accounts()
    mode = account.modes[0]
    assert mode.exact.real < -0.01
    assert mode.growth > 0.01
    assert mode.is_misjudged
    run = simulate(system, stop="20 s", **options)
    assert mode.growth == pytest.approx(
        fit_growth(run.time, run["mass.y"], start=2.0).sigma, rel=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["fixed-point", "newton"])
def test_iterated_loops(algorithm):
    system = capture().with_delay("mass.y", "contact.u", None)
    options = {"step": "8 ms", "algorithm": algorithm}
    (account,) = linear_system(system, **options).loop_accounts()
    run = simulate(system, stop="60 s", algorithm_options={"tolerance": 1e-12}, **options)
    fit = fit_growth(run.time, run["mass.y"], start=1.0)
    assert account.modes[0].growth == pytest.approx(fit.sigma, rel=1e-6)


def test_a_loop_that_newton_solves_by_derivatives_is_solved(plants):
    """Linear units give none: the loop was left as it stood after the first pass."""
    system = body_at_contact(
        plant(plants, "Chaser", m=1.0),
        plant(plants, "SpringDashpot", k=987.0, d=3.0, latched=True),
    )
    found = [
        linear_system(system, step="5 ms", algorithm=name).loop_accounts(1)[0].modes[0]
        for name in ("newton", "fixed-point")
    ]
    assert found[0].growth == pytest.approx(found[1].growth, rel=1e-9)
    assert found[0].error == pytest.approx(0.0, abs=0.02)


def test_a_point_in_open_contact_is_told():
    system = (
        System("open")
        .add("mass", block(SecondOrder), a=(0.0, 1.0, 0.0, 0.0), b=(0.0, -1.0), c=(1.0, 0.1))
        .add("contact", block(Spring), k=100.0)
        .connect("mass.y", "contact.u", delay="4 ms")
        .connect("contact.y", "mass.u")
    )
    linear = linear_system(system, step="1 ms")
    (account,) = linear.loop_accounts()
    assert "contact.u is at a kink: the mean of both sides is taken" in account.remarks
    told = linear.contact_accounts(1)
    (open_one,), (closed,) = told["open"], told["closed"]
    assert (open_one.modes, open_one.free) == ((), 2)  # a mass that floats
    root = closed.modes[0].exact
    assert abs(root**2 + 100.0 * (1.0 + 0.1 * root) * np.exp(-0.004 * root)) < 1e-8 * abs(root) ** 2
    assert closed.modes[0].error == pytest.approx(0.0, abs=1e-3)
    assert "contact.u is at a kink: the side of closed contact is taken" in closed.remarks


def test_a_contact_that_is_closed_has_its_damping():
    """At the kink itself no rate acts; where the contact closes the force jumps by d v."""

    class Damped(Block):
        depth: float = Input()
        rate: float = Input()
        force: float = Output(depends_on=("depth", "rate"))

        def step(self, t, h):
            self.force = 100.0 * self.depth + 2.0 * self.rate if self.depth > 0.0 else 0.0

    moving = {"a": (0.0, 1.0, 0.0, 0.0), "b": (0.0, -1.0), "kick": 0.0}
    system = System("closing").add("contact", block(Damped), rate=0.3)
    for name, seen in (("place", (1.0, 0.0)), ("speed", (0.0, 1.0))):
        system = system.add(name, block(SecondOrder), c=seen, **moving)
    system = (
        system.connect("place.y", "contact.depth")
        .connect("speed.y", "contact.rate")
        .connect("contact.force", "place.u")
        .connect("contact.force", "speed.u")
    )
    linear = linear_system(system, step="1 ms")
    (closed,) = linear.contact_accounts()["closed"]
    rates = sorted({round(mode.exact.imag, 6) for mode in closed.modes if mode.exact.imag > 1.0})
    assert rates == [pytest.approx(np.sqrt(100.0 - 1.0), abs=1e-5)]  # s^2 + 2 s + 100
    assert any(mode.exact.real == pytest.approx(-1.0, abs=1e-6) for mode in closed.modes)


def test_a_side_that_cannot_be_linearised_costs_no_more_than_itself(wording):
    """Where it is open this one has no numbers: the account of the mean stays."""

    class Fragile(Block):
        u: float = Input()
        y: float = Output(depends_on=("u",))

        def step(self, t, h):
            self.y = 100.0 * max(self.u, 0.0) if self.u > -2e-3 else np.nan

    system = (
        System("open")
        .add("mass", block(SecondOrder), a=(0.0, 1.0, 0.0, 0.0), b=(0.0, -1.0), c=(1.0, 0.1))
        .add("contact", block(Fragile))
        .connect("mass.y", "contact.u", delay="4 ms")
        .connect("contact.y", "mass.u")
    )
    with wording.raises(CapabilityError):
        linear_system(system, step="1 ms", contact="open")
    account = run_account(system, step="1 ms")
    assert account.accounts[0].modes
    assert account.contact == {}
    assert "not linearised on both sides of what is just open" in account.notice


def test_what_is_sampled_has_no_continuous_loop_and_says_so():
    system = (
        System("sampled")
        .add("mass", block(SecondOrder), a=(0.0, 1.0, -9.0, -0.5), b=(0.0, 1.0), c=(1.0, 0.0))
        .add("memory", block(Counter))
        .connect("mass.y", "memory.u")
        .connect("memory.y", "mass.u")
    )
    (account,) = linear_system(system, step="5 ms").loop_accounts()
    assert account.modes
    assert all(mode.exact is None for mode in account.modes)
    assert any("'memory' is sampled: no rates give its step" in text for text in account.remarks)


def test_steps_of_varying_length_are_refused_by_name(wording):
    with wording.raises(CapabilityError):
        linear_system(
            capture().with_delay("mass.y", "contact.u", None),
            step="1 ms",
            algorithm="step-doubling",
        ).loop_accounts()


def test_what_is_in_no_loop_has_no_account(mass):
    system = (
        System("chain")
        .add("a", block(SecondOrder), u=0.0, **mass(1.0, 0.1))
        .add("b", block(SecondOrder), **mass(2.0, 0.1))
        .connect("a.y", "b.u")
    )
    assert linear_system(system, step="1 ms").loop_accounts() == []
