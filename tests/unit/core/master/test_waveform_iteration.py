"""The algorithm 'waveform': loops whose delay is shorter than a step are iterated over the step."""

import math

import numpy as np
import pytest
from oracle.reference import Reference
from systems import bodies_at_contact, body_at_contact, plant

from orchestrator import simulate
from orchestrator.core.coupling import DelayMode, remarks
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.structs import replace
from orchestrator.core.system import TransportDelay
from orchestrator.loops import linear_system

pytestmark = pytest.mark.usefixtures("sample_blocks")
ITERATED = {"algorithm": "waveform", "delay": "waveform"}
#: The loop of 5 Hz: 1 kg, and what takes up 3 ms of delay and leaves 0.05 N.s/m.
K = (10.0 * math.pi) ** 2
D = 0.003 * K + 0.05


def five_hertz(plants, late="3 ms"):
    return body_at_contact(
        plant(plants, "Chaser", m=1.0, v0=0.1),
        plant(plants, "SpringDashpot", k=K, d=D, latched=True),
        motion={"delay": late},
    )


def two_bodies(plants):
    """Two bodies and what joins them, without any delay: force against displacement."""
    bodies = plant(plants, "Chaser", m=2.0, v0=0.1), plant(plants, "Chaser", m=3.0, v0=0.0)
    joint = plant(plants, "SpringDashpot", k=300.0, d=0.6, latched=True)
    return bodies_at_contact(bodies, joint, names=("a", "b", "joint"))


def position_of_a(t):
    """The closed form: the common motion, and the apart one, which dies down."""
    reduced, share = 2.0 * 3.0 / 5.0, 3.0 / 5.0
    decay = 0.6 / (2.0 * reduced)
    w = math.sqrt(300.0 / reduced - decay * decay)
    return 0.1 * (0.4 * t + share / w * np.exp(-decay * t) * np.sin(w * t))


def least_damped(system, step, **options):
    (account,) = linear_system(system, step=step, **options).loop_accounts(1)
    return account.modes[0]


def test_a_loop_with_less_delay_than_a_step_is_right(plants):
    """At 5 ms Gauss-Seidel with followed lines has -0.0103 1/s, with held ones -0.0243 1/s."""
    mode = least_damped(five_hertz(plants), "5 ms", **ITERATED)
    assert mode.exact.real == pytest.approx(-0.020583, abs=1e-6)
    assert mode.growth == pytest.approx(mode.exact.real, abs=1e-4)


@pytest.mark.parametrize("share", [0.0, 0.6], ids=["undelayed", "0.6 H late"])
def test_growth_is_right_to_the_sixth_order_of_the_step(plants, share):
    """With shorter steps the round-off of the multiplier, over the step, is some 2e-12 1/s."""
    errors = []
    for step in (1.6, 0.8):
        late = f"{share * step:g} ms" if share else None
        mode = least_damped(five_hertz(plants, late), f"{step} ms", **ITERATED)
        errors.append(mode.error)
    assert math.log2(abs(errors[0] / errors[1])) == pytest.approx(6.0, abs=0.7)
    assert abs(errors[1]) < 5e-11


def test_what_the_map_says_is_what_the_run_does(plants):
    """Powers of the map's least damped multiplier, and the same mode of a run."""
    mode = least_damped(five_hertz(plants), "5 ms", **ITERATED)
    run = simulate(five_hertz(plants), step="5 ms", stop="4 s", **ITERATED)
    late = run["body.position"][200:]
    rows = np.column_stack([late[1:-1], late[:-2]])
    above, below = np.linalg.lstsq(rows, late[2:], rcond=None)[0]
    multiplier = max(np.roots([1.0, -above, -below]), key=abs)
    assert math.log(abs(multiplier)) / 5e-3 == pytest.approx(mode.growth, abs=1e-6)


def test_two_bodies_against_the_closed_form(plants):
    """The start has no past, which leaves third order of the whole; iterated means leave second."""
    steps = ("4 ms", "2 ms")
    errors = []
    for step in steps:
        run = simulate(two_bodies(plants), step=step, stop="1 s", algorithm="waveform")
        errors.append(np.abs(run["a.position"] - position_of_a(run.time)).max())
    assert math.log2(errors[0] / errors[1]) > 3.0
    assert errors[1] < 1e-9  # newton: 3.9e-6


@pytest.mark.parametrize("method", ["none", "aitken", "newton"])
def test_methods_agree(plants, method):
    rows = [
        simulate(
            two_bodies(plants),
            step="4 ms",
            stop="0.1 s",
            algorithm="waveform",
            algorithm_options={"method": one, "tolerance": 1e-11},
        )["a.position"]
        for one in (method, "anderson")
    ]
    np.testing.assert_allclose(*rows, rtol=0.0, atol=1e-11)


def test_only_what_arrives_in_the_step_that_it_was_sent_in_is_iterated(plants):
    loops = {
        late: Execution(five_hertz(plants, late), step="3 ms", **ITERATED).schedule.loops
        for late in ("2.9 ms", "3 ms")
    }
    assert {late: len(found) for late, found in loops.items()} == {"2.9 ms": 1, "3 ms": 0}
    assert loops["2.9 ms"][0].sources == ("contact.force_a",)


def test_a_run_says_what_it_follows(plants):
    schedule = Execution(five_hertz(plants, None), step="5 ms", algorithm="waveform").schedule
    (told,) = remarks(schedule.plans, schedule.loop_delays, schedule.step_ns, schedule.mode)
    assert told == "3 connections are interpolated within each step (waveform)"
    assert [loop.numerical_ns for loop in schedule.loop_delays] == [0.0]
    delay = TransportDelay(5_000_000)
    held = [replace(plan, order=0) for plan in schedule.plans]
    delayed = [replace(held[0], connection=replace(held[0].connection, delay=delay)), *held[1:]]
    told = remarks(delayed, schedule.loop_delays, schedule.step_ns, DelayMode.WAVEFORM)
    assert told[-1].startswith("no connection is interpolated within each step (waveform); held")


def test_units_that_hold_take_part_with_the_mean(plants):
    system = five_hertz(plants).swap("contact", block("spring_dashpot"))
    system = system.set("contact.position_b", 0.0).set("contact.velocity_b", 0.0)
    schedule = Execution(system, step="5 ms", **ITERATED).schedule
    orders = {plan.connection.source.connector: plan.order for plan in schedule.plans}
    assert orders == {"position": 0, "velocity": 0, "force_a": 3}
    assert [plan.extrapolation_ns for plan in schedule.plans] == [0, 0, 0]
    assert [round(loop.numerical_ns) for loop in schedule.loop_delays] == [0]


def test_a_unit_that_cannot_go_back_is_told_with_where_to_cut(plants, wording):
    system = five_hertz(plants).with_options("contact", backend="fmpy")
    with wording.raises(CapabilityError, code="CAP101", key="contact") as caught:
        Execution(system, step="5 ms", **ITERATED)
    assert (
        "put a delay of at least the communication step, 5 ms, on what leads on from"
        " 'contact.force_a' in the loop through 'body', 'contact'"
    ) in str(caught.value)


def test_an_unknown_method_is_told(plants, wording):
    with wording.raises(DescriptionError):
        Execution(
            five_hertz(plants), step="5 ms", algorithm="waveform", algorithm_options={"method": "x"}
        )


def beside_events(plants, c_fmu):
    """A loop that is iterated, and units whose events end communication steps early."""
    return (
        five_hertz(plants)
        .add("jumper", fmu(c_fmu("jumper3")), at=0.0333)
        .add("early", fmu(c_fmu("early3")), level=0.0577)
        .add("lag", block("strict_lag"), a=-2.0, x0=1.0)
        .connect("jumper.y", "lag.u")
        .connect("lag.y", "jumper.u")
        .connect("jumper.sum", "early.u", factor=10.0)
        .add("listener", block("gain"), k=3.0)
        .connect("early.x", "listener.u")
    )


def test_steps_in_parts_equal_the_reference(plants, c_fmu):
    one, two = (Execution(beside_events(plants, c_fmu), step="5 ms", **ITERATED) for _ in range(2))
    one.advance("0.2 s")
    _, rows = Reference(two).run(40)
    found = one.recording()
    for column, name in enumerate(found.names):
        slot = one.schedule.slots[name][0]
        np.testing.assert_array_equal(found.values[:, column], rows[:, slot], err_msg=name)
    statistics = one.event_statistics()
    assert statistics.split_steps > 0
    assert statistics.early_returns > 0


def test_a_saved_run_goes_on_bit_for_bit(plants):
    with Execution(five_hertz(plants), step="5 ms", **ITERATED) as run:
        run.advance("0.1 s")
        kept = run.save()
        run.advance("0.2 s")
        whole = run.recording().values
        run.restore(kept)
        run.advance("0.2 s")
        np.testing.assert_array_equal(run.recording().values, whole)
