import pytest

from orchestrator.core.simunits.registry import block_class


def outputs(name, values, t=0.0, h=0.0):
    block = block_class(name)(**values)
    block.step(t, h)
    return block


def sheet(delta, speed, **more):
    values = {"position_a": delta, "velocity_a": speed, "k": 100.0, "d": 10.0}
    return outputs("spring_dashpot", values | more)


@pytest.mark.parametrize(
    ("delta", "speed", "force"),
    [
        (0.1, 0.0, 10.0),
        (0.1, 0.5, 15.0),
        (0.1, -0.5, 5.0),
        (0.1, -2.0, 0.0),  # it would pull
        (-0.1, 0.5, 0.0),  # apart
        (0.0, 1.0, 0.0),  # touching is delta > 0
    ],
)
def test_spring_dashpot(delta, speed, force):
    found = sheet(delta, speed)
    assert (found.force_a, found.force_b) == (-force, force)


@pytest.mark.parametrize(("delta", "speed"), [(0.1, -2.0), (-0.1, 0.5)])
def test_latched_it_pulls_too(delta, speed):
    found = sheet(delta, speed, latched=True)
    assert found.force_b == pytest.approx(100.0 * delta + 10.0 * speed)
    assert found.force_a == -found.force_b


def test_spring_dashpot_is_relative():
    values = {"k": 100.0, "d": 10.0, "position_a": 5.1, "position_b": 5.0}
    found = outputs("spring_dashpot", values | {"velocity_a": 1.5, "velocity_b": 1.0})
    assert found.force_b == pytest.approx(15.0)


def test_virtual_damper():
    assert outputs("virtual_damper", {"velocity": 0.5, "b": 40.0}).force == -20.0


def test_hybrid_contact_adds_up_to_the_ideal_one_in_the_still_frame():
    """Wall at rest: springs of both sides and the measured force act together."""
    values = {"position_1": 0.02, "position_2": 0.01, "k1": 100.0, "k2": 50.0, "b1": 3.0}
    found = outputs("hybrid_contact", values | {"velocity_1": 0.1, "measured_force": -1.0})
    assert found.force_1 == pytest.approx(-(100.0 * 0.02 + 3.0 * 0.1) - 1.0)
    assert found.force_2 == pytest.approx(-50.0 * 0.01 + 1.0)


def test_hybrid_contact_counts_from_the_wall():
    values = {"position_1": 0.5, "velocity_1": 0.3, "k1": 10.0, "b1": 2.0}
    found = outputs("hybrid_contact", values | {"wall_position": 0.2, "wall_velocity": 0.1})
    assert found.force_1 == pytest.approx(-10.0 * (0.5 - 0.2) - 2.0 * (0.3 - 0.1))


def test_hybrid_contact_apart():
    values = {"position_1": -0.1, "position_2": 0.1, "k1": 100.0, "measured_force": -5.0}
    found = outputs("hybrid_contact", values)
    assert (found.force_1, found.force_2) == (0.0, 0.0)


def test_hybrid_contact_never_pulls():
    found = outputs("hybrid_contact", {"position_1": 0.1, "measured_force": 5.0})
    assert (found.force_1, found.force_2) == (0.0, 0.0)
