"""Energy of vectors, and of a stiffness that varies."""

import numpy as np
import pytest
from scipy.integrate import quad

from orchestrator.core.simunits import Block, Output, block, fmu
from orchestrator.core.system import System
from orchestrator.study.energy import Account, Bond, Kind, LedgerPlan, LedgerPort, Motion

from .conftest import ledger_of, total


def test_space_conserves_energy_in_six_degrees_of_freedom(plants):
    none = (0.0, 0.0, 0.0)
    docking = fmu(plants / "ManipulatorDockingIdeal.fmi3.fmu")
    system = (
        System("space")
        .add("dynamics", docking, c_manipulator=none, c_rotation=none)
        .set("dynamics.contact.c", none)
    )
    names = ("dynamics.energy", "dynamics.contact_energy")
    lost = ("dynamics.dissipation", "dynamics.contact_dissipation")
    plan = LedgerPlan((Account("space", names, lost),), ())
    ledger, _ = ledger_of(system, "2 s", plan)
    assert total(ledger, Kind.DISSIPATED) == 0.0
    assert ledger.residual < 1e-7 * ledger.initial  # tolerance 1e-9 of the integrator
    assert ledger.initial == pytest.approx(5.4, rel=1e-12)  # (4e4 + 3.6e4 + 3.2e4) (10 mm)^2 / 2


class Mover(Block):
    """Moves the captured point on three sines."""

    position: np.ndarray = Output(unit="m", shape=(3,), depends_on=())
    velocity: np.ndarray = Output(unit="m/s", shape=(3,), depends_on=())

    def initialise(self, t):
        self._move(t)

    def step(self, t, h):
        self._move(t + h)

    def _move(self, t):
        w = np.array([5.0, 7.0, 9.0])
        self.position[:] = 0.01 * np.sin(w * t)
        self.velocity[:] = 0.01 * w * np.cos(w * t)


def test_a_stiffness_that_varies_has_an_exchange_of_its_own(plants):
    """F v is the rate of F^2/2K, K' F^2/2K^2, and what the damper takes: checked by SciPy."""
    K0, swing = np.array([4e4, 3.6e4, 3.2e4]), np.array([4e4, 3.6e4, 3.2e4])
    system = (
        System("ropes")
        .add("mover", block(Mover))
        .add("contact", fmu(plants / "CaptureContact.fmi3.fmu"), k_swing=tuple(swing))
        .set("contact.drag", (0.0, 0.0, 0.0))
        .connect("mover.position", "contact.position")
        .connect("mover.velocity", "contact.velocity")
    )
    port = Bond(("contact.force",), Motion(displacement=("contact.position",)))
    account = Account(
        "contact", ("contact.energy",), ("contact.dissipation",), ("contact.exchange",)
    )
    plan = LedgerPlan((account,), (LedgerPort("mover", port, "contact"),))
    ledger, _ = ledger_of(system, "3 s", plan)
    assert total(ledger, Kind.EXTERNAL) > 0.1
    assert abs(total(ledger, Kind.GIVEN)) > 0.1
    # Inputs are held for a step: K' x h is 20 N/s x 1 ms of up to 800 N.
    assert ledger.residual < 2e-3 * ledger.turnover

    def exchange(t, i):
        w = (5.0, 7.0, 9.0)[i]
        slope = swing[i] / 2.0 if t < 2.0 else -swing[i] / 2.0
        stiffness = K0[i] + swing[i] * (t / 2.0 if t < 2.0 else 2.0 - t / 2.0)
        # The integral of K x', by parts from 0, where x is 0.
        force = quad(
            lambda s: (K0[i] + swing[i] * min(s / 2.0, 2.0 - s / 2.0)) * 0.01 * w * np.cos(w * s),
            0.0,
            t,
            points=[2.0] if t > 2.0 else None,
        )[0]
        return 0.5 * slope * (force / stiffness) ** 2

    exact = sum(
        quad(exchange, a, b, args=(i,), limit=100)[0] for i in range(3) for a, b in ((0, 2), (2, 3))
    )
    assert total(ledger, Kind.GIVEN) == pytest.approx(exact, rel=3e-3)
