from dataclasses import replace

import numpy as np
import pytest
from unit.linearisation.conftest import Factor, SecondOrder

from orchestrator import System
from orchestrator.linearisation import linear_system
from orchestrator.linearisation.step_choice.choice import StepReference, choose_step
from orchestrator.linearisation.step_choice.compensation_choice import choose_compensation
from orchestrator.simunits import block
from orchestrator.system import Compensation


def reference(**of_a_line):
    """A mass of 1.2 Hz whose spring is a component of its own."""
    w = 2.0 * np.pi
    mass = {"a": (0.0, 1.0, -w * w, -0.02 * w), "b": (0.0, w * w), "c": (1.0, 0.0)}
    system = System("pair").add("mass", block(SecondOrder), **mass)
    system = system.add("spring", block(Factor), k=-0.5)
    system = system.connect("mass.y", "spring.u").connect("spring.y", "mass.u", **of_a_line)
    return StepReference.of(linear_system(system, step="1 ms", algorithm="gauss-seidel"))


@pytest.fixture(scope="module")
def undelayed():
    return reference()


def test_nepce_into_the_body_is_proposed_under_gauss_seidel(undelayed):
    """docs/explanation/compensations.md: on the line into states it is of a higher order."""
    choice = choose_step(undelayed, 0.05, algorithm="gauss-seidel")
    found, refused = choose_compensation(undelayed, choice)
    assert refused == ""
    assert found.lines == ("spring.y -> mass.u",)
    assert found.without == choice.chosen.share
    assert found.error < 1e-3 * found.without
    # What is proposed is what that system has.
    linear = undelayed.linear
    line = next(one for one in linear.system.connections if str(one) == found.lines[0])
    kept = [one for one in linear.system.connections if one is not line]
    system = replace(
        linear.system, connections=(*kept, replace(line, compensation=Compensation.NEPCE))
    )
    (account,) = linear_system(
        system, step=f"{found.step_ns} ns", algorithm="gauss-seidel"
    ).loop_accounts()
    assert abs(account.modes[0].error) <= found.error * abs(account.modes[0].exact.real)


def test_jacobi_is_told_nothing_where_nothing_is_gained(undelayed):
    choice = choose_step(undelayed, 0.3, algorithm="jacobi")
    assert choose_compensation(undelayed, choice) == (None, "")


def test_delayed_lines_are_left_alone():
    late = reference(delay="20 ms")
    choice = choose_step(late, 0.05, algorithm="gauss-seidel")
    found, _ = choose_compensation(late, choice)
    assert found is None or "spring.y -> mass.u" not in found.lines
