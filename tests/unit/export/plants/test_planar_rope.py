"""The planar rope as a plant: forces of the energy, an impact by SciPy, what is conserved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from orchestrator import StepError, System, fmu, simulate
from python_blocks.ropes.planar_rope import PlanarRope
from python_blocks.ropes.rope_statics import equilibrium

ROPE = PlanarRope(k_tes=7.019e4, k_clamp=4.8, clamp_a=0.4, clamp_b=-0.4, curvature=-1.0)
SIDE = {
    "k_tes": ROPE.k_tes,
    "k_clamp": ROPE.k_clamp,
    "curvature": ROPE.curvature,
    **{f"clamp_a[{i + 1}]": float(v) for i, v in enumerate((np.cos(0.4), np.sin(0.4)))},
    **{f"clamp_b[{i + 1}]": float(v) for i, v in enumerate((np.cos(0.4), -np.sin(0.4)))},
}


@pytest.mark.slow
def test_forces_are_those_of_the_energy(open_model, random):
    rope = open_model("PlanarRope", **{k: v for k, v in SIDE.items() if "[" not in k})
    rope.set(clamp_a=[np.cos(0.4), np.sin(0.4)], clamp_b=[np.cos(0.4), -np.sin(0.4)])
    shape = ROPE.arc() + 2e-4 * random.normal(size=(29, 2))
    rope.set_states(x=shape[:, 0], y=shape[:, 1])
    wanted = ROPE.forces(shape) / ROPE.node_mass
    size = np.abs(wanted).max()
    np.testing.assert_allclose(
        rope.rate("vx"), wanted[:, 0], atol=3e-6 * size
    )  # 29 deg at the clamps
    np.testing.assert_allclose(rope.rate("vy"), wanted[:, 1], atol=3e-6 * size)
    assert rope.get("energy")[0] == pytest.approx(ROPE.energy(shape), rel=5e-6)
    assert rope.get("longest_step")[0] == pytest.approx(ROPE.longest_step, rel=1e-12)


def hit(plants, speed=0.1, step="20 us", stop="10 ms", node=10, **values):
    rest = equilibrium(ROPE)
    places = {f"x0[{i + 1}]": float(rest[i, 0]) for i in range(29)}
    places |= {f"y0[{i + 1}]": float(rest[i, 1]) for i in range(29)}
    start = float(rest[node - 2, 1])
    system = (
        System("hit")
        .add("rod", fmu(plants / "Chaser.fmu"), m=0.5, v0=speed, x0=start, thrust=0.0)
        .set("rod.virtual_force", 0.0)
        .add("rope", fmu(plants / "PlanarRope.fmu"), **(SIDE | places | values), node=node)
        .connect("rod.position", "rope.position", extrapolation="linear")
        .connect("rod.velocity", "rope.velocity", extrapolation="linear")
        .connect("rope.force", "rod.force")
    )
    record = ["rod.*", "rope.force", "rope.depth", "rope.energy"]
    return simulate(system, step=step, stop=stop, record=record), rest, start


@pytest.mark.slow
def test_an_impact_against_scipy(plants):
    """The whole of it by DOP853 on the statics' forces: 29 nodes and the rod."""
    found, rest, start = hit(plants, k_rod=1e4)

    def rates(t, z):
        nodes, speeds = z[:58].reshape(-1, 2), z[58:116]
        push = 1e4 * max(0.0, z[116] - nodes[8, 1])
        forces = ROPE.forces(nodes)
        forces[8, 1] += push
        return np.concatenate([speeds, forces.ravel() / ROPE.node_mass, [z[117], -push / 0.5]])

    z = np.concatenate([rest.ravel(), np.zeros(58), [start, 0.1]])
    run = solve_ivp(rates, (0, 0.01), z, method="DOP853", rtol=1e-8, atol=1e-10)
    assert found["rod.velocity"][-1] == pytest.approx(run.y[117, -1], abs=2e-5)
    assert found["rope.depth"][-1] == pytest.approx(run.y[16 + 1, -1] - start, rel=2e-3)
    whole = found["rod.energy"] + found["rope.energy"]
    # First order in the step, which holds the force on the rod: 3.5e-4.
    assert np.abs(whole - whole[0]).max() < 5e-4 * found["rod.energy"][0]
    impulse = -np.sum(found["rope.force"][:-1] + found["rope.force"][1:]) * 1e-5
    assert 0.5 * (0.1 - found["rod.velocity"][-1]) == pytest.approx(impulse, rel=5e-3)


@pytest.mark.slow
def test_a_step_too_long_tears_it_and_says_which_is_not(plants, wording):
    """An undamped rope bears 4.9 us; with k_tes = 3e8 it would have to be 1.6 us."""
    with wording.raises(StepError):
        hit(plants, stop="1 ms", k_tes=3e8)


@pytest.mark.parametrize(
    "values",
    [
        {"length": 0.25},
        {"y0[9]": 0.03},
    ],
)
def test_a_start_that_cannot_be_is_refused(plants, values, wording):
    with wording.raises(StepError):
        hit(plants, stop="20 us", **values)


def test_a_rod_that_meets_two_nodes_is_refused(plants, wording):
    """Its end covers node 9, which is 7 mm aside and lower than node 10; one of 4 mm does not."""
    hit(plants, stop="1 ms", rod_width=0.004)
    with wording.raises(StepError):
        hit(plants, stop="1 ms", rod_width=0.01)
