"""The rope in space: forces of its energy, of the planar rope, torsion, buckling, conservation."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator import StepError, System, fmu, simulate
from python_blocks.ropes.planar_rope import PlanarRope

NODES, LENGTH, MASS = 16, 0.30, 0.01095
S = LENGTH / (NODES - 1)
EI, GJ, J_SPIN = 0.024, 0.0185, 1.23e-8
PLANAR = PlanarRope(segments=15, k_tes=1.5e7, k_tor=1.2)  # the same rope


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.slow
def test_in_a_plane_it_is_the_planar_rope(open_model, random):
    shape = PLANAR.arc() + 2e-4 * random.normal(size=(NODES - 2, 2))
    rope = open_model(
        "SpatialRope",
        x0=np.c_[shape, np.zeros(NODES - 2)],
        end_b=[0.26, 0, 0],
        curvature=PLANAR.curvature,
    )
    wanted = PLANAR.forces(shape) / PLANAR.node_mass
    found = rope.rate("v").reshape(-1, 3)
    # The springs of both have an angle to the fourth order at least; the tension is the most of it.
    np.testing.assert_allclose(found[:, :2], wanted, atol=1e-8 * np.abs(wanted).max())
    assert np.abs(found[:, 2]).max() == 0.0
    assert rope.get("energy")[0] == pytest.approx(PLANAR.energy(shape), rel=1e-6)


@pytest.mark.slow
def test_forces_and_torques_are_the_gradient_of_the_energy(open_model, random):
    """Bent, twisted, curved by nature and clamped; the centred difference is good to 1e-7."""
    ends = np.array([[0, 0, 0], [0.26, 0, 0]])
    start = np.c_[PLANAR.arc(), np.zeros(NODES - 2)] + 2e-3 * random.normal(size=(NODES - 2, 3))
    rope = open_model(
        "SpatialRope",
        x0=start,
        end_b=ends[1],
        curvature=3.0,
        EA=1e3,
        largest_strain=2.0,
        k_clamp=2.0,
        k_spin=1.5,
        clamp_a=[np.cos(0.4), np.sin(0.4), 0],
    )

    def tangents(inner):
        return unit(np.diff(np.vstack([ends[:1], inner, ends[1:]]), axis=0))

    along, flat = tangents(start), rope.get("d").reshape(-1, 3)
    twist = np.cumsum(0.2 * random.normal(size=NODES - 1))[:, None]
    directors = flat * np.cos(twist) + np.cross(along, flat) * np.sin(twist)

    def energy(inner, turned):
        rope.set_states(x=inner, d=turned)
        return rope.get("energy")[0]

    def moved(i, j, by):
        """Move a node; the directors go with their segments, without spinning about them."""
        inner = start.copy()
        inner[i, j] += by
        now = tangents(inner)
        share = np.sum(directors * now, axis=1) / (1 + np.sum(along * now, axis=1))
        return energy(inner, directors - share[:, None] * (along + now))

    def spun(i, by):
        turned = directors.copy()
        turned[i] = turned[i] * np.cos(by) + np.cross(along[i], turned[i]) * np.sin(by)
        return energy(start, turned)

    energy(start, directors)
    forces = rope.rate("v").reshape(-1, 3) * MASS / (NODES - 1)
    torques = rope.rate("spin") * J_SPIN / (NODES - 1)
    h = 1e-6
    for i, j in ((0, 0), (3, 2), (7, 1), (12, 2), (13, 0)):
        slope = (moved(i, j, h) - moved(i, j, -h)) / (2 * h)
        assert -slope == pytest.approx(forces[i, j], abs=1e-6 * np.abs(forces).max())
    for i in (0, 5, 14):
        slope = (spun(i, h) - spun(i, -h)) / (2 * h)
        assert -slope == pytest.approx(torques[i], abs=1e-5 * np.abs(torques).max())


def twisted(open_model, angle, gj=GJ):
    """A straight rope between clamps, the second of which is turned about the rope."""
    rope = open_model(
        "SpatialRope",
        GJ=gj,
        k_clamp=2 * EI / S,
        k_spin=2 * gj / S,
        director_b=[0, -np.sin(angle), np.cos(angle)],
    )
    share = angle * (np.arange(NODES - 1) + 0.5) / (NODES - 1)
    directors = np.c_[np.zeros(NODES - 1), -np.sin(share), np.cos(share)]
    rope.set_states(d=directors)
    return rope


@pytest.mark.slow
def test_a_twisted_rope_has_the_torque_of_a_bar(open_model):
    rope = twisted(open_model, 3.0)
    torque = GJ * 3.0 / LENGTH
    np.testing.assert_allclose(rope.get("torque_a"), [torque, 0, 0], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(rope.get("torque_b"), [-torque, 0, 0], rtol=1e-7, atol=1e-12)
    assert np.abs(rope.rate("spin") * J_SPIN).max() < 1e-7 * torque
    assert np.abs(rope.rate("v")).max() < 1e-5  # m/s2: 1e-8 N


@pytest.mark.slow
def test_it_buckles_under_the_torque_of_greenhill(open_model):
    """Clamped ends: M L/EI = 8.9868, where tan(x) = x for x = M L/(2 EI) (Love, article 272)."""
    gj = 10 * EI  # so that 8.99 EI/L is a twist of 51 degrees

    def fastest(number):
        return np.linalg.eigvals(twisted(open_model, number * EI / gj, gj).matrix()).real.max()

    # 15 segments put it at 1.026: second order in S. Growth of a stable rope is rounding.
    assert fastest(8.9868) < 0.1
    assert fastest(8.9868 * 1.04) > 10.0


@pytest.mark.slow
def test_a_free_rope_keeps_energy_and_both_momenta(plants, random):
    """A rope that is bent and thrown; rk4 is the only error."""
    share = np.linspace(0, 1, NODES)
    places = np.c_[0.28 * share, 0.03 * np.sin(3 * share), 0.02 * np.cos(4 * share)]
    start = {f"x0[{i},{j + 1}]": float(places[i, j]) for i in range(1, 15) for j in range(3)}
    for j in range(3):
        start[f"end0[1,{j + 1}]"] = float(places[0, j])
        start[f"end0[2,{j + 1}]"] = float(places[-1, j])
        start[f"rate0[1,{j + 1}]"], start[f"rate0[2,{j + 1}]"] = random.normal(size=2).tolist()
    system = System("free").add("rope", fmu(plants / "FreeRope.fmu"), curvature=3.0, EA=1.2e4)
    system = system.set("rope.largest_strain", 1.0)
    for name, value in start.items():
        system = system.set(f"rope.{name}", value)
    sums = [f"rope.{what}[{j}]" for what in ("momentum", "angular_momentum") for j in (1, 2, 3)]
    lost = []
    for step in ("5 us", "2.5 us"):
        run = simulate(system, step=step, stop="10 ms", record=["rope.total_energy", *sums])
        drift = np.array([np.abs(run[name] - run[name][0]).max() for name in sums])
        assert drift[:3].max() < 1e-13  # kg.m/s, of 1e-2: rounding
        # kg.m2/s, of 2e-3. It is no linear function of the states, so rk4 keeps it to its order.
        assert drift[3:].max() < 1e-10
        lost.append(1 - run["rope.total_energy"][-1] / run["rope.total_energy"][0])
    # 8.1e-5 and 2.6e-6: rk4 takes (omega h)^6/72 in each step, mostly of torsion at 1e4 Hz.
    assert lost[1] < 5e-6
    assert 25 < lost[0] / lost[1] < 40  # fifth order in the step


@pytest.mark.slow
def test_a_step_too_long_tears_it_and_says_which_is_not(plants, wording):
    """The recipe's 5 us; with EA = 3e6 they would have to be 3.1 us."""
    system = System("long").add("rope", fmu(plants / "SpatialRope.fmu"), EA=3e6)
    system = system.set("rope.force[2]", 1.0)
    with wording.raises(StepError):
        simulate(system, step="1 ms", stop="20 ms")
