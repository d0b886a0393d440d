"""The benchmark of Silva et al. (2020): how late the laboratory may be, and criterion J4."""

from collections.abc import Callable
from types import ModuleType

import pytest

from orchestrator.loops import linear_system

Script = Callable[[str], ModuleType]
#: In ms, of the four partitions.
CRITICAL = {1: 14.6422, 2: 12.2225, 3: 9.9209, 4: 8.7264}


@pytest.mark.parametrize("case", CRITICAL)
def test_the_quasi_polynomial_and_the_linear_models_have_the_critical_delays(
    script: Script, case: int
) -> None:
    systems, independent = script("systems"), script("independent")
    exact = 1e3 * independent.critical_delay(systems.FLOORS[case], systems.DAMPING[case])
    assert exact == pytest.approx(CRITICAL[case], abs=5e-5)
    assert script("critical_delays").by_linear_model(case) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("case", CRITICAL)
def test_runs_die_down_below_it_and_grow_above(script: Script, case: int) -> None:
    growth = script("critical_delays").growth
    assert growth(case, CRITICAL[case] - 0.001) < 0.0 < growth(case, CRITICAL[case] + 0.001)


@pytest.mark.slow
@pytest.mark.parametrize("case", CRITICAL)
def test_a_bisection_of_runs_finds_it_to_the_fourth_decimal(script: Script, case: int) -> None:
    assert script("critical_delays").by_runs(case) == pytest.approx(CRITICAL[case], abs=1e-4)


@pytest.mark.parametrize(
    ("algorithm", "delay", "step_ms", "expected"),
    [
        ("gauss-seidel", "waveform", 2.0, 62.4555),
        ("gauss-seidel", "waveform", 0.5, 62.4550),
        ("gauss-seidel", "mean", 2.0, 62.2088),
        ("jacobi", "plain", 2.0, 113.3558),
    ],
)
def test_criterion_j4_of_a_pure_delay_by_mode(
    script: Script, algorithm: str, delay: str, step_ms: float, expected: float
) -> None:
    found = script("waveforms").criterion(algorithm, delay, step_ms)
    assert found == pytest.approx(expected, abs=5e-4)


@pytest.mark.slow
def test_the_independent_integration_has_the_same_j4_as_the_waveforms(script: Script) -> None:
    assert script("waveforms").independent() == pytest.approx(62.4552, abs=1e-4)


def test_the_lag_of_the_actuator_alone_is_more_than_any_partition_bears(script: Script) -> None:
    for case in CRITICAL:
        linear = linear_system(script("systems").actuated(case), step="0.5 ms")
        (loop,) = linear.loop_accounts(1)
        assert loop.modes[0].exact is not None
        assert loop.modes[0].exact.real > 0.5


@pytest.mark.slow
def test_the_adaptive_compensator_meets_the_reference(script: Script) -> None:
    criteria = script("criteria")
    found = criteria.criteria(criteria.run("adaptive time series"))
    expected = [0.0, 0.2643, 0.3724, 0.6715, 0.5967, 0.6652, 0.6681, 0.4725, 0.4838]
    assert found == pytest.approx(expected, rel=1e-2)
