"""Compensated lines: what the engine does, held against closed forms and the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmark_problems import contact_loops, oscillator
from benchmark_problems.exact import propagator
from benchmark_problems.problem import energy_error, order, run
from oracle.probing import probe_delays
from oracle.reference import run_reference

from orchestrator import Block, Compensation, Execution, Extrapolation, Input, Output, System, block
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.plan import acting_at_once
from orchestrator.core.simunits import resolve
from orchestrator.loops import linear_system

MS = 1_000_000
NEPCE, ENERGY = Compensation.NEPCE, Compensation.ENERGY


def compensated(system, way=NEPCE, lines=None, extrapolation=None):
    """Compensate the lines of these sources, or all."""
    more = {"extrapolation": extrapolation and Extrapolation(extrapolation)}
    return replace(
        system,
        connections=tuple(
            replace(c, compensation=way, **more) if not lines or str(c.source) in lines else c
            for c in system.connections
        ),
    )


def problem(base, way=NEPCE, lines=None, **more):
    return replace(base, make=lambda: compensated(base.make(), way, lines, **more))


CASES = {
    "nepce": lambda: compensated(oscillator.by_motion()),
    "nepce, linear": lambda: compensated(oscillator.by_force(), extrapolation="linear"),
    "nepce, quadratic": lambda: compensated(oscillator.by_motion(), extrapolation="quadratic"),
    "energy by the effort": lambda: compensated(oscillator.by_force(), ENERGY, ("two.force",)),
    "energy by the flow": lambda: compensated(contact_loops.bonded(), ENERGY, ("body.velocity",)),
}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("case", CASES)
def test_the_engine_equals_the_reference(case, algorithm):
    engine, reference = (
        Execution(CASES[case](), step="10 ms", algorithm=algorithm) for _ in range(2)
    )
    engine.step(60)
    rows = run_reference(reference, 60)
    found = engine.recording()
    for column, name in enumerate(found.names):
        slot = engine.schedule.slots[name][0]
        np.testing.assert_array_equal(found.values[:, column], rows[:, slot], err_msg=name)
    plain = Execution(without(CASES[case]()), step="10 ms", algorithm=algorithm)
    plain.step(60)
    assert np.abs(plain.recording().values - found.values).max() > 1e-4  # it does something


def without(system):
    return replace(
        system,
        connections=tuple(
            replace(c, compensation=None, extrapolation=None) for c in system.connections
        ),
    )


@pytest.mark.parametrize("case", CASES)
def test_a_run_goes_on_from_a_checkpoint_bit_for_bit(case):
    with Execution(CASES[case](), step="10 ms", algorithm="jacobi") as execution:
        execution.step(20)
        kept = execution.save()
        execution.step(20)
        rows = execution.recording().values
        execution.restore(kept)
        execution.step(20)
        np.testing.assert_array_equal(execution.recording().values, rows)


class MassInMillimetres(oscillator.Mass):
    """The mass whose velocity comes out in mm/s."""

    velocity: float = Output(unit="mm/s", depends_on=())

    def move(self, h):
        self.velocity *= 1e-3
        super().move(h)
        self.velocity *= 1e3


def test_the_energy_taken_back_depends_on_no_unit_of_the_opposite_line():
    """The velocity that answers the force is converted from mm/s on its way."""
    plain = compensated(oscillator.by_force(), ENERGY, ("two.force",))
    rows = []
    for system in (plain, plain.swap("one", block(MassInMillimetres))):
        with Execution(system, step="10 ms", algorithm="jacobi") as execution:
            execution.step(100)
            found = execution.recording()
            rows.append(found.values[:, found.names.index("two.force")])
    np.testing.assert_allclose(rows[1], rows[0], rtol=1e-9, atol=1e-9)


class Wave(Block):
    """A sine of 1 Hz, and what came in, added up."""

    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=())
    sum: float = Output(unit="m", depends_on=())

    def initialise(self, t):
        self.y = np.sin(2 * np.pi * t)

    def step(self, t, h):
        self.sum += self.u
        self.y = np.sin(2 * np.pi * (t + h))


def test_the_integral_of_the_input_is_that_of_the_signal_before():
    """The trapezoidal rule up to the last step, which then begins with the newest value."""
    system = System("s").add("a", block(Wave), u=0.0).add("b", block(Wave))
    system = system.connect("a.y", "b.u", factor=3.0, offset=0.2, compensation="nepce")
    with Execution(system, step="10 ms", algorithm="jacobi") as execution:
        execution.step(37)
        found = execution.recording()
        given = 0.01 * execution.get("b.sum")
    y = 3.0 * found.values[:, found.names.index("a.y")] + 0.2
    assert given == pytest.approx(0.01 * (np.trapezoid(y[:-1]) + y[-2]), rel=1e-12)
    exact = 3.0 * (1 - np.cos(2 * np.pi * 0.37)) / (2 * np.pi) + 0.2 * 0.37
    held = 0.01 * y[:-1].sum()
    assert abs(given - exact) < 0.1 * abs(held - exact)


@pytest.mark.parametrize(
    ("way", "weights"),
    [
        (None, (3 / 2, -1 / 2)),
        ("linear", (23 / 12, -16 / 12, 5 / 12)),
        ("quadratic", (54 / 24, -56 / 24, 34 / 24, -8 / 24)),
    ],
)
def test_multipliers_are_those_of_exact_units_with_weighted_samples(way, weights):
    """Weights of Adams and Bashforth; of order 2 those with the parabola's value in the middle."""
    step = 0.01
    system = compensated(oscillator.by_motion(), extrapolation=way)
    found = linear_system(system, step="10 ms", algorithm="jacobi").period_map().modes().values
    joined, whole = oscillator.JOINT, oscillator.matrix()
    own, across = np.zeros((4, 4)), np.zeros((4, 4))
    for mass, (m, k, c) in enumerate((oscillator.ONE, oscillator.TWO)):
        rows = slice(2 * mass, 2 * mass + 2)
        a = ((0.0, 1.0), (-(k + joined[0]) / m, -(c + joined[1]) / m))
        b = ((0.0, 0.0), (joined[0] / m, joined[1] / m))
        other = slice(2 - 2 * mass, 4 - 2 * mass)
        own[rows, rows], across[rows, other] = propagator(a, b, step)
    size = len(weights)
    companion = np.eye(4 * size, k=-4)
    companion[:4] = np.hstack([weight * across for weight in weights])
    companion[:4, :4] += own
    expected = np.linalg.eigvals(companion)
    for value in expected[np.abs(expected) > 1e-3]:
        assert np.abs(found - value).min() < 1e-9
    rates = np.log(expected[np.argsort(-np.abs(expected))][:4]) / step
    exact = np.linalg.eigvals(whole)
    off = max(np.abs(exact - rate).min() for rate in rates)
    assert off < (0.02 if way is None else 0.002)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_nepce_is_of_second_order_where_nothing_feeds_through(algorithm):
    base = problem(oscillator.BY_MOTION)
    assert order(base, algorithm, [8 * MS, 4 * MS]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("base", [contact_loops.BONDED, contact_loops.IMPACT])
def test_nepce_into_states_behind_a_contact_is_of_second_order(base):
    """Held against the matrix exponential, and SciPy's solution of an impact."""
    system = base.make()
    acts_at_once = acting_at_once(system)
    lines = [str(c.source) for c in system.connections if not acts_at_once(c)]
    assert lines == ["wall.force"]
    on_force = problem(base, lines=lines)
    assert order(on_force, "gauss-seidel", [2 * MS, MS]) == pytest.approx(2.0, abs=0.15)
    assert order(base, "gauss-seidel", [2 * MS, MS]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(
    ("base", "line", "step"),
    [
        (oscillator.BY_FORCE, "two.force", 8 * MS),
        (contact_loops.BONDED, "wall.force", 2 * MS),
        (contact_loops.IMPACT, "wall.force", 2 * MS),
    ],
)
def test_energy_that_the_coupling_made_is_taken_back(base, line, step):
    made = abs(energy_error(base, run(base, "jacobi", step)))
    left = abs(energy_error(base, run(problem(base, ENERGY, (line,)), "jacobi", step)))
    assert left < 0.4 * made


def test_a_compensated_line_is_not_late():
    system = compensated(oscillator.by_motion())
    loops = Execution(system, step="10 ms", algorithm="jacobi").schedule.loop_delays
    assert [loop.numerical_ns for loop in loops] == [0.0] * len(loops)
    held = Execution(without(system), step="10 ms", algorithm="jacobi").schedule.loop_delays
    assert {loop.numerical_ns for loop in held} == {10e6}


def test_what_nepce_leaves_behind_a_feed_through_is_in_the_delay_of_the_loop():
    """Half a step, which is a growth of k H / 4 m; none where the force alone is compensated."""
    k, late_ns = contact_loops.CONTACT[0], {}
    for lines in (None, ("wall.force",)):
        system = compensated(contact_loops.bonded(), lines=lines)
        linear = linear_system(system, step="1 ms", algorithm="gauss-seidel")
        (late_ns[lines],) = {loop.numerical_ns for loop in linear.schedule().loop_delays}
        largest = np.abs(linear.period_map().modes().values).max()
        exact = np.linalg.eigvals(contact_loops.bonded_matrix()).real.max()
        growth = k * late_ns[lines] / 1e9 / (2 * contact_loops.MASS)
        assert np.log(largest) / 1e-3 - exact == pytest.approx(growth, abs=1e-3)
    assert late_ns == {None: 0.5e6, ("wall.force",): 0.0}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_the_measured_delay_of_a_loop_is_the_predicted_one(algorithm):
    system = resolve(compensated(oscillator.by_motion()))
    delays = probe_delays(system, step_ns=10 * MS, algorithm_name=algorithm, frequency=0.2)
    assert delays
    for probed in delays:
        assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=1e-3 * MS)


def test_other_algorithms_are_refused_by_name(wording):
    with wording.raises(CapabilityError, code="CAP114", key="one.position -> two.position_a"):
        Execution(CASES["nepce"](), step="10 ms", algorithm="newton")


def test_rates_are_refused_by_name(wording):
    with wording.raises(DescriptionError):
        Execution(CASES["nepce"](), step="10 ms", algorithm="jacobi", rates={"two": 2})


def test_energy_wants_one_power_bond(wording):
    system = compensated(oscillator.by_motion(), ENERGY, ("one.velocity",))
    with wording.raises(CapabilityError):
        Execution(system, step="10 ms", algorithm="jacobi")


def test_energy_is_taken_back_once_only(wording):
    system = compensated(oscillator.by_force(), ENERGY, ("two.force", "one.velocity"))
    with wording.raises(CapabilityError):
        Execution(system, step="10 ms", algorithm="jacobi")


def test_energy_wants_the_opposite_line_held(wording):
    system = compensated(oscillator.by_force(), ENERGY, ("two.force",))
    system = compensated(system, NEPCE, ("one.velocity",))
    with wording.raises(CapabilityError):
        Execution(system, step="10 ms", algorithm="jacobi")


def test_energy_has_no_linear_map(wording):
    system = CASES["energy by the effort"]()
    with wording.raises(CapabilityError):
        linear_system(system, step="10 ms", algorithm="jacobi").period_map()
