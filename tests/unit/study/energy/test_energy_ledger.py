"""Energy ledgers of small systems whose created energy has a closed form."""

import numpy as np
import pytest
from scipy.integrate import quad
from systems import GROUND, body_at_contact, plant

from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu, resolve
from orchestrator.core.system import Positive, System
from orchestrator.loops.contact import ContactLoop
from orchestrator.study.energy import (
    Account,
    Bond,
    Interface,
    Kind,
    LedgerPlan,
    LedgerPort,
    Motion,
    Stage,
    energy_ledger,
)
from orchestrator.study.measure import fit_growth

from .conftest import ledger_of, total

K = 2000.0  # N/m


class Shaker(Block):
    """Moves as it was told, whatever pushes it."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    amplitude: float = Parameter(start=0.01, unit="m")
    omega: float = Parameter(start=8.0 * np.pi, unit="rad/s")

    def initialise(self, t):
        self._move(t)

    def step(self, t, h):
        self._move(t + h)

    def _move(self, t):
        self.position = self.amplitude * np.cos(self.omega * t)
        self.velocity = -self.amplitude * self.omega * np.sin(self.omega * t)


def sprung(body, plants, *, delay=None, d=0.0):
    """A body, latched to a sheet that stands on the ground."""
    spring = plant(plants, "Compliance", k=K, d=d, latched=True, **GROUND)
    names, motion = ("body", "spring"), {"delay": delay}
    return body_at_contact(body, spring, name="sprung", names=names, motion=motion)


# --- what is created has a closed form --------------------------------------------------------


def test_a_delayed_spring_creates_pi_k_a2_sin_per_cycle(plants):
    """On a motion A cos(wt) the work of the force -k x(t - tau) is pi k A^2 sin(w tau) per cycle.

    Held values are read in the middle of the step, half way between two samples: the mean of two
    is smaller by cos(w H/2), and so is their sum than the integral by sin(w H/2) / (w H/2).
    """
    w, A, tau, cycles, H = 8.0 * np.pi, 0.01, 16e-3, 20, 1e-3
    ledger, _ = ledger_of(sprung(block(Shaker), plants, delay="16 ms"), "5 s")
    expected = cycles * np.pi * K * A**2 * np.sin(w * tau)
    sampled = expected * np.cos(w * H / 2) * np.sin(w * H / 2) / (w * H / 2)
    created = ledger.of(Kind.CREATED)[0].energy
    # From the second cycle on there is a past: before, the spring was where it began.
    assert created[5000] - created[250] == pytest.approx(sampled * 19 / 20, rel=1e-9)
    assert sampled == pytest.approx(expected, rel=2e-4)


def test_a_held_spring_acts_like_a_negative_damping_of_k_h_2(plants):
    """Exactly the sum of k dx^2 / 2 over all steps, which is nearly k h/2 times the integral."""
    chaser = fmu(plants / "Chaser.fmu").with_values({"m": 50.0, "v0": 0.1, "x0": 0.0})
    system = sprung(chaser, plants)
    system = system.set("body.thrust", 0.0).set("body.virtual_force", 0.0)
    ledger, result = ledger_of(system, "3 s", delay="plain")
    x, v = result["body.position"], result["body.velocity"]
    created = total(ledger, Kind.CREATED)
    assert created == pytest.approx(0.5 * K * np.sum(np.diff(x) ** 2), rel=1e-12)
    like_damping = 0.5 * K * 1e-3 * np.trapezoid(v**2, result.time)
    assert created == pytest.approx(like_damping, rel=1e-4)  # (w h)^2 / 12 is 3e-6, ends apart
    assert ledger.residual < 1e-13
    # So all energy grows by it, since nothing else is there.
    stored = ledger.total(Kind.STORED)
    assert stored[-1] - stored[0] == pytest.approx(created, rel=1e-12)
    assert stored[0] == 0.5 * 50.0 * 0.1**2


def test_created_energy_is_that_of_the_loop_that_grows_at_the_known_rate(plants):
    """The rightmost root of m s^2 + k exp(-s tau) gives motion, work and growth, by quadrature."""
    m, tau = 750.0, 16e-3
    chaser = fmu(plants / "Chaser.fmu").with_values({"m": m, "v0": 0.05, "x0": 0.0})
    system = sprung(chaser, plants, delay="16 ms")
    system = system.set("body.thrust", 0.0).set("body.virtual_force", 0.0)
    ledger, result = ledger_of(system, "20 s")
    root = ContactLoop(m, K, 0.0, tau).rightmost_root
    fit = fit_growth(result.time, result["body.position"], start=5.0)
    assert fit.sigma == pytest.approx(root.real, rel=1e-4)

    def x(t):
        along = root.real * (t - fit.start)
        return fit.amplitude * np.exp(along) * np.cos(root.imag * (t - fit.start) + fit.phase)

    def power(t):
        e = 1e-6
        return -K * x(t - tau) * (x(t + e) - x(t - e)) / (2 * e)

    first, last = 5.0, 20.0
    work = quad(power, first, last, limit=500, epsrel=1e-10)[0]
    # Its force is held for a step, so the spring itself is half a step older than its force.
    late = tau + 0.5e-3
    stored = 0.5 * K * (x(last - late) ** 2 - x(first - late) ** 2)
    created = ledger.of(Kind.CREATED)[0].energy
    # Sampled and read between samples: (w H)^2 / 12 is 2e-7, the fit is known to 1e-5.
    assert created[-1] - created[5000] == pytest.approx(work + stored, rel=1e-4)
    # Per second it is twice the growth rate of all energy, on the mean.
    energy = ledger.total(Kind.STORED)
    assert energy[-1] - energy[5000] == pytest.approx(created[-1] - created[5000], rel=1e-10)


def test_nothing_is_created_where_nothing_is_late(plants):
    """A delay of zero: the spring is half a step behind, which comes and goes but does not add up.

    The spring's power k x v is at most w times all energy, so it has up to w h/2 of that less.
    """
    chaser = fmu(plants / "Chaser.fmu").with_values({"m": 50.0, "v0": 0.1})
    for step, h in (("1 ms", 1e-3), ("500 us", 5e-4)):
        system = sprung(chaser, plants, delay=0.0)
        system = system.set("body.thrust", 0.0).set("body.virtual_force", 0.0)
        ledger, _ = ledger_of(system, "5 s", step=step)
        created = np.abs(ledger.of(Kind.CREATED)[0].energy)
        half = len(created) // 2
        limit = np.sqrt(K / 50.0) * h / 2 * ledger.initial
        assert created[:half].max() == pytest.approx(limit, rel=0.03)
        assert created[half:].max() == pytest.approx(limit, rel=0.03)


def test_two_masses_exchange_energy_as_in_closed_form(plants):
    """A mass hits a free one: kinetic energy goes into the spring and back, and none is lost."""
    system = (
        System("pair")
        .add("a", fmu(plants / "Chaser.fmu"), m=30.0, v0=0.2, thrust=0.0, virtual_force=0.0)
        .add("b", fmu(plants / "Target.fmu"), m=60.0, v0=0.0, virtual_force=0.0)
        .add("spring", fmu(plants / "Compliance.fmu"), k=K, d=0.0, latched=True)
        .connect("spring.force_a", "a.force")
        .connect("spring.force_b", "b.force")
    )
    for side in "ab":
        system = system.connect(f"{side}.position", f"spring.position_{side}", delay=0.0)
        system = system.connect(f"{side}.velocity", f"spring.velocity_{side}", delay=0.0)
    ledger, _ = ledger_of(system, "1 s")
    reduced = 30.0 * 60.0 / 90.0
    spring = next(e for e in ledger.of(Kind.STORED) if e.name == "spring")
    # What the spring knows is half a step old, so that the force that is held is not late.
    phase = np.sqrt(K / reduced) * np.maximum(ledger.time - 0.5e-3, 0.0)
    wanted = 0.5 * reduced * 0.2**2 * np.sin(phase) ** 2
    np.testing.assert_allclose(spring.energy, wanted, atol=3e-4 * wanted.max())
    assert len(ledger.of(Kind.CREATED)) == 2
    # Half a step of the largest power: w h/2 of the 0.4 J that go to and fro.
    assert ledger.total(Kind.STORED) == pytest.approx(0.6, abs=1.05 * 0.4 * 10.0 * 0.5e-3)


def test_a_damper_takes_what_the_quadrature_of_scipy_says(plants):
    w, A, d = 8.0 * np.pi, 0.01, 35.0
    ledger, _ = ledger_of(sprung(block(Shaker), plants, d=d), "1 s", delay="plain")
    taken = next(e.energy for e in ledger.of(Kind.DISSIPATED) if e.name == "spring")
    exact = quad(lambda t: d * (A * w * np.sin(w * t)) ** 2, 0.0, 1.0, limit=200)[0]
    assert taken[-1] == pytest.approx(exact, rel=1e-9)  # whole periods
    part = taken[333]
    exact = quad(lambda t: d * (A * w * np.sin(w * t)) ** 2, 0.0, 0.333, limit=200)[0]
    assert part == pytest.approx(exact, rel=1e-4)
    assert part != pytest.approx(exact, rel=1e-7)  # it is the trapezoidal rule
    assert 0 < ledger.error < 1e-3 * ledger.turnover


# --- vectors, and a stiffness that varies -----------------------------------------------------


# --- stages -----------------------------------------------------------------------------------


def test_stages_add_up_to_what_is_created(plants):
    """Motion first, then the effort: delay of the sheet's motion, then the hold of its force."""
    system = sprung(block(Shaker), plants, delay="16 ms")
    spring = Bond(("spring.force_a",), Motion(displacement=("spring.position_a",)))
    body = Bond(("body.force",), Motion(displacement=("body.position",)))
    accounts = (Account("spring", ("spring.energy",), ("spring.dissipation",)), Account("body"))
    ports = (
        LedgerPort("pressed", spring, "spring", Positive.OUT),
        LedgerPort("pushed", body, "body"),
    )
    stage = Stage("transport", motion=Motion(displacement=("body.position",)))
    plan = LedgerPlan(accounts, ports, (Interface("all", "pressed", "pushed", (stage,)),))
    ledger, result = ledger_of(system, "1 s", plan)
    assert [entry.name for entry in ledger.of(Kind.PART)] == ["transport", "hold"]
    np.testing.assert_allclose(ledger.total(Kind.PART), ledger.total(Kind.CREATED), atol=1e-14)
    force, x = result["spring.force_a"], result["body.position"]
    straight = np.sum(0.5 * (force[1:] + force[:-1]) * np.diff(x))
    held = np.sum(result["body.force"][1:] * np.diff(x))
    assert ledger.of(Kind.PART)[1].energy[-1] == pytest.approx(held - straight, rel=1e-9)
    assert ledger.unchecked == ("body",)
    totals = ledger.totals()
    assert totals["created"] == total(ledger, Kind.CREATED)
    assert totals["part: hold"] == ledger.of(Kind.PART)[1].change


def test_a_torque_about_another_point_is_moved_by_the_arm():
    """A force through the end of an arm that turns: about its end its torque does no work."""
    F, s0, w = np.array([0.0, 3.0, 0.0]), 2.0, 0.5
    t = np.linspace(0.0, 1.0, 1001)
    arm = s0 * np.column_stack([np.cos(w * t), np.sin(w * t), 0 * t])
    run = Run(
        t,
        force=np.tile(F, (1001, 1)),
        torque=np.cross(arm, F),
        v=w * s0 * np.column_stack([-np.sin(w * t), np.cos(w * t), 0 * t]),
        w=np.tile([0.0, 0.0, w], (1001, 1)),
        arm=arm,
    )
    system = System("turning").add("a", block(Twist))
    names = {"effort": ("a.force", "a.torque")}
    for arm_name, factor in (("", 2.0), ("a.arm", 1.0)):
        bond = Bond(**names, motion=Motion(("a.v", "a.w"), arm=arm_name))
        plan = LedgerPlan((Account("a"),), (LedgerPort("p", bond, "a"),))
        ledger = energy_ledger(run, resolve(system), plan)
        # Without the arm the same moment counts once more: F v = (s x F) w.
        lifted = 3.0 * s0 * np.sin(w)
        assert total(ledger, Kind.EXTERNAL) == pytest.approx(factor * lifted, rel=1e-7)


class Twist(Block):
    """Five vectors."""

    force: np.ndarray = Output(unit="N", shape=(3,), depends_on=())
    torque: np.ndarray = Output(unit="N.m", shape=(3,), depends_on=())
    v: np.ndarray = Output(unit="m/s", shape=(3,), depends_on=())
    w: np.ndarray = Output(unit="rad/s", shape=(3,), depends_on=())
    arm: np.ndarray = Output(unit="m", shape=(3,), depends_on=())

    def step(self, t, h):
        self.force[:] = 0.0


class Run:
    """Signals by name, as a result has them."""

    def __init__(self, time, **vectors):
        self.time = time
        self._columns = {
            f"a.{name}[{i}]": rows[:, i] for name, rows in vectors.items() for i in range(3)
        }

    def __getitem__(self, name):
        return self._columns[name]


@pytest.mark.parametrize("share", [0.5, 1.0, 1.5])
def test_the_stability_indicator_is_1_at_the_delay_margin(plants, share):
    """And elsewhere what the root s of the loop says of works over a period."""
    mass, d = 750.0, 60.0
    tau = share * ContactLoop(mass, K, d, 0.0).delay_margin.delay
    chaser = fmu(plants / "Chaser.fmu")
    system = sprung(chaser, plants, delay=f"{round(tau * 1e9)} ns", d=d).set("body.m", mass)
    system = system.set("body.v0", 0.01).set("body.thrust", 0.0).set("body.virtual_force", 0.0)
    ledger, _ = ledger_of(system, "15 s", step="2 ms")
    s = ContactLoop(mass, K, d, tau).rightmost_root
    period = 2.0 * np.pi / abs(s.imag)
    shown = ledger.stability_indicator(period)
    last = shown[ledger.time > 15.0 - period].mean()  # it ripples by what grows within a period
    late = np.exp(-s * tau)
    created = ((K + d * s) * late * np.conj(s * late - s)).real
    expected = created / (d * abs(s * late) ** 2)
    assert expected == pytest.approx(share, rel=1e-3)  # to first order in w tau
    assert last == pytest.approx(expected, rel=2e-3)  # ripple squared
    assert shown[0] == 0.0
