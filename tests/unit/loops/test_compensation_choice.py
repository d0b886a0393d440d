from dataclasses import replace

import numpy as np
import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator import System
from orchestrator.core.simunits import block
from orchestrator.core.system import Compensation, Extrapolation
from orchestrator.loops import linear_system
from orchestrator.loops.compensation_choice import choose_compensation
from orchestrator.loops.step_choice import StepReference, choose_step

from .conftest import Factor, SecondOrder


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
    found, untried = choose_compensation(undelayed, choice)
    assert found.lines == (("spring.y -> mass.u", Compensation.NEPCE),)
    assert [text.split("'")[1] for text in untried] == ["corrector", "energy"]
    assert found.without == choice.effect.share
    assert found.error < 1e-3 * found.without
    # What is proposed is what that system has.
    linear = with_compensation(undelayed.linear, found, algorithm="gauss-seidel")
    (account,) = linear.loop_accounts()
    assert abs(account.modes[0].error) <= found.error * abs(account.modes[0].exact.real)


def with_compensation(linear, found, algorithm):
    """The same with what was found on its lines, and the step that it was found for."""
    ways = dict(found.lines)
    ahead = (None, Extrapolation.LINEAR, Extrapolation.QUADRATIC)[found.order]
    lines = tuple(
        replace(line, compensation=ways[str(line)], extrapolation=ahead)
        if str(line) in ways
        else line
        for line in linear.system.connections
    )
    system = replace(linear.system, connections=lines)
    return linear_system(system, step=f"{found.step_ns} ns", algorithm=algorithm)


def test_under_jacobi_a_direct_feed_through_keeps_its_half_step(undelayed):
    """On both lines of the loop, order 1 leaves a third: what the spring answers is H/2 late."""
    choice = choose_step(undelayed, 0.3, algorithm="jacobi")
    found, _ = choose_compensation(undelayed, choice)
    assert found.order == 1
    assert found.without == choice.effect.share
    assert found.error == pytest.approx(found.without / 3, rel=0.01)


def test_the_corrector_is_proposed_where_units_give_derivatives(plants):
    """The contact acts at once: NEPCE alone leaves H/2 of it."""
    system = body_at_contact(
        plant(plants, "Chaser", m=100.0, v0=0.05, **UNPUSHED),
        plant(plants, "Compliance", k=5.0e4, d=100.0, latched=True, **GROUND),
        names=("body", "wall"),
    )
    linear = linear_system(system, step="1 ms", algorithm="jacobi")
    reference = StepReference.of(linear, length_ns=3_000_000_000)
    choice = choose_step(reference, 0.5, algorithm="jacobi")
    found, untried = choose_compensation(reference, choice)
    assert dict(found.lines) == {
        "body.position -> wall.position_a": Compensation.CORRECTOR,
        "body.velocity -> wall.velocity_a": Compensation.CORRECTOR,
        "wall.force_a -> body.force": Compensation.NEPCE,
    }
    assert found.order == 2
    assert found.error < 1e-4 * found.without
    assert [text.split("'")[1] for text in untried] == ["energy"]
    (account,) = with_compensation(linear, found, algorithm="jacobi").loop_accounts()
    assert abs(account.modes[0].growth + 0.5) <= 1.001 * found.error * 0.5


def test_a_loop_whose_lines_are_delayed_has_nothing_to_try():
    late = reference(delay="20 ms")
    system = late.linear.system
    late_by = system.connections[1].delay
    lines = tuple(replace(line, delay=late_by) for line in system.connections)
    delayed = replace(late, linear=replace(late.linear, system=replace(system, connections=lines)))
    choice = choose_step(late, 0.05, algorithm="gauss-seidel")
    assert choose_compensation(delayed, choice) == (None, ())


def test_delayed_lines_are_left_alone():
    late = reference(delay="20 ms")
    choice = choose_step(late, 0.05, algorithm="gauss-seidel")
    found, _ = choose_compensation(late, choice)
    assert found is None or "spring.y -> mass.u" not in found.lines
