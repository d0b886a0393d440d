"""The order of every algorithm, measured: units are exact, so errors are those of the coupling."""

import numpy as np
import pytest
from benchmark_problems import lotka_volterra, oscillator, pendulums, quarter_car, stiff_contact
from benchmark_problems.problem import energy_error, error, run, slope

MS = 1_000_000
#: Problem, and the longest of four steps of which each is half of the one before.
SMOOTH = {
    "oscillator by force": (oscillator.BY_FORCE, 16 * MS),
    "oscillator by motion": (oscillator.BY_MOTION, 16 * MS),
    "quarter car": (quarter_car.PROBLEM, 2 * MS),
    "lotka volterra": (lotka_volterra.PROBLEM, 40 * MS),
    "stiff contact": (stiff_contact.PROBLEM, 2 * MS),
}
LOOPED = {**SMOOTH, "pendulums": (pendulums.PROBLEM, 40 * MS)}
ITERATED = {
    "none": ("fixed-point", {"acceleration": "none"}),
    "aitken": ("fixed-point", {"acceleration": "aitken"}),
    "anderson": ("fixed-point", {}),
    "newton": ("newton", {}),
}


def four_runs(problem, algorithm, longest, **options):
    steps = [longest // 2**i for i in range(4)]
    return steps, [run(problem, algorithm, step, **options) for step in steps]


def measured_order(problem, algorithm, longest, **options):
    steps, runs = four_runs(problem, algorithm, longest, **options)
    return slope(steps, [error(problem, one) for one in runs])


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_held_inputs_are_of_first_order(name, algorithm):
    # The next term of the error is h times smaller; at these steps it is a tenth: 0.99 to 1.09.
    assert measured_order(SMOOTH[name][0], algorithm, SMOOTH[name][1]) == pytest.approx(1, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPED)
@pytest.mark.parametrize("kind", ITERATED)
def test_inputs_from_both_ends_are_of_second_order(name, kind):
    algorithm, options = ITERATED[kind]
    # The next term is h^2 times smaller. A force that sets in within a step (the contact) adds an
    # error that depends on where: 1.998 to 2.001.
    order = measured_order(LOOPED[name][0], algorithm, LOOPED[name][1], **options)
    assert order == pytest.approx(2, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPED)
def test_iterated_algorithms_agree(name):
    problem, step = LOOPED[name]
    rows = [run(problem, algorithm, step, **o).rows for algorithm, o in ITERATED.values()]
    # Each step is solved to 1e-9 of its unknowns; 25 to 250 steps add up.
    for row in rows[1:]:
        np.testing.assert_allclose(row, rows[0], rtol=0, atol=250e-9 * np.abs(rows[0]).max())


#: Tolerance's power that the error should have: the error of one step, h^(p+1), is held at the
#: tolerance, and that of the run is h^p. One of prediction, h^2, where the run's is h^2 as well.
POWERS = {
    ("step-doubling", "jacobi"): 1 / 2,
    ("step-doubling", "gauss-seidel"): 1 / 2,
    ("step-doubling", "newton"): 2 / 3,
    ("embedded", None): 1.0,
}
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6]
#: Where the last would take two thirds of all steps, and steps are many.
MANY_STEPS_TOLERANCES = TOLERANCES[:3]


def by_tolerance(problem, algorithm, scale, tolerances=TOLERANCES, **options):
    runs = [
        run(
            problem,
            algorithm,
            MS // 100,
            relative=t,
            absolute=t * scale,
            shortest="100 ns",
            longest="1 s",
            **options,
        )
        for t in tolerances
    ]
    return slope(tolerances, [error(problem, one) for one in runs])


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "base"), POWERS)
@pytest.mark.parametrize("name", ["oscillator by motion", "lotka volterra"])
def test_error_follows_the_tolerance(name, algorithm, base):
    options = {} if base is None else {"base": base}
    tolerances = MANY_STEPS_TOLERANCES if base != "newton" else TOLERANCES
    power = by_tolerance(SMOOTH[name][0], algorithm, 0.01, tolerances, **options)
    # Second order takes few steps (13 to 430), the first of them far too short: 0.62 to 0.64.
    assert power == pytest.approx(POWERS[algorithm, base], abs=0.06 if base == "newton" else 0.02)


@pytest.mark.slow
def test_embedded_follows_the_tolerance_through_feed_through():
    assert by_tolerance(quarter_car.PROBLEM, "embedded", 750.0) == pytest.approx(1, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "scale"),
    [(oscillator.BY_FORCE, 0.01), (quarter_car.PROBLEM, 1.0)],
    ids=["oscillator by force", "quarter car"],
)
def test_ecco_follows_the_tolerance(problem, scale):
    # The residual energy of a step is of second order, the run's error of first: the square root.
    power = by_tolerance(problem, "ecco", scale, MANY_STEPS_TOLERANCES)
    assert power == pytest.approx(1 / 2, abs=0.03)


#: Energy that the coupling made until the end, relative to that at the start, at the longest step.
ENERGIES = {
    "oscillator by force": {"jacobi": 0.257, "gauss-seidel": 0.0462, "newton": 3.7e-4},
    "oscillator by motion": {"jacobi": 0.042, "gauss-seidel": 4.6e-4, "newton": 9.3e-5},
    "quarter car": {"jacobi": 2.1e-3, "gauss-seidel": 7.2e-4, "newton": -8.9e-6},
    "stiff contact": {"jacobi": 1.5, "gauss-seidel": 0.38, "newton": 7.3e-3},
    "lotka volterra": {"jacobi": 0.12, "gauss-seidel": -0.032, "newton": 6.1e-4},
}


@pytest.mark.parametrize("name", ENERGIES)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "newton"])
def test_energy_that_the_coupling_makes(name, algorithm):
    """Figures as measured: they say which algorithm puts energy in and how much."""
    problem, step = SMOOTH[name]
    found = energy_error(problem, run(problem, algorithm, step))
    assert found == pytest.approx(ENERGIES[name][algorithm], rel=0.03)  # two digits are stated
