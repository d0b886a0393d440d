"""The engine equals the reference in Python, bit for bit, on every problem it can run."""

import numpy as np
import pytest
from benchmark_problems import lotka_volterra, oscillator, pendulums, quarter_car, stiff_contact
from oracle.reference import Reference

from orchestrator.core.master import Execution
from orchestrator.core.master.schedule.rows import OperationCode

MS = 1_000_000
PROBLEMS = {
    "oscillator by force": (oscillator.BY_FORCE, 8 * MS),
    "oscillator by motion": (oscillator.BY_MOTION, 8 * MS),
    "quarter car": (quarter_car.PROBLEM, 2 * MS),
    "lotka volterra": (lotka_volterra.PROBLEM, 20 * MS),
    "stiff contact": (stiff_contact.PROBLEM, MS),
    "pendulums": (pendulums.PROBLEM, 50 * MS),
}
WAYS = {
    "jacobi": ("jacobi", {}),
    "gauss-seidel": ("gauss-seidel", {}),
    "none": ("fixed-point", {"acceleration": "none"}),
    "aitken": ("fixed-point", {"acceleration": "aitken"}),
    "anderson": ("fixed-point", {}),
    "newton": ("newton", {}),
    "doubling gauss-seidel": ("step-doubling", {}),
    "doubling newton": ("step-doubling", {"base": "newton"}),
    "embedded": ("embedded", {}),
    "ecco": ("ecco", {}),
}
#: What cannot run, and is refused: see test_loops and test_refusals.
REFUSED = {("pendulums", way) for way in WAYS if way not in ("none", "aitken", "anderson")} - {
    ("pendulums", "newton"),
    ("pendulums", "doubling newton"),
}
REFUSED |= {(name, "ecco") for name in PROBLEMS} - {
    ("oscillator by force", "ecco"),
    ("quarter car", "ecco"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way"), [(n, w) for n in PROBLEMS for w in WAYS if (n, w) not in REFUSED]
)
def test_engine_equals_reference(name, way):
    problem, step_ns = PROBLEMS[name]
    algorithm, options = WAYS[way]
    if algorithm in ("step-doubling", "embedded", "ecco"):
        options = {**options, "relative": 1e-2, "absolute": 1.0}
    engine, other = (
        Execution(
            problem.make(),
            step=f"{step_ns} ns",
            algorithm=algorithm,
            algorithm_options=options,
            record=list(problem.names),
        )
        for _ in range(2)
    )
    goal = 20 * step_ns
    engine.advance(f"{goal} ns")
    times, rows = Reference(other).run(20 if not engine.schedule.varies else 10_000, goal)
    found = engine.recording()
    np.testing.assert_array_equal(found.time_ns, times)
    for column, signal in enumerate(found.names):
        slot = engine.schedule.slots[signal][0]
        np.testing.assert_array_equal(found.values[:, column], rows[:, slot], err_msg=signal)


@pytest.mark.parametrize(
    ("algorithm", "halved"), [("gauss-seidel", 0), ("newton", 1), ("embedded", 1)]
)
def test_who_passes_on_and_remembers_is_stepped_in_halves(algorithm, halved):
    """The corner of the car is, its body is not: no input of it acts on an output at once."""
    schedule = Execution(quarter_car.make(), step="1 ms", algorithm=algorithm).schedule
    number = [member.name for member in schedule.members].index("corner")
    firsts = [row for row in schedule.operations if row[0] == OperationCode.FIRST_HALF]
    assert [row[1:3] for row in firsts] == [(number, 1)] * halved
    assert (
        len([row for row in schedule.operations if row[0] == OperationCode.SECOND_HALF]) == halved
    )


def test_a_delayed_input_keeps_the_step_whole():
    system = quarter_car.make().with_delay("body.velocity", "corner.body_velocity", 0.01)
    schedule = Execution(system, step="1 ms", algorithm="newton").schedule
    assert OperationCode.FIRST_HALF not in [row[0] for row in schedule.operations]
