"""Faults in the engine equal the reference in plain Python, bit for bit."""

from itertools import product

import numpy as np
import pytest
from oracle.reference import Reference
from step_control import FIXED
from systems import GROUND, Attitude, Rotor, body_at_contact, bonded, mixed

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import Fault, Jitter, JitterKind, System, TransportDelay, Variation

pytestmark = pytest.mark.usefixtures("sample_blocks")
FIGURES = {
    "drop": {},
    "delay-step": {"delay": "5.3 ms"},
    "stuck": {},
    "bias": {"value": 0.2},
    "drift": {"rate": 3.0},
    "scale": {"factor": -0.4},
    "noise": {"sigma": 0.05, "seed": 7},
}


def expect_equal(make, faults, stop_ns, **options):
    engine, reference = (Execution(make(), faults=faults, **options) for _ in range(2))
    with engine, reference:
        engine.advance(f"{stop_ns} ns")
        r = engine.recording()
        varies = reference.schedule.varies
        steps = 100_000 if varies else stop_ns // reference.schedule.step_ns
        times, rows = Reference(reference).run(steps, stop_ns)
    np.testing.assert_array_equal(r.time_ns, times)
    for column, name in enumerate(r.names):
        whole, _, index = name.partition("[")
        slot = engine.schedule.slots[whole][0] + int(index.rstrip("]") or 0)
        np.testing.assert_array_equal(r.values[:, column], rows[:, slot], err_msg=name)
    return r


def contact():
    """A ring with delays that are and are not multiples of the step, and one that varies."""
    jitter = Variation(Jitter(JitterKind.GAMMA, 2_000_000), loss=0.1, seed=4)
    system = body_at_contact(
        block("body").with_values({"thrust": 10.0}),
        block("spring_dashpot").with_values({"k": 2510.0, "d": 3.0, **GROUND}),
        names=("chaser", "sheet"),
        motion={"delay": "16 ms"},
        velocity={"delay": "15.7 ms", "interpolation": "cubic"},
    )
    return (
        system.add("damper", block("virtual_damper"), b=60.0)
        .connect("chaser.velocity", "damper.velocity", delay=TransportDelay(4_000_000, "assumed"))
        .connect("damper.force", "chaser.virtual_force", delay=TransportDelay(1, variation=jitter))
    )


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.parametrize("mode", ["plain", "mean"])
@pytest.mark.parametrize("algorithm", FIXED)
def test_every_kind_on_every_line(algorithm, mode, kind):
    faults = [
        Fault.of(kind, on, "21.5 ms", "60 ms", **FIGURES[kind])
        for on in ("chaser.position", "chaser.velocity", "sheet.force_a", "damper.force")
    ]
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode}
    faulty = expect_equal(contact, faults, 100_000_000, **options)
    healthy = expect_equal(contact, [], 100_000_000, **options)
    same = (faulty.values == healthy.values).all(axis=1)
    assert same[:23].all()  # up to 22 ms, the first communication point that is not before
    assert not same[26:].any()


class Believer(Block):
    """Keeps the last number: what is none would end the run."""

    u: float = Input()
    y: float = Output()
    nothing: int = Output()

    def step(self, t, h):
        self.nothing = int(not np.isfinite(self.u))
        if not self.nothing:
            self.y = self.u


@pytest.mark.parametrize("delay", [None, "2.5 ms"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_what_is_no_number_arrives_from_begin_until_end(register, algorithm, delay):
    register(believer=Believer)

    def heard():
        return (
            System("heard")
            .add("s", block("source"))
            .add("g", block("believer"))
            .connect("s.time", "g.u", delay=delay, interpolation="hold" if delay else None)
        )

    faults = [Fault.of("nan", "s.time", "5 ms", "9 ms")]
    options = {"step": "1 ms", "algorithm": algorithm, "delay": "plain"}
    r = expect_equal(heard, faults, 20_000_000, **options)
    assert r.values[:, r.names.index("g.nothing")].sum() == 4


def test_what_is_no_number_ends_a_run_of_which_an_output_is_none():
    def ring():
        return (
            System("ramp")
            .add("s", block("source"))
            .add("g", block("gain"))
            .connect("s.time", "g.u")
        )

    fault = Fault.of("nan", "s.time", "5 ms")
    with (
        Execution(ring(), faults=[fault], step="1 ms") as run,
        pytest.raises(StepError, match=r"output 'g\.y' is not finite \(NaN or infinite\)"),
    ):
        run.advance("10 ms")


@pytest.mark.parametrize("kind", [kind for kind in FIGURES if kind != "noise"])
def test_ecco(kind):
    fault = Fault.of(kind, "damper.force", "20.25 ms", "60 ms", **FIGURES[kind])
    options = {"step": "1 ms", "algorithm": "ecco", "algorithm_options": {"shortest": "10 us"}}
    r = expect_equal(bonded, [fault], 100_000_000, **options)
    assert {20_250_000, 60_000_000} <= set(r.time_ns.tolist())


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [
        *product(["newton", "fixed-point"], FIGURES),
        # Noise is drawn at a rate, and steps that vary have none: refused.
        *product(["step-doubling"], [kind for kind in FIGURES if kind != "noise"]),
    ],
)
def test_inside_a_loop(algorithm, kind):
    def ring():
        return (
            System("ring")
            .add("a", block("gain"), k=0.7)
            .add("b", block("sum"))
            .add("x", block("strict_lag"), x0=1.0, a=-20.0)
            .connect("a.y", "b.u1")
            .connect("x.y", "b.u2")
            .connect("b.y", "a.u", factor=-1.3, offset=0.1)
            .connect("b.y", "x.u")
        )

    faults = [Fault.of(kind, on, "5 ms", "15 ms", **FIGURES[kind]) for on in ("a.y", "b.y -> a.u")]
    options = {"step": "1 ms", "algorithm": algorithm}
    if algorithm == "step-doubling":
        options["algorithm_options"] = {"base": "newton"}
    expect_equal(ring, faults, 30_000_000, **options)


@pytest.mark.parametrize("kind", ["drop", "delay-step", "stuck"])
@pytest.mark.parametrize("mode", ["plain", "mean"])
def test_whole_numbers_and_booleans(mode, kind, probe):
    faults = [
        Fault.of(kind, on, "5 ms", "15 ms", **FIGURES[kind])
        for on in ("plant.m", "types.not_flag", "gain.y")
    ]
    expect_equal(lambda: mixed(probe), faults, 30_000_000, step="1 ms", delay=mode)


def test_a_rotation():
    """Four elements that are read as one."""

    def turning():
        return (
            System("turning")
            .add("r", block(Rotor))
            .add("e", block(Attitude))
            .connect("r.q", "e.q", delay="3.3 ms", interpolation="slerp")
        )

    faults = [Fault.of("delay-step", "r.q", "5 ms", "15 ms", delay="5 ms")]
    faults += [Fault.of("bias", "r.q", "8 ms", value=0.1, element=2)]
    faults += [Fault.of("drop", "r.q", "17 ms", "19 ms", element=0)]
    expect_equal(turning, faults, 30_000_000, step="1 ms")


@pytest.mark.parametrize("algorithm", [name for name in FIXED if name != "newton"])
@pytest.mark.parametrize("kind", FIGURES)
def test_a_delayed_line_of_units_with_events(kind, algorithm, c_fmu):
    """Steps are split at events, and the newest sample is amended after them."""

    def late():
        return (
            System("events")
            .add("jumper", fmu(c_fmu("jumper3")), at=0.0333, u=0.0)
            .add("early", fmu(c_fmu("early3")), level=0.0577)
            .add("late", block("gain"), k=2.0)
            .connect("jumper.sum", "early.u", delay="7.3 ms", factor=10.0)
            .connect("early.x", "late.u")
        )

    faults = [
        Fault.of(kind, on, "22 ms", "66 ms", **FIGURES[kind]) for on in ("jumper.sum", "early.x")
    ]
    expect_equal(late, faults, 300_000_000, step="5 ms", algorithm=algorithm)
