"""What plants say of their energy, held against the work that is done on them."""

import numpy as np
import pytest

from orchestrator.core.simunits import Block, Output, block, fmu, resolve
from orchestrator.core.system import Positive, System
from orchestrator.study import simulate
from orchestrator.study.energy import (
    Account,
    Bond,
    Kind,
    LedgerPlan,
    LedgerPort,
    Motion,
    energy_ledger,
)


class Probe(Block):
    """Comes, presses and goes, twice a second, faster out than in."""

    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())

    def initialise(self, t):
        self._move(t)

    def step(self, t, h):
        self._move(t + h)

    def _move(self, t):
        w = 4.0 * np.pi
        self.position = 1e-3 * (np.sin(w * t) + 0.4 * np.sin(2.0 * w * t))
        self.velocity = 1e-3 * w * (np.cos(w * t) + 0.8 * np.cos(2.0 * w * t))


def ledger_of(system, plan, stop, **options):
    system = resolve(system).flat()
    fed = {str(line.target) for line in system.connections}
    record = ["*", *(name for name in plan.connectors if name in fed)]
    result = simulate(system, stop=stop, record=record, delay="plain", **options)
    return energy_ledger(result, system, plan), result


def pressed(contact):
    return (
        System("pressed")
        .add("probe", block(Probe))
        .add("contact", contact, k=3000.0, d=200.0, position_b=0.0, velocity_b=0.0)
        .connect("probe.position", "contact.position_a")
        .connect("probe.velocity", "contact.velocity_a")
    )


PRESSED = LedgerPlan(
    (Account("contact", ("contact.energy",), ("contact.dissipation",)),),
    (
        LedgerPort(
            "probe",
            Bond(("contact.force_a",), Motion(displacement=("contact.position_a",))),
            "contact",
            Positive.OUT,
        ),
    ),
)


@pytest.mark.parametrize("latched", [False, True])
def test_a_contact_that_lets_go_loses_what_its_damper_takes(plants, latched):
    """It never pulls: on the way out the spring drives the damper alone, and that is told."""
    spring = fmu(plants / "Compliance.fmu").with_values({"latched": latched})
    ledger, result = ledger_of(pressed(spring), PRESSED, "1 s", step="100 us")
    taken = ledger.total(Kind.DISSIPATED)
    assert (np.diff(taken) >= 0.0).all()
    assert ledger.residual < 1e-4 * taken[-1]
    x, v, force = (result[f"{n}"] for n in ("probe.position", "probe.velocity", "contact.force_b"))
    alone = (x > 0.0) & (force == 0.0)
    assert alone.any() is np.bool_(not latched)
    np.testing.assert_allclose(
        result["contact.dissipation"][alone], -3000.0 * x[alone] * v[alone], rtol=1e-12
    )


@pytest.mark.parametrize("latched", [False, True])
def test_block_and_plant_tell_the_same(plants, latched):
    found = []
    for contact in (fmu(plants / "Compliance.fmu"), block("spring_dashpot")):
        system = pressed(contact.with_values({"latched": latched}))
        _, result = ledger_of(system, PRESSED, "1 s", step="1 ms")
        found.append((result["contact.energy"], result["contact.dissipation"]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-18)


def test_a_rope_that_is_damped_loses_what_it_says(plants):
    rope = fmu(plants / "WireRope.fmu").with_values({"d": 0.02, "curvature": 2.0})
    none = (0.0, 0.0, 0.0)
    system = System("rope").add("rope", rope)
    for side in "ab":
        for i in range(1, 4):
            system = system.set(f"rope.force_{side}[{i}]", none[i - 1])
    plan = LedgerPlan((Account("rope", ("rope.energy",), ("rope.dissipation",)),), ())
    ledger, _ = ledger_of(system, plan, "50 ms", step="10 us")
    lost = float(ledger.total(Kind.DISSIPATED)[-1])
    assert lost > 1e-3 * ledger.initial
    assert ledger.residual < 1e-4 * lost


def test_bodies_that_are_pushed_and_turned_gain_what_the_wrench_does(plants):
    """Constant wrench in a frame that turns, with dampers, in six degrees of freedom."""
    docking = fmu(plants / "ManipulatorDocking.fmi3.fmu")
    system = System("bodies").add(
        "dynamics", docking, force=(300.0, -200.0, 250.0), torque=(400.0, 300.0, -200.0)
    )
    motion = Motion(("dynamics.v", "dynamics.w"), ("dynamics.s",), "dynamics.s")
    bond = Bond(("dynamics.force", "dynamics.torque"), motion)
    account = Account("bodies", ("dynamics.energy",), ("dynamics.dissipation",))
    plan = LedgerPlan((account,), (LedgerPort("wrench", bond, "bodies", Positive.OUT),))
    ledger, result = ledger_of(system, plan, "2 s", step="1 ms")
    assert np.abs(result["dynamics.w[0]"]).max() > 0.2  # rad/s: it turns
    assert ledger.total(Kind.EXTERNAL)[-1] > 100.0
    assert ledger.residual < 1e-6 * ledger.turnover
    # Without the arm the wrench would be about another point than the motion.
    motion = Motion(motion.flow, motion.displacement)
    port = LedgerPort("wrench", Bond(bond.effort, motion), "bodies", Positive.OUT)
    again = energy_ledger(result, resolve(system).flat(), LedgerPlan((account,), (port,)))
    assert again.residual > 0.1 * again.turnover
