"""The snare from the open ropes to the lock: what acts on what, the step, bad input."""

import numpy as np
import pytest
from reproduction.snare.example import EXAMPLE, ROPES, part_of_the_example, vector

from orchestrator import (
    DescriptionError,
    StepError,
    judge,
    read_experiment,
    read_system,
    simulate,
)
from orchestrator.core.simunits import resolve


def snare(file="SystemStructure.ssd", **values):
    system = resolve(read_system(EXAMPLE / file))
    for name, value in values.items():
        system = system.set(name, value)
    return system


@pytest.fixture(scope="module")
def captured(shipped_fmus):
    """Beside the axis and tumbling, so that nothing is symmetrical."""
    values = {"target.r0[2]": 0.02137, "target.w0[1]": -0.03, "target.w0[3]": 0.05}
    return simulate(snare(**values), step="1 ms", stop="4 s")


def test_it_captures(captured):
    """Steps 1 to 3: ropes tight around the shaft, drawn onto the face, locked."""
    assert captured["lock.locked"][-1] == 1
    assert captured["lock.locked"][2000] == 0
    pushes = np.array([captured[f"{rope}.push"][:2000] for rope in ROPES])
    assert pushes.min(axis=0).max() > 30.0  # all three at one time


def test_what_the_experiment_expects_is_kept(captured):
    """The case `tumbling` is this run."""
    tables = read_experiment(EXAMPLE / "experiment.toml").expect.values()
    assert {table.case for table in tables} == {"tumbling"}
    for table in tables:
        for that in table.statements:
            verdict = judge(captured, that, begin=table.begin, until=table.until)
            assert verdict.passed, verdict


def test_no_rope_sinks_in_deeper_than_its_stiffness_says(captured):
    """40 kN/m; the damper takes up to a fifth off the push while a rope leaves."""
    for rope in ROPES:
        pushes = np.array([captured[f"{rope}.pushes[{i}]"] for i in range(1, 16)])
        assert captured[f"{rope}.deepest"].max() < 1.2 * pushes.max() / 4e4


def test_what_a_rope_gives_it_takes(captured):
    """Locked and nearly at rest, forces on rings and target balance, and torques about one point.

    What is left is the last of the motion: 1e-5 of the tension of the slackest, 2e-6 of others.
    """
    for rope in ROPES:
        a, b, on = (vector(captured, f"{rope}.{n}")[-1] for n in ("force_a", "force_b", "force"))
        size = np.linalg.norm(a)
        assert size > 50.0
        assert np.linalg.norm(a + b + on) < 5e-5 * size
        ends = [
            np.array([captured[f"{rope}.nodes[{n},{j}]"][-1] for j in (1, 2, 3)]) for n in (1, 16)
        ]
        turn = np.cross(ends[0], a) + np.cross(ends[1], b)
        turn += np.cross(vector(captured, "target.r")[-1], on)
        turn += vector(captured, f"{rope}.torque")[-1]
        assert np.linalg.norm(turn) < 1e-5 * 0.15 * size


def test_the_energy_of_all_parts_closes(captured):
    """What each part says it got, and has turned into heat, is what it holds; J of 6.9 J."""
    ledger = part_of_the_example("ledger")
    parts = ledger.parts(captured)
    assert parts["motor"] + parts["screw"] > 6.0
    assert abs(parts["ring"]) < 1e-8
    assert abs(parts["target"]) < 1e-12
    assert abs(parts["lock"]) < 1e-5
    assert all(abs(parts[rope]) < 1e-4 for rope in ROPES)  # shaft and head
    assert abs(parts["at rings"]) < 2e-3
    assert abs(parts["at bodies"]) < 2e-3
    closing = ledger.parts(captured, until=2000)  # before the drag: shaft only
    assert closing["motor"] > 1.0
    assert all(abs(closing[part]) < 1e-5 for part in ("ring", *ROPES))


def test_a_rope_that_meets_the_tip_from_beyond_gets_no_energy(shipped_fmus):
    """Rope 2 slips over the rim of the head and comes back to its face; J of 6 J."""
    run = simulate(snare(**{"target.r0[2]": 0.07, "target.w0[1]": 0.11}), step="1 ms", stop="3.7 s")
    parts = part_of_the_example("ledger").parts(run)
    assert parts["motor"] > 5.0
    assert run["rope_2.push"].max() > 100.0
    assert all(abs(parts[rope]) < 2e-4 for rope in ROPES)


def test_the_target_has_the_momentum_that_it_was_given(captured):
    gained = 41.7 * (vector(captured, "target.v") - vector(captured, "target.v")[0])
    np.testing.assert_allclose(gained, vector(captured, "target.impulse"), atol=1e-12)


def test_a_step_too_long_tears_it_and_says_which_is_not(shipped_fmus):
    """Twice the stiffness, in the recipe's steps of 6.5 us: `verlet` needs those below 4.9 us."""
    with pytest.raises(StepError, match=r"torn.*longest_step = 6\.9\d*e-06 s of rk4"):
        simulate(snare(**{"rope_2.EA": 6e5}), step="1 ms", stop="50 ms")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((0.14, 0.02), r"outside of the ring: .* x = 0\.14\d* m, y = 0\.02\d* m; .* 0\.138"),
        ((0.066, 0.112), r"begins within a rope, by 0\.0\d+ m"),
    ],
)
def test_a_run_refuses_a_target_that_is_not_inside_the_open_ropes(shipped_fmus, place, said):
    moved = {"target.r0[1]": place[0] - 0.040931, "target.r0[2]": place[1] + 0.00137}
    with pytest.raises(StepError, match=said):
        simulate(snare(**moved), step="1 ms", stop="1 ms")


def test_a_target_outside_the_ring():
    with pytest.raises(DescriptionError, match=r"x, y = 0\.14, 0 m; expected .* 0\.13 m"):
        part_of_the_example("systems").snare((0.14, 0.0))


def test_a_rope_shorter_than_its_span():
    module = part_of_the_example("systems")
    module.LENGTH = 0.25
    with pytest.raises(DescriptionError, match="expected a rope that is not shorter than its span"):
        module.snare()
