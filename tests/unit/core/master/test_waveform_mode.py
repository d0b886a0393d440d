"""Waveform mode: units follow their delayed inputs over the step; loops are of fourth order."""

import math
from dataclasses import replace

import numpy as np
import pytest
from systems import body_at_contact, plant

from orchestrator import read_system, simulate
from orchestrator.core.coupling import remarks
from orchestrator.core.master import Execution
from orchestrator.core.system import Fault
from orchestrator.loops import linear_system
from orchestrator.study.measure import fit_growth


def oscillator(plants, *, late="40 ms"):
    """A body on a spring and a damper that know its motion late; 1.6 Hz."""
    return body_at_contact(
        plant(plants, "Chaser", m=20.0, v0=0.1),
        plant(plants, "SpringDashpot", k=2000.0, d=150.0, latched=True),
        motion={"delay": late},
    )


def followed(run):
    schedule = run.schedule
    told = remarks(schedule.plans, schedule.loop_delays, schedule.step_ns, schedule.mode)
    return [text for text in told if "waveform" in text]


def error(system, step, order=3, **options):
    linear = linear_system(system, step=step, delay="waveform", **options)
    told = {
        name: replace(part, input_order=min(order, part.input_order))
        for name, part in linear.system.components.items()
    }
    linear = replace(linear, system=replace(linear.system, components=told))
    (account,) = linear.loop_accounts(1)
    return account.modes[0].error


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("rates", [{}, {"body": 4}], ids=["alike", "slow body"])
def test_the_error_of_a_loop_is_of_sixth_order(plants, order, rates):
    """Errors of the growth rate by the one-step map; held inputs leave order 2."""
    system = oscillator(plants)
    steps = ("8 ms", "4 ms") if not rates else ("2 ms", "1 ms")
    one, two = (error(system, step, order, algorithm="gauss-seidel", rates=rates) for step in steps)
    assert math.log2(abs(one / two)) == pytest.approx(6.0, abs=0.3)
    assert abs(two) < 1e-9


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("bandwidth", [15.0, 40.0])
def test_a_rig_with_an_axis_is_right_at_eight_ms(plants, bandwidth, algorithm):
    """Held inputs call the rig of 40 Hz unstable there (+0.0088 1/s instead of -0.0039)."""
    system = read_system(plants.parents[1] / "examples" / "epos" / "capture_axis.ssd")
    system = system.set("axis.bandwidth", bandwidth)
    options = {"step": "8 ms", "algorithm": algorithm, "delay": "waveform"}
    (account,) = linear_system(system, **options).loop_accounts(1)
    exact = account.modes[0].exact.real
    assert account.modes[0].growth == pytest.approx(exact, abs=5e-6)
    assert not account.warnings()
    run = simulate(system, stop="30 s", **options)
    fit = fit_growth(run.time, run["chaser.position"], start=1.0)
    # The FMUs' own solvers leave 6e-10.
    assert fit.sigma == pytest.approx(account.modes[0].growth, abs=2e-9)


@pytest.mark.parametrize("interface", ["cs", "me"])
@pytest.mark.parametrize("isolation", [None, "process"])
def test_where_a_unit_runs_changes_nothing(plants, interface, isolation):
    options = {"interface": interface} | ({"isolation": isolation} if isolation else {})
    rows = []
    for chosen in ({"interface": interface}, options):
        system = oscillator(plants).with_options("body", **chosen)
        run = simulate(system, step="4 ms", stop="0.4 s", delay="waveform")
        rows.append(run["body.position"])
    np.testing.assert_array_equal(*rows)


def test_units_that_hold_are_named_and_keep_the_mean(plants):
    system = oscillator(plants).with_options("contact", backend="fmpy")
    run = Execution(system, step="4 ms", delay="waveform")
    (told,) = followed(run)
    assert "body.position -> contact.position_a and body.velocity -> contact.velocity_a" in told
    assert [round(loop.numerical_ns) for loop in run.schedule.loop_delays] == [0]


def test_a_line_that_a_fault_acts_on_is_held(plants):
    fault = Fault.of("drop", "body.position -> contact.position_a", "50 ms", "60 ms")
    run = Execution(oscillator(plants), step="4 ms", delay="waveform", faults=[fault])
    orders = {plan.connection.source.connector: plan.order for plan in run.schedule.plans}
    assert orders == {"position": 0, "velocity": 3, "force_a": 3}
    (told,) = followed(run)
    assert told.endswith("held over each step in loops: body.position -> contact.position_a")


@pytest.mark.parametrize(
    ("way", "algorithm", "order"),
    [
        ("linear", "gauss-seidel", 3),
        ("quadratic", "gauss-seidel", 3),
        ("smoothed", "gauss-seidel", 0),  # not to be gone through
        ("linear", "jacobi", 0),  # its end is not known
    ],
)
def test_a_line_whose_end_is_known_needs_no_extrapolation(plants, way, algorithm, order):
    system = oscillator(plants).disconnect("contact.force_a", "body.force")
    line = {"step": "4 ms", "delay": "waveform", "algorithm": algorithm}
    system = system.connect("contact.force_a", "body.force", extrapolation=way)
    plans = Execution(system, **line).schedule.plans
    assert {plan.order for plan in plans if plan.connection.is_predicted} == {order}
    same = [simulate(one, stop="0.4 s", **line).values for one in (system, oscillator(plants))]
    assert np.array_equal(*same) is bool(order)


@pytest.mark.parametrize("way", ["hold", "linear"])
def test_a_line_is_read_as_it_asks_for(plants, way):
    system = oscillator(plants).disconnect("body.position", "contact.position_a")
    system = system.connect("body.position", "contact.position_a", delay="40 ms", interpolation=way)
    plans = Execution(system, step="4 ms", delay="waveform").schedule.plans
    orders = {plan.connection.source.connector: plan.order for plan in plans}
    assert orders == {"position": 0, "velocity": 3, "force_a": 3}


def test_without_delays_only_what_is_known_is_followed(plants):
    """Under Jacobi nothing is: every source is stepped with its target."""
    system = oscillator(plants, late=None)
    for algorithm, count in (("jacobi", 0), ("gauss-seidel", 1)):
        run = Execution(system, step="4 ms", algorithm=algorithm, delay="waveform")
        assert sum(plan.order > 0 for plan in run.schedule.plans) >= count
    rows = [
        simulate(system, step="4 ms", stop="0.4 s", algorithm="jacobi", delay=mode)["body.position"]
        for mode in ("mean", "waveform")
    ]
    np.testing.assert_array_equal(*rows)
