import numpy as np
import pytest

from orchestrator.core.diagnostics import (
    AlgebraicLoopError,
    CapabilityError,
    DescriptionError,
    UnknownNameError,
)
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
ALGORITHMS = ["gauss-seidel", "jacobi"]


def clock():
    return System("clock").add("clock", block("source")).add(
        "i", block("integrator"), u=1.0
    )  # fmt: skip


@pytest.mark.parametrize("start", [0, "1 s", "-2.5 s", "123456789 ns"])
def test_the_time_grid_is_exact(start, sample_blocks):
    """0.3 ms is no binary fraction: after 50 000 steps the grid is still whole nanoseconds."""
    run = Execution(clock(), step="0.3 ms", start=start)
    first = run.start_ns
    run.advance(f"{first + 15_000_000_000} ns")
    r = run.recording()
    assert r.time_ns.dtype == np.int64
    np.testing.assert_array_equal(r.time_ns, first + 300_000 * np.arange(50_001))
    assert run.time == (first + 15_000_000_000) / 1e9
    # The block is told t and h, and their sum is rounded once.
    np.testing.assert_allclose(
        r.values[:, r.names.index("clock.time")], r.time_ns / 1e9, rtol=0, atol=4e-15
    )


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point"])
def test_an_input_that_is_the_mean_over_a_step_has_factor_and_offset(algorithm):
    """Of a ramp the integral is exact then: 3 t^2 / 2 + 0.2 t."""
    system = System("ramp").add("s", block("source")).add("i", block("integrator"))
    system = system.connect("s.time", "i.u", factor=3.0, offset=0.2)
    run = Execution(system, step="10 ms", algorithm=algorithm)
    run.step(50)
    assert run.get("i.y") == pytest.approx(1.5 * 0.5**2 + 0.2 * 0.5, rel=1e-12)


def test_advance_in_pieces_is_the_same_run():
    whole, pieces = (Execution(clock(), step="1 ms", every=3) for _ in range(2))
    whole.advance("1 s")
    for until in ("1 ms", "2 ms", "0.5 s", "0.5 s", "997 ms", "1 s"):
        pieces.advance(until)
    one, two = whole.recording(), pieces.recording()
    np.testing.assert_array_equal(one.time_ns, two.time_ns)
    np.testing.assert_array_equal(one.values, two.values)


def test_step_by_step():
    run = Execution(clock(), step="1 ms")
    for _ in range(5):
        run.step()
    assert run.time == 0.005
    assert run.recording().time_ns.tolist() == [
        0,
        10**6,
        2 * 10**6,
        3 * 10**6,
        4 * 10**6,
        5 * 10**6,
    ]


@pytest.mark.parametrize("until", ["1.5 ms", "999999 ns", "-1 ms"])
def test_times_off_the_grid(until, wording):
    run = Execution(clock(), step="1 ms")
    with wording.raises(CapabilityError):
        run.advance(until)


def test_the_message_says_the_time_once(wording):
    run = Execution(clock(), step="1 ms")
    with wording.raises(CapabilityError):
        run.advance("1.5 ms")


def test_record_some_every_n():
    run = Execution(clock(), step="1 ms", record=["clock.time"], every=4)
    run.advance("10 ms")
    r = run.recording()
    assert r.names == ("clock.time",)
    assert r.units == {"clock.time": "s"}
    assert r.time_ns.tolist() == [0, 4_000_000, 8_000_000, 10_000_000]
    np.testing.assert_allclose(r.values[:, 0], [0.0, 0.004, 0.008, 0.01], atol=1e-17)


def test_record_nothing():
    run = Execution(clock(), step="1 ms", record=[])
    run.advance("10 ms")
    assert run.recording().values.shape == (11, 0)


@pytest.mark.parametrize("name", ["clock.x", "x.y"])
def test_what_is_not_there_is_not_recorded(name, wording):
    with wording.raises(UnknownNameError):
        Execution(clock(), step="1 ms", record=[name])


@pytest.mark.parametrize("every", [0, -1, 1.5, True])
def test_every(every, wording):
    with wording.raises(DescriptionError):
        Execution(clock(), step="1 ms", every=every)


def test_options(wording):
    with wording.raises(UnknownNameError):
        Execution(clock(), step="1 ms", delay="late")
    with wording.raises(CapabilityError):
        Execution(clock(), step=0)
    with wording.raises(DescriptionError):
        Execution(clock(), step="often")


def test_progress():
    seen = []
    run = Execution(clock(), step="1 us")
    run.advance("0.05 s", seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 0.05
    assert len(seen) >= 3  # 50 000 steps, at most 20 000 in a row


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_chain_is_consistent_at_the_start(algorithm):
    """Each element of a chain without states stands at its final value in the first row."""
    system = System("chain").add("s", block("integrator"), y0=3.0, u=0.0)
    before = "s"
    for i in range(12):
        system = system.add(f"g{i}", block("gain"), k=2.0).connect(f"{before}.y", f"g{i}.u")
        before = f"g{i}"
    run = Execution(system, step="1 ms", algorithm=algorithm)
    assert run.recording().values[0].tolist() == [3.0 * 2.0**i for i in range(13)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_arrays(algorithm):
    system = (
        System("arrays")
        .add("a", block("matrix"), u=(1.0, 10.0))
        .add("b", block("matrix"))
        .connect("a.y", "b.u", factor=2.0)
    )
    run = Execution(system, step="1 s", algorithm=algorithm)
    run.advance("2 s")
    assert run.get("a.y").tolist() == [21.0, 43.0]
    assert run.get("b.u").tolist() == [42.0, 86.0]
    assert run.get("b.y").tolist() == [214.0, 470.0]
    # initialise() is a step too, and Jacobi repeats it: the block counts its calls.
    total = run.get("b.total")
    assert total.shape == (2, 2)
    np.testing.assert_array_equal(total[0], -total[1])
    r = run.recording()
    assert r.names[:3] == ("a.y[0]", "a.y[1]", "a.total[0]")
    assert r.units["b.y[1]"] == "m"
    assert r.values.shape == (3, 12)


def test_integers_and_booleans():
    system = (
        System("typed")
        .add("a", block("typed"), n=4, flag=True)
        .add("b", block("typed"))
        .connect("a.m", "b.n")
        .connect("a.not_flag", "b.flag")
    )
    run = Execution(system, step="1 s")
    run.advance("1 s")
    assert (run.get("b.m"), run.get("b.not_flag")) == (6.0, 1.0)


def test_units_and_linear_transformation():
    """From m to the other end's unit first, then the line's own factor and offset."""
    system = (
        System("units")
        .add("chaser", block("body"), force=0.0, virtual_force=0.0, thrust=7500.0)
        .add("sheet", block("spring_dashpot"), latched=True, velocity_a=0.0, position_b=0.0)
    )
    system = (
        system.set("sheet.velocity_b", 0.0)
        .set("sheet.k", 1.0)
        .set("sheet.d", 0.0)
        .connect("chaser.position", "sheet.position_a", factor=2.0, offset=0.25)
    )
    run = Execution(system, step="1 s")
    run.advance("1 s")
    assert run.get("chaser.position") == 5.0  # a t^2 / 2
    assert run.get("sheet.position_a") == 2.0 * 5.0 + 0.25


def test_unit_conversion_on_a_line(register, sample_blocks):
    from orchestrator.core.simunits import Block, Input, Output

    class Thermometer(Block):
        t: float = Output(unit="degC", depends_on=())

        def step(self, t, h):
            self.t = 20.0

    class Kelvin(Block):
        t: float = Input(unit="K")
        y: float = Output(unit="K")

        def step(self, t, h):
            self.y = self.t

    register(thermometer=Thermometer, kelvin=Kelvin)
    system = (
        System("s")
        .add("a", block("thermometer"))
        .add("b", block("kelvin"))
        .connect("a.t", "b.t", factor=2.0, offset=1.0)
    )
    run = Execution(system, step="1 s")
    assert run.get("b.y") == pytest.approx(2.0 * 293.15 + 1.0, rel=1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("delay", ["plain", "mean"])
def test_start_time_shifts_the_run_and_changes_nothing(algorithm, delay):
    system = (
        System("ring")
        .add("a", block("strict_lag"), x0=1.0)
        .add("b", block("gain"), k=-2.0)
        .connect("a.y", "b.u", delay="2.5 ms")
        .connect("b.y", "a.u")
    )

    def values(start, until):
        run = Execution(system, step="1 ms", algorithm=algorithm, delay=delay, start=start)
        run.advance(until)
        return run.recording().values

    np.testing.assert_array_equal(values(0, "50 ms"), values("-7 s", "-6.95 s"))


def test_a_plain_delay_of_zero_cuts_no_loop(wording):
    system = (
        System("ring")
        .add("a", block("gain"))
        .add("b", block("gain"))
        .connect("a.y", "b.u", delay=0.0)
        .connect("b.y", "a.u")
    )
    with wording.raises(AlgebraicLoopError, code="LOO102", key="a"):
        Execution(system, step="1 ms", delay="plain")
    Execution(system, step="1 ms", delay="mean").advance("5 ms")


def test_plain_delay_by_hand():
    """Jacobi, H = 1 ms, delay 2 ms: the gain sees in step n what the clock showed at n - 2."""
    system = (
        System("hand")
        .add("s", block("source"))
        .add("g", block("gain"))
        .connect("s.time", "g.u", delay="2 ms")
    )
    run = Execution(system, step="1 ms", algorithm="jacobi", delay="plain")
    run.advance("6 ms")
    r = run.recording()
    seen = r.values[:, r.names.index("g.y")]
    # Row n was computed in the step from (n - 1) ms.
    np.testing.assert_allclose(seen, [0, 0, 0, 0, 1e-3, 2e-3, 3e-3], atol=1e-18)


def test_exact_delay_of_a_ramp_by_hand():
    """Read at t + H/2 - tau: in the middle of the step a ramp is seen tau late, exactly."""
    system = (
        System("hand")
        .add("s", block("source"))
        .add("g", block("gain"))
        .connect("s.time", "g.u", delay="2.3 ms")
    )
    run = Execution(system, step="1 ms", algorithm="jacobi", delay="mean")
    run.advance("10 ms")
    r = run.recording()
    seen, t = r.values[4:, r.names.index("g.y")], r.time_ns[4:] / 1e9
    np.testing.assert_allclose(seen, t - 0.5e-3 - 2.3e-3, atol=1e-17)
