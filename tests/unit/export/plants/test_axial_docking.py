"""The chain of three masses: natural frequencies of the paper's tables, and what is conserved."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

TABLES = {
    "1": ((2000.0, 300.0, 1.5e5), (0.7003, 4.1359)),
    "3-I": ((1000.0, 500.0, 2e4), (0.5401, 2.1287)),
    "3-II": ((500.0, 200.0, 1e5), (1.2769, 4.4666)),
}


@pytest.mark.parametrize("table", TABLES)
def test_natural_frequencies(open_model, table):
    (m_c, m_e, k), wanted = TABLES[table]
    model = open_model(
        "AxialDockingIdeal", m_c=m_c, m_e=m_e, k_manipulator=k, c_manipulator=0.0, c=0.0
    )
    rates = np.linalg.eigvals(model.matrix())
    vibrating = np.sort(rates.imag[rates.imag > 1.0]) / (2 * np.pi)
    np.testing.assert_allclose(vibrating, wanted, atol=5e-4)
    # Independent: the roots of the biquadratic equation of a free chain of three masses.
    m_s, k_c = 50000.0, 5e4
    sums = k * (1 / m_s + 1 / m_e) + k_c * (1 / m_c + 1 / m_e)
    product = k * k_c * (m_s + m_e + m_c) / (m_s * m_e * m_c)
    squares = np.roots([1.0, -sums, product])
    np.testing.assert_allclose(vibrating, np.sort(np.sqrt(squares)) / (2 * np.pi), rtol=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_the_open_chain_is_the_closed_one_with_its_force(open_model, table, random):
    (m_c, m_e, k), _ = TABLES[table]
    values = {"m_c": m_c, "m_e": m_e, "k_manipulator": k}
    closed, opened = open_model("AxialDockingIdeal", **values), open_model("AxialDocking", **values)
    assert closed.states == opened.states
    state = dict(zip(closed.states, random.normal(0.0, 0.01, len(closed.states)), strict=True))
    closed.set_states(**state)
    opened.set_states(**state)
    opened.set(force=closed.get("force") + 3.0, virtual_force=3.0)
    for name in state:
        assert closed.rate(name) == pytest.approx(opened.rate(name), rel=1e-12)


def test_energy_and_momentum_without_damping(plants):
    system = System("s").add("d", fmu(plants / "AxialDockingIdeal.fmu"), c_manipulator=0.0, c=0.0)
    with Execution(system, step="1 ms") as run:
        run.advance("5 s")
        rows = run.recording()
    column = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    energy = column["d.energy"] + 0.5 * 5e4 * column["d.position"] ** 2
    # RK4 at 1 ms loses (w h)^6/144 of the energy in a step: 2e-12 at 26 rad/s, 1e-8 in 5 s.
    np.testing.assert_allclose(energy, 0.5 * 5e4 * 0.01**2, rtol=2e-8)
    # A sum of forces that cancel: rounding only, of momenta of up to 10 kg m/s.
    np.testing.assert_allclose(column["d.momentum"], 0.0, atol=1e-11)
    assert np.ptp(column["d.position"]) > 0.019  # it did move
