"""The contact of a snare's rope: the gradient of its energy, by side, cone and face."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

NODES, MASS, RADIUS, SHAFT, HEAD, STIFF = 16, 0.01095, 0.0115, 0.08, 0.012, 4e4
ENDS = 0.15 * np.array([[1, 0, 1 / 15], [-0.5, np.sqrt(0.75), -1 / 15]])  # m, on both rings
CHORD = ENDS[0] + np.linspace(0, 1, NODES)[1:-1, None] * (ENDS[1] - ENDS[0])


@pytest.fixture
def rope(open_model):
    """A rope that neither bends nor twists nor rubs, all inside of which is its contact."""
    return open_model(
        "SnareRope",
        x0=CHORD,
        EA=1e3,
        EI=0,
        GJ=0,
        mu=0,
        c_contact=0,
        k_contact=STIFF,
        largest_strain=2.0,
        shaft_length=SHAFT,
        head_length=HEAD,
        shaft_base=[0, 0, 0],
        shaft_line=[0, 0, 1],
        position=[0, 0, -0.04],
    )


def places(random, count):
    """Yield shapes of the rope, and attitudes and bases of a shaft whose tip is near its middle."""
    for _ in range(count):
        shape = CHORD + 2e-3 * random.normal(size=CHORD.shape)
        way = Rotation.from_rotvec(0.5 * random.normal(size=3))
        # as seen by the shaft: within head and shaft, and a little beyond
        seen = [
            random.uniform(-0.02, 0.02),
            random.uniform(-0.02, 0.02),
            random.uniform(0.05, 0.09),
        ]
        yield shape, way, CHORD[6] - way.apply(seen)


@pytest.mark.slow
def test_forces_on_rope_and_target_are_the_gradient_of_the_energy(rope, random):
    """Centred differences, good to 1e-6 of the forces; where one way out is as short as the other
    the energy has an edge, which no drawn place is near enough to."""
    h, met, by_the_face = 1e-7, 0, 0
    for shape, way, base in places(random, 150):
        q = np.roll(way.as_quat(), 1)

        def energy(shape, base, q=q):
            rope.set_states(x=shape)
            rope.set(position=base, q=q)
            return rope.get("energy")[0]

        energy(shape, base)
        push, force, torque = (rope.get(name) for name in ("push", "force", "torque"))
        if push[0] < 1.0:
            continue
        met += 1
        by_the_face += way.inv().apply(force)[2] < -1e-3 * np.linalg.norm(force)
        forces = rope.rate("v").reshape(-1, 3) * MASS / (NODES - 1)
        size = np.abs(forces).max()
        for node in (5, 6, 7):
            for axis in range(3):
                step = np.zeros_like(shape)
                step[node, axis] = h
                slope = (energy(shape + step, base) - energy(shape - step, base)) / (2 * h)
                assert -slope == pytest.approx(forces[node, axis], abs=2e-6 * size)
        for axis, step in enumerate(h * np.eye(3)):
            slope = (energy(shape, base + step) - energy(shape, base - step)) / (2 * h)
            assert -slope == pytest.approx(force[axis], abs=2e-6 * size)
            turned = [
                np.roll((Rotation.from_rotvec(sign * step) * way).as_quat(), 1) for sign in (1, -1)
            ]
            slope = (energy(shape, base, turned[0]) - energy(shape, base, turned[1])) / (2 * h)
            assert -slope == pytest.approx(torque[axis], abs=2e-6 * size * SHAFT)
    assert met > 50
    assert 10 < by_the_face < met - 10


def test_the_energy_of_the_contact_has_no_steps(rope):
    """A node is led through head and shaft: in steps of 20 um nothing changes by more than it may.

    The way out is at most `depth`, and grows with the way at most one to one in each of two parts.
    """
    rope.set(q=[1, 0, 0, 0])
    way = 2e-5  # m
    for aside in (0.002, 0.008, 0.014, 0.02):
        found = []
        for along in np.arange(0.04, 0.1, way):
            rope.set(position=CHORD[6] - [aside, 0.0, along])
            depth = rope.get("deepest")[0]
            found.append((rope.get("energy")[0], depth))
        energies, depths = np.array(found).T
        assert depths.max() > 1e-3
        most = STIFF * 2 * (depths.max() + way) * 2 * way  # of two segments that touch
        assert np.abs(np.diff(energies)).max() < 2 * most
