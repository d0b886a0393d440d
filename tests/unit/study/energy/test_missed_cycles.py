"""What missed cycles may do to a ledger, of a body that is moved by a device's clock."""

import numpy as np
import pytest

from orchestrator.core.simunits import Block, Output, block, resolve
from orchestrator.core.system import Positive, System
from orchestrator.study.energy import Account, Bond, LedgerPlan, LedgerPort, Motion, energy_ledger

STEP, COUNT, MASS = 0.01, 400, 3.0


class Arm(Block):
    """Says what it holds, and what moves it."""

    energy: float = Output(unit="J", depends_on=())
    force: float = Output(unit="N", depends_on=())
    position: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        """Nothing: the test says what it did."""


class Rows:
    """A run, of which the test says what was recorded."""

    plans = ()

    def __init__(self, columns):
        self.time = STEP * np.arange(COUNT + 1)
        self._columns = columns

    def __getitem__(self, name):
        return self._columns[name]


def moved(extra):
    """Return a run of a body whose motion is measured, ``extra`` steps of the device too late.

    Its acceleration is the difference of two measured velocities over the step of the run, however
    long the device took for it.
    """
    clock = STEP * (np.arange(COUNT + 1) + np.concatenate([[0.0], np.cumsum(extra)]))
    velocity = np.sin(3.0 * clock) + 0.3 * np.sin(11.0 * clock)
    position = -np.cos(3.0 * clock) / 3.0 - 0.3 * np.cos(11.0 * clock) / 11.0
    force = MASS * np.gradient(velocity, STEP)
    columns = {"arm.force": force, "arm.position": position}
    return Rows(columns | {"arm.energy": 0.5 * MASS * velocity**2})


def ledger(run, missed, positive=Positive.IN):
    system = resolve(System("arm").add("arm", block(Arm))).flat()
    bond = Bond(("arm.force",), Motion(displacement=("arm.position",)))
    plan = LedgerPlan(
        (Account("arm", ("arm.energy",), ()),), (LedgerPort("joint", bond, "arm", positive),)
    )
    return energy_ledger(run, system, plan, missed)


def spread(extra):
    """What was missed is read in the next step, and answered in the one after that."""
    return np.convolve(np.abs(extra), np.ones(3))[: len(extra)]


@pytest.mark.parametrize("seed", range(20))
def test_the_balance_is_open_by_no_more_than_the_bound(seed):
    draws = np.random.default_rng(seed)
    extra = np.zeros(COUNT)
    extra[draws.choice(COUNT - 2, 12, replace=False)] = draws.uniform(0.1, 3.0, 12)
    sure = ledger(moved(np.zeros(COUNT)), None)
    found = ledger(moved(extra), spread(extra))
    assert sure.closes(0.005)
    assert sure.unsure == 0.0
    assert found.residual > 2.0 * sure.residual
    assert found.closes(0.005)


def test_the_bound_is_not_far_from_what_one_cycle_does():
    extra = np.zeros(COUNT)
    extra[100] = 0.3
    found = ledger(moved(extra), spread(extra))
    added = found.residual - ledger(moved(np.zeros(COUNT)), None).residual
    assert added < found.unsure < 6.0 * added


def test_a_wrong_sign_is_not_hidden_by_a_cycle_that_was_missed():
    extra = np.zeros(COUNT)
    extra[100] = 1.0
    found = ledger(moved(extra), spread(extra), Positive.OUT)
    assert found.unsure > 0.0
    assert not found.closes(0.005)


def test_without_missed_cycles_the_bound_is_what_it_was():
    found = ledger(moved(np.zeros(COUNT)), np.zeros(COUNT))
    assert found.unsure == 0.0
