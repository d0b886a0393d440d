"""The rope in space at rest, against SciPy on its energy with exact angles, and a helix."""

import numpy as np
import pytest
from oracle.rope_arc import EI, GJ, J_SPIN, MASS, NODE, NODES, PLACES, S, arc
from oracle.rope_energy import PLACED, minimum

from orchestrator import simulate


@pytest.mark.slow
@pytest.mark.parametrize("force", [(0.0, 0.0, 2.0), (0.5, -1.0, 1.0)])
def test_under_a_force_it_rests_where_its_energy_is_least(plants, force):
    """Out of the plane of its arc, so that it twists; its dampers bring it to rest."""
    still = {f"force[{j + 1}]": value for j, value in enumerate(force)}
    system = arc(plants, c_stretch=2.0, c_bend=0.004, c_twist=2e-5, **still)
    run = simulate(system, step="1 ms", stop="0.8 s")
    place = np.array([run[f"rope.position[{j}]"] for j in (1, 2, 3)]).T
    assert np.abs(place[-1] - place[-50]).max() < 1e-12  # m: at rest
    wanted = minimum(np.array(force))
    moved = wanted[:PLACED].reshape(-1, 3)[NODE - 2] - PLACES[NODE - 1]
    # Angles of the plant are to the fourth order: 2e-5 of a way of 5 to 10 mm.
    assert np.abs(place[-1] - PLACES[NODE - 1] - moved).max() < 5e-5 * np.linalg.norm(moved)
    # The clamp takes the twist of half a segment; 1.7e-4.
    assert run["rope.torque_a[1]"][-1] == pytest.approx(2 * GJ / S * wanted[PLACED], rel=4e-4)


def wrench_of_a_helix(open_model, length):
    """Return force and torque along the axis of a helix, and what Kirchhoff's rod has.

    A straight rope is held as a helix by clamps that are one segment long, so that each of its
    nodes is in the place of the next. The tension is what the balance of a node asks for.
    """
    kappa, tau, omega = 6.0, 4.0, 5.0  # 1/m: curvature, torsion, twist of the material
    big = np.hypot(kappa, tau)
    arc_length = length / (NODES - 1) * np.arange(-1, NODES + 1)
    phi = big * arc_length
    radius = kappa / big**2
    places = np.c_[radius * np.cos(phi), radius * np.sin(phi), tau / big * arc_length]
    chords = np.diff(places, axis=0)
    e = np.linalg.norm(chords[0])
    t = chords / e
    out = np.c_[np.cos(phi), np.sin(phi), 0 * phi]
    radial = out[1:] + out[:-1]  # across the chord, as the helix turns
    radial /= np.linalg.norm(radial, axis=1)[:, None]
    spun = ((omega - tau) * arc_length[1:])[:, None]
    directors = radial * np.cos(spun) + np.cross(t, radial) * np.sin(spun)
    rope = open_model(
        "SpatialRope",
        length=(NODES - 1) * e,
        x0=places[2:-2],
        end_a=places[1],
        end_b=places[-2],
        clamp_a=t[0],
        clamp_b=t[-1],
        director_a=directors[0],
        director_b=directors[-1],
        k_clamp=EI / e,
        k_spin=GJ / e,
    )
    rope.set_states(d=directors[1:-1])
    left = rope.rate("v").reshape(-1, 3) * MASS / (NODES - 1)
    bends = np.diff(t, axis=0)[1:-1]
    tension = -np.sum(left * bends, axis=1) / np.sum(bends * bends, axis=1)
    # The same tension brings all nodes to rest, and no segment begins to spin.
    assert np.abs(tension / tension[0] - 1).max() < 1e-6
    assert np.abs(left + tension[:, None] * bends).max() < 1e-6 * np.abs(left).max()
    assert np.abs(rope.rate("spin")).max() * J_SPIN < 1e-6 * GJ * omega
    force = (rope.get("force_a") + tension[0] * t[1])[2]
    wanted = big * (GJ * omega - EI * tau), (EI * kappa**2 + GJ * omega * tau) / big
    return (force, rope.get("torque_a")[2]), wanted


@pytest.mark.slow
def test_a_helix_has_the_wrench_of_kirchhoffs_rod(open_model):
    """F = sqrt(kappa2 + tau2) (GJ omega - EI tau) along the axis (Love, article 270)."""
    off = []
    for length in (0.3, 0.15):
        found, wanted = wrench_of_a_helix(open_model, length)
        off.append([abs(a / b - 1) for a, b in zip(found, wanted, strict=True)])
    # 0.58 and 0.12 %, of second order in the length of a segment.
    assert off[0][0] < 7e-3
    assert off[0][1] < 1.5e-3
    assert off[0] == pytest.approx([4 * short for short in off[1]], rel=0.05)
